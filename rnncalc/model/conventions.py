"""How each framework lays out the parameters of a layer: data, a row a convention, and the one reading of it.

A row says for each gate where its biases stand, and for each role how the tensor is named and shaped (the template
language is `tensors.tensor`'s). A new framework is one row in CONVENTIONS.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from typing import NamedTuple

from rnncalc.model.cells import Cell
from rnncalc.model.formula import Formula
from rnncalc.model.layers import Dense, Embedding, External, Layer, Output
from rnncalc.model.tensors import Polynomial, Tensor, tensor


class Convention(NamedTuple):
    """One framework's layout.

    title: how people write its name.
    note: one sentence on what sets its counts apart, for reports.
    biases: the side each gate has a bias on, `input`, `recurrent` or `both`, by kind; `input` where not named.
    templates: for each role the tensor's template; with `{g}` in the name each gate has a tensor of its own,
        without it all gates share one, fused along the axis G. In a recurrent tensor r is the width of the
        state it reads: h, p under a projection, and no axis at all in a diagonal recurrence.
    output: the templates that differ for the output layer.
    directions: what stands before a name in the two directions of a bidirectional layer.
    """

    title: str
    note: str
    biases: Mapping[str, str]
    templates: Mapping[str, str]
    output: Mapping[str, str]
    directions: tuple[str, str]


CONVENTIONS: dict[str, Convention] = {
    "textbook": Convention(
        title="textbook",
        note="one bias vector a gate",
        biases={},
        templates={
            "input": "W_x{g}: h m",
            "recurrent": "W_h{g}: h r",
            "bias": "b_{g}: h",
            "peephole": "w_c{g}: h",
            "projection": "W_hp: p h",
            "state": "{s}_0: r",
            "kernel": "W: n m",
            "dense_bias": "b: n",
            "embedding": "E: m d",
        },
        output={"kernel": "W_hy: n m", "dense_bias": "b_y: n"},
        directions=("forward/", "backward/"),
    ),
}


class Layout:
    """The tensors of a layer, whatever its widths: those it owns, and those it shares with the layer that owns them."""

    def __init__(self, own: Iterable[Tensor], shared: Iterable[Tensor] = ()) -> None:
        self.own = tuple(own)
        self.shared = tuple(shared)
        self.params = Polynomial.of(self.own)
        self.multiply_adds = Polynomial.of(tensor for tensor in self.own + self.shared if tensor.is_product)
        self.formula = Formula.of(self.own)
        self.letters = self.formula.write()


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
        return tuple(tensor.sized(self.words) for tensor in self.layout.own)

    @cached_property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors it uses but another layer owns and counts."""
        return tuple(tensor.sized(self.words) for tensor in self.layout.shared)

    @cached_property
    def formula(self) -> tuple[str, str]:
        """The formula of `params` in letters, and with the numbers in."""
        return self.layout.letters, self.layout.formula.write(self.words)


@cache
def weights(layer: Layer, inputs: int, convention: str) -> Weights:
    """Return the tensors of a layer that reads `inputs` features, as the convention lays them out."""
    words = layer.words(inputs)
    key = (type(layer), tuple(words), layer.choices(), convention)
    if key not in _layouts:
        _layouts[key] = _layout(layer, words, CONVENTIONS[convention])
    return Weights(_layouts[key], words)


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
    letters = "".join(gate.letter for gate in layer.gates)
    reads = "" if layer.recurrence == "diagonal" else layer.states["h"]
    gates_of = {
        "input": letters,
        "recurrent": letters,
        "bias": letters if layer.bias else "",
        "peephole": layer.peepholes_of,
    }
    prefixes = row.directions if layer.bidirectional else ("",)
    for direction, prefix in zip(("forward", "backward"), prefixes, strict=False):
        make = partial(tensor, direction=direction, prefix=prefix)
        for role, gates in gates_of.items():
            template = row.templates[role].replace(" r", f" {reads}")
            if "{g}" in template:
                for gate in gates:
                    yield make(template, role, gates=gate, g=gate)
            elif gates:
                yield make(template, role, gates=gates)
        if projected:
            yield make(row.templates["projection"], "projection")
        if layer.learned_state:
            for state, width in layer.states.items():
                yield make(row.templates["state"].replace(" r", f" {width}"), "state", s=state)
