"""The tensors of a layer under a convention: the one reading of the rows in `conventions.py`.

A layout holds for every width; weights are a layout with numbers for its letters.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial

from rnncalc.conventions.convention import CONVENTIONS, Convention, resets_after
from rnncalc.conventions.formula import Formula
from rnncalc.conventions.tensor import Polynomial, Tensor, tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output


class Layout:
    """The tensors of a layer, whatever its widths: those it owns, and those it shares with the layer that owns them."""

    def __init__(self, own: Iterable[Tensor], shared: Iterable[Tensor] = ()) -> None:
        self.own = tuple(own)
        self.shared = tuple(shared)
        self.params = Polynomial.of(self.own)
        self.multiply_adds = Polynomial.of(tensor for tensor in self.own + self.shared if tensor.is_product)
        self.formula = Formula.of(self.own)
        self.letters = self.formula.write()
        self.sized: dict[tuple[int, ...], Weights] = {}


class Weights:
    """A layout with numbers for its letters.

    params: the number of parameters it owns.
    multiply_adds: the multiplications in matrix products when the layer is applied once.
    """

    def __init__(self, layout: Layout, words: Mapping[str, int]) -> None:
        self.layout = layout
        self.words = words
        self.params = layout.params.at(words)
        self.multiply_adds = layout.multiply_adds.at(words)

    @cached_property
    def own(self) -> tuple[Tensor, ...]:
        """The tensors the layer owns."""
        return tuple([tensor.sized(self.words) for tensor in self.layout.own])

    @cached_property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors it uses but another layer owns and counts."""
        return tuple(tensor.sized(self.words) for tensor in self.layout.shared)

    @cached_property
    def formula(self) -> tuple[str, str]:
        """The formula of `params` in letters, and with the numbers in."""
        return self.layout.letters, self.layout.formula.write(self.words)


def weights(layer: Layer, inputs: int, convention: str) -> Weights:
    """Return the tensors of a layer that reads `inputs` features, as the convention lays them out.

    Layers that differ in no more than their names share them.
    """
    words = layer.words(inputs)
    key = (type(layer), tuple(words), layer.choices(), convention)
    layout = _layouts.get(key)
    if layout is None:
        layout = _layouts[key] = _layout(layer, words, CONVENTIONS[convention])
    sizes = tuple(words.values())
    found = layout.sized.get(sizes)
    if found is None:
        found = layout.sized[sizes] = Weights(layout, words)
    return found


_layouts: dict[tuple[object, ...], Layout] = {}


def _layout(layer: Layer, words: Mapping[str, int], row: Convention) -> Layout:
    match layer:
        case Cell():
            return Layout(_recurrent(layer, "p" in words, row))
        case Dense():
            templates = {**row.templates, **row.output} if isinstance(layer, Output) else row.templates
            kernel = tensor(templates["kernel"], "kernel")
            bias = (tensor(templates["dense_bias"], "bias"),) if layer.bias else ()
            return Layout(bias, (kernel,)) if isinstance(layer, Output) and layer.tied else Layout((kernel, *bias))
        case Embedding():
            return Layout((tensor(row.templates["embedding"], "embedding"),))
        case External():
            return Layout((tensor("external: N", "external"),))
        case _:
            return Layout(())


def _recurrent(layer: Cell, projected: bool, row: Convention) -> Iterator[Tensor]:
    letters = _ordered({gate.letter for gate in layer.gates}, row.order.get(layer.kind) or _own_order(layer))
    reads = "" if layer.recurrence == "diagonal" else layer.states["h"]
    wanted = {"input": letters, "recurrent": letters, **_biases(layer, letters, row)}
    wanted["peephole"] = _ordered({*layer.peepholes_of}, row.order.get("peephole") or letters)
    shared = row.directions is None
    for number in range(1 if shared else layer.directions):
        direction = "both" if shared and layer.bidirectional else ("forward", "backward")[number]
        mark = "" if row.directions is None or not layer.bidirectional else row.directions[number]
        make = partial(tensor, direction=direction, directions=layer.directions, mark=mark, renamed=row.renamed)
        for role, gates in wanted.items():
            template = row.templates.get(f"{layer.kind} {role}") or row.templates.get(role, "")
            template = template.replace(" r", f" {reads}").replace(": r ", f": {reads} ")
            if "{g}" in template:
                for gate in gates:
                    yield make(template, role, gates=gate, g=gate)
            elif gates:
                yield make(template, role.replace("both_biases", "bias"), gates=gates)
        if projected:
            yield make(row.templates["projection"], "projection")
        if layer.learned_state:
            for state, width in layer.states.items():
                yield make(row.templates["state"].replace(" r", f" {width}"), "state", s=state)


def _biases(layer: Cell, letters: str, row: Convention) -> dict[str, str]:
    """Return the gates that have a bias, by the role of the tensor it is in."""
    if not layer.bias:
        return {}
    before = f"{layer.kind} before"
    side, others = row.biases.get(layer.kind, ("input", {}))
    if before in row.biases and not resets_after(layer, row):
        side, others = row.biases[before]
    sides = {letter: others.get(letter, side) for letter in letters}
    if "both_biases" in row.templates and {*sides.values()} == {"both"}:
        return {"both_biases": letters}
    return {
        role: "".join(letter for letter in letters if sides[letter] in (one, "both"))
        for role, one in (("bias", "input"), ("recurrent_bias", "recurrent"))
    }


def _own_order(layer: Cell) -> str:
    return "".join(gate.letter for gate in layer.gates)


def _ordered(letters: set[str], order: str) -> str:
    return "".join(letter for letter in order if letter in letters)
