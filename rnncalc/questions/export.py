"""`export`: of what modules a framework's program of a network consists, and how its input flows through them.

A layer that the framework's own modules can express is one of them, with the tensors of the framework's convention; any
other is a module of its own, written from its equations, with the textbook's tensors. Knows no word of any program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention, lacks
from rnncalc.conventions.convention import CellArrays
from rnncalc.conventions.formula import formula, letters, value
from rnncalc.conventions.layout import Layout, layout
from rnncalc.conventions.tensor import Direction, Role
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Layer
from rnncalc.network.network import Network
from rnncalc.network.parts import Topology, reads_many
from rnncalc.network.stack import Placed, turn
from rnncalc.questions.program import Apply, Begin, Extra, FedBack, Last, Module, Move, OneStep, OwnCell, Program, Zeros
from rnncalc.questions.symbols import equations

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
    return _laid_out(entry, Layout(tensors, (), params, letters(params), own.multiply_adds)), None


def _laid_out(entry: Placed, found: Layout) -> Placed:
    """Return an entry with another layout, and the count that follows from it."""
    return entry._replace(layout=found, params=value(found.params, entry.sizes))


def _own(entry: Placed, layer: Cell, book: Layout) -> OwnCell:
    """Return a cell as one direction of a layer has it; `book`: the textbook's layout of the layer."""
    arrays = convention(TEXTBOOK).arrays(layer.kind)
    assert isinstance(arrays, CellArrays)  # the textbook has every cell
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
        equations(layer, entry.inputs, arrays),
        tuple(layer.states.items()),
        layer.output,
    )


def _module(run: _Run) -> Module:
    places, stacked, cell = run
    first = places[0]
    return Module(first.layer.name or first.name if stacked else first.name, tuple(places), cell)


def _moves(network: Network, modules: tuple[Module, ...]) -> Iterator[Move]:
    encoders = iter([each for each in modules if each.places[0].part == "encoder" and isinstance(each.layer, Cell)])
    for name, part in network.parts.items():
        own = tuple(module for module in modules if module.places[0].part == name)
        topology = network.topology_of(name)
        yield Begin(name, part.input, isinstance(part.layers[0], Embedding), reads_many(topology), part.steps)
        if network.feedback:
            yield from _fed_back(own, part.steps)
            return
        single = topology == Topology.ONE_TO_ONE
        if single:
            yield OneStep()
        turning = _module_of(own, turn(part, topology))
        for module in own:
            at = _At(topology if module is turning else "", name, part.steps, single, module is own[-1])
            yield from _through(module, at, encoders)
        if single:
            yield Last((own[-1].outputs,))


def _fed_back(modules: tuple[Module, ...], steps: int | None) -> Iterator[Move]:
    """Yield what is done where all modules are applied to one step after another."""
    recurrent = tuple(module for module in modules if isinstance(module.layer, Cell))
    yield OneStep()
    yield FedBack(steps, recurrent, any(module.layer.extra_inputs for module in modules))
    for module in modules:
        if extra := module.layer.extra_inputs:
            yield Extra(module, extra, (steps, extra), looped=True)
        yield Apply(module, (1, module.outputs), looped=module in recurrent)


class _At(NamedTuple):
    """Where a module stands: `turn` names the topology where a sequence, if one does, ends or begins there."""

    turn: str
    part: str | None
    steps: int | None
    single: bool
    final: bool


def _through(module: Module, at: _At, encoders: Iterator[Module]) -> Iterator[Move]:
    """Yield what is done at a module."""
    layer, recurrent = module.layer, isinstance(module.layer, Cell)
    shape = (1, module.outputs) if at.single else module.places[-1].output_shape
    ends, begins = at.turn == Topology.MANY_TO_ONE, at.turn == Topology.ONE_TO_MANY
    if begins and not isinstance(layer, Embedding):
        yield Zeros(module.inputs - layer.extra_inputs, at.steps)
    if layer.extra_inputs:
        read = (at.steps,) if ends or len(shape) == 2 else ()
        yield Extra(module, layer.extra_inputs, (*read, layer.extra_inputs))
    if ends and not recurrent:
        yield Apply(module, (at.steps, module.outputs))
        yield Last(shape)
        return
    if begins and isinstance(layer, Embedding):
        yield Apply(module, (layer.units,))
        yield Zeros(layer.units, at.steps)
        return
    start = next(encoders) if at.part == "decoder" and recurrent else None
    kept = at.part == "encoder" and recurrent
    yield Apply(module, shape, last=ends, kept=kept, unread=kept and at.final, start=start)


def _module_of(modules: tuple[Module, ...], number: int) -> Module:
    """Return the module that has one of the layers of a part, counted from 0."""
    return [module for module in modules for _ in module.places][number]
