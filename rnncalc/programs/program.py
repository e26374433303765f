"""The parts of a program for a framework: its modules, each with its tensors and its place in the flow.

A layer that the framework's own modules can express is one of them, with the tensors of the framework's convention. Any
other layer is a module of the program's own, written from its equations, with the textbook's tensors. Knows nothing of
code.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.conventions import convention
from rnncalc.conventions.formula import formula, letters, value
from rnncalc.conventions.layout import Layout, layout
from rnncalc.conventions.tensor import Direction, Role, Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, Output, Transform
from rnncalc.network.flow import Delay, Final, InitialState, Placement, Recur, arrays, ends, shapes
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.records import Frozen
from rnncalc.step.equations import HALF, Equation, equations, symbols
from rnncalc.step.trace import trace

TEXTBOOK = "textbook"
OUTSIDE = ("learned_state",)
"""Options that are written around a framework's module."""

_PLACING = {*OUTSIDE, "units", "projection", "name", "frozen", "repeat", "extra_inputs", "bidirectional", "merge"}
_PLACING |= {"initial_state"}


def is_gain(tensor: Tensor) -> bool:
    """Return whether training starts from ones: a gain, by whose letter the textbook calls no other weights."""
    return tensor.name.startswith("gamma_")


class OwnCell(Frozen):
    """A cell that a framework lacks, of any width: the weights of one direction and the equations of a step.

    name: that of its class. options: those of the layer that are not its kind's default, and are in its equations.
    weights: with shapes in letters. states, output: as the layer has them, in letters of widths.
    """

    name: str
    options: tuple[tuple[str, object], ...]
    weights: tuple[Tensor, ...]
    equations: tuple[Equation, ...]
    states: tuple[tuple[str, str], ...]
    output: str

    @property
    def half(self) -> bool:
        """Whether each direction reads its own half of x."""
        return any(symbol.subscript == HALF for each in self.equations for symbol in symbols(each.right))

    @property
    def widths(self) -> list[str]:
        """The letters of the widths that it is made from: inputs, units, and others."""
        used = dict.fromkeys("h")
        used |= dict.fromkeys(axis.letter for tensor in self.weights for axis in tensor.axes if axis.letter)
        used |= dict.fromkeys([*(width for _, width in self.states), self.output])
        return sorted(used, key=lambda letter: (letter not in "mh", letter == "h", letter))


class Module(Frozen):
    """A module of a program: a layer, or those of a `repeat` that the framework stacks in one module.

    name: what reports call the layer. places: the layers, with the tensors that they have in this program.
    cell: what the framework lacks, None if it has the layer. shape: of its output, without the batch.
    last: it outputs only the last step of each direction. kept: its final states start the decoder's, and its output is
    `unread` if nothing else reads it. start: the module whose final states it starts from.
    looped: it is applied to one step after the other, from its states after the step before.
    dense: of each initial state that a dense layer makes, the letter of the state of `start` that this layer reads; ""
    if it reads a vector that the program is given.
    """

    name: str
    places: tuple[Placed, ...]
    cell: OwnCell | None
    shape: tuple[int | None, ...]
    last: bool = False
    kept: bool = False
    unread: bool = False
    start: Module | None = None
    dense: tuple[str, ...] = ()
    looped: bool = False

    @property
    def layer(self) -> Layer:
        """The layer, each of its layers'."""
        return self.places[0].layer

    @property
    def recurrent(self) -> Cell | None:
        """The layer if it is recurrent."""
        return self.layer if isinstance(self.layer, Cell) else None

    @property
    def two_way(self) -> bool:
        """Whether it runs in both directions."""
        return self.recurrent is not None and self.recurrent.bidirectional

    @property
    def tied(self) -> bool:
        """Whether it shares the embedding's matrix."""
        return isinstance(self.layer, Output) and self.layer.tied

    @property
    def inputs(self) -> int:
        """The input width of the first layer, extra inputs included."""
        return self.places[0].inputs

    @property
    def outputs(self) -> int:
        """The output width of the last layer."""
        return self.places[-1].outputs

    @property
    def params(self) -> int:
        """The number of its parameters, of all its layers."""
        return sum(place.params for place in self.places)

    @property
    def states(self) -> tuple[tuple[str, int], ...]:
        """The letter and the width of each state of one direction; none of a layer without recurrence."""
        layer, sizes = self.recurrent, self.places[0].sizes
        return tuple((letter, sizes[width]) for letter, width in layer.states.items()) if layer else ()

    @property
    def learned(self) -> tuple[tuple[str, int], ...]:
        """The states that start at a learned vector."""
        return self.states if self.recurrent and self.recurrent.learned_state else ()

    @property
    def starts_itself(self) -> bool:
        """Whether its initial states are learned or made by dense layers, not zeros or the encoder's own."""
        return bool(self.learned or self.dense)


class Program(Frozen):
    """A network as the modules of a framework, in order; what flows through them is the network's own flow."""

    network: Network
    target: str
    modules: tuple[Module, ...]

    @property
    def params(self) -> int:
        """The number of all parameters, as the program holds them."""
        return sum(module.params for module in self.modules)

    @property
    def trainable(self) -> int:
        """The number of those that training changes."""
        return sum(place.trainable for module in self.modules for place in module.places)


def program_of(network: Network, target: str, *, stacks: bool = False) -> Program:
    """Return the modules of a network in the framework whose convention is `target`.

    stacks: whether one module of the framework may be several equal layers.
    """
    runs = _runs(network, target, stacks)
    cells = [(first.part, len(others) + 1) for (first, *others), _ in runs if isinstance(first.layer, Cell)]
    encoder, decoder = ([layers for part, layers in cells if part == half] for half in ("encoder", "decoder"))
    others = network.decoder and network.decoder.initial_states != "all"
    if network.encoder and (encoder != decoder or others):  # a module starts from the states of one with as many layers
        runs = _runs(network, target, stacks=False)
    return Program(network, target, tuple(_modules(network, runs)))


_Run = tuple[list[Placed], OwnCell | None]
"""The layers of one module, and the cell if the framework lacks it."""


def _runs(network: Network, target: str, stacks: bool) -> list[_Run]:
    runs: list[_Run] = []
    for entry in network.stack:
        layer, (placed, cell) = entry.layer, _under(entry, target)
        stackable = isinstance(layer, Cell) and not layer.initial_state and layer.merge in (None, "concat")
        if entry.copy and stacks and cell is None and stackable and not layer.extra_inputs:
            runs[-1][0].append(placed)
        else:
            runs.append(([placed], cell))
    return runs


def _under(entry: Placed, target: str) -> tuple[Placed, OwnCell | None]:
    """Return an entry with the tensors that it has in the program, and the cell that the framework lacks."""
    layer = entry.layer
    if not isinstance(layer, Cell):
        rules = TEXTBOOK if isinstance(layer, Transform) and not convention(target).expresses(layer) else target
        return _laid_out(entry, layout(layer, entry.inputs, convention(rules))), None
    core = layer.replace(**dict.fromkeys(OUTSIDE, False))
    book = layout(layer, entry.inputs, convention(TEXTBOOK))
    if not convention(target).expresses(core):
        return _laid_out(entry, book), _own_cell(entry, layer, book)
    states = tuple(tensor for tensor in book.tensors if tensor.role is Role.STATE)
    tensors = (*layout(core, entry.inputs, convention(target)).tensors, *states)
    params = formula(tensors)
    return _laid_out(entry, Layout(tensors, (), params, letters(params))), None


def _laid_out(entry: Placed, tensors: Layout) -> Placed:
    """Return an entry with another layout, and the count that follows from it."""
    return entry._replace(layout=tensors, params=value(tensors.params, entry.sizes))


def _own_cell(entry: Placed, layer: Cell, book: Layout) -> OwnCell:
    """Return a cell as one direction of a layer has it; `book`: the textbook's layout of the layer."""
    mark = (convention(TEXTBOOK).directions or ("",))[0] if layer.bidirectional else ""
    weights = [
        tensor._replace(name=tensor.name.removeprefix(mark))
        for tensor in book.tensors
        if tensor.direction is Direction.FORWARD and tensor.role is not Role.STATE
    ]
    options = {
        option: value
        for option, value in layer.values().items()
        if option not in _PLACING and value != layer.defaults.get(option)
    }
    return OwnCell(
        type(layer).__name__,
        tuple(options.items()),
        tuple(weights),
        equations(trace(layer, entry.inputs, convention(TEXTBOOK))),
        tuple(layer.states.items()),
        layer.output,
    )


def _modules(network: Network, runs: list[_Run]) -> Iterator[Module]:
    """Yield the modules with their parts in the network's flow."""
    flow, shape, whole, output = network.flow, shapes(network.flow), arrays(network.flow), ends(network.flow)
    at = {move.name: place for place, move in enumerate(flow) if isinstance(move, Placement)}
    kept = {move.reads[0] for move in flow if isinstance(move, Final)}
    read = {place for move in flow for place in move.reads}
    single = network.feedback or all(len(each) == 1 for each in shape)
    loop = next((place for place, move in enumerate(flow) if isinstance(move, Delay)), len(flow))
    modules: dict[int, Module] = {}
    for places, cell in runs:
        first, place = places[0], at[places[-1].name]
        recurs = isinstance(flow[place], Recur)
        out = output[place] if recurs else place
        looped = network.feedback or place > loop
        starts = [flow[state] for state in flow[place].reads[1:]] if recurs else []
        dense = any(isinstance(state, InitialState) for state in starts)
        starts = [flow[state.reads[0]] for state in starts] if dense else starts
        finals = [state for state in starts if isinstance(state, Final)]
        module = Module(
            (len(places) > 1 and first.layer.name) or first.name,
            tuple(places),
            cell,
            (1, *whole[out][len(shape[out]) - 1 :]) if single or looped else whole[out],
            last=recurs and len(shape[out]) < len(shape[place]),
            kept=place in kept,
            unread=place in kept and out not in read,
            start=modules[finals[0].reads[0]] if finals else None,
            dense=tuple(move.state if isinstance(move, Final) else "" for move in starts) if dense else (),
            looped=looped,
        )
        modules |= dict.fromkeys([at[each.name] for each in places], module)
        yield module
