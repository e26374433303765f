"""NumPy's archives: a zip of .npy files, each a header and the numbers of one array.

https://numpy.org/doc/2.4/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import re
from functools import partial
from math import prod

from rnncalc.bounds import MOST_AXES, MOST_NAME, MOST_TENSORS
from rnncalc.models.files import model
from rnncalc.models.files.archive import Archive, TensorView, numbers_of
from rnncalc.models.files.by_name import of_names
from rnncalc.models.files.model import BYTES, BadFileError, FileTensor, ModelFile
from rnncalc.printable import escape

_HEADER = re.compile(
    r"\{'descr': '([<>|=])([a-zA-Z])(\d{1,3})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\),? *\}\s*"
)
_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}
"""The words for the letters of NumPy's types."""
MOST_ARRAY_HEADER = 4_000
"""The most bytes of an array's header. 128 are usual, because NumPy pads it to a multiple of 64."""


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with Archive(path) as archive:
        names = [name for name in archive.names if name.endswith(".npy") and len(name) <= MOST_NAME]
        if len(names) > MOST_TENSORS:
            raise BadFileError(f"holds {len(names):,} arrays; at most {MOST_TENSORS:,} are read")
        tensors = [_tensor(path, archive, name) for name in names]
        return of_names(path, "npz", tensors, convention=archive.comment)


def dtype_of(letter: str, size: str) -> str:
    """Return the name of NumPy's type of a letter and a number of bytes."""
    return "bool" if letter == "b" else f"{_KINDS.get(letter, '')}{8 * int(size if size.isdecimal() else 0)}"


def _tensor(path: str, archive: Archive, file: str) -> FileTensor:
    name, size = file.removesuffix(".npy"), archive.size(file) or 0
    head = archive.piece(file, 0, min(size, MOST_ARRAY_HEADER))
    width = 2 if head[6:7] == b"\1" else 4  # of the length of the header, by the version of the format
    start = 8 + width + int.from_bytes(head[8 : 8 + width], "little")
    fields = _HEADER.fullmatch(head[8 + width : start].decode("latin-1"))
    if head[:6] != b"\x93NUMPY" or start > len(head) or not fields or fields[2] not in _KINDS:
        raise BadFileError(f"has {escape(name)}, which is not a plain array of numbers")
    sign, kind, digits, columns_first, sizes = fields.groups()
    shape = tuple(int(each[:18]) for each in re.findall(r"\d+", sizes)[: MOST_AXES + 1])
    dtype = dtype_of(kind, digits)
    if not model.is_shape(shape):
        raise BadFileError(f"has {escape(name)}, an array of more than {MOST_AXES} axes or with one that is too long")
    if dtype not in BYTES or prod(shape) * BYTES[dtype] != size - start:
        raise BadFileError(f"has {escape(name)} of {size - start:,} bytes, which its shape and type do not need")
    strides = model.row_strides(shape, columns_first=columns_first == "True")
    view = TensorView(file, start, strides, shape, dtype)
    read = partial(numbers_of, (path,), "big" if sign == ">" else "little", view)
    return FileTensor(name, shape, dtype, model.role_of(name, dtype), read)
