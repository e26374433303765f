"""`explain`: how a count comes about, step by step, read off the tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.conventions.convention import CONVENTIONS
from rnncalc.conventions.tensor import Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding
from rnncalc.network.network import Network, Placed
from rnncalc.questions.dense import DenseEquivalent, dense_equivalent
from rnncalc.reports.heading import setting
from rnncalc.reports.sheet import Column, Equation, Sheet, Value

HOLDS = {
    "input": "input matrix",
    "recurrent": "recurrent matrix",
    "bias": "bias",
    "recurrent_bias": "bias on the recurrent side",
    "projection": "projection of the output",
    "peephole": "peephole weights",
    "state": "learned initial state",
    "kernel": "matrix",
    "embedding": "table of vectors",
    "external": "counted elsewhere",
}
"""What a tensor of each role is called."""


class Step(NamedTuple):
    """One line of a derivation: what is counted, its arithmetic, and the number that gives."""

    label: str
    what: str
    arithmetic: Equation
    params: int


class Derivation(NamedTuple):
    """How the count of one layer comes about.

    letters: where m and h come from; gates: what each gate does; remarks: on biases and sharing.
    """

    name: str
    kind: str
    letters: tuple[str, ...]
    gates: tuple[str, ...]
    steps: tuple[Step, ...]
    remarks: tuple[str, ...]
    params: int


class Explanation(NamedTuple):
    """How the counts of a network, or of `only` some of its layers, come about."""

    network: Network
    only: tuple[str, ...] = ()

    def derivations(self) -> list[Derivation]:
        """Return the derivation of each layer."""
        below: Placed | None = None
        found = []
        for placed in self.network.placed:
            if below is not None and below.part != placed.part:
                below = None
            if not self.only or placed.name in self.only:
                found.append(derivation(placed, below, self.network.convention))
            below = placed
        return found

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        dense = None if self.only else dense_equivalent(self.network)
        return {
            "name": self.network.name,
            "convention": self.network.convention,
            "layers": [
                {
                    **each._asdict(),
                    "steps": [_step_data(step) for step in each.steps],
                }
                for each in self.derivations()
            ],
            "params": None if self.only else self.network.params,
            "dense": dense and [_step_data(step) for step in _dense_steps(dense)],
        }

    def sheets(self) -> list[Sheet]:
        """Return a derivation a layer, then the total, then the dense equivalent."""
        derivations = self.derivations()
        told: set[str] = set()  # the kinds whose gates and biases have been explained: once is enough
        sheets = []
        for each in derivations:
            sheets.append(_sheet(each, each.kind not in told))
            told.add(each.kind)
        if self.only:
            return sheets
        sheets.insert(0, Sheet(columns=(), rows=(), title=self.network.name, subtitle=setting(self.network)))
        if len(derivations) > 1:
            sheets.append(_steps_sheet("Total", (_total(derivations),)))
        dense = dense_equivalent(self.network)
        if dense and dense.ratio is not None:
            ratio = f"{dense.params:,} is {dense.ratio:,.2f} × this network's {self.network.params:,}."
            sheet = _steps_sheet("Dense equivalent", tuple(_dense_steps(dense)), (ratio,))
            sheets.append(sheet._replace(subtitle=_dense_words(self.network)))
        return sheets

    def equations(self) -> list[Sheet]:
        """Return the same sheets: each of their rows holds an equation."""
        return self.sheets()


def _step_data(step: Step) -> dict[str, Any]:
    return {
        "label": step.label,
        "what": step.what,
        "formula": step.arithmetic.letters,
        "substituted": step.arithmetic.numbers,
        "params": step.params,
    }


def derivation(placed: Placed, below: Placed | None, convention: str) -> Derivation:
    """Return how a layer's count comes about; `below` is the layer it reads from, None for the first of a part."""
    layer = placed.layer
    row = CONVENTIONS[convention]
    gates: tuple[str, ...] = ()
    remarks = []
    if isinstance(layer, Cell):
        gates = tuple(f"{gate.letter}, {gate.name}: {gate.meaning}" for gate in layer.gates)
        remarks.append(f"Biases: {row.note}; {row.why}." if layer.bias else "Biases: none, by bias: false.")
    if placed.weights.shared:
        remarks.append("The matrix is the embedding's, transposed: it is counted there, once.")
    if layer.frozen:
        remarks.append("Frozen: counted, but not trained.")
    letters, steps = tuple(_letters(placed, below)), tuple(_steps(placed))
    return Derivation(placed.name, layer.kind, letters, gates, steps, tuple(remarks), placed.params)


def _letters(placed: Placed, below: Placed | None) -> Iterator[str]:
    """Yield what each letter stands for, and where its value comes from."""
    layer = placed.layer
    words = layer.words(placed.inputs)
    if "m" in words:
        width = placed.inputs - layer.extra_inputs
        if below is None:
            source = "the vocabulary" if isinstance(layer, Embedding) else "the network's input"
        else:
            source = f"what {below.name} hands on"
            of = below.layer
            if isinstance(of, Cell) and of.bidirectional:
                joined = of.merge or "concat"
                one = below.outputs // 2 if joined == "concat" else below.outputs
                source += f", its two directions of {one:,} joined by {joined}"
        extra = f", and {layer.extra_inputs:,} extra inputs" if layer.extra_inputs else ""
        sum_ = f"{width} + {layer.extra_inputs} = " if layer.extra_inputs else ""
        yield f"m = {sum_}{placed.inputs}: {source}{extra}"
    names = {"h": "units", "n": "units", "p": "the width of the projection", "d": "the width of a vector"}
    for letter, name in names.items():
        if letter in words:
            yield f"{letter} = {words[letter]}: {name}"


def _steps(placed: Placed) -> Iterator[Step]:
    """Yield the lines of a layer: its tensors, one gate's if all gates are alike, then times gates and directions."""
    tensors = [tensor for tensor in placed.weights.own if tensor.direction != "backward"]
    blocks = [tensor for tensor in tensors if tensor.role in ("input", "recurrent", "bias", "recurrent_bias")]
    letters = "".join(dict.fromkeys(letter for tensor in blocks for letter in tensor.gates))
    alike = {tuple((t.role, t.axes) for t in blocks if t.gates == letter) for letter in letters}
    total = 0
    if len(letters) > 1 and len(alike) == 1 and all(len(tensor.gates) == 1 for tensor in blocks):
        one = [tensor for tensor in blocks if tensor.gates == letters[0]]
        yield from map(_tensor_step, one)
        gate = sum(tensor.params for tensor in one)
        yield _sum_step("one gate", [tensor.params for tensor in one])
        total = gate * len(letters)
        arithmetic = f"{len(letters)} × {gate}"
        yield Step(f"{len(letters)} gates", ", ".join(letters), Equation(arithmetic, arithmetic), total)
        tensors = [tensor for tensor in tensors if tensor not in blocks]
    parts = [total] if total else []
    for tensor in tensors:
        yield _tensor_step(tensor)
        parts.append(tensor.params)
    if len(parts) > 1:
        yield _sum_step("sum", parts)
    if any(tensor.direction == "backward" for tensor in placed.weights.own):
        arithmetic = f"2 × {sum(parts)}"
        yield Step("2 directions", "forward, backward", Equation(arithmetic, arithmetic), placed.params)
    if len(placed.weights.own) > 1:
        yield Step("formula", "all of it in one", Equation(*placed.weights.formula), placed.params)


def _tensor_step(tensor: Tensor) -> Step:
    letters = " × ".join(f"{times if times > 1 or not letter else ''}{letter}" for times, letter in tensor.axes)
    numbers = " × ".join(map(str, tensor.shape))
    what = HOLDS[tensor.role]
    if len(tensor.gates) > 1:
        what += f"{'es' if tensor.role == 'bias' else ''} of the gates {', '.join(tensor.gates)}"
    return Step(tensor.name, what, Equation(letters, numbers), tensor.params)


def _sum_step(label: str, parts: list[int]) -> Step:
    arithmetic = " + ".join(map(str, parts))
    return Step(label, "", Equation(arithmetic, arithmetic), sum(parts))


def _total(derivations: list[Derivation]) -> Step:
    return _sum_step("Total", [each.params for each in derivations])._replace(what="all layers")


def _dense_steps(dense: DenseEquivalent) -> Iterator[Step]:
    for layer in dense.layers:
        what = f"{layer.inputs:,} → {layer.units:,}"
        yield Step(layer.name, what, Equation(layer.substituted, layer.substituted), layer.params)
    yield _sum_step("Total", [layer.params for layer in dense.layers])


def _dense_words(network: Network) -> str:
    steps = " and ".join(f"{part.steps:,}" for part in network.parts.values())
    return f"all {steps} steps at once, no weights shared: each layer of width w has T·w units"


def _sheet(each: Derivation, whole: bool) -> Sheet:
    gates = tuple(f"Gate {gate}." for gate in each.gates)
    sheet = _steps_sheet(each.name, each.steps, (*gates, *each.remarks) if whole else each.remarks[1:])
    return sheet._replace(subtitle="; ".join((each.kind, *each.letters)))


def _steps_sheet(title: str, steps: tuple[Step, ...], notes: tuple[str, ...] = ()) -> Sheet:
    rows: list[tuple[Value, ...]] = [(step.label, step.what, step.arithmetic, step.params) for step in steps]
    if not steps:
        return Sheet(columns=(), rows=(), title=title, notes=("No parameters.", *notes))
    columns = (Column("Step", key=True), Column("What it is"), Column("Arithmetic"), Column("Parameters", right=True))
    return Sheet(columns=columns, rows=rows, title=title, notes=notes)
