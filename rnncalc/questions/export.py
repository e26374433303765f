"""`export`: of what modules a framework's program of a network consists, and how its input flows through them.

A layer that the framework's own modules can express is one of them, with the tensors of the framework's convention; any
other is a module of its own, written from its equations, with the textbook's tensors. Knows no word of any program.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.conventions.catalogue import convention, lacks
from rnncalc.conventions.formula import formula, letters, value
from rnncalc.conventions.layout import Layout, layout
from rnncalc.conventions.tensor import Direction, Role
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer
from rnncalc.network.flow import Apply, Begin, Final, Input, Last, Placement, Recur, ends, shapes
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.program import (
    FedBack,
    LastStep,
    Module,
    ModuleCall,
    Move,
    OneStep,
    OwnCell,
    Program,
    Zeros,
)
from rnncalc.step.equations import equations
from rnncalc.step.trace import trace

TEXTBOOK = "textbook"
OUTSIDE = ("learned_state",)
"""Options that are written around a framework's module, and need none of its own."""

_PLACING = {"units", "projection", "name", "frozen", "repeat", "extra_inputs", "bidirectional", "merge", *OUTSIDE}


def export(network: Network, target: str, *, stacks: bool = False) -> Program:
    """Return of what a network consists in the framework whose convention is `target`.

    stacks: whether one module of the framework may be several equal layers.
    """
    runs = [*_runs(network, target, stacks)]
    if stacks and network.encoder and not _meet(runs):
        runs = [*_runs(network, target, stacks=False)]
    modules = tuple(map(_module, runs))
    return Program(network, target, modules, tuple(_moves(network, modules)))


_Run = tuple[list[Placed], bool, OwnCell | None]
"""The layers of one module, whether the framework stacks them, and the cell where the framework lacks it."""


def _runs(network: Network, target: str, stacks: bool) -> Iterator[_Run]:
    run: list[Placed] = []
    for entry in network.stack:
        placed, cell = _under(entry, target)
        stackable = stacks and cell is None and _stackable(entry.layer)
        if run and stackable and entry.copy:
            run.append(placed)
            continue
        if run:
            yield run, True, None
        run = [placed] if stackable else []
        if not stackable:
            yield [placed], False, cell
    if run:
        yield run, True, None


def _stackable(layer: Layer) -> bool:
    joins = isinstance(layer, Cell) and layer.merge in (None, "concat")
    return joins and layer.repeat > 1 and not layer.extra_inputs


def _meet(runs: list[_Run]) -> bool:
    """Return whether the recurrent modules of both halves have the same numbers of layers, in order."""
    layers: dict[str | None, list[int]] = {"encoder": [], "decoder": []}
    for places, _, _ in runs:
        if isinstance(places[0].layer, Cell):
            layers[places[0].part].append(len(places))
    return layers["encoder"] == layers["decoder"]


def _under(entry: Placed, target: str) -> tuple[Placed, OwnCell | None]:
    """Return an entry with the tensors that it has in the program, and the cell that the framework lacks."""
    layer = entry.layer
    if not isinstance(layer, Cell):
        return _laid_out(entry, layout(layer, entry.inputs, convention(target))), None
    core = layer.replace(**dict.fromkeys(OUTSIDE, False))
    book = layout(layer, entry.inputs, convention(TEXTBOOK))
    if any(lacks(core, target)):
        return _laid_out(entry, book), _own(entry, layer, book)
    states = tuple(tensor for tensor in book.own if tensor.role is Role.STATE)
    own = layout(core, entry.inputs, convention(target))
    tensors = (*own.own, *states)
    params = formula(tensors)
    return _laid_out(entry, Layout(tensors, (), params, letters(params))), None


def _laid_out(entry: Placed, found: Layout) -> Placed:
    """Return an entry with another layout, and the count that follows from it."""
    return entry._replace(layout=found, params=value(found.params, entry.sizes))


def _own(entry: Placed, layer: Cell, book: Layout) -> OwnCell:
    """Return a cell as one direction of a layer has it; `book`: the textbook's layout of the layer."""
    mark = (convention(TEXTBOOK).directions or ("",))[0] if layer.bidirectional else ""
    weights = [
        tensor._replace(name=tensor.name.removeprefix(mark))
        for tensor in book.own
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


def _module(run: _Run) -> Module:
    places, stacked, cell = run
    first = places[0]
    return Module(first.layer.name or first.name if stacked else first.name, tuple(places), cell)


def _moves(network: Network, modules: tuple[Module, ...]) -> Iterator[Move]:
    """Yield what is done with the modules, as the network's own moves have it.

    Modules read sequences: what flows through a network of one step is a sequence of one step.
    """
    flow, shape, output = network.flow, shapes(network.flow), ends(network.flow)
    of = {place.name: module for module in modules for place in module.places}
    recurrent = tuple(module for module in modules if isinstance(module.layer, Cell))
    kept = {move.reads[0] for move in flow if isinstance(move, Final)}
    read = {place for move in flow for place in move.reads}
    single = all(len(each) == 1 for each in shape)
    for place, move in enumerate(flow):
        match move:
            case Input(extra_of=None):
                yield move
                if single:
                    yield OneStep()
            case Input():
                yield move.replace(shape=(1, *move.shape)) if single else move
            case Begin(later="output"):
                yield OneStep()
                yield FedBack(move.steps, recurrent, any(module.layer.extra_inputs for module in modules))
            case Begin():
                yield Zeros(shape[place][-1], move.steps)
            case Placement(name=name) if (module := of[name]).places[-1].name == name:
                out = output[place] if isinstance(move, Recur) else place
                starts = [flow[state].reads[0] for state in move.reads[1:]]
                yield ModuleCall(
                    module,
                    (1, module.outputs) if single or network.feedback else shape[out],
                    last=isinstance(move, Recur) and len(shape[out]) < len(shape[place]),
                    kept=place in kept,
                    unread=place in kept and out not in read,
                    looped=network.feedback and module in recurrent,
                    start=of[_name(flow[starts[0]])] if starts else None,
                )
            case Last() if isinstance(flow[move.reads[0]], Apply):
                yield LastStep(shape[place])
    if single:
        yield LastStep(shape[-1])


def _name(move: object) -> str:
    assert isinstance(move, Placement)
    return move.name
