"""Model files: a module for each program that writes them, and FORMATS, the list of all. Nothing in a file is run.

A new format is a module with `read(path)` and a line in FORMATS; it is imported for such a file only. Those that are
not read are in foreign.py. Knows nothing of networks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

from rnncalc.errors import Problem, SpecError
from rnncalc.files import open_input
from rnncalc.models.files.foreign import RAW, refusal
from rnncalc.models.files.model import BadFileError, ModelFile, Remark, RemarkKind
from rnncalc.printable import escape, escape_path
from rnncalc.words import one_of

HEAD = 64
"""How many bytes of a file are read to recognise its format."""


class FileFormat(NamedTuple):
    """A format: the module that reads it, the suffixes of its files, and a test of their first bytes.

    module: its name; with a point before it, of a module here. writer: the program that writes such files, if it is
    one. reader: the name of the module's function. member: a pattern of the names in a zip archive of this format.
    inside: the file that is read of a folder of this format.
    """

    module: str
    suffixes: tuple[str, ...]
    starts: Callable[[bytes], bool]
    writer: str = ""
    reader: str = "read"
    member: str = ""
    inside: str = ""

    def contents(self, path: str) -> ModelFile:
        """Return what the module reads of a file."""
        model: ModelFile = getattr(import_module(self.module, __name__), self.reader)(path)
        return model


def _is_zip(head: bytes) -> bool:
    return head[:4] == b"PK\x03\x04"


def _is_pickle(head: bytes) -> bool:
    return head[:1] == b"\x80" and head[1:2] in b"\2\3\4\5"


FORMATS: dict[str, FileFormat] = {
    # any JSON starts as an index does
    "sharded": FileFormat(".safetensors", (".index.json",), lambda _: False, reader="read_sharded"),
    "keras-shards": FileFormat(".keras", (".weights.json",), lambda _: False, "Keras", "read_shards"),
    "tfjs": FileFormat(
        ".tfjs",
        ("model.json",),
        lambda head: (
            re.match(rb'\s*\{\s*"(modelTopology|weightsManifest|format"\s*:\s*"(layers|graph)-model)"', head)
            is not None
        ),
        "TensorFlow.js",
    ),
    "safetensors": FileFormat(  # a length is followed by the start of a JSON object, as in no text in UTF-16
        ".safetensors", (".safetensors",), lambda head: head[8:9] == b"{" and b"\0" in head[:8] and head[9:10] != b"\0"
    ),
    "pytorch": FileFormat(".pytorch", (".pt", ".pth", ".bin", ".ckpt"), _is_zip, "PyTorch", member=r"(^|/)data\.pkl$"),
    "policy": FileFormat(".pytorch", (), _is_zip, "PyTorch", "read_policy", member=r"^policy\.pth$"),
    "pytorch-old": FileFormat(".pytorch", (), _is_pickle, "PyTorch", "refuse_old"),
    "paddle": FileFormat(".paddle", (".pdparams",), _is_pickle),
    "keras": FileFormat(".keras", (".keras",), _is_zip, "Keras", member=r"^(config\.json|model\.weights\.h5)$"),
    "pt2": FileFormat(".pt2", (".pt2",), _is_zip, member=r"(^|/)data/weights/model_weights_config\.json$"),
    "npz": FileFormat(".npz", (".npz",), _is_zip, member=r"\.npy$"),
    "msgpack": FileFormat(
        ".msgpack", (".msgpack",), lambda head: re.match(rb"[\x81-\x8f](\xa6params|\xa4step)", head) is not None
    ),
    "hdf5": FileFormat(".keras", (".h5", ".hdf5"), lambda head: head[:4] == b"\x89HDF", "Keras", "read_hdf5"),
    "tflite": FileFormat(".tflite", (".tflite",), lambda head: head[4:8] == b"TFL3"),
    "openvino": FileFormat(
        ".openvino", (".xml",), lambda head: re.match(rb"(\xef\xbb\xbf)?<\?xml[^>]*>\s*<net ", head) is not None
    ),
    "onnx": FileFormat(".onnx", (".onnx",), lambda head: head[:1] == b"\x08" and head[2:3] in b"\x12:\x1a", "ONNX"),
    "coreml": FileFormat(
        ".coreml",
        (".mlmodel", ".mlpackage"),
        lambda head: head[:1] == b"\x08" and head[2:3] == b"\x12",  # as ONNX's may begin too
        inside="Data/com.apple.CoreML/model.mlmodel",
    ),
    "orbax": FileFormat(".orbax", (), lambda _: False, inside="_METADATA"),
    "tesseract": FileFormat(".tesseract", (".traineddata",), lambda head: head[1:4] == b"\0\0\0" and 10 < head[0] < 40),
}
"""Every format by its name. A file's suffix decides if its bytes can be the start of that format; else its bytes do."""

SUFFIXES = tuple(suffix for entry in FORMATS.values() for suffix in entry.suffixes)


def is_model(path: str) -> bool:
    """Return whether a file is a model file, by its name or its first bytes."""
    try:
        if os.path.isdir(path):
            return _in_folder(path) is not None
        with open_input(path) as file:
            head = file.read(HEAD)
            return _format(path, head) is not None or refusal(path, head) is not None
    except (OSError, ValueError):
        return False


def recognised(head: bytes) -> str | None:
    """Return the description of a model file by its first bytes, such as `a model file of PyTorch`; else None."""
    entries = [entry for entry in FORMATS.values() if entry.starts(head)]
    writers = [*dict.fromkeys(entry.writer for entry in entries if entry.writer)]
    return f"a model file{f' of {one_of(writers)}' if writers else ''}" if entries else None


def read(path: str, flag: str = "") -> ModelFile:
    """Return the contents of a model file; its numbers are read later. Raises SpecError if it cannot be read.

    flag: the flag that names the file.
    """
    with reading(path, flag):
        if "\0" in path:
            raise BadFileError("no such file")
        if path == "-":
            raise BadFileError("a model file is named, not read from standard input")
        if entry := _in_folder(path):
            return entry.contents(os.path.join(path, entry.inside))._replace(path=path.rstrip("/"))
        if os.path.isdir(path):
            members = sorted(os.listdir(path))
            why = refusal(path.rstrip("/"), members=members)
            models = [f"{path.rstrip('/')}/{name}" for end in SUFFIXES for name in members if name.endswith(end)]
            example = f", such as {escape_path(models[0])}" if models else ""
            raise BadFileError(why or f"is a folder; name a file in it{example}")
        with open_input(path) as file:
            head = file.read(HEAD)
        if not head:
            raise BadFileError("is empty")
        members = _members(path, head)
        entry = _format(path, head, members)
        sure = entry and entry.suffixes and path.lower().endswith(entry.suffixes) and entry.starts(head)
        if why := "" if sure else refusal(path, head, members):
            raise BadFileError(why)
        if entry is FORMATS["pytorch"] and not entry.starts(head) and path.endswith(".bin"):
            raise BadFileError(RAW)
        if entry is None:
            inside = "is a zip archive, but no model" if members else "is not a model file that rnncalc reads"
            raise BadFileError(f"{inside}; those end in {one_of(SUFFIXES)}")
        model = entry.contents(path)
        shard = re.search(r"-\d{5}-of-(\d{5})[.]\w+$", path)
        remarks = [Remark(RemarkKind.SHARD, (), (int(shard[1]),))] if shard and int(shard[1]) > 1 else []
        return model._replace(remarks=(*remarks, *model.remarks))


@contextmanager
def reading(path: str, flag: str = "") -> Iterator[None]:
    """Turn any failure in reading a model file, or the numbers of a tensor, into a SpecError of one line."""
    try:
        yield
    except SpecError:
        raise
    except BadFileError as error:
        raise _refused(path, str(error), flag) from None
    except IsADirectoryError:
        raise _refused(path, "is a folder; name a file in it", flag) from None
    except OSError as error:
        raise _refused(path, escape(error.strerror or str(error)).lower(), flag) from None
    except Exception as error:  # a damaged or hostile file may raise anything
        raise _refused(path, f"cannot be read, it may be damaged: {type(error).__name__}", flag) from error


def _refused(path: str, message: str, flag: str) -> SpecError:
    where = f"'{escape_path(path)}'"
    return SpecError((Problem((), f"{where}: {message}", flag) if flag else Problem((), message, where),))


def _in_folder(path: str) -> FileFormat | None:
    """Return the format of a folder, None of one that is no model and of a file."""
    inside = [entry for entry in FORMATS.values() if entry.inside]
    return next((entry for entry in inside if os.path.isfile(os.path.join(path, entry.inside))), None)


def _members(path: str, head: bytes) -> list[str]:
    """Return the names of the files in a zip archive; none of another file."""
    if not _is_zip(head):
        return []
    from rnncalc.models.files.archive import Archive  # and zipfile, for archives alone

    with Archive(path) as archive:
        return archive.names


def _format(path: str, head: bytes, members: Sequence[str] = ()) -> FileFormat | None:
    """Return the format of an archive by what is in it; of a file by its suffix, if its bytes do not say another."""
    if members:
        zipped = [entry for entry in FORMATS.values() if entry.member]
        return next((entry for entry in zipped if any(re.search(entry.member, name) for name in members)), None)
    name = os.path.basename(path).lower()
    named = [entry for entry in FORMATS.values() if entry.suffixes and name.endswith(entry.suffixes)]
    starting = [entry for entry in FORMATS.values() if entry.starts(head)]
    both = [entry for entry in named if entry in starting]
    return next(iter(both or starting or named), None)
