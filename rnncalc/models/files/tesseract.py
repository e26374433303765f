"""Tesseract's `.traineddata`: a table of parts. One is the network: layers within layers, matrices within.

https://github.com/tesseract-ocr/tesseract, src/lstm: network.cpp, plumbing.cpp, lstm.cpp and weightmatrix.cpp write it;
seen in tesseract-ocr-eng 4.1.0, November 2026. A matrix has a row for each unit, of the weights
of its inputs, of its past and its bias: one bias for each gate. A file for use has a byte, or 8, for each weight.
"""

from __future__ import annotations

import struct
from typing import Any

from rnncalc.bounds import MOST_AXIS, MOST_CONFIG_DEPTH, MOST_MODULES, MOST_NAME
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError, FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole

_PART, _MOST_PARTS = 17, 100
"""The number of the network among the parts of a file."""
_IN_BYTES, _DOUBLES = 1, 128
_RATES = 64
"""Bits: of a matrix, that it has bytes and a scale for each row, and that scales are doubles; of a list, its rates."""
_LISTS = {"Series", "Parallel", "Replicated", "ParBidiLSTM", "DepParUDLSTM", "Par2dLSTM"}
_LISTS |= {"RTLReversed", "TTBReversed", "XYTranspose"}
_SIZES = {"Input": 20, "Convolve": 8, "Maxpool": 8, "Reconfig": 8}
"""The bytes of what has no weights."""
_DENSE = {"Logistic": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Linear": "linear", "Softmax": "softmax"}
_DENSE |= {"SoftmaxNoCTC": "softmax", "LinLogistic": "another", "LinTanh": "another"}
_GATES = "gifo"


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with open_input(path) as file:
        data = model.Bytes(file)
        (count,) = data.unpacked("I", 0)
        if count > _MOST_PARTS:
            raise BadFileError("is truncated, or has no list of its parts")
        starts = data.unpacked(f"{count}q", 4)
        start = starts[_PART] if count > _PART else -1
        if start < 0:
            raise BadFileError("has no LSTM; its parts are those of Tesseract 3, which are not read")
        network = _Network(data, start, min((each for each in starts if each > start), default=data.size))
        stored = network.layer("", 0)
        string = network.text()
    if network.modules and network.modules[-1].kind == "Dense":  # the output layer, whose names are its own
        last = network.modules.pop()
        network.modules.append(last._replace(tensors=dict(zip(("W_hy", "b_y"), last.tensors.values(), strict=True))))
    tensors = tuple(tensor for module in network.modules for tensor in module.tensors.values())
    if stored != sum(tensor.params for tensor in tensors):
        raise BadFileError(f"says that it has {stored:,} weights, and its matrices have another number")
    remark = Remark(RemarkKind.VGSL, (string,), (stored,))
    return ModelFile(path, "tesseract", "textbook", tensors, tuple(network.modules), remarks=(remark,))


def _refuse() -> Any:
    raise BadFileError("its numbers are not read: no spec computes what Tesseract does with them")


class _Network:
    """Reads a network from one part of a file, from start to end."""

    def __init__(self, data: model.Bytes, start: int, end: int) -> None:
        self.data, self.at, self.end = data, start, end
        self.modules: list[FileModule] = []

    def skip(self, count: int) -> int:
        """Return the place of so many bytes, and go behind them."""
        start, self.at = self.at, self.at + count
        if self.at > self.end:
            raise BadFileError("is truncated, or its network is damaged")
        return start

    def numbers(self, form: str) -> tuple[int, ...]:
        return self.data.unpacked(form, self.skip(struct.calcsize(f"<{form}")))

    def text(self) -> str:
        (size,) = self.numbers("I")
        return self.data.piece(self.skip(size), min(size, MOST_NAME)).decode("utf-8", "replace")

    def layer(self, above: str, depth: int) -> int:
        """Add the layers with weights of the next layer; return the number of weights that it says it has."""
        (old,) = self.numbers("b")
        if old or depth > MOST_CONFIG_DEPTH or len(self.modules) > MOST_MODULES:
            raise BadFileError("has a network of before Tesseract 4.0, or of more layers than are read")
        kind = self.text()
        training, _, flags, inputs, units, count = self.numbers("bbiiii")
        name = self.text() or kind
        if training == 1:
            raise BadFileError("is a checkpoint of a training; lstmtraining --stop_training makes a model of it")
        if not (0 <= inputs < MOST_AXIS and units >= 0):
            raise BadFileError("is truncated, or its network is damaged")
        if kind in _LISTS:
            self._list(kind, above, flags, depth)
        elif kind in _SIZES:
            self.skip(_SIZES[kind])
        elif kind in _DENSE:
            rows, columns = self._matrix()
            self._add(name, {"W": (rows, columns - 1), "b": (rows,)}, {"activation": _DENSE[kind]})
        elif "LSTM" in kind:
            self._lstm(kind, name, above, inputs, units)
        else:
            raise BadFileError("has a layer of a kind that is none of Tesseract's")
        return count

    def _list(self, kind: str, above: str, flags: int, depth: int) -> None:
        (layers,) = self.numbers("I")
        before = len(self.modules)
        for _ in range(layers):
            self.layer("" if kind == "Series" else f"{above}/{kind}", depth + 1)
        if kind == "ParBidiLSTM" and len(self.modules) == before + 2:
            ways = zip(("forward/", "backward/"), self.modules[before:], strict=True)
            both = {f"{way}{leaf}": tensor for way, module in ways for leaf, tensor in module.tensors.items()}
            self.modules[before:] = [self.modules[before]._replace(tensors=both, settings={})]
        if flags & _RATES:
            (rates,) = self.numbers("I")
            self.skip(4 * rates)

    def _lstm(self, kind: str, name: str, above: str, inputs: int, units: int) -> None:
        (columns,) = self.numbers("i")
        shapes: dict[str, tuple[int, ...]] = {}
        if kind not in ("LSTM", "SummLSTM") or columns != inputs + units:
            raise BadFileError("has an LSTM with two pasts or a softmax within, which is not read")
        for gate in _GATES:
            if self._matrix() != (units, columns + 1):
                raise BadFileError("has an LSTM whose matrices do not fit its sizes")
            shapes |= {f"W_x{gate}": (units, inputs), f"W_h{gate}": (units, units), f"b_{gate}": (units,)}
        self._add(name, shapes, {"direction": ["reverse"]} if "Reversed" in above else {})

    def _matrix(self) -> tuple[int, int]:
        """Return the shape of a matrix, and go behind its numbers."""
        mode, rows, columns = self.numbers("BII")
        wide = 8 if mode & _DOUBLES else 4
        if not mode & _IN_BYTES:
            self.skip((rows * columns + 1) * wide)
        else:
            self.skip(rows * columns + 1)
            (scales,) = self.numbers("I")
            self.skip(scales * wide)
        if not columns:
            raise BadFileError("has a matrix without columns")
        return rows, columns

    def _add(self, name: str, shapes: dict[str, tuple[int, ...]], settings: dict[str, Any]) -> None:
        taken = {module.path for module in self.modules}
        path = f"{name} {len(taken)}" if name in taken else name
        role, dtype = TensorRole.PARAMETER, "float32"
        tensors = {leaf: FileTensor(f"{path}/{leaf}", shape, dtype, role, _refuse) for leaf, shape in shapes.items()}
        self.modules.append(FileModule(path, tensors, "LSTM" if len(shapes) > 2 else "Dense", settings))
