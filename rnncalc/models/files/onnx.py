"""ONNX files: the roles of tensors, the branches that are counted, and a module for each operator with weights.

Tensors are those of the graph itself, of its branches and loops, and their constants. Of branches, the largest is
counted.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from math import prod
from typing import Any, NamedTuple

from rnncalc import bounds
from rnncalc.models.files import model
from rnncalc.models.files.model import BoundedReader, FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.models.files.onnx_flow import CELLS, FUSED, INPUTS, PRODUCTS, Flow
from rnncalc.models.files.onnx_graph import Graph, ONNXGraph, Operator, Place
from rnncalc.models.files.onnx_moves import Value


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    return of_graph(path, ONNXGraph(path))


def of_graph(path: str, graph: Graph) -> ModelFile:
    """Return the tensors of a graph, and a module for each operator with weights."""
    reader = BoundedReader()
    flow = Flow(graph)
    tensors, quantised, begun = _roles(graph, flow, reader)
    branches = _branches(graph, flow, tensors)
    for name, tensor in tensors.items():
        if tensor.is_parameter and not branches.counts(graph.places[name]):
            tensors[name] = tensor._replace(role=TensorRole.OTHER_BRANCH)
    counted = [tensor for tensor in tensors.values() if tensor.is_parameter]
    others = [tensor for tensor in tensors.values() if tensor.role is TensorRole.OTHER_BRANCH]
    copies = _copies((*counted, *others), flow.stepped | {tensor.name for tensor in others})
    shared = [*branches.shared, *(copies.pop(tensor.name) for tensor in others if tensor.name in copies)]
    for name, first in copies.items():
        tensors[name] = tensors[name]._replace(shared_with=first)
    operators = _Modules(graph, flow, tensors, branches, copies, begun=bool(begun))
    modules = tuple(operators.modules)
    file = ModelFile(path, "onnx", "onnx", tuple(tensors.values()), modules)
    of_modules = sum(tensor.params for module in modules for tensor in module.tensors.values())
    biases = [each.tensors["B"] for each in modules if {"R", "B"} <= {*each.tensors}]
    zeros = {each.name.split(" of ")[0]: _zeros(each, reader) for each in reversed(biases)}
    loops = [node.name or node.kind for node in graph.nodes if node.kind in ("Loop", "Scan") and not node.at]
    kept, heads = {tensor.name for tensor in counted}, flow.heads()
    remarks = [
        *(Remark(RemarkKind.BRANCHES, *map(tuple, zip(*several, strict=True))) for several in branches.listed),
        Remark(RemarkKind.SHARED, tuple(name for name in dict.fromkeys(shared) if name in kept)),
        Remark(RemarkKind.TOO_DEEP, tuple(dict.fromkeys(graph.too_deep))),
        Remark(RemarkKind.LOOPS, tuple(loops)),
        Remark(RemarkKind.SEVERAL_INPUTS, tuple(heads), (len(flow.inputs), 1 + len(heads))),
        Remark(RemarkKind.OPERATORS, tuple(() if operators.steps or loops or quantised else flow.unknown())),
        Remark(RemarkKind.UNROLLED, tuple(operators.steps), tuple(operators.steps.values())),
        Remark(RemarkKind.MERGED, tuple(dict.fromkeys(operators.merged)), (of_modules, file.params)),
        Remark(RemarkKind.NO_BIAS, tuple(operators.without_bias)),
        Remark(RemarkKind.ZEROS, tuple(name for name in reversed(zeros) if zeros[name])),
        Remark(RemarkKind.ALL_ZEROS, tuple(name for name in reversed(zeros) if zeros[name] is False)),
        *model.quantised_remarks(quantised),
    ]
    remarks = [remark for remark in remarks if remark.names]
    return file._replace(remarks=tuple(remarks), apart=of_modules - file.params)


# The roles of tensors: they follow from the operators that read them, and for some from their numbers.

_OF_QUANTISED = """
DequantizeLinear:wss QuantizeLinear:-ss QLinearConv:-sswssssw QLinearMatMul:wsswssss QGemm:wsswsswss MatMulInteger:wwss
ConvInteger:wwss MatMulIntegerToFloat:wwssss DynamicQuantizeMatMul:-wss MatMulNBits:-pss QAttention:-w-ss-ss
DynamicQuantizeLSTM:-ww-----ssss GatherBlockQuantized:p-ss QLinearAdd:wsswssss QLinearMul:wsswssss QLinearSigmoid:-ssss
"""
"""The inputs of operators on whole numbers, those of ONNX Runtime too: w a quantised weight, p one that is packed, s a
scale or zero point."""


def _at(letter: str) -> set[tuple[str, int]]:
    pairs = (each.split(":") for each in _OF_QUANTISED.split())
    return {(kind, at) for kind, letters in pairs for at, each in enumerate(letters) if each == letter}


_BUFFERS = {("BatchNormalization", 3), ("BatchNormalization", 4), *_at("s")}
_WHOLE, _PACKED = _at("w"), _at("p")
_STATES = {("LSTM", 5), ("LSTM", 6), ("GRU", 5), ("RNN", 5)}
_OF_EXPORTER = re.compile(r"val_[0-9]+|const_\w+")
"""The names that PyTorch's newer exporter has for constants, such as the scale of attention, and for folded weights."""

_WEIGHTS_AT = {(kind, place) for kind, names in INPUTS.items() for place, name in enumerate(names) if name}
_WEIGHTS_AT -= _BUFFERS | _STATES | {("Gather", 0)}
"""Where an operator has a weight, of whatever size."""
_ZERO_WEIGHTS_AT = {("Add", 0), ("Add", 1), ("Gather", 0)}
"""Where other zeros may be weights too, and no state."""


def _roles(graph: Graph, flow: Flow, reader: BoundedReader) -> tuple[dict[str, FileTensor], dict[str, int], list[str]]:
    """Return the tensors of a graph, each with its role, which follows from the operators that read it.

    Also returns the quantised weights, with how many numbers each has unpacked, 0 if that is not known, and what the
    first step of a cell makes of a state of zeros, if an exporter has computed it.
    """
    uses: dict[str, set[tuple[str, int]]] = {}
    reads = [
        (name, node, place)
        for number, node in enumerate(graph.nodes)
        if number not in flow.moving
        for place, name in enumerate(node.inputs)
    ]
    reads += [(name, graph.nodes[number], 2) for number, name in flow.added.items()]
    scales = {name for node in graph.nodes if node.kind == "DynamicQuantizeLinear" for name in node.outputs[1:2]}
    for node in graph.nodes:  # the scale of the input, before that of the weight
        if node.kind == "Mul" and not scales.isdisjoint(node.inputs) and flow.values.keys().isdisjoint(node.inputs):
            scales.update(node.outputs)
    for name, node, place in reads:
        use = FUSED.get(node.kind, node.kind), place
        if node.kind == "Mul" and name not in scales and not scales.isdisjoint(node.inputs):  # the scales of a product
            use = "DequantizeLinear", 1
        for stored in flow.values[name].sources if name in flow.values else ():
            uses.setdefault(stored, set()).add(use)
    quantised = {}
    for name, tensor in graph.tensors.items():
        used = uses.get(name, set())
        matrix = tensor.dtype in ("int8", "uint8") and tensor.shape[1:] and not used & _BUFFERS
        if matrix or used & (_WHOLE | _PACKED):
            quantised[name] = 0 if used & _PACKED else prod(tensor.shape)

    def role(tensor: FileTensor) -> TensorRole:
        name, constant, used = tensor.name, tensor.name in graph.constants, uses.get(tensor.name, set())
        if tensor.dtype not in model.REAL or name in quantised:
            return TensorRole.CONSTANT  # whole numbers are shapes and axes
        if used & _BUFFERS or model.role_of(name, tensor.dtype) is TensorRole.BUFFER:
            return TensorRole.BUFFER
        if used & _WEIGHTS_AT:
            return TensorRole.PARAMETER
        fixed = constant or ((len(tensor.shape) < 2 or prod(tensor.shape) == 1) and _OF_EXPORTER.fullmatch(name))
        if not tensor.shape or (fixed and prod(tensor.shape) <= 1):  # a single number may be anything
            return TensorRole.CONSTANT if fixed else TensorRole.UNKNOWN
        if used and (used <= _STATES or (len(tensor.shape) > 1 and not used & _ZERO_WEIGHTS_AT)):
            numbers = reader.numbers(tensor)
            if numbers is not None and not any(numbers):
                return TensorRole.CONSTANT  # the state before the first step, which is zeros and no weight
        return TensorRole.PARAMETER

    tensors = {name: tensor._replace(role=role(tensor)) for name, tensor in graph.tensors.items()}
    # the terms added right before an activation or the split into gates, as a state's product is in an unrolled step
    activated = {name for node in graph.nodes if node.kind in ("Tanh", "Relu", "Split") for name in node.inputs}
    sums = [node for node in graph.nodes if node.kind == "Add" and not activated.isdisjoint(node.outputs)]
    starts = {name for node in sums for name in node.inputs} | activated
    parameters = [tensor for tensor in tensors.values() if tensor.is_parameter]
    begun = [*_made_beforehand([each for each in parameters if each.name in starts], parameters, reader)]
    tensors |= {name: tensors[name]._replace(role=TensorRole.CONSTANT) for name in begun}
    return tensors, quantised, begun


def _made_beforehand(added: list[FileTensor], parameters: list[FileTensor], reader: BoundedReader) -> Iterator[str]:
    """Yield the names of what a step makes of a state of zeros: a copy of a bias, or zeros where there is none.

    An exporter that writes out the steps calculates it for the first of them, with the axes of a step; a bias has one.
    """
    several = [each for each in added if len(each.shape) > 1]
    sizes = {each.shape[-1:] for each in several}
    biases = [reader.numbers(each) for each in parameters if each.shape in sizes]
    copied = {tuple(numbers) for numbers in biases if numbers is not None}
    for each in several:
        numbers, width = reader.numbers(each), each.shape[-1]
        rows = {tuple(numbers[start : start + width]) for start in range(0, len(numbers), width)} if numbers else set()
        if len(rows) == 1 and (rows <= copied or not any(*rows)):
            yield each.name


def _zeros(biases: FileTensor, reader: BoundedReader) -> bool | None:
    """Return whether the second half of the biases of an operator is zeros, False if they all are, None if neither."""
    if len(biases.shape) != 2 or biases.shared_with or (numbers := reader.numbers(biases)) is None:
        return None
    rows = model.nested(numbers, biases.shape)
    halves = all(any(row) and not any(row[len(row) // 2 :]) for row in rows)
    return True if halves else None if any(numbers) else False


# Branches (an operator runs one of them), and arrays that are stored more than once.


class _Branches(NamedTuple):
    """The branches of a file: those that are not counted, and of each operator all with their parameters.

    shared: the tensors that several branches read.
    """

    left_out: set[Place]
    listed: list[list[tuple[str, int]]]
    shared: list[str]

    def counts(self, at: Place) -> bool:
        """Return whether what is at a place is counted."""
        return not any(at[:depth] in self.left_out for depth in range(1, len(at) + 1))


def _branches(graph: Graph, flow: Flow, tensors: Mapping[str, FileTensor]) -> _Branches:
    """Return the branches of a graph: a tensor belongs to all operators that read it, wherever it is stored."""
    read_at: dict[str, list[Place]] = {}
    for number, node in enumerate(graph.nodes):
        for name in node.inputs if number not in flow.moving else ():
            for stored in flow.values[name].sources if name in flow.values else ():
                read_at.setdefault(stored, []).append(node.at)
    totals: Counter[Place] = Counter()
    belongs: dict[str, Place] = {}
    for name, tensor in tensors.items():
        places = read_at.get(name) or [graph.places[name]]
        alike = [len({*several}) == 1 for several in zip(*places, strict=False)]
        belongs[name] = places[0][: [*alike, False].index(False)]
        totals[belongs[name]] += tensor.params if tensor.is_parameter else 0
    every = {at[:depth]: at for at in (*totals, *graph.names) for depth in range(1, len(at) + 1)}
    branches, operators = _Branches(set(), [], []), set[int]()
    for depth in range(bounds.MOST_WITHIN, 0, -1):
        by_operator: dict[int, list[Place]] = {}
        for at in every:
            if len(at) == depth:
                by_operator.setdefault(at[-1].operator, []).append(at)
        for several in by_operator.values():
            several.sort(key=lambda at: -totals[at])
            least = 1 if several[0][-1].branch else len(several)
            totals[several[0][:-1]] += sum(totals[at] for at in several[:least])
            branches.left_out.update(several[least:])
            if any(totals[at] for at in several[least:]):
                operators.add(several[0][-1].operator)
                branches.listed.append([(at[-1].name, totals[at]) for at in several])
    for name, at in belongs.items() if branches.listed else ():
        ways = {place[len(at)] for place in read_at.get(name, ()) if len(place) > len(at)}
        if tensors[name].is_parameter and len(ways) > 1 and {way.operator for way in ways} <= operators:
            branches.shared.append(name)
    graph.places.update(belongs)
    return branches


def _copies(tensors: Iterable[FileTensor], alike: Container[str]) -> dict[str, str]:
    """Return the matrices that have the numbers of an earlier one in another order, and the name of that one.

    They are transposed, or exporters of Keras store both orders of the gates of a layer that is an operator in one
    place and a loop in another. Two that are equal are of two layers, unless steps or branches read them.
    alike: the names of those that steps or branches read.
    """
    by_shape: dict[tuple[int, ...], list[FileTensor]] = {}
    for tensor in tensors:
        sizes = tuple(sorted(size for size in tensor.shape if size > 1))
        if len(sizes) > 1 and prod(sizes) > 32 and tensor.dtype == "float32":
            by_shape.setdefault(sizes, []).append(tensor)
    copies: dict[str, str] = {}
    room = bounds.MOST_COMPARED_NUMBERS
    for sizes, several in by_shape.items():
        room -= len(several) * prod(sizes)
        by_sum: dict[int, list[FileTensor]] = {}
        for tensor in several if len(several) > 1 and room > 0 else ():
            by_sum.setdefault(sum(_words(tensor)), []).append(tensor)
        first: dict[bytes, FileTensor] = {}
        for tensor in (each for equal in by_sum.values() if len(equal) > 1 for each in equal):
            words = _words(tensor)
            keys = _fibres(words, tensor.shape) if len({*words[:1000]}) > 2 else []
            other = next((first[key] for key in keys if key in first), None)
            if other and (words != _words(other) or tensor.name in alike):
                copies[tensor.name] = other.name
            elif not other:
                first.update(dict.fromkeys(keys, tensor))
    return copies


def _fibres(words: array[int], shape: tuple[int, ...]) -> list[bytes]:
    """Return what the fibres along each axis are in any order: a matrix shares one with its transpose.

    It shares one too with a matrix that has its rows, or its columns, in another order.
    """
    keys, numbers = [], words if len(words) == prod(shape) else array("I")
    for axis, size in enumerate(shape if numbers else ()):
        inner = prod(shape[axis + 1 :])
        starts = (start + place for start in range(0, len(numbers), size * inner) for place in range(inner))
        fibres = sorted(numbers[start : start + size * inner : inner].tobytes() for start in starts)
        if size > 1:
            keys.append(sha256(b"".join(fibres) + b"%d" % size).digest())
    return keys


def _words(tensor: FileTensor) -> array[int]:
    """Return the numbers of a tensor as they are stored, none if they are not in one piece."""
    if not isinstance(tensor.read, partial) or tensor.read.func is not model.numbers_at:
        return array("I")
    path, start = tensor.read.args[:2]
    return model.words_at(path, start, prod(tensor.shape))


# The operators as modules: each with the tensors it reads, as it uses them.


class _Modules:
    """Makes a module for each operator that reads parameters, and one for each parameter that none reads.

    merged: the arrays that exporters store once for several layers which had equal ones. If biases are among them, they
    are those of a network that is not trained, in which others are zeros: without_bias has the layers with none.
    https://github.com/onnx/tensorflow-onnx/blob/main/tf2onnx/optimizer/merge_duplicated_nodes_optimizer.py
    steps: the matrices of a cell whose steps are written out, with how many there are. begun: whether the first is not.
    """

    def __init__(
        self,
        graph: Graph,
        flow: Flow,
        tensors: Mapping[str, FileTensor],
        branches: _Branches,
        copies: Mapping[str, str],
        *,
        begun: bool,
    ) -> None:
        self.flow = flow
        self.tensors = tensors
        self.copies = copies
        nodes = [(number, node) for number, node in enumerate(graph.nodes) if branches.counts(node.at)]
        again = _applied_again([node for _, node in nodes], self._owners)
        for _, node in nodes:  # a single step multiplies a state of zeros
            state, *matrices = (node.kind in PRODUCTS and node.inputs[:2]) or ("",)
            if state in flow.writers and state not in flow.fed and state not in flow.values:
                again = {**{name: 1 for matrix in matrices for name in self._owners(matrix)}, **again}
        least = min(again.values(), default=0)  # the first step's product with the state is not among these
        self.steps = {name: times + (begun and times == least) for name, times in again.items()}
        self.claimed: Counter[str] = Counter()  # how many numbers of each stored tensor modules have
        self.read: set[str] = set()  # the names that modules read
        self.first: dict[str, int] = {}  # by the name of a stored tensor, the module
        self.paths: set[str] = set()
        self.merged: list[str] = []
        self.without_bias: list[str] = []
        self.modules: list[FileModule] = []
        within: dict[int, list[str]] = {}  # what is read in each loop
        for _, node in nodes:
            loop = next((inner.operator for inner in node.at if not inner.branch), None)
            if loop is not None:
                within.setdefault(loop, []).extend(node.inputs)
        for number, node in nodes:
            alone = number not in flow.moving and all(inner.branch for inner in node.at)
            if alone and not (number in flow.norms and self._norm(node, flow.norms[number])):
                self._operator(number, node, within.get(number, []))
        if any(sum(size > 1 for size in tensors[name].shape) == 1 for name in self.merged if name in tensors):
            self.modules = [self._with_bias(module) for module in self.modules]
        for name, tensor in tensors.items():
            rest = prod(tensor.shape) - self.claimed[name]
            if tensor.is_parameter and not tensor.shared_with and rest > 0:
                part = tensor if name not in self.claimed else tensor._replace(name=f"{name} (rest)", shape=(rest,))
                self.modules.append(FileModule(name, {name: part}))

    def _owners(self, name: str) -> set[str]:
        """Return the stored parameters that an array is made of."""
        value = self.flow.values.get(name)
        stored = value.sources if value else ()
        return {self.copies.get(each, each) for each in stored if self.tensors[each].is_parameter}

    def _operator(self, number: int, node: Operator, within: Sequence[str]) -> None:
        """Add the module of an operator, if it reads parameters. within: what operators in its graphs read."""
        kind, values, settings = FUSED.get(node.kind, node.kind), self.flow.values, node.settings
        names = dict(zip(INPUTS.get(kind, ()), node.inputs, strict=False))
        reads = {leaf: (name, values[name]) for leaf, name in names.items() if leaf and self._owners(name)}
        if kind not in INPUTS or len(reads) < len([name for name in node.inputs if self._owners(name)]):
            stored = [each for name in (*node.inputs, *within) if name in values for each in values[name].sources]
            reads = {each: (each, values[each]) for each in stored if self.tensors[each].is_parameter}
        elif (name := self.flow.added.get(number)) and self._owners(name):
            reads["B" if kind == "Conv" else "C"] = name, values[name].shaped((values[name].size,))
        if not reads:
            return
        if kind in PRODUCTS and "B" in reads and settings.get("transB") == [1]:
            reads["B"] = reads["B"][0], reads["B"][1].transposed()
        if kind == "Conv" and "W" in reads:
            settings, shape = self._flat_convolution(node, reads["W"][1].shape)
            reads["W"] = reads["W"][0], reads["W"][1].shaped(shape)
            if pads := self.flow.padding(node):
                theirs = settings.get("pads", [0, 0])
                theirs = [each for each in theirs if isinstance(each, int)] if isinstance(theirs, list) else []
                both = [one + other for one, other in zip(pads, theirs, strict=False)]
                plain = settings.get("auto_pad", ["NOTSET"]) in (["NOTSET"], ["VALID"])
                settings = {**settings, "pads": both if plain else [-1, -1], "auto_pad": ["NOTSET"]}
        if kind in CELLS:
            settings = settings | ({"merge": [self.flow.merges[number]]} if number in self.flow.merges else {})
            settings = settings | ({"step": self.flow.steps[number]} if number in self.flow.steps else {})
        unrolled = kind in PRODUCTS and any(self._owners(name) & self.steps.keys() for name in node.inputs[:2])
        self._add(node, "" if unrolled else kind, settings, reads)

    def _norm(self, node: Operator, vectors: Mapping[str, str]) -> bool:
        """Add a batch norm that is two operators; return whether its vectors are its own."""
        values = {name: self.flow.values[name] for name in vectors.values()}
        if any(self._is_taken(*pair) or not self._owners(pair[0]) for pair in values.items()):
            return False
        reads = {leaf: (name, values[name].shaped((values[name].size,))) for leaf, name in vectors.items()}
        self._add(node, "BatchNormalization", {"folded": [1]}, reads)
        width = reads["scale"][1].size  # the same function, with statistics that change nothing
        variance = model.constant("variance", width, 1 - 1e-5)
        buffers = {"input_mean": model.constant("mean", width, 0), "input_var": variance}
        self.modules[-1] = self.modules[-1]._replace(buffers=buffers)
        return True

    def _flat_convolution(self, node: Operator, shape: tuple[int, ...]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Return the settings and the kernel of a convolution over one axis, if one of two has a single place.

        Exporters of Keras add the other axis before it, and remove it behind: https://github.com/onnx/tensorflow-onnx/blob/main/tf2onnx/onnx_opset/nn.py
        """
        readers = self.flow.readers.get(node.outputs[0], [])
        if len(shape) != 4 or shape[2] != 1 or not any(self.flow.nodes[each].kind == "Squeeze" for each in readers):
            return node.settings, shape
        halves = {
            word: value[1::2] for word, value in node.settings.items() if isinstance(value, list) and len(value) > 1
        }
        return {**node.settings, **halves}, (*shape[:2], shape[3])

    def _add(
        self, node: Operator, kind: str, settings: Mapping[str, Any], reads: Mapping[str, tuple[str, Value]]
    ) -> None:
        """Add a module with what an operator reads.

        If no matrix is its own, it is another use of a module; otherwise its arrays that another module has too are
        its own as well, as in the framework.
        """
        taken = {leaf for leaf, (name, value) in reads.items() if self._is_taken(name, value)}
        matrices = {leaf for leaf, (_, value) in reads.items() if sum(size > 1 for size in value.shape) > 1} or {*reads}
        again = bool(taken) and (kind not in INPUTS or matrices <= taken)
        if again and kind.endswith("Normalization"):
            again = not all(len({*value.read()}) == 1 for _, value in reads.values())  # as new ones are
        labels = {leaf: " and ".join(value.sources)[: bounds.MOST_NAME] for leaf, (_, value) in reads.items()}
        names = (_LAYER.sub("", node.name), node.name)
        path = next((each for each in names if each and each not in self.paths), next(iter(labels.values())))
        self.paths.add(path)
        arrays = {}
        for leaf, (name, value) in reads.items():
            label, owners = labels[leaf], {each: self.copies.get(each, each) for each in value.sources}
            shared = self.copies.get(label, label) if again and leaf in taken else None
            merged = leaf in taken and not again
            self.merged += [label] * merged
            stored, read = f"{label} of {path}" if merged else label, partial(_nested, value)
            arrays[leaf] = FileTensor(stored, value.shape, value.dtype, TensorRole.PARAMETER, read, None, shared)
            for source, count in value.sources.items() if leaf not in taken else ():
                self.claimed[owners[source]] += count
                self.first.setdefault(owners[source], len(self.modules))
            for place in {self.first.get(owner) for owner in owners.values()} if shared and kind else ():
                if place is not None and self.modules[place].kind == kind:
                    module = self.modules[place]
                    self.modules[place] = module._replace(settings={**module.settings, "calls": [2]})
            self.read.add(name)
        inputs = zip(INPUTS.get(kind, ()), node.inputs, strict=False)
        tensors = {leaf: self.tensors[name] for leaf, name in inputs if name in self.tensors}
        buffers = {leaf: tensor for leaf, tensor in tensors.items() if tensor.role is TensorRole.BUFFER}
        self.modules.append(FileModule(path, arrays, kind, settings, buffers))

    def _with_bias(self, module: FileModule) -> FileModule:
        """Return a module of a product with a bias of zeros, which exporters leave out, if it has none."""
        leaf = {"MatMul": "C", "Gemm": "C", "Conv": "B"}.get(module.kind)
        matrix = module.tensors.get("W" if module.kind == "Conv" else "B")
        if leaf is None or leaf in module.tensors or matrix is None or matrix.shared_with or len(matrix.shape) < 2:
            return module
        self.without_bias.append(module.path)
        bias = model.constant(module.path, matrix.shape[0 if module.kind == "Conv" else -1])
        return module._replace(tensors={**module.tensors, leaf: bias})

    def _is_taken(self, name: str, value: Value) -> bool:
        """Return whether modules before have all the numbers that an array is made of."""
        owners = {stored: self.copies.get(stored, stored) for stored in value.sources}
        return name in self.read or any(
            self.claimed[owner] + value.sources[each] > prod(self.tensors[owner].shape)
            for each, owner in owners.items()
        )


_LAYER = re.compile("(/Tensordot)?/(MatMul|Gemm)$")
"""The end of an operator's name behind the layer's."""


def _nested(value: Value) -> Any:
    return model.nested(value.read(), value.shape)


def _applied_again(nodes: list[Operator], owners: Callable[[str], set[str]]) -> dict[str, int]:
    """Return how often matrices are multiplied with a result of their own product: those of steps that are written out.

    A matrix that is read as often is one that the same steps multiply with an input.
    """
    products = [(node, [owners(name) for name in node.inputs[:2]]) for node in nodes if node.kind in PRODUCTS]
    readers = Counter(name for _, read in products for several in read for name in several)
    several = [name for name, times in readers.items() if times > 1][: bounds.MOST_FOLLOWED]
    bits = {name: 1 << place for place, name in enumerate(several)}
    behind: dict[str, int] = {}  # which of them have gone into what is under a name
    repeated = 0
    for node in nodes:
        before = matrices = 0
        for place, name in enumerate(node.inputs):
            before |= behind.get(name, 0)
            for owner in owners(name) if node.kind in PRODUCTS and place < 2 else ():
                matrices |= bits.get(owner, 0)
        repeated |= before & matrices
        for name in node.outputs if before | matrices else ():
            behind[name] = before | matrices
    least = min((readers[name] for name, bit in bits.items() if repeated & bit), default=0)
    return {name: readers[name] for name in several if least and readers[name] >= least}
