"""Orbax's checkpoints: a folder whose JSON lists names and shapes; only tensorstore reads the numbers beside it.

Seen in orbax-checkpoint 0.12.8, November 2026. A shape is that of the part that one device writes, even of an array of
which every device has all, so a checkpoint of several devices tells no shapes.
"""

from __future__ import annotations

import os
import re
from typing import Any

from rnncalc.bounds import MOST_CONFIG, MOST_NAME, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.by_name import of_names
from rnncalc.models.files.model import BadFileError, FileTensor, ModelFile, Remark, RemarkKind, TensorRole

_SAVE = "restore it in Python and save it with safetensors.flax.save_file"


def read(path: str) -> ModelFile:
    """Return the contents of the folder that a `_METADATA` is in."""
    entries = model.json_in(path, "list of arrays", MOST_CONFIG).get("tree_metadata")
    shards = os.path.join(os.path.dirname(path), "_sharding")
    if os.path.isfile(shards):
        with open_input(shards) as file:
            if re.search(rb'"id\W+[0-9]+\}+,', file.read(MOST_CONFIG)):
                raise BadFileError(f"was written by several devices, so it tells no shapes; {_SAVE}")
    if not isinstance(entries, dict) or len(entries) > MOST_TENSORS:
        raise BadFileError(f"has no list of arrays, or one of more than {MOST_TENSORS:,}")
    tensors = [tensor for entry in entries.values() if (tensor := _tensor(entry))]
    return of_names(path, "orbax", tensors, Remark(RemarkKind.STATED))


def _tensor(entry: Any) -> FileTensor | None:
    """Return an array, None for what has no shape."""
    match entry:
        case {"key_metadata": [*keys], "value_metadata": {"write_shape": [*sizes]}}:
            parts = [str(key.get("key", "")) for key in keys if isinstance(key, dict)]
        case _:
            return None
    if parts[1:] and parts[-1] == "value":  # of a variable of nnx, seen in Flax 0.12.8
        parts.pop()
    name = "/".join(parts)[:MOST_NAME]
    shape = model.shape_of(name, sizes)
    role = model.role_of(name, "float32") if sizes else TensorRole.BUFFER  # a number alone is a count of steps
    return FileTensor(name, shape, "unknown", role, _refuse)


def _refuse() -> Any:
    raise BadFileError(f"only tensorstore reads the numbers of this format; {_SAVE}")
