"""A network unrolled in time: a column for each step, a row for each layer.

The steps at which a layer is applied and has an output come from the moves of the network's flow. Only the steps that
are drawn are looked at, so a long sequence takes no longer than a short one.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from functools import cached_property
from itertools import compress, pairwise, zip_longest
from typing import Any, NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Output
from rnncalc.letters import has_letters
from rnncalc.network.flow import (
    Attend,
    Final,
    InitialState,
    Input,
    Last,
    Placement,
    Recur,
    Window,
    ends,
    shapes,
    takes_last,
)
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.pictures.picture import (
    MOST_OF_A_NAME,
    Arrow,
    Box,
    Brace,
    Caption,
    Dot,
    Frame,
    GridPoint,
    Label,
    Picture,
    Shape,
    Style,
    fitted,
    framed,
    moved,
    span,
)
from rnncalc.records import Frozen
from rnncalc.typeset.equations import Line, Term
from rnncalc.typeset.setting import flow, one_to_many, title
from rnncalc.words import all_of, plural

MOST_STEPS, MOST_LAYERS = 6, 12
"""The most steps, and the most layers, that are drawn; of more, those in the middle are left out."""

FIRST_LAYERS, LAST_LAYERS = 6, 5
"""How many layers are drawn if some are left out."""

SHORT = 10_000
"""From this number on, the last step is written T."""

DOTS = 3
"""The width of a gap."""

BETWEEN = 3
"""The length of an arrow from step to step."""

APART = 4
"""Between two halves that no arrow joins."""

UP, JOINED = 2, 4
"""The lines between two rows: for an arrow, and for one that another joins."""

PAST = 4
"""How much narrower a box of attention is than others: what its context joins runs past it."""


def pictures(network: Network, only: tuple[str, ...], frame: Frame) -> list[Picture]:
    """Return the network unrolled, in two pictures if its halves do not fit side by side; or the named layers."""
    parts = drawn_parts(network)
    if only:
        named = {row.name: part._replace(rows=[row]) for part in parts for row in part.rows}
        return [_fitting(network, [named[name]], frame, name) for name in only]
    for part in parts:
        if len(part.rows) > MOST_LAYERS:
            middle = part.rows[FIRST_LAYERS:-LAST_LAYERS]
            makers = tuple(placed for row in middle for placed in row.makers)
            places = tuple(row.placed for row in middle)
            part.rows[FIRST_LAYERS:-LAST_LAYERS] = [Row(places, middle[0].applied, middle[-1].output, None, makers)]
    whole = _fitting(network, parts, frame)
    if len(parts) == 1 or frame.width is None or whole.width <= frame.width:
        return [whole]
    return [_fitting(network, [part], frame, str(part.name)) for part in parts]


# Rows: the layers, and at which steps the moves of the network's flow apply them


class Occurrence(Enum):
    """The steps at which something happens."""

    EVERY = auto()
    FIRST = auto()
    LAST = auto()


class Row(NamedTuple):
    """A layer, or several that are left out.

    applied, output: at which steps the first of them is applied, and the last of them has an output.
    start: the name of the encoder's layer whose final states are its first ones, None if it starts with zeros.
    makers: the dense layers that make its first states, if any do.
    """

    layers: tuple[Placed, ...]
    applied: Occurrence
    output: Occurrence
    start: str | None = None
    makers: tuple[Placed, ...] = ()

    @property
    def elided(self) -> bool:
        """Whether it stands for layers that are left out."""
        return len(self.layers) > 1

    @property
    def placed(self) -> Placed:
        """The layer, or the first of several."""
        return self.layers[0]

    @property
    def name(self) -> str:
        """The name of the layer, or of the first of several."""
        return self.placed.name

    @property
    def cell(self) -> Cell | None:
        """The layer, None if it is not recurrent or left out."""
        layer = self.placed.layer
        return layer if isinstance(layer, Cell) and not self.elided else None

    @property
    def attends(self) -> bool:
        """Whether it is a decoder's attention, and not left out."""
        return self.placed.kind == "decoder_attention" and not self.elided

    @property
    def compares_below(self) -> bool:
        """Whether it is attention that compares the output of the box below, which its context joins."""
        layer: Any = self.placed.layer
        return self.attends and layer.query == "after" and layer.joins[1]

    @property
    def forks(self) -> bool:
        """Whether it is attention whose context joins what enters the recurrent layers and what leaves them."""
        layer: Any = self.placed.layer
        return self.attends and all(layer.joins)

    @property
    def lines(self) -> tuple[Line, ...]:
        """What a box says: the layer's name, its kind and width, how two directions join, its parameters."""
        params = sum(placed.params for placed in self.layers)
        if self.elided:
            return (f"⋯ {plural(len(self.layers), 'layer')} left out",), (plural(params, "parameter"),)
        layer, cell = self.placed.layer, self.cell
        number = "" if isinstance(layer, External) or not layer.number else f" {getattr(layer, layer.number):,}"
        joined: tuple[Line, ...] = ((f"⇄ {cell.merge or 'concat'}",),) if cell and cell.bidirectional else ()
        heads, score = (layer.values().get(option) for option in ("heads", "score"))
        kind = plural(heads, "head") if heads else f"{score or 'additive'} scores"
        kind = kind if self.attends else layer.kind
        return (fitted(self.name, MOST_OF_A_NAME),), (f"{kind}{number}",), *joined, (f"{params:,}",)

    @property
    def states(self) -> list[Line]:
        """What runs from step to step, `h 16` and `c 16`; nothing in a layer without states."""
        states = self.cell.states if self.cell else {}
        return [(Term(letter), f" {self.placed.sizes[size]:,}") for letter, size in states.items()]

    @property
    def two_way(self) -> bool:
        """Whether it runs in both directions."""
        return self.cell is not None and self.cell.bidirectional

    @property
    def height(self) -> int:
        """How many lines a box has."""
        return max(len(self.lines) + 2, len(self.states) + 4 if self.two_way else 0)

    @property
    def forward(self) -> int:
        """The line of a box, counted from its top, in which the states run."""
        return (self.height - len(self.states) - 2) // 2 if self.two_way else (self.height - 1) // 2

    @property
    def backward(self) -> int:
        """The line in which those of the second direction run, if there is one."""
        return self.forward + len(self.states) + 1

    @property
    def joins(self) -> bool:
        """Whether its two directions end apart, and are joined into the one vector that it outputs."""
        return self.two_way and self.output is Occurrence.LAST

    @property
    def output_width(self) -> Line:
        """What runs up out of a box."""
        return () if self.elided else (f"{self.placed.outputs:,}",)

    def width(self, tight: bool = False) -> int:
        """Return the cells that a box needs across, an odd number of them."""
        return (max(map(span, self.lines)) + (2 if tight else 4)) | 1

    def states_at(self, step: str) -> Line:
        """Return the states at a step: `h_0, c_0`."""
        letters = self.cell.states if self.cell else ()
        return tuple(piece for letter in letters for piece in (", ", at(letter, step)))[1:]

    def input_width(self, below: Row | None, context: int = 0) -> Line:
        """Return what runs up into a box: the width, `256 + 512` with extra inputs, or how many tokens there are.

        context: the width of a context that comes from a box of attention.
        """
        if self.elided:
            return below.output_width if below else ()
        extra, inputs = self.placed.layer.extra_inputs, self.placed.inputs - context
        if isinstance(self.placed.layer, Embedding) and below is None:
            return (f"1 of {inputs:,}",)
        return (f"{inputs - extra:,} + {extra:,}" if extra else f"{inputs:,}",)


def at(letter: str, step: str) -> Term:
    """Return a letter at a step: `x_3`, `x_(t−1)`."""
    return Term(letter, subscript=step) if step.isdecimal() else Term(letter, time=step)


class DrawnPart(NamedTuple):
    """A whole network, or one half: its rows from the lowest, and what the columns depend on.

    steps: the length of its sequence, None if it is not a number; letter: what it is called then.
    reads, output: at which steps it reads its input, and has an output.
    at_once: whether one column stands for all steps, because a layer reads several or changes their number.
    """

    name: str | None
    steps: int | None
    letter: str
    reads: Occurrence
    output: Occurrence
    rows: list[Row]
    at_once: bool = False


def drawn_parts(network: Network) -> list[DrawnPart]:
    """Return the parts of a network, each with all its layers."""
    moves, ended = network.flow, ends(network.flow)
    steps: list[Occurrence] = []  # at which the value of each move is there
    reads: dict[str | None, Occurrence] = {}
    widths = shapes(moves)
    for move, shape in zip(moves, widths, strict=True):
        if len(shape) > 1:
            steps.append(Occurrence.EVERY)
        elif isinstance(move, Input):
            steps.append(Occurrence.FIRST)
        else:
            below = steps[move.reads[0]]
            steps.append(Occurrence.LAST if isinstance(move, Last | Final) or below is Occurrence.EVERY else below)
        if isinstance(move, Input):
            reads.setdefault(move.part, steps[-1])
    rows: dict[str | None, list[Row]] = {part: [] for part in network.parts}
    stack = iter(network.stack)
    makers: list[Placed] = []  # of the next recurrent layer
    for place, move in enumerate(moves):
        if isinstance(move, InitialState):
            makers.append(next(stack))
        elif isinstance(move, Placement):
            of_makers = (moves[read].reads[0] for read in move.reads if isinstance(moves[read], InitialState))
            states = [moves[read] for read in (*move.reads, *of_makers)]
            finals = (moves[state.reads[0]] for state in states if isinstance(state, Final))
            start = next((final.name for final in finals if isinstance(final, Recur)), None)
            attends = isinstance(move, Attend)  # below the layer whose first state is its first query
            of_layer = () if attends else tuple(makers)
            rows[move.part].append(Row((next(stack),), steps[move.reads[0]], steps[ended[place]], start, of_layer))
            makers = makers if attends else []
    for name, part in network.parts.items():
        attention = part.attention
        if attention and not all(attention.joins) and attention.joins[0] != (attention.query == "before"):
            # its context joins elsewhere than where its query is, and it is drawn there
            (row,) = (row for row in rows[name] if row.attends)
            rows[name].remove(row)
            cells = [place for place, each in enumerate(rows[name]) if each.cell]
            rows[name].insert(cells[0] if attention.joins[0] else cells[-1] + 1, row)
    at_once = {
        move.part
        for move in moves
        if isinstance(move, Window)
        and (move.layer.time.along or move.layer.time.begins or (move.layer.time.ends and not takes_last(move.layer)))
    }
    drawn = []
    for name, part in network.parts.items():
        known, letter = (None, str(part.steps)) if has_letters(part.steps) else (part.steps, "T")
        drawn.append(DrawnPart(name, known, letter, reads[name], rows[name][-1].output, rows[name], name in at_once))
    return drawn


# Columns: which steps there is room for


class TimeColumn(NamedTuple):
    """A step that is drawn, or several that are left out.

    name: the step's subscript. first, last: whether it is the first or the last. gap: whether it stands for steps that
    are left out; left_out: their number, 0 if it is unknown.
    """

    name: str = ""
    first: bool = False
    last: bool = False
    gap: bool = False
    left_out: int = 0

    def among(self, steps: Occurrence) -> bool:
        """Return whether this step is among some steps; a gap has steps, but neither the first nor the last."""
        return steps is Occurrence.EVERY or (self.first if steps is Occurrence.FIRST else self.last)


Columns = tuple[TimeColumn, ...]
Way = tuple[Columns, bool]
"""A way to draw a part: its columns, and whether it is as narrow as possible, without its first states."""


def ways(part: DrawnPart, alone: bool) -> list[Way]:
    """Return the ways to draw a part, the fullest first.

    Of many steps, or of T, the first two and the last are drawn; if there is less room one of each, and of a part that
    is drawn alone, if there is still less, one in all.
    """
    steps, reads_many = part.steps, part.reads is Occurrence.EVERY
    if part.at_once or (not reads_many and part.output is not Occurrence.EVERY):
        every = (TimeColumn(first=True, last=True),)
        return [(every, False), (every, True)]
    full = [_ends(part, head, 1) for head in (2, 1) if steps is None or head + 1 < steps]
    if steps is not None and steps <= MOST_STEPS:
        full.insert(0, tuple(TimeColumn(str(step), step == 1, step == steps) for step in range(1, steps + 1)))
    drawn = [*((columns, False) for columns in full), (full[-1], True)]
    if alone and steps != 1:
        starts = part.name == "decoder" or not reads_many
        one = _ends(part, 1, 0) if starts else _ends(part, 0, 1)
        drawn += [(one, False), (one, True)]
    return drawn


def _ends(part: DrawnPart, head: int, tail: int) -> Columns:
    """Return the first steps, what is left out behind them, and the last step if `tail` is 1."""
    first = (TimeColumn(str(step), first=step == 1) for step in range(1, head + 1))
    steps = part.steps
    last = TimeColumn(part.letter if steps is None or steps >= SHORT else str(steps), last=True)
    return (*first, TimeColumn(gap=True, left_out=steps - head - tail if steps else 0), *(last for _ in range(tail)))


# Halves: rows and columns in their places


class Half(Frozen):
    """A whole network, or one half of an encoder-decoder, in its place.

    Lines are counted from the top of the picture, cells across from the left of the half.
    tight: whether its boxes have no room to spare, and its first states are left out. rows: its layers from the lowest,
    each with the line at which its box begins. inputs, outputs: the lines of its inputs and outputs, None without
    outputs. started: whether its first states come from the other half. feedback: whether its output at a step is its
    input at the next.
    """

    part: DrawnPart
    columns: Columns
    tight: bool
    rows: tuple[tuple[Row, int], ...]
    inputs: int
    outputs: int | None
    started: bool
    feedback: bool

    @cached_property
    def box(self) -> int:
        """The width of every box."""
        steps = [column.name for column in self.columns if not column.gap]
        nodes = [span((at(letter, step),)) + 2 for step in steps for letter in "xy"]
        widths = [row.width(self.tight) + PAST * self.past(row) for row, _ in self.rows if not row.elided]
        labels = [2 * span(row.output_width) + 3 + PAST for row, _ in self.rows if row.attends]
        return max([*widths, *labels, *nodes]) | 1

    @cached_property
    def attention(self) -> tuple[Row, int] | None:
        """The row of attention and the line at which its boxes begin; None if there is none, or nothing else."""
        return next((each for each in self.rows if each[0].attends and len(self.rows) > 1), None)

    @cached_property
    def forked(self) -> list[Row]:
        """The rows between the two places that a context joins, without that of attention: recurrent layers.

        They are empty if it joins one of them, or if an arrow to the other would run through layers that are left out.
        """
        rows = [row for row, _ in self.rows]
        cells = [place for place, row in enumerate(rows) if row.cell]
        between = rows[cells[0] : cells[-1] + 1] if cells and any(row.forks for row in rows) else []
        return [] if any(row.elided for row in between) else between

    @cached_property
    def forks_up(self) -> bool:
        """Whether a context runs past the recurrent layers of its step; else it runs down to those of the next."""
        return bool(self.forked) and next(row.attends for row, _ in self.rows if row.attends or row in self.forked)

    def past(self, row: Row) -> int:
        """Return how many arrows run up past the right side of a row's boxes."""
        return (row.attends and len(self.rows) > 1) + (self.forks_up and (row.attends or row in self.forked))

    @cached_property
    def query(self) -> int | None:
        """The line of the states that attention compares; None if it compares the output of the box below."""
        states = [top + row.forward for row, top in self.rows if row.cell]
        return states[-1] if self.attention and states and not self.attention[0].compares_below else None

    @property
    def aside(self) -> int:
        """How far left of a box a state turns to attention: left of the encoder's outputs, which come from below."""
        return 4 if self.attention and self.query and self.query > self.attention[1] else 2

    @property
    def entry(self) -> int:
        """The cells left of the first box that are kept for what runs to attention."""
        return self.aside + 3 if self.attention else 0

    @cached_property
    def start(self) -> int:
        """The width of the states before the first step, 0 if there are none to draw."""
        drawn = [] if self.tight or self.started else self.rows
        return max((span(row.states_at("0")) + 2 for row, _ in drawn if row.states), default=0)

    @cached_property
    def behind(self) -> str:
        """The subscript of the first states that run backwards."""
        steps = self.part.steps
        return str(steps + 1) if steps and steps + 1 < SHORT and not self.part.at_once else f"{self.part.letter}+1"

    @cached_property
    def first_arrow(self) -> int:
        """The length of the arrow to the first step, on which its widths are."""
        labels = [label for row, _ in self.rows for label in row.states]
        return max([BETWEEN, *(span(label) + 2 for label in labels)]) + self.entry if self.start else 0

    @cached_property
    def sides(self) -> list[tuple[int, int]]:
        """The first cell of each column, and the first behind it.

        Columns are as far apart as arrows need, and what is written beside those that run up.
        """
        drawn = [row for row, _ in self.rows]
        beside = [row.input_width(below) for below, row in pairwise([None, *drawn]) if row]
        beside += [drawn[-1].output_width] if self.outputs is not None else []
        room = max([0, *map(span, beside)]) + 3 - (self.box + 1) // 2
        between = max(BETWEEN if any(row.states for row in drawn) else 2, room) + self.feedback
        between = max(between, self.entry - 2)
        between += span(self.forked[-1].output_width) + 1 if self.forked and not self.forks_up else 0
        sides: list[tuple[int, int]] = []
        for column in self.columns:
            left = sides[-1][1] + between if sides else self.start + self.first_arrow
            sides.append((left, left + (DOTS if column.gap else self.box)))
        return sides

    @property
    def left(self) -> int:
        """The first cell of the first column."""
        return self.sides[0][0]

    @property
    def right(self) -> int:
        """The first cell behind the last column."""
        return self.sides[-1][1]

    @property
    def overhang(self) -> int:
        """How much wider the words below are than the columns, on each side."""
        words = max(span((text,)) for text in self.words)
        return max(words - (self.right - self.left) + 1, 0) // 2

    @cached_property
    def words(self) -> tuple[str, str]:
        """What the picture says of the weights of all steps, and below that of the half."""
        part = self.part
        times = part.letter if part.steps is None else f"{part.steps:,}"
        repeated = f"×{times}, the same weights"
        if part.at_once:
            repeated = "all steps at once"
        elif part.steps == 1:
            repeated = "" if part.name is None else "one step"
        left_out = sum(column.left_out for column in self.columns)
        beside = [part.name] if part.name else []
        beside += [f"{plural(left_out, 'step')} left out"] if left_out else []
        return repeated, "; ".join(beside)

    def placed(self, steps: Occurrence) -> Iterator[tuple[TimeColumn, int]]:
        """Yield the columns that are among some steps, each with its first cell."""
        for column, (left, _) in zip(self.columns, self.sides, strict=True):
            if column.among(steps):
                yield column, left

    def shapes(self) -> Iterator[Shape]:
        """Yield everything of a half."""
        for row, top in self.rows:
            yield from self._boxes(row, top)
            if row.states:
                yield from self._in_time(row, top)
        yield from self._nodes(self.inputs, "x", self.part.reads, Style.INPUT)
        yield from self._between()
        yield from self._queries()
        if self.outputs is not None:
            last, top = self.rows[-1]
            joined = top - 3 if last.joins else None  # behind where the directions join
            yield from self._nodes(self.outputs, "h" if last.cell else "y", last.output, Style.OUTPUT)
            yield from self._up(top, self.outputs, (last.output,), last.output_width, joined)
        repeated, beside = self.words
        if repeated:
            yield Brace(self.left, self.inputs + 2, self.right - self.left, (repeated,))
        if repeated and beside:
            middle = self.left + (self.right - self.left) // 2
            yield Label(middle, self.inputs + 4, (beside,), Style.NOTE, "middle")

    def _between(self) -> Iterator[Shape]:
        """Yield the arrows that run up into boxes. What a context joins runs past the box of attention."""
        lower, output, below, attention = self.inputs, self.part.reads, None, None
        for row, top in self.rows:
            bottom, steps, context = top + row.height - 1, (output, row.applied), 0
            if (row, top) == self.attention:
                attention = row, top
                if row.compares_below:
                    yield from self._up(lower, bottom, steps, row.input_width(below), by=-PAST // 2)
                continue
            if attention:
                attends, above = attention
                context = attends.placed.outputs
                yield from self._up(above, bottom, steps, attends.output_width, by=-PAST // 2 * self.past(attends))
            elif (
                self.attention
                and self.forked
                and (below is self.forked[-1] if self.forks_up else row is self.forked[0])
            ):
                context = self.attention[0].placed.outputs
                yield from self._forks(bottom + 1)
            clear = self.aside > 2 if attention else below is None  # of the states that run to attention
            beside = lower - 3 if below and below.joins else bottom + 1 if clear else None
            by = self._past if attention else -PAST // 2 if self.forks_up and below in self.forked else 0
            yield from self._up(lower, bottom, steps, row.input_width(below, context), beside, by)
            lower, output, below, attention = top, row.output, row, None

    def _forks(self, to: int) -> Iterator[Shape]:
        """Yield the arrows of a context from attention's side to a line below boxes: above, or of the next step."""
        assert self.attention is not None
        row, top = self.attention
        y, side, label = top + row.forward, self.box - PAST * self.past(row), row.output_width
        columns = [*self.placed(row.applied)]
        for (column, left), (after, right) in pairwise([*columns, *columns[-1:]]):
            x = left + (DOTS if column.gap else side)
            if self.forks_up and not column.gap:
                corners = [(x, y), (left + self.box - 2, y), (left + self.box - 2, to)]
            elif self.forks_up or right == left:
                continue
            elif after.gap:
                corners = [(x, y), (right - 1, y)]
            else:
                corners = [(x, y), (right - 4, y), (right - 4, to + 1), (right + 2, to + 1), (right + 2, to)]
            yield Arrow(tuple(corners), Style.LAYER)
            if label and (self.forks_up or not after.gap):
                yield Label(corners[-1][0] + 2, to, label, Style.SHAPE)
                label = ()

    def _queries(self) -> Iterator[Shape]:
        """Yield the arrows from the states before each step to attention."""
        if not self.attention or self.query is None:
            return
        row, top = self.attention
        for column, left in self.placed(row.applied):
            if not column.gap and (self.start or self.started or not column.first):
                x = left - self.aside
                yield Dot(x, self.query)
                yield Arrow(((x, self.query), (x, top + 1), (left - 1, top + 1)), Style.STATE)

    @property
    def _past(self) -> int:
        """How far right of the middle of a column what a context joins runs past attention."""
        return self.box // 2 - 1 - PAST * self.forks_up

    def _boxes(self, row: Row, top: int) -> Iterator[Shape]:
        if row.elided:
            width = max(self.right - self.left, row.width())
            yield Box(self.left, top, width, row.height, row.lines, Style.ELIDED)
            return
        style = Style.OUTPUT if isinstance(row.placed.layer, Output) else Style.LAYER
        for column, x in self.placed(row.applied):
            if column.gap:
                for line in (row.forward, row.backward)[: 1 + row.two_way]:
                    yield _dots(x, top + line)
            else:
                yield Box(x, top, self.box - PAST * self.past(row), row.height, row.lines, style)

    def _in_time(self, row: Row, top: int) -> Iterator[Shape]:
        """Yield the arrows from step to step, forwards and, with two directions, backwards."""
        y, back = top + row.forward, top + row.backward
        if self.start:
            line = row.states_at("0")
            across = span(line) + 2
            yield Box(self.start - across, y, across, 1, (line,), Style.STATE, round=True)
            yield Arrow(((self.start, y), (self.left - 1, y)), Style.STATE)
            yield from _state_widths(self.start, self.first_arrow - self.entry, row, top)
        for (first, right), (left, _) in pairwise(self.sides):
            beside = PAST * self.past(row) if right - first > DOTS else 0  # of a gap there is no box
            yield Arrow(((right - beside, y), (left - 1, y)), Style.STATE)
            if row.two_way:
                yield Arrow(((left - 1, back), (right, back)), Style.BACKWARD)
        if row.two_way and not self.tight:
            line = row.states_at(self.behind)
            x = self.right + BETWEEN
            yield Box(x, back, span(line) + 2, 1, (line,), Style.STATE, round=True)
            yield Arrow(((x - 1, back), (self.right, back)), Style.BACKWARD)

    def _nodes(self, y: int, letter: str, steps: Occurrence, style: Style) -> Iterator[Shape]:
        """Yield the inputs or the outputs, a circle a step, and dots in a gap."""
        by = self._past if style is Style.INPUT and self.attention == self.rows[0] else 0
        for column, x in self.placed(steps):
            if column.gap:
                yield _dots(x, y)
            else:
                line, wide = (at(letter, column.name),), self._node(letter, column)
                yield Box(x + by + (self.box - wide) // 2, y, wide, 1, (line,), style, round=True)

    def _node(self, letter: str, step: TimeColumn) -> int:
        return (span((at(letter, step.name),)) + 2) | 1

    def _up(
        self, lower: int, upper: int, steps: tuple[Occurrence, ...], label: Line, beside: int | None = None, by: int = 0
    ) -> Iterator[Shape]:
        """Yield the arrows from above a line to below another, at the steps in all of `steps`, the first labelled.

        beside: the line of the label. by: how far right of the middle of a column they run.
        """
        for column, x in self.placed(steps[0]):
            if not column.gap and column.among(steps[-1]):
                middle = x + (self.box - 1) // 2 + by
                yield Arrow(((middle, lower - 1), (middle, upper + 1)), Style.LAYER)
                if label:
                    yield Label(middle + 2, beside or lower - 1, label, Style.SHAPE)
                label = ()

    def fed_back(self) -> Iterator[Shape]:
        """Yield the arrows from the output of a step down to the box of the next; dots stand for steps left out."""
        (row, top), outputs = self.rows[0], self.outputs
        assert outputs is not None  # outputs are what is fed back
        letter = "h" if self.rows[-1][0].cell else "y"
        for (column, x), (after, to) in pairwise(self.placed(Occurrence.EVERY)):
            corners: list[GridPoint] = [(x + DOTS, self.inputs)]
            if not column.gap:
                across = to - 2
                start = x + (self.box + self._node(letter, column)) // 2
                corners = [(start, outputs), (across, outputs), (across, self.inputs)]
            if after.gap:
                yield _dots(to, self.inputs)
                yield Arrow((*corners, (to - 1, self.inputs)), Style.OUTPUT)
            else:
                middle = to + (self.box - 1) // 2
                yield Arrow((*corners, (middle, self.inputs), (middle, top + row.height)), Style.OUTPUT)

    def joining(self, row: Row, top: int, to: GridPoint) -> Iterator[Shape]:
        """Yield how the last state of the backward direction joins an arrow at a cell, above the row and right."""
        x, above = self.left + 1, top - 2
        start = top + row.forward - 1 if self.columns[0].gap else top - 1
        corners: list[GridPoint] = [(x, start), (x, above), (to[0], above)]
        yield Arrow((*corners, to) if to[1] != above else tuple(corners), Style.BACKWARD, head=False)
        yield Dot(*to)


def _dots(x: int, y: int) -> Box:
    """Return what stands for steps that are left out."""
    return Box(x, y, DOTS, 1, (("⋯",),), Style.ELIDED)


def _state_widths(x: int, room: int, row: Row, top: int) -> Iterator[Label]:
    """Yield what runs along an arrow, its first line above it and the others below."""
    for number, label in enumerate(row.states):
        line = row.forward + (1 + number if row.two_way else number or -1)
        yield Label(x + (room - span(label)) // 2, top + line, label, Style.SHAPE)


# Levels: rows whose states meet are at the same height


def _levels(halves: list[list[Row]]) -> list[tuple[Row | None, ...]]:
    """Return the rows at each height, one a half, the lowest first; None if a half has none there."""
    if len(halves) == 1:
        return [(row,) for row in halves[0]]
    giving, taking = halves
    starts = {row.start for row in taking if row.start in {other.name for other in giving if not other.elided}}

    def in_runs(rows: list[Row], names: list[str] | list[str | None]) -> list[list[Row]]:
        """Return rows in runs, each but the last with one of those that meet at its end."""
        ends = (place for place, name in enumerate(names, 1) if name in starts)
        return [rows[first:last] for first, last in pairwise([0, *ends, len(rows)])]

    runs = in_runs(giving, [row.name for row in giving]), in_runs(taking, [row.start for row in taking])
    levels: list[tuple[Row | None, ...]] = []
    for place, pair in enumerate(zip(*runs, strict=True)):
        gaps = [[None] * (max(map(len, pair)) - len(run)) for run in pair]
        last = place == len(starts)  # above the last that meet, rows are on those; below, they reach up to the next
        sides = [[*run, *gap] if last else [*gap, *run] for run, gap in zip(pair, gaps, strict=True)]
        levels += zip(*sides, strict=True)
    return levels


# The picture: the fullest that fits


def _fitting(network: Network, parts: list[DrawnPart], frame: Frame, name: str = "") -> Picture:
    """Return the fullest picture that is no wider than its frame, or the narrowest."""
    params = sum(each.params for part in parts for row in part.rows for each in (*row.layers, *row.makers))
    heading = f"{name} of {title(network)}" if name else title(network)
    setting = f"{flow(network)}; {plural(params, 'parameter')}"
    caption = Caption(heading, setting, (*_notes(network, parts),), "unrolled in time")
    every = [ways(part, alone=len(parts) == 1) for part in parts]
    for chosen in zip_longest(*every):
        halves = _halves(network, parts, [way or full[-1] for way, full in zip(chosen, every, strict=True)])
        drawn = framed(caption, [*_shapes(halves)], frame)
        if frame.width is None or drawn.width <= frame.width:
            break
    return drawn


def _notes(network: Network, parts: list[DrawnPart]) -> Iterator[str]:
    """Yield the sentences below a picture: its legend, first states that dense layers make, and attention."""
    rows = [row for part in parts for row in part.rows]
    yield "Boxes: name, kind and width, parameters. Arrows: how many numbers run along them at a step."
    if any(part.at_once for part in parts):
        yield "One column is drawn for all steps: a layer reads several at once, or changes their number."
    if any(placed.layer.extra_inputs for row in rows for placed in (*row.layers, *row.makers)):
        yield "A sum on an arrow: what comes from below, and extra inputs from elsewhere."
    if len(parts) == 1 and any(row.start for row in rows):
        yield "Its first states are the last states of the encoder."
    for row in (row for row in rows if row.makers and not row.elided):
        letters = all_of([f"{placed.starts[1]}_0" for placed in row.makers if placed.starts])
        vector = plural(row.makers[0].inputs, "number")
        source = "the encoder's final states" if row.start else f"a vector of {vector}"
        params = sum(placed.params for placed in row.makers)
        dense = "a dense layer" if len(row.makers) == 1 else "a dense layer each"
        yield f"{letters} of {row.name} come from {source} through {dense}: {plural(params, 'parameter')}."
    for attention in (part.attention for part in network.parts.values() if part.attention):
        name, after = attention.name or "attention", attention.query == "after"
        enters = "what enters the recurrent layers" + " one step later" * after
        query = "output" if after else "state before the step"
        yield f"{name} compares the {query} of the last recurrent layer with all outputs of the encoder."
        yield f"Its context joins {' and '.join(compress((enters, 'what leaves them'), attention.joins))}."
    if later := one_to_many(network):
        yield later


def _halves(network: Network, parts: list[DrawnPart], chosen: list[Way]) -> list[Half]:
    """Return the halves, each row at its height; recurrent layers whose states meet are at the same."""
    levels, bridged = _levels([part.rows for part in parts]), len(parts) > 1
    speaking = [part.name for part in parts if not (bridged and part.name == "encoder")]
    states: list[int] = []  # the line in which those of each level run, the lowest level first
    inputs = 1 + UP if speaking else 0
    for level in reversed(levels):
        drawn = [row for row in level if row]
        joined = any(row.joins or (bridged and row.two_way) for row in drawn)
        inputs += (JOINED - UP) * joined + max(row.forward for row in drawn)
        states.insert(0, inputs)
        inputs += max(row.height - row.forward for row in drawn) + UP
        inputs += any(row.attends for row in drawn)  # for the encoder's outputs
    halves = []
    for column, part, (columns, tight) in zip(zip(*levels, strict=True), parts, chosen, strict=True):
        placed = [(row, y - row.forward) for row, y in zip(column, states, strict=True) if row]
        last, top = placed[-1]
        above = top - 1 - (JOINED if last.joins else UP)
        outputs = above if part.name in speaking else None
        started = bridged and part.name == "decoder"
        halves.append(Half(part, columns, tight, tuple(placed), inputs, outputs, started, network.feedback))
    return halves


def _shapes(halves: list[Half]) -> Iterator[Shape]:
    """Yield everything, the second half to the right of the first and joined to it."""
    if len(halves) == 1:
        (half,) = halves
        yield from half.shapes()
        for row, top in half.rows:
            if row.joins and len(half.columns) > 1:
                yield from half.joining(row, top, (half.sides[-1][0] + (half.box - 1) // 2, top - 2))
        if half.feedback:
            yield from half.fed_back()
        return
    giving, taking = halves
    rows = [(row, top) for row, top in giving.rows if not row.elided]
    pairs = [(row, top, other) for row, top in rows for other, _ in taking.rows if row.name == other.start]
    labels = [span(label) for _, _, other in pairs for label in other.states]
    behind = [span(row.states_at(giving.behind)) + 2 for row, _, _ in pairs if row.two_way]
    first = [*giving.shapes()]
    words = [shape for shape in first if isinstance(shape, Label) and shape.style is Style.SHAPE]
    over = [label.x + span(label.text) - giving.right for label in words]
    # The backward direction begins there, and its last state comes down to the arrow between the halves, clear of the
    # words beside other arrows.
    before = max(0 if giving.tight else BETWEEN + max(behind), *over) + 3 if behind else 0
    rooms = [before + max(labels) + 3 if labels else APART, giving.overhang + taking.overhang + APART]
    room = taking.entry + max(rooms + [each + 1 for each in over if taking.attention])
    yield from first
    yield from (moved(shape, (giving.right + room - taking.left, 0)) for shape in taking.shapes())
    for row, top, other in pairs:
        y = top + row.forward
        yield Arrow(((giving.right, y), (giving.right + room - 1, y)), Style.STATE)
        yield from _state_widths(giving.right + before, room - before - taking.entry, other, y - other.forward)
        if row.two_way:
            yield from giving.joining(row, top, (giving.right + before - 2, y))
    if taking.attention:
        yield from _outputs_to(giving, taking, giving.right + room - taking.left)


def _outputs_to(giving: Half, taking: Half, across: int) -> Iterator[Shape]:
    """Yield how the encoder's outputs run to each box of the decoder's attention, which is moved so many cells."""
    assert taking.attention is not None
    (row, top), (attention, above) = giving.rows[-1], taking.attention
    bus, below = top - (3 if row.two_way else 2), above + attention.height
    line, to = max(below, min(bus, below + 1)), below - 2
    middles = [left + (giving.box - 1) // 2 for column, left in giving.placed(Occurrence.EVERY) if not column.gap]
    for middle in middles[1:]:
        yield Arrow(((middle, top - 1), (middle, bus)), Style.LAYER, head=False)
        yield Dot(middle, bus)
    *others, last = [across + left for column, left in taking.placed(attention.applied) if not column.gap]
    for left in others:
        yield Dot(left - 2, line)
        yield Arrow(((left - 2, line), (left - 2, to), (left - 1, to)), Style.LAYER)
    turn = across + taking.left - taking.aside - 2
    corners: list[GridPoint] = [(middles[0], top - 1), (middles[0], bus)]
    corners += [(turn, bus), (turn, line)] if bus != line else []
    yield Arrow((*corners, (last - 2, line), (last - 2, to), (last - 1, to)), Style.LAYER)
    yield Label(middles[0] + 2, top - 1, row.output_width, Style.SHAPE)
