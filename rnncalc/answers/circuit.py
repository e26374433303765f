"""The values of a pass by hand, each with how it was made, so that the pass can be done again with some changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

from rnncalc.conventions.notation import Notation
from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import flat, shape_of
from rnncalc.forward.tape import Tape, TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.letters import GREEK, MATH_ACCENTS, with_index
from rnncalc.questions.spelling import turned
from rnncalc.questions.work import Work
from rnncalc.questions.work_backward import GradientWork, Variable
from rnncalc.step.operations import OPERATIONS, Operation

_NO_FORWARD = ("row", "lookup")
"""The operations that are not done again, because they look rows up by number."""


class Edit(NamedTuple):
    """A value of the pass, and what it has instead; numbers are kept as they are given if there is no operation."""

    value: TapeValue
    row: Operation | None
    operands: Sequence[TapeValue] = ()
    numbers: Any = None


class Change(NamedTuple):
    """One way in which a mistake is made. words: those for the {braces} of its text. layer: the only one it is made in.

    loss, slope: what the loss and its gradient are multiplied by.
    """

    words: dict[str, str]
    layer: str | None
    edits: Sequence[Edit] = ()
    loss: float = 1.0
    slope: float = 1.0


class NamedValue(NamedTuple):
    """A value of a pass by hand, as `run --work` calls it. value: that of the tape; None for a loss or a gradient."""

    layer: str
    text: str
    value: TapeValue | None = None

    @property
    def key(self) -> str:
        """Its name as it is looked up."""
        return key_of(self.text)


_IN_BRACES = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


@lru_cache(maxsize=4_096)
def key_of(text: str) -> str:
    r"""Return a name as it is looked up: Wxh of `W_{xh}` and `Wₓₕ`, ∂L/∂h1 of `\frac{\partial L}{\partial h_1}`."""
    text = re.sub(rf"\\[dt]?frac\s*{_IN_BRACES}\s*{_IN_BRACES}", r"\1/\2", with_index(text))
    for accent, command in MATH_ACCENTS.items():
        text = re.sub(rf"\\(?:wide)?{command} ?(?:\{{(\w)\}}|(\w))", rf"\1\2{accent}", text)
    text = re.sub(r"\\partial(?![A-Za-z])", "∂", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda word: GREEK.get(word[1], ""), text)
    text = re.sub(r"\b(?:[dD]elta|[gG]amma)(?![a-z])", lambda word: GREEK[word[0]], text)
    text = re.sub(r"(?<![0-9]),|[\s{}$_*()^]", "", text)
    return re.sub(r"\A[d∂](?:[LEJ]|[lL]oss)/[d∂]", "∂L/∂", text)


def _written(name: Variable, notation: Notation) -> str:
    """Return a name in plain text, as in the report of `run --work`: `h_1`, `δ_h,2`, `∂L/∂W_xh (step 2)`."""
    letter, below = name.letter, name.below
    if not below and name.uses is None:
        letter, _, index = notation.letter(letter).partition("_")
        below = ",".join(filter(None, [index, "" if name.step is None else str(name.step)]))
    text = "_".join(filter(None, [GREEK.get(letter, letter), below]))
    text = f"∂L/∂{text}" if name.gradient else text
    text += f" (step {name.uses})" if name.uses else ""
    return f"{name.direction.value}/{text}" if name.direction else text


Key = tuple[str, str]
"""The layer of a named value, and its name as it is looked up."""

Numbers = tuple[tuple[int, ...], tuple[float, ...]]
"""A shape, and the numbers of an array of that shape."""


Values = dict[Key, Numbers]
"""The named values of a pass."""


class Element(NamedTuple):
    """A named value of a pass, or one number of it. at: the place of the number; None for the whole value."""

    key: Key
    at: int | None = None

    def of(self, values: Values) -> Numbers | None:
        """Return its shape and numbers among the values of a pass; None if it is not there."""
        numbers = values.get(self.key)
        return numbers if numbers is None or self.at is None else ((), numbers[1][self.at : self.at + 1])


def _array(nested: Any) -> Numbers:
    return shape_of(nested), tuple(flat(nested))


Fixed = Mapping[tuple[int, bool], Sequence[float]]
"""The numbers that values, or gradients with respect to values, have instead, by the identity of the value."""


class _TapeAgain(Tape):
    """The tape of a pass that is done again; sources: the value with respect to which each gradient is, by identity."""

    def __init__(self, values: list[TapeValue], fixed: Fixed, slope: float) -> None:
        super().__init__()
        self.values, self.fixed, self.slope = values, fixed, slope
        self.sources: dict[int, int] = {}

    def worked(self, gradients: Iterable[tuple[TapeValue, Any]]) -> Iterator[tuple[TapeValue, TapeValue]]:
        for value, gradient in super().worked([(value, self._times(each)) for value, each in gradients]):
            if (numbers := self.fixed.get((id(value), True))) and len(numbers) == len(gradient.numbers):
                gradient.numbers = [*numbers]
            self.sources[id(gradient)] = id(value)
            yield value, gradient

    def _times(self, gradient: Any) -> Any:
        if self.slope == 1.0:
            return gradient
        if isinstance(gradient, TapeValue):
            return TapeValue(self._times(gradient.numbers), gradient.layer)
        return [self.slope * each for each in gradient]


def in_order(values: Iterable[TapeValue]) -> list[TapeValue]:
    """Return values with all that they are made of, each after its operands. Raises ValueError for a circle."""
    done: dict[int, TapeValue] = {}
    for value in values:
        if done.keys() >= set(map(id, value.operands)):  # nearly all are in order already
            done[id(value)] = value
            continue
        stack, above = [value], set[int]()
        while stack:
            last = stack[-1]
            if missing := [each for each in last.operands if id(each) not in done]:
                above.add(id(last))
                if id(missing[-1]) in above:
                    raise ValueError("a value is made of itself")
                stack.append(missing[-1])
            else:
                done[id(last)] = stack.pop()
    return [*done.values()]


def _states(steps: Iterable[Mapping[str, TapeValue]]) -> Iterator[TapeValue]:
    return (value for step in steps for letter, value in step.items() if letter != "x")


class Circuit:
    """The values of a pass, each with how it was made.

    nodes: the values in order. names: the named ones, in the order of the report. ways: of each recurrent layer, the
    identities of the values of each direction. inputs: what each direction of such a layer reads, step by step.
    starts: its states before the first step.
    """

    def __init__(self, done: Work) -> None:
        self.done, self.recorded = done, done.recorded
        self.network = done.run.network
        self.loss = done.backward.name_of_loss if done.backward else ""
        notation = self.network.spelling
        self.names: dict[Key, NamedValue] = {}
        for layer in done.layers:
            for each in (*(step for way in layer.ways for step in way), *layer.steps):
                for line in (*each.known, *each.lines):
                    named = NamedValue(line.name.layer, _written(line.name, notation), line.value)
                    self.names.setdefault((named.layer, named.key), named)
        named_values = [each.value for each in self.names.values() if each.value]
        self.nodes = in_order([*self.recorded.tape.values, *named_values, *self.recorded.outputs])
        self.ways: dict[str, list[set[int]]] = {}
        self.inputs: dict[str, list[list[TapeValue]]] = {}
        self.starts: list[TapeValue] = []
        for layer in done.layers:
            placed = layer.derivation.placed
            histories = self.recorded.values[placed.name].histories
            self.starts += [value for history in histories for value in history.start.values()]
            if isinstance(placed.layer, Cell):
                self.ways[placed.name] = [
                    {id(each) for each in in_order(_states(history.steps)) if each.layer.name == placed.name}
                    for history in histories
                ]
                self.inputs[placed.name] = [[step["x"] for step in history.steps] for history in histories]
        self.targets: dict[Key, tuple[int, bool]] = {key: (id(each.value), False) for key, each in self.names.items()}
        self.exact: Values = {}
        self.exact = self.again()
        self.order = {key: place for place, key in enumerate(self._in_time())}

    def _in_time(self) -> list[Key]:
        """Return the names in the order in which the pass makes the values."""
        places = {id(node): place for place, node in enumerate(self.nodes)}
        forward = [key for key in self.exact if (each := self.names[key].value) and id(each) in places]
        forward.sort(key=lambda key: places[id(self.names[key].value)])
        return [*forward, *(key for key in self.exact if not self.names[key].value)]

    def text(self, element: Element) -> str:
        """Return a value by its name, and a number of it by its place from 0: `h_1[0]`, `∂L/∂W_hh[0][1]`."""
        name, (shape, _) = self.names[element.key].text, self.exact[element.key]
        places = [] if element.at is None else [element.at]
        for size in reversed(shape[1:]) if places else ():
            places[:1] = divmod(places[0], size)
        return name + "".join([f"[{place}]" for place in places])

    # What the rows of the table ask

    def letter(self, value: TapeValue) -> str:
        """Return the letter of a value without its step; empty if it has none."""
        name = self.done.names.get(id(value))
        return (
            ""
            if name is None or name.gradient
            else _written(name._replace(step=None, direction=None), self.network.spelling)
        )

    def spelled(self, letter: str) -> str:
        """Return what the notation writes for the letter of a gate."""
        return self.network.spelling.letter(letter)

    def gate(self, value: TapeValue) -> str:
        """Return the letter of a gate, `1 − z` of its complement; empty for any other value."""
        if value.row is OPERATIONS["complement"]:
            return f"1 − {self.letter(value.operands[0])}" * bool(self.letter(value.operands[0]))
        return self.letter(value) * bool(value.row and value.row.activations)

    def matrix(self, product: TapeValue) -> str:
        """Return which matrix a product has, in words."""
        if declared := product.operands[0].numbers.origin.declaration:
            side = "input's" if declared.vector == "x" else "recurrent"
            return f"the {side} matrix" + f" of {self.spelled(declared.letter)}" * bool(declared.letter)
        return "the matrix"

    # The pass, done again

    def again(self, change: Change | None = None, fixed: Fixed | None = None) -> Values:
        """Return the named values of the pass with a change, and with some values or gradients that are fixed."""
        edits, fixed = [*change.edits] if change else [], fixed or {}
        before = [(node, node.row, node.operands, node.numbers) for node in self.nodes]
        try:
            for value, row, operands, numbers in edits:
                value.row, value.operands = row, operands
                value.numbers = value.numbers if numbers is None else numbers
            nodes = in_order(self.nodes)
            for node in nodes:
                if node.row and node.row.name not in _NO_FORWARD:
                    node.numbers = node.row.forward(*[each.numbers for each in node.operands])
                node.numbers = [*fixed[id(node), False]] if (id(node), False) in fixed else node.numbers
            values = {key: _array(each.value.numbers) for key, each in self.names.items() if each.value}
            return values | self._gradients(nodes, fixed, change or Change({}, None))
        finally:
            for node, *state in before:
                node.row, node.operands, node.numbers = state

    def _gradients(self, nodes: list[TapeValue], fixed: Fixed, change: Change) -> Values:
        """Return the loss and the gradients of the pass as it is now."""
        if not self.done.gradients:
            return {}
        recorded = copy(self.recorded)
        recorded.tape = tape = _TapeAgain([each for each in nodes if each.needs and each.row], fixed, change.slope)
        try:
            back = self.done.gradients(recorded, {**self.done.names})
        except (ArithmeticError, ValueError, RefusedError):  # a changed pass may have no loss: the logarithm of −1
            return {}
        loss = NamedValue("", "L")
        values, names = {("", "L"): _array(back.loss * change.loss)}, {("", "L"): loss}
        for name, array, at in self._of(back):
            named = NamedValue(name.layer, _written(name, self.network.spelling))
            key = named.layer, named.key
            values.setdefault(key, _array(array))
            names.setdefault(key, named)
            self.targets.setdefault(key, (tape.sources.get(at, 0), True))
        self.names |= {} if self.exact else names
        return values

    def _of(self, back: GradientWork) -> Iterator[tuple[Variable, Any, int]]:
        """Yield the gradients by their names, each with the identity of its value."""
        rows = self.network.spelling.rows
        for line in (line for each in back.steps for line in each.lines):
            of_weights = line.name.uses is not None
            yield line.name, turned(line.value.numbers) if rows and of_weights else line.value.numbers, id(line.value)
        for weights in back.weights:
            yield weights.name._replace(uses=None), turned(weights.total) if rows else weights.total, 0
