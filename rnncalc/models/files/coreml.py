"""Core ML's models: the layers of a neural network, or the operations of a program, in protocol buffers.

https://apple.github.io/coremltools/mlmodel: NeuralNetwork.html and MIL.html have the fields by number; seen in
coremltools 9.0, November 2026. The layers with weights are read under Keras's names, in their order. What joins them is
not, nor is a loop, which a GRU of PyTorch's becomes. Gates are i, f, c, o in a layer, and i, f, o, c in a program.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any

from rnncalc.bounds import MOST_CONFIG_DEPTH, MOST_NAME, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError, FileModule, FileTensor, ModelFile, Remark, RemarkKind
from rnncalc.models.files.protobuf import Wire
from rnncalc.printable import escape

Field = int | range
Fields = dict[int, list[Field]]
"""The values of a message by the numbers of its fields: whole numbers, or ranges of bytes."""

_NETWORKS, _PROGRAM = {303, 403, 500}, 502
_ACTIVATION, _LOOP, _TABLE = 130, 615, 1040
_CELLS = {
    400: ("SimpleRNN", ((30,), (31,), (32,))),
    410: ("GRU", ((30, 31, 32), (50, 51, 52), (70, 71, 72))),
    420: ("LSTM", ((1, 2, 3, 4), (20, 21, 22, 23), (40, 41, 42, 43))),
    430: ("LSTM", ((1, 2, 3, 4), (20, 21, 22, 23), (40, 41, 42, 43))),
}
"""The recurrent layers, with the fields of a gate's matrices and bias each, in the order of Keras."""
_DENSE = {
    140: ("Dense", "kernel", 1, 2),
    150: ("Embedding", "embeddings", 1, 2),
    1040: ("Embedding", "embeddings", 1, 2),
}
"""The layers of a matrix, with Keras's name for it, and the fields of its input and output widths."""
_OTHERS = {100: (90, 91), 160: (15, 16), 245: (2, 5), 250: (2,), 500: (20,), 1045: (8, 9), 1350: (3, 4), 1471: (60, 61)}
"""Other layers that have weights: convolutions, norms, sums and products, and those of one's own."""
_FUNCTIONS = {5: "linear", 10: "relu", 30: "tanh", 40: "sigmoid", 41: "hard", 50: "elu", 60: "softsign", 70: "softplus"}
_STORED = {1: "float32", 2: "float16", 30: "uint8", 31: "uint8"}
"""The types of the numbers of a layer, by the field that they are in; whole ones are of few bits each."""
_NO_CLIP = 500
"""What coremltools writes as the bound of a cell state if there is none; no state is as large before step 500."""

_TYPES = {10: "float16", 11: "float32", 12: "float64", 13: "bfloat16", 1: "bool"}
_TYPES |= {21: "int8", 22: "int16", 23: "int32", 24: "int64", 31: "uint8", 32: "uint16", 33: "uint32", 34: "uint64"}
_WORDS = {1: "float32", 6: "float64"}
"""The types of numbers that are within a program, by the field that they are in."""
_WEIGHTS = {"weight", "bias", "gamma", "beta", "alpha", "weight_ih", "weight_hh", "weight_ih_back", "weight_hh_back"}
_WEIGHTS |= {"bias_back", "peephole", "peephole_back"}
_NAMES = {"weight_ih": "kernel", "weight_hh": "recurrent_kernel", "bias": "bias"}
_CLASSES = {"lstm": "LSTM", "rnn": "SimpleRNN"}
_OF_FUNCTION = {"relu", "tanh", "sigmoid", "softmax", "gelu", "elu", "silu", "softplus", "softsign", "leaky_relu"}
_OF_FUNCTION |= {"sigmoid_hard", "relu6", "prelu", "scaled_tanh", "clamped_relu", "thresholded_relu"}
_BLOB = 0xDEADBEEF
"""What a program's numbers begin with in their file: this, their type, their bytes, and where these begin."""


def read(path: str) -> ModelFile:
    """Return the contents of a file, and of the weights beside it."""
    with open_input(path) as file:
        reading = _Reading(path, file)
        for number, value in reading.wire.fields(range(reading.wire.size)):
            if number in _NETWORKS:
                reading.network(value)
            elif number == _PROGRAM:
                for block in reading.every(value, 2, 2, 3, 2):  # of a function, and of a version of it
                    reading.block(block)
    if not reading.modules and not reading.tensors:
        raise BadFileError(
            "has no neural network and no program with weights; name the model that it was converted from"
        )
    remarks = [Remark(RemarkKind.COUNTED), *model.quantised_remarks(reading.quantised)]
    remarks += model.named_remarks({RemarkKind.LOOPS: reading.loops})
    modules = tuple(reading.with_activation(module) for module in reading.modules)
    return ModelFile(path, "coreml", "keras", tuple(reading.tensors.values()), modules, remarks=tuple(remarks))


class _Reading:
    """The tensors and modules of a file. loops: the names of those that have some of them; open: of those around.

    values: what a program's names are, of those that are constants. readers: the kinds of what reads each output.
    """

    def __init__(self, path: str, file: Any) -> None:
        self.path, self.wire = path, Wire(file)
        self.tensors: dict[str, FileTensor] = {}
        self.modules: list[FileModule] = []
        self.quantised: dict[str, int] = {}
        self.loops: list[str] = []
        self.open: list[str] = []
        self.values: dict[str, Any] = {}
        self.readers: dict[str, list[str]] = {}

    def fields(self, value: Field) -> Fields:
        """Return the fields of a message."""
        fields: Fields = {}
        for number, each in self.wire.fields(value) if isinstance(value, range) else ():
            fields.setdefault(number, []).append(each)
        return fields

    def every(self, value: Field, *path: int) -> Iterator[Field]:
        """Yield the values that are below a message by a path of numbers of fields."""
        for number, each in self.wire.fields(value) if isinstance(value, range) else ():
            if number == path[0]:
                yield from self.every(each, *path[1:]) if path[1:] else [each]

    def first(self, value: Field, *path: int) -> Field:
        """Return the first of these values, 0 if there is none."""
        return next(self.every(value, *path), 0)

    def whole(self, value: Field, *path: int) -> int:
        """Return the first as a whole number, 0 if it is none."""
        return each if isinstance(each := self.first(value, *path), int) else 0

    def text(self, value: Field, *path: int) -> str:
        """Return the first as a text, empty if it is none."""
        return self.wire.text(each, MOST_NAME) if isinstance(each := self.first(value, *path), range) else ""

    @contextmanager
    def loop(self, name: str) -> Iterator[None]:
        """Read what is in a loop or in a branch."""
        before = len(self.modules)
        self.open.append(name)
        if len(self.open) > MOST_CONFIG_DEPTH:
            raise BadFileError("has loops within loops, deeper than any model's")
        yield
        self.open.pop()
        self.loops += [name] if len(self.modules) > before and not self.open else []

    def with_activation(self, module: FileModule) -> FileModule:
        """Return a dense layer with the function that alone reads its output."""
        if module.kind != "Dense":
            return module
        kinds = self.readers.get(module.settings["output"], [])
        function = kinds[0] if len(kinds) == 1 and kinds[0] in _OF_FUNCTION else "linear"
        return module._replace(settings={"activation": function})

    def add(
        self, path: str, kind: str, parts: Mapping[str, FileTensor | None], settings: Mapping[str, Any] = {}
    ) -> None:
        """Add a module and its tensors, None for one that it lacks; one that is there already is shared.

        In a loop, whose steps are not read, it is a layer of no known kind.
        """
        if len(self.tensors) > MOST_TENSORS:
            raise BadFileError(f"holds more than {MOST_TENSORS:,} tensors")
        tensors = {}
        for leaf, tensor in parts.items():
            if tensor:
                again = self.tensors.get(tensor.name)
                name = tensor.name if again is None else f"{tensor.name} {len(self.tensors)}"
                self.tensors[name] = tensors[leaf] = tensor._replace(name=name, shared_with=again and tensor.name)
        kind = "operator" if self.open or kind == "operator" else "Bidirectional" if "/" in "".join(tensors) else kind
        if parameters := {leaf: tensor for leaf, tensor in tensors.items() if tensor.is_parameter}:
            self.modules.append(FileModule(path, parameters, kind, {} if kind == "operator" else settings))

    # A neural network: layers with their weights within

    def network(self, value: Field) -> None:
        """Add the layers of a network."""
        for layer in self.every(value, 1):
            self._layer(self.text(layer, 1), self.fields(layer))

    def _layer(self, name: str, layer: Fields) -> None:
        kind = next((number for number in layer if number >= 100), 0)
        span = layer[kind][0] if kind else 0
        options = self.fields(span)
        function = "softmax" if kind in (175, 950) else "gelu" if kind == 795 else ""
        if kind == _ACTIVATION:
            function = _FUNCTIONS.get(next(iter(options), 0), "sigmoid_hard")
        for source in layer.get(2, []):
            self.readers.setdefault(self.wire.text(source, MOST_NAME), []).append(function)
        if kind == _LOOP:
            with self.loop(name):
                for body in options.get(4, []):
                    self.network(body)
        elif kind in _CELLS:
            self._cell(name, kind, span, options)
        elif kind in _DENSE:
            word, leaf, *widths = _DENSE[kind]
            inputs, units = (self.whole(span, field) for field in widths)
            matrix = self._weights(f"{name}/{leaf}", options.get(20, []), (units, inputs))
            bias = self._weights(f"{name}/bias", options.get(21, []), (units,))
            output = "".join(self.wire.text(each, MOST_NAME) for each in layer.get(3, [])[:1])
            self.add(name, word, {leaf: matrix and model.turned(matrix), "bias": bias}, {"output": output})
        else:
            fields = _OTHERS.get(kind, ())
            self.add(name, "operator", {str(at): self._weights(f"{name}/{at}", options.get(at, [])) for at in fields})

    def _weights(self, name: str, values: Iterable[Field], shape: tuple[int, ...] = ()) -> FileTensor | None:
        """Return the arrays of some fields as one tensor, the first axis that of all; None if they have no numbers."""
        pieces, dtype = [], ""
        for value in values:
            for number, data in self.wire.fields(value) if isinstance(value, range) else ():
                if number in _STORED and isinstance(data, range) and data:
                    pieces.append((self.path, data.start, len(data)))
                    dtype = _STORED[number]
        if not pieces:
            return None
        count = sum(size for *_, size in pieces) // model.BYTES[dtype]
        shape = model.shape_of(name, shape or (count,))
        if dtype == "uint8":
            self.quantised[name], shape = prod(shape), (count,)
        elif count != prod(shape):
            raise BadFileError(f"has {escape(name)} of {count:,} numbers, which its sizes do not need")
        read = partial(model.numbers_in, pieces, dtype, shape)
        return FileTensor(name, shape, dtype, model.role_of("", dtype), read)

    def _cell(self, name: str, kind: int, span: Field, layer: Fields) -> None:
        word, fields = _CELLS[kind]
        inputs, units, gates = self.whole(span, 1), self.whole(span, 2), len(fields[0])
        of_lstm = word == "LSTM"  # whose weights and options are messages of their own
        ways = [*map(self.fields, layer.get(20, []))] if of_lstm else [layer]
        parts: dict[str, FileTensor | None] = {}
        for way, mark in zip(ways, ("forward/", "backward/") if kind == 430 else ("",), strict=False):
            for leaf, numbers, width in zip(_NAMES.values(), fields, (inputs, units, 0), strict=True):
                values = [value for number in numbers for value in way.get(number, [])]
                tensor = self._weights(f"{name}/{mark}{leaf}", values, (gates * units, *[width] * bool(width)))
                parts[f"{mark}{leaf}"] = tensor and model.turned(tensor)
        functions, back = (
            [_FUNCTIONS.get(next(iter(self.fields(value)), 0), "") for value in layer.get(number, [])]
            for number in (10, 11)
        )
        clips = [self.wire.reals(each) for each in self.every(span, 15, 60) if isinstance(each, range)]
        settings = _settings(word, functions, back or functions)
        settings |= {"go_backwards": bool(self.whole(span, 100)), "clip": any(0 < each[0] < _NO_CLIP for each in clips)}
        settings |= {} if self.whole(span, 15, *[10] * of_lstm) else {"return_sequences": False}
        plain = not any(self.whole(span, 15, number) for number in (30, 40, 50))
        self.add(name, word if plain else "operator", parts, settings)

    # A program: operations whose constants are within, or in a file beside it

    def block(self, value: Field) -> None:
        """Add the operations of a block."""
        for operation in self.every(value, 3):
            self._operation(operation)

    def _operation(self, operation: Field) -> None:
        kind, name = self.text(operation, 1), self.text(operation, 3, 1)
        if kind == "const":
            attributes = {self.text(each, 1): self.first(each, 2) for each in self.every(operation, 5)}
            self.values[name] = self._value(name, attributes.get("val", 0))
            return
        if kind.startswith("constexpr_"):  # of few bits each
            self.quantised[name] = prod(self._shape(self.first(operation, 3, 2))[1])
            return
        inputs: dict[str, Any] = {}
        for each in self.every(operation, 2):
            word, binding = self.text(each, 1), self.first(each, 2, 1)
            source, value = self.text(binding, 1), self.first(binding, 2)
            self.readers.setdefault(source, []).append(kind)
            inputs[word] = self._value(f"{name}/{word}", value) if value else self.values.get(source)
        table = kind == "gather" and inputs.get("axis", 0) == 0
        weights = {
            word: value
            for word, value in inputs.items()
            if isinstance(value, FileTensor)
            and value.shape
            and value.dtype in model.REAL
            and (word in _WEIGHTS or (table and word == "x") or (kind == "matmul" and word in "xy"))
        }
        self._module(kind, name, inputs, weights)
        with self.loop(name):
            for block in self.every(operation, 4):
                self.block(block)

    def _module(self, kind: str, name: str, inputs: Mapping[str, Any], weights: dict[str, FileTensor]) -> None:
        """Add the module of an operation; that of a cell is known by its operation."""
        matrix = weights.get("weight" if kind == "linear" else "weight_hh")
        settings: dict[str, Any] = {"output": name}
        module = "operator"
        if kind in _CLASSES and matrix is not None and len(matrix.shape) == 2:
            way, units = inputs.get("direction"), matrix.shape[1]
            blocks = (0, 1, 3, 2) if kind == "lstm" else (0,)  # of i, f, o, c
            parts = {}
            for word, tensor in weights.items():
                mark = ("backward/" if word.endswith("_back") else "forward/") if way == "bidirectional" else ""
                leaf = _NAMES.get(word.removesuffix("_back"), word)
                parts[f"{mark}{leaf}"] = model.turned(_reordered(tensor, blocks, units))
            functions = [inputs.get(word) for word in ("recurrent_activation", "cell_activation", "activation")]
            module, weights = _CLASSES[kind], parts
            settings = _settings(module, functions if kind == "lstm" else functions[2:], ())
            settings |= {"go_backwards": way == "reverse", "clip": inputs.get("clip") is not None}
            settings |= {} if inputs.get("output_sequence") else {"return_sequences": False}
        elif kind == "linear" and matrix is not None:
            module, weights = "Dense", {"kernel" if word == "weight" else word: each for word, each in weights.items()}
            weights["kernel"] = model.turned(matrix)
        elif kind == "gather" and "x" in weights:
            module, weights = "Embedding", {"embeddings": weights["x"]}
        self.add(name, module, weights, settings)

    def _shape(self, kind: Field) -> tuple[str, tuple[int, ...]]:
        """Return the type and the shape of a tensor."""
        sizes = [self.whole(size, 1, 1) for size in self.every(kind, 1, 3)]
        return _TYPES.get(self.whole(kind, 1, 1), ""), model.shape_of("", sizes)

    def _value(self, name: str, value: Field) -> Any:
        """Return a constant: a tensor, or the one word or number that it is; None for another."""
        dtype, shape = self._shape(self.first(value, 2))
        if blob := self.first(value, 5):
            return self._blob(name, self.text(blob, 1), self.whole(blob, 2), dtype, shape)
        for numbers in self.every(value, 3, 1):
            for field, (span, *_) in self.fields(numbers).items():
                held = self.first(span, 1)
                if field == 4 and isinstance(held, range):
                    return self.wire.text(held, MOST_NAME)
                if isinstance(held, range) and shape and dtype in model.REAL and field in (*_WORDS, 7):
                    return self._tensor(name, self.path, held, dtype, shape)
                return self.wire.numbers(held)[0] if field in (2, 3, 5) and held else 0.0
        return None

    def _blob(self, name: str, file: str, offset: int, dtype: str, shape: tuple[int, ...]) -> FileTensor:
        """Return a tensor of the file of weights, which is in a folder beside the program."""
        folder, _, base = file.removeprefix("@model_path/").rpartition("/")
        if folder not in ("", "weights"):
            raise BadFileError(f"names the file {escape(file)}, which is not beside it")
        path = model.beside(os.path.join(os.path.dirname(self.path), folder, "any"), base)
        if not os.path.exists(path):
            raise BadFileError(f"keeps its numbers in {escape(file)}, which is not there")
        with open_input(path) as blobs:
            size = os.fstat(blobs.fileno()).st_size
            blobs.seek(min(offset, size))
            head = blobs.read(24)
        mark, _, length, start = struct.unpack("<IIQQ", head) if len(head) == 24 else (0, 0, 0, 0)
        if mark != _BLOB or start + length > size:
            raise BadFileError(f"has {escape(name)}, whose numbers are not in {escape(file)}")
        return self._tensor(name, path, range(start, start + length), dtype, shape)

    def _tensor(self, name: str, path: str, span: range, dtype: str, shape: tuple[int, ...]) -> FileTensor:
        model.check_length(name, shape, dtype, len(span))
        read = partial(model.numbers_at, path, span.start, dtype, shape)
        return FileTensor(name, shape, dtype, model.role_of("", dtype), read)


def _settings(word: str, functions: Sequence[Any], back: Sequence[Any]) -> dict[str, Any]:
    """Return a cell's settings in Keras's words; functions: of its gates, its candidate and its output."""
    names = [name or "another" for name in functions] or ["another"]
    alike = len({*names[1:]}) < 2 and (not back or [*back] == [*functions])
    gates = {} if word == "SimpleRNN" else {"recurrent_activation": names[0]}
    return {"activation": names[-1], "cell": word, **gates, **({} if alike else {"ways": "apart"})}


def _reordered(tensor: FileTensor, blocks: Sequence[int], units: int) -> FileTensor:
    """Return a tensor with its blocks of rows in an order."""
    return tensor._replace(read=lambda: [row for at in blocks for row in tensor.read()[at * units : (at + 1) * units]])
