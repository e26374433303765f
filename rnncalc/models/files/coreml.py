"""Core ML's models: the layers of a neural network, or the operations of a program, in protocol buffers.

https://apple.github.io/coremltools/mlmodel: NeuralNetwork.html and MIL.html have the fields by number; seen in
coremltools 9.0, November 2026. The layers with weights are read under Keras's names, in their order. What joins them is
not, nor is a loop, which a GRU of PyTorch's becomes. Gates are i, f, c, o in a layer, and i, f, o, c in a program.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from rnncalc.bounds import MOST_CONFIG_DEPTH, MOST_NAME, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError, FileModule, FileTensor, ModelFile, Remark, RemarkKind
from rnncalc.models.files.model import TensorRole as Role
from rnncalc.models.files.protobuf import Wire
from rnncalc.printable import escape

Fields = dict[int, list[int | range]]
"""The values of a message by the numbers of its fields."""

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
        for number, value in reading.wire.fields(range(reading.size)):
            if number in _NETWORKS and isinstance(value, range):
                reading.network(value)
            elif number == _PROGRAM and isinstance(value, range):
                reading.program(value)
    if not reading.modules and not reading.tensors:
        raise BadFileError(
            "has no neural network and no program with weights; name the model that it was converted from"
        )
    remarks = [Remark(RemarkKind.COUNTED), *model.quantised_remarks(reading.quantised)]
    remarks += [Remark(RemarkKind.LOOPS, tuple(reading.loops))] if reading.loops else []
    modules = tuple(reading.with_activation(module) for module in reading.modules)
    return ModelFile(path, "coreml", "keras", tuple(reading.tensors.values()), modules, remarks=tuple(remarks))


class _Reading:
    """The tensors and modules of a file. loops: the names of those that have some of them.

    values: what a program's names are, of those that are constants. readers: the kinds of what reads each output.
    """

    def __init__(self, path: str, file: Any) -> None:
        self.path, self.wire, self.size = path, Wire(file), os.fstat(file.fileno()).st_size
        self.tensors: dict[str, FileTensor] = {}
        self.modules: list[FileModule] = []
        self.quantised: dict[str, int] = {}
        self.loops: list[str] = []
        self.values: dict[str, Any] = {}
        self.readers: dict[str, list[str]] = {}

    def fields(self, value: int | range) -> Fields:
        """Return the fields of a message."""
        fields: Fields = {}
        for number, each in self.wire.fields(value) if isinstance(value, range) else ():
            fields.setdefault(number, []).append(each)
        return fields

    def text(self, fields: Fields, number: int) -> str:
        """Return a text, empty if there is none."""
        return self.wire.text(fields[number][0], MOST_NAME) if number in fields else ""

    def with_activation(self, module: FileModule) -> FileModule:
        """Return a dense layer with the function that alone reads its output."""
        if module.kind != "Dense":
            return module
        kinds = self.readers.get(module.settings["output"], [])
        function = kinds[0] if len(kinds) == 1 and kinds[0] in _OF_FUNCTION else "linear"
        return module._replace(settings={"activation": function})

    def add(self, path: str, kind: str, parts: Mapping[str, FileTensor], settings: Mapping[str, Any]) -> None:
        """Add a module and its tensors; a tensor that is there already is shared."""
        if len(self.tensors) > MOST_TENSORS:
            raise BadFileError(f"holds more than {MOST_TENSORS:,} tensors")
        tensors = {}
        for leaf, tensor in parts.items():
            again = self.tensors.get(tensor.name)
            name = tensor.name if again is None else f"{tensor.name} {len(self.tensors)}"
            self.tensors[name] = tensors[leaf] = tensor._replace(name=name, shared_with=again and tensor.name)
        kind = "Bidirectional" if kind != "operator" and any("/" in leaf for leaf in parts) else kind
        parameters = {leaf: tensor for leaf, tensor in tensors.items() if tensor.is_parameter}
        if parameters:
            self.modules.append(FileModule(path, parameters, kind, settings))

    # A neural network: layers with their weights within

    def network(self, span: range, loop: str = "", depth: int = 0) -> None:
        """Add the layers of a network."""
        if depth > MOST_CONFIG_DEPTH:
            raise BadFileError("has loops within loops, deeper than any model's")
        for number, value in self.wire.fields(span):
            if number == 1:
                self._layer(self.fields(value), loop, depth)

    def _layer(self, layer: Fields, loop: str, depth: int) -> None:
        name = self.text(layer, 1)
        kind = next((number for number in layer if number >= 100), 0)
        span = layer[kind][0] if kind else 0
        if not isinstance(span, range):
            return
        function = "softmax" if kind in (175, 950) else "gelu" if kind == 795 else ""
        if kind == _ACTIVATION:
            function = _FUNCTIONS.get(next(iter(self.fields(span)), 0), "sigmoid_hard")
        for source in layer.get(2, []):
            self.readers.setdefault(self.wire.text(source, MOST_NAME), []).append(function)
        if kind == _LOOP:
            before = len(self.modules)
            for body in self.fields(span).get(4, []):
                if isinstance(body, range):
                    self.network(body, name, depth + 1)
            self.loops += [name] if len(self.modules) > before else []
        elif kind in _CELLS:
            self._cell(name, kind, self.fields(span), loop)
        elif kind in _DENSE:
            self._dense(name, kind, self.fields(span), loop, self.text(layer, 3))
        else:
            weights = self.fields(span) if kind in _OTHERS else {}
            others = {str(at): self._weights(f"{name}/{at}", weights.get(at, []), None) for at in _OTHERS.get(kind, ())}
            self.add(name, "operator", {leaf: each for leaf, each in others.items() if each}, {})

    def _weights(self, name: str, values: Sequence[int | range], shape: tuple[int, ...] | None) -> FileTensor | None:
        """Return the arrays of some fields as one tensor, the first axis that of all; None if they have no numbers."""
        pieces, dtype, counted = [], "", 0
        for value in values:
            for number, data in self.fields(value).items():
                if number in (1, 2, 30, 31) and isinstance(data[0], range) and data[0]:
                    pieces.append((self.path, data[0].start, len(data[0])))
                    counted += len(data[0]) // {1: 4, 2: 2}.get(number, 1)
                    dtype = {1: "float32", 2: "float16"}.get(number, "uint8")
        if not pieces:
            return None
        shape = model.shape_of(name, shape or (counted,))
        if dtype == "uint8":  # of few bits each
            self.quantised[name] = prod(shape)
            return FileTensor(
                name, (counted,), dtype, Role.BUFFER, partial(model.numbers_in, pieces, dtype, (counted,))
            )
        if counted != prod(shape):
            raise BadFileError(f"has {escape(name)} of {counted:,} numbers, which its sizes do not need")
        return FileTensor(name, shape, dtype, Role.PARAMETER, partial(model.numbers_in, pieces, dtype, shape))

    def _dense(self, name: str, kind: int, layer: Fields, loop: str, output: str) -> None:
        word, leaf, *widths = _DENSE[kind]
        inputs, units = (_whole(layer, field) for field in widths)
        matrix = self._weights(f"{name}/{leaf}", layer.get(20, []), (units, inputs))
        parts = {
            leaf: matrix and model.turned(matrix),
            "bias": self._weights(f"{name}/bias", layer.get(21, []), (units,)),
        }
        self.add(
            name, "operator" if loop else word, {leaf: each for leaf, each in parts.items() if each}, {"output": output}
        )

    def _cell(self, name: str, kind: int, layer: Fields, loop: str) -> None:
        word, fields = _CELLS[kind]
        inputs, units, gates = _whole(layer, 1), _whole(layer, 2), len(fields[0])
        options = self.fields(layer[15][0]) if 15 in layer and word == "LSTM" else {}
        ways = [self.fields(value) for value in layer.get(20, [])] if word == "LSTM" else [layer]
        parts: dict[str, FileTensor] = {}
        for way, mark in zip(ways, ("forward/", "backward/") if kind == 430 else ("",), strict=False):
            for leaf, numbers, width in zip(_NAMES.values(), fields, (inputs, units, 0), strict=True):
                values = [value for number in numbers for value in way.get(number, [])]
                shape = (gates * units, width) if width else (gates * units,)
                if tensor := self._weights(f"{name}/{mark}{leaf}", values, shape):
                    parts[f"{mark}{leaf}"] = model.turned(tensor) if width else tensor
        functions = [
            [_FUNCTIONS.get(next(iter(self.fields(value)), 0), "") for value in layer.get(number, [])]
            for number in (10, 11)
        ]
        clips = [self.wire.reals(value) for value in options.get(60, []) if isinstance(value, range)]
        ends = not _whole(options if word == "LSTM" else layer, 10 if word == "LSTM" else 15)
        plain = not (loop or {30, 40, 50} & {number for number in options if _whole(options, number)})
        settings = _settings(word, functions[0], functions[1] or functions[0])
        settings |= {"go_backwards": bool(_whole(layer, 100)), "clip": any(0 < clip[0] < _NO_CLIP for clip in clips)}
        settings |= {"return_sequences": False} if ends else {}
        self.add(name, word if plain else "operator", parts, settings if plain else {})

    # A program: operations whose constants are within, or in a file beside it

    def program(self, span: range) -> None:
        """Add the operations of all functions of a program."""
        for entry in self.fields(span).get(2, []):
            for function in self.fields(entry).get(2, []):
                for special in self.fields(function).get(3, []):
                    for block in self.fields(special).get(2, []):
                        self._block(block, "", 0)

    def _block(self, span: int | range, loop: str, depth: int) -> None:
        if depth > MOST_CONFIG_DEPTH:
            raise BadFileError("has blocks within blocks, deeper than any model's")
        for number, value in self.wire.fields(span) if isinstance(span, range) else ():
            if number == 3:
                self._operation(self.fields(value), loop, depth)

    def _entries(self, values: Sequence[int | range]) -> Iterator[tuple[str, int | range]]:
        for value in values:
            entry = self.fields(value)
            yield self.text(entry, 1), entry.get(2, [0])[0]

    def _operation(self, operation: Fields, loop: str, depth: int) -> None:
        kind = self.text(operation, 1)
        name = next((self.text(self.fields(output), 1) for output in operation.get(3, [])), "")
        attributes = dict(self._entries(operation.get(5, [])))
        if kind == "const":
            self.values[name] = self._value(name, attributes.get("val", 0))
            return
        if kind.startswith("constexpr_"):  # of few bits each
            shape = self._shape(self.fields(self.fields(operation[3][0]).get(2, [0])[0]))[1] if 3 in operation else ()
            self.quantised[name] = prod(shape)
            return
        inputs: dict[str, Any] = {}
        for word, value in self._entries(operation.get(2, [])):
            for binding in map(self.fields, self.fields(value).get(1, [])[:1]):
                source = self.text(binding, 1)
                self.readers.setdefault(source, []).append(kind)
                inputs[word] = self._value(f"{name}/{word}", binding[2][0]) if 2 in binding else self.values.get(source)
        table = kind == "gather" and inputs.get("axis", 0) == 0
        weights = {
            word: value
            for word, value in inputs.items()
            if isinstance(value, FileTensor)
            and value.shape
            and value.dtype in model.REAL
            and (word in _WEIGHTS or (table and word == "x") or (kind == "matmul" and word in "xy"))
        }
        self._module(kind, name, inputs, weights, loop)
        before = len(self.modules)
        for block in operation.get(4, []):
            self._block(block, name, depth + 1)
        self.loops += [name] if len(self.modules) > before and not loop else []

    def _module(
        self, kind: str, name: str, inputs: Mapping[str, Any], weights: dict[str, FileTensor], loop: str
    ) -> None:
        """Add the module of an operation; that of a cell is known by its operation."""
        matrix = weights.get("weight" if kind == "linear" else "weight_hh")
        settings: dict[str, Any] = {"output": name}
        module = "operator"
        if kind in _CLASSES and matrix is not None and len(matrix.shape) == 2 and not loop:
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
        elif kind == "linear" and matrix is not None and not loop:
            module, weights = "Dense", {"kernel" if word == "weight" else word: each for word, each in weights.items()}
            weights["kernel"] = model.turned(matrix)
        elif kind == "gather" and "x" in weights and not loop:
            module, weights = "Embedding", {"embeddings": weights["x"]}
        self.add(name, module, weights, settings)

    def _shape(self, kind: Fields) -> tuple[str, tuple[int, ...]]:
        """Return the type and the shape of a tensor."""
        tensor = self.fields(kind.get(1, [0])[0])
        sizes = [_whole(self.fields(self.fields(value).get(1, [0])[0]), 1) for value in tensor.get(3, [])]
        return _TYPES.get(_whole(tensor, 1), ""), model.shape_of("", sizes)

    def _value(self, name: str, span: int | range) -> Any:
        """Return a constant: a tensor, or the one word or number that it is; None for another."""
        value = self.fields(span)
        dtype, shape = self._shape(self.fields(value.get(2, [0])[0]))
        if 5 in value:
            blob = self.fields(value[5][0])
            return self._blob(name, self.text(blob, 1), _whole(blob, 2), dtype, shape)
        for numbers in (self.fields(self.fields(each).get(1, [0])[0]) for each in value.get(3, [])):
            for field, span in ((field, values[0]) for field, values in numbers.items()):
                held = self.fields(span).get(1, [0])[0]
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


def _whole(fields: Fields, number: int) -> int:
    value = fields.get(number, [0])[0]
    return value if isinstance(value, int) else 0


def _settings(word: str, functions: Sequence[Any], back: Sequence[Any]) -> dict[str, Any]:
    """Return a cell's settings in Keras's words; functions: of its gates, its candidate and its output."""
    names = [name or "another" for name in functions] or ["another"]
    alike = len({*names[1:]}) < 2 and (not back or [*back] == [*functions])
    gates = {} if word == "SimpleRNN" else {"recurrent_activation": names[0]}
    return {"activation": names[-1], "cell": word, **gates, **({} if alike else {"ways": "apart"})}


def _reordered(tensor: FileTensor, blocks: Sequence[int], units: int) -> FileTensor:
    """Return a tensor with its blocks of rows in an order."""
    return tensor._replace(read=lambda: [row for at in blocks for row in tensor.read()[at * units : (at + 1) * units]])
