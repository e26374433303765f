"""Files of programs that rnncalc does not read: how each is known, and what to do with it instead.

Seen in November 2026: NumPy 2.4.6, torch 2.13, keras 3.15.1, flax and orbax-checkpoint 0.12.8, paddle 3.3.1,
coremltools 9.0, tensorflow 2.20, tfjs 4.22, openvino 2025.4.1, stable-baselines3 2.9.2, tesseract-ocr-eng 4.00.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

_CONVERTED = "name the model that it was converted from"
_FLAT = "safetensors.flax.save_file(flax.traverse_util.flatten_dict({}, sep='/'), 'model.safetensors')"


class ForeignFormat(NamedTuple):
    """What a file is, and what to do.

    suffixes: of its name. head: a pattern of its first bytes, where they alone tell.
    members: ends of names; a file in the archive or in the folder has one, or the file itself.
    """

    title: str
    cure: str
    suffixes: tuple[str, ...] = ()
    head: bytes = b"(?!)"
    members: tuple[str, ...] = ()

    @property
    def refusal(self) -> str:
        """What the user reads."""
        return f"is {self.title}, which rnncalc does not read; {self.cure}"


FOREIGN = (
    ForeignFormat(
        "a file of Equinox, whose arrays have no names",
        "save them by name: numpy.savez('model.npz', **{jax.tree_util.keystr(path)[1:]: leaf for path, leaf in "
        "jax.tree_util.tree_leaves_with_path(equinox.filter(model, equinox.is_array))})",
        suffixes=(".eqx",),
    ),
    ForeignFormat("a GGUF file", _CONVERTED, head=b"GGUF"),
    ForeignFormat(
        "an archive of files",
        "unpack it, and name the model file in it",
        suffixes=(".nemo",),
        head=rb"\x1f\x8b|BZh|\xfd7zXZ|\(\xb5/\xfd",
        members=("MAR-INF/MANIFEST.json",),
    ),
    ForeignFormat("an array of NumPy", "save it under a name: numpy.savez('model.npz', name=array)", head=b"\x93NUMPY"),
    ForeignFormat(
        "a program of torch.export before 2.8",
        "save its weights: torch.save(dict(torch.export.load(...).state_dict), 'model.pt')",
        members=("serialized_exported_program.json",),
    ),
    ForeignFormat(
        "a checkpoint of torch.distributed",
        "make it one file: python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER model.pt",
        suffixes=(".distcp",),
        members=(".distcp",),
    ),
    ForeignFormat(
        "a model of PaddlePaddle",
        "name the .pdparams that paddle.save(model.state_dict(), ...) writes",
        suffixes=(".pdopt", ".pdmodel", ".pdiparams"),
    ),
    ForeignFormat(
        "a model of TensorFlow", "save the Keras model as model.keras", suffixes=(".pb",), members=("saved_model.pb",)
    ),
    ForeignFormat(
        "a checkpoint of TensorFlow",
        "load it into its Keras model, and save that as model.keras",
        head=rb"\0\0.\x08.\x1a\x02\x08\x01",
        members=(".data-00000-of-00001",),
    ),
    ForeignFormat("a model of ONNX Runtime", _CONVERTED, suffixes=(".ort",), head=b".{4}ORTM"),
    ForeignFormat(
        "a checkpoint of Orbax",
        f"name the folder with its _METADATA, or restore it and save it as safetensors: {_FLAT.format('tree')}",
        members=("_METADATA", "manifest.ocdbt", "_CHECKPOINT_METADATA"),
    ),
    ForeignFormat(  # the number with which PyTorch begins is 0x1950a86a20f9469cfc6c; safetensors begin with a length
        "a plain pickle that torch.save did not write",
        "load it where you trust it, and save its arrays as safetensors",
        head=rb"\x80[\2-\5](?!\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19|.{5}\0\{)",
    ),
)
"""A format that is read some day has its row taken out. The first that fits a file is its own."""

RAW = f"has weights without names, as OpenVINO and TensorFlow.js keep beside an .xml or a model.json; {_CONVERTED}"


def refusal(name: str, head: bytes = b"", members: Collection[str] = ()) -> str | None:
    """Return why a file, an archive or a folder of another program is not read, and what to do; else None."""
    for each in FOREIGN:
        inside = each.members and any(member.endswith(each.members) for member in (name, *members))
        if inside or name.lower().endswith(each.suffixes or "\0") or re.match(each.head, head, re.DOTALL):
            return each.refusal
    return None
