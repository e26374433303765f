"""PaddlePaddle's `.pdparams`: a plain pickle of NumPy arrays, and of the names that its parameters have elsewhere.

Seen in paddle 3.3.1, November 2026: a layer has its array under its own name and, once more, under its cell's.
"""

from __future__ import annotations

from functools import partial

from rnncalc.bounds import MOST_AXES, MOST_NAME, MOST_PICKLE, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.by_name import of_names
from rnncalc.models.files.model import BYTES, BadFileError, FileTensor, ModelFile
from rnncalc.models.files.npz import dtype_of
from rnncalc.models.files.pickles import ARRAYS, PickledCall, unpickled
from rnncalc.printable import escape

_NAMES = "StructuredToParameterName@@"


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with open_input(path) as file:
        table = unpickled(file.read(MOST_PICKLE + 1))
    if not isinstance(table, dict) or len(table) > MOST_TENSORS:
        raise BadFileError("has a pickle that is not a dictionary of arrays")
    return of_names(path, "paddle", [_tensor(name, value) for name, value in table.items() if name != _NAMES])


def _tensor(name: object, value: object) -> FileTensor:
    """Return what NumPy's own pickle of an array describes: its state is (version, shape, type, by columns, bytes)."""
    call = value if isinstance(value, PickledCall) and value.name in ARRAYS else PickledCall(None, ())
    shape: tuple[int, ...] = ()
    kind, order, columns, data = "", "", False, b""
    match call.state:
        case (int(), tuple(shape), PickledCall(args=(str(kind), *_), state=(_, str(order), *_)), columns, bytes(data)):
            pass
    dtype = dtype_of(kind[:1], kind[1:2])
    if not isinstance(name, str) or len(name) > MOST_NAME or dtype not in BYTES or len(shape) > MOST_AXES:
        shown = escape(str(name))
        raise BadFileError(f"has {shown}, which is not a plain array of numbers; save model.state_dict() alone")
    model.check_length(name, shape, dtype, len(data))
    strides = model.row_strides(shape, columns_first=columns)
    read = partial(_numbers, data, dtype, "big" if order == ">" else "little", shape, strides)
    return FileTensor(name, shape, dtype, model.role_of(name, dtype), read)


def _numbers(data: bytes, dtype: str, order: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> object:
    return model.strided(model.decoded(data, dtype, order), shape, strides)
