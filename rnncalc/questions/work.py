"""`run --work`: a forward pass worked by hand, every value with the operation that made it.

The values of the pass record how they were computed; here they get their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_WORKED, MOST_WORKED_IN_ALL
from rnncalc.conventions.notation import Notation
from rnncalc.conventions.tensor import WAYS, Direction
from rnncalc.errors import Cure, RefusedError
from rnncalc.forward.arrays import PassData
from rnncalc.forward.backward_pass import BackwardPass
from rnncalc.forward.layer_pass import History, LayerValues, LetteredValue
from rnncalc.forward.tape import TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Output, Time, Transform, inside
from rnncalc.network.data import Nested
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions import network_of
from rnncalc.questions.backward import LOSSES, counted_of, in_steps, loss_name, with_loss
from rnncalc.questions.explain import Derivation, explain_those
from rnncalc.questions.run import Run, assumed_steps, own_numbers, seed_of, with_steps_to_run
from rnncalc.questions.spelling import spelled_weights
from rnncalc.questions.work_backward import GradientWork, Variable, WorkedLine, gradient_work
from rnncalc.step.layer_trace import layer_trace
from rnncalc.step.operations import OPERATIONS


class StepWork(NamedTuple):
    """The work of one step: the values before it, and each new value after its operands.

    step: counted from 1; None without a sequence.
    """

    step: int | None
    known: tuple[WorkedLine, ...]
    lines: tuple[WorkedLine, ...]


class LayerWork(NamedTuple):
    """The work of one layer.

    derivation: of its count, with its equations. weights: by tensor, in the network's notation.
    ways: for each direction of a recurrent layer, its steps in reading order.
    steps: the output of any other layer, or of both directions joined, step by step.
    """

    derivation: Derivation
    weights: Mapping[str, Nested]
    ways: tuple[tuple[StepWork, ...], ...]
    steps: tuple[StepWork, ...]


class Work(NamedTuple):
    """A forward pass worked by hand. names: the first name of each value that has one, by identity.

    read: the name of each value in a layer that reads it. backward: the backward pass, if it was asked for.
    recorded: the pass on its tape. gradients: returns the backward pass of a recorded one from the names of its values,
    to which it adds those of gradients.
    """

    run: Run
    layers: tuple[LayerWork, ...]
    names: Mapping[int, Variable]
    read: Mapping[tuple[str, int], Variable]
    recorded: BackwardPass
    backward: GradientWork | None = None
    gradients: Callable[[BackwardPass, dict[int, Variable]], GradientWork] | None = None

    @property
    def notations(self) -> Mapping[str, Notation]:
        """The notation of each layer, by its name."""
        return {each.derivation.placed.name: each.derivation.notation for each in self.layers}


def work(
    network: Network,
    *,
    seed: int = 0,
    weights: Mapping[str, Mapping[str, Nested]] | None = None,
    inputs: Sequence[Nested] | Mapping[Any, Sequence[Nested]] | None = None,
    start: Mapping[str, Mapping[str, Nested]] | None = None,
    rounded: bool = True,
    backward: bool = False,
    chunk: int | None = None,
    loss: str | None = None,
    targets: Sequence[Nested] | Mapping[Any, Sequence[Nested]] | None = None,
    learning_rate: float | None = None,
) -> Work:
    """Run a forward pass of a small network and return the numbers of every equation.

    Arguments and errors are those of `run`; also raises RefusedError if a step has more than 200 numbers.
    rounded: whether numbers drawn from the seed have few decimals. backward: whether to work the backward pass too;
    chunk, loss and targets are then as in `backward`. learning_rate: of the updated weights.
    """
    network = network_of(network)
    data = own_numbers(network, weights, inputs, start, targets)
    timed = with_steps_to_run(network, data.inputs)
    name, cut = "", None
    if backward:
        name = loss_name(loss, data.targets)
        timed = with_loss(timed, name)
        if any(getattr(placed.layer, "tied", False) for placed in timed.stack):
            raise RefusedError("by hand, the gradient of a table that two layers share is not written; remove tied")
        counted = counted_of(timed, chunk)
        cut = counted.chunk if counted.truncated else None
    _refuse_large(timed)
    in_use = PassData(seed_of(seed), data.weights, rounded=rounded).weights_of_all(timed)
    drawn: dict[str, Any] = {"seed": seed_of(seed), "inputs": data.inputs, "start": data.start, "rounded": rounded}
    recorded = BackwardPass(timed, in_use, chunk=cut, traced=True, **drawn)
    done = Run(timed, recorded.ran, assumed_steps(network, data.inputs))
    reached = [(each.placed, recorded.values[each.placed.name]) for each in recorded.ran if each.reason is None]
    names, read = _named(reached)
    layers = []
    derivations = explain_those(timed, tuple(placed.name for placed, _ in reached)).layers
    for derivation, (placed, values) in zip(derivations, reached, strict=False):
        numbers = in_use[placed.name]
        shown = spelled_weights(timed, placed, numbers) if timed.notation else numbers
        layers.append(LayerWork(derivation, shown, *_steps(names, placed, values)))
    if not backward or len(reached) < len(timed.stack):
        return Work(done, tuple(layers), names, read, recorded)
    vectors = in_steps(timed, data.targets, name)
    arrays: dict[int, Any] = {}

    def gradients(recorded: BackwardPass, names: dict[int, Variable]) -> GradientWork:
        back = gradient_work(timed, recorded, names, name, LOSSES[name](vectors), vectors, learning_rate, arrays)
        return back._replace(chunk=cut)

    return Work(done, tuple(layers), names, read, recorded, gradients(recorded, names), gradients)


def _refuse_large(network: Network) -> None:
    numbers = sum(map(_numbers, network.stack))
    if numbers > MOST_WORKED:
        message = f"a step would write {numbers:,} weights, and the limit by hand is {MOST_WORKED}"
        raise RefusedError(message, Cure.NARROWER, Cure.ONLY_RUN)
    steps = sum(part.steps or 1 for part in network.parts.values())
    if numbers * steps > MOST_WORKED_IN_ALL:
        message = (
            f"{steps:,} steps would write {numbers * steps:,} weights, and the limit by hand is {MOST_WORKED_IN_ALL:,}"
        )
        raise RefusedError(message, Cure.FEWER_STEPS)


def _numbers(entry: Placed) -> int:
    """Return how many weights a step of a layer reads, at least as many as the numbers that it outputs."""
    if isinstance(entry.layer, Embedding | External):
        return entry.outputs
    tied = entry.inputs * entry.outputs if isinstance(entry.layer, Output) and entry.layer.tied else 0
    return max(entry.params + tied, entry.outputs)


def _output(placed: Placed, step: int) -> Variable:
    """Return the name of a layer's output at a step; an initial state belongs to the step before the first."""
    if placed.starts:
        return Variable(placed.starts[1], 0, placed.name)
    layer = placed.layer
    letter = "h" if isinstance(layer, Cell) else layer.letter if isinstance(layer, Dense) else "y"
    if isinstance(layer, Transform):
        step_of_it = layer_trace(layer, placed.inputs // placed.places)
        node = step_of_it.nodes[step_of_it.output]
        letter = node.letter if node.letter and node.operation in OPERATIONS else letter
    return Variable(letter, step if placed.sequence else None, placed.name)


def _named(
    layers: Sequence[tuple[Placed, LayerValues[TapeValue]]],
) -> tuple[dict[int, Variable], dict[tuple[str, int], Variable]]:
    """Return the names of values by identity, and those in each layer that reads them.

    A layer's input is named last, after the layer that made it.
    """
    names: dict[int, Variable] = {}
    read: dict[tuple[str, int], Variable] = {}
    for placed, kept in layers:
        for each in kept.lettered:
            if each.letter not in placed.layer.vectors:
                names.setdefault(id(each.value), _lettered(placed, each))
        for direction, history in zip(_directions(placed), kept.histories, strict=False):
            before = len(history.steps) + 1 if direction is Direction.BACKWARD else 0
            for step, values in enumerate(history.steps, 1):
                for letter in sorted(values, key=lambda letter: letter == "h"):  # h = c is the name of c
                    if letter != "x":
                        names.setdefault(id(values[letter]), Variable(letter, step, placed.name, direction=direction))
            for letter, value in history.start.items():
                names.setdefault(id(value), Variable(letter, before, placed.name, direction=direction))
        for step, value in enumerate(kept.outputs, 1):
            names.setdefault(id(value), _output(placed, step))
    for placed, kept in layers:
        local = [(each.value, _lettered(placed, each)) for each in kept.lettered]
        for vectors in (*([step["x"] for step in each.steps] for each in kept.histories), kept.inputs):
            local += [(x, Variable("x", step, placed.name)) for step, x in enumerate(vectors, 1)]
        for value, name in local:
            names.setdefault(id(value), name)
            read.setdefault((placed.name, id(value)), name)
    return names, read


def _directions(placed: Placed) -> Sequence[Direction | None]:
    """Return both directions of a layer, None for a single one."""
    return WAYS if placed.layer.directions > 1 else (None,)


def _lettered(placed: Placed, each: LetteredValue[TapeValue]) -> Variable:
    return Variable(each.letter, each.step if placed.sequence else None, placed.name, each.below)


def _steps(
    names: Mapping[int, Variable], placed: Placed, values: LayerValues[TapeValue]
) -> tuple[tuple[tuple[StepWork, ...], ...], tuple[StepWork, ...]]:
    """Return the steps of each direction of a recurrent layer, and those of the output, as in LayerWork."""
    histories, lettered, inputs, outputs = values
    directed = zip(_directions(placed), histories, strict=False)
    ways = tuple(tuple(_way(names, placed, history, direction)) for direction, history in directed)
    seen = {id(value) for history in histories for step in history.steps for value in step.values()}
    steps = []
    count = placed.layer.output_shape((len(inputs), 1))[0] if inputs else 0
    unread = max([each.first for each in lettered], default=count) - len(outputs)  # if the last step alone is read
    for step, value in enumerate(outputs, 1):
        name = _output(placed, step)
        if id(value) not in seen and names[id(value)] == name:
            window = placed.layer.window_of(unread + step - 1, len(inputs)) if inputs else range(0)
            read: Sequence[int] = inside(window, len(inputs))
            if placed.layer.time in (Time.SEQUENCE, Time.SUMMARY) and step > 1:  # the first step has all of it
                read = [step - 1]
            reads = tuple([_line(names, Variable("x", place + 1, placed.name), inputs[place]) for place in read])
            pairs = [
                (each.letter, _line(names, _lettered(placed, each), each.value))
                for each in lettered
                if not each.joined
                and (each.first == unread + step or (each.shared and each.first <= unread and step == 1))
            ]
            reads += tuple([line for letter, line in pairs if letter in placed.layer.vectors])
            lines = [line for letter, line in pairs if letter not in placed.layer.vectors]
            steps.append(StepWork(step if placed.sequence else None, reads, (*lines, WorkedLine(name, value))))
    return ways, tuple(steps)


def _way(
    names: Mapping[int, Variable], placed: Placed, history: History[TapeValue], direction: Direction | None
) -> Iterator[StepWork]:
    """Yield the steps of one direction in reading order."""
    backward = direction is Direction.BACKWARD
    order = range(len(history.steps), 0, -1) if backward else range(1, len(history.steps) + 1)
    before: Mapping[str, TapeValue] = history.start
    for number, step in enumerate(order):
        values = history.steps[step - 1]
        reads = [_line(names, Variable("x", step, placed.name), values["x"])]
        if not number:
            past = step + 1 if backward else step - 1
            for letter, value in before.items():
                reads.append(_line(names, Variable(letter, past, placed.name, direction=direction), value))
        letters = sorted(values, key=lambda letter: letter == "h" or letter in history.start)  # gates first
        lines = [
            _line(names, Variable(letter, step, placed.name, direction=direction), values[letter]) for letter in letters
        ]
        yield StepWork(step, tuple(reads), tuple(_in_order(names, [line for line in lines if line.name.letter != "x"])))


def _line(names: Mapping[int, Variable], name: Variable, value: TapeValue) -> WorkedLine:
    copied = value.operands[0] if value.row and value.row.name in ("linear", "copy") else value
    first = names.get(id(copied), names.get(id(value), name))
    return WorkedLine(name, value, None if first == name else first)


def _in_order(names: Mapping[int, Variable], lines: Sequence[WorkedLine]) -> list[WorkedLine]:
    """Return the lines, each after its operands, with gates in the step's order."""
    waiting = {id(line.value): [each for each in lines if each.value is line.value] for line in lines}
    ordered: list[WorkedLine] = []

    def add(value: TapeValue) -> None:
        same = waiting.pop(id(value), [])
        for operand in value.operands if same or id(value) not in names else ():
            add(operand)
        ordered.extend(sorted(same, key=lambda line: line.same_as is not None))

    for line in lines:
        add(line.value)
    return ordered
