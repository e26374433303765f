"""A network unrolled in time: a graph of boxes, a column for each step and a row for each layer, and arrows in lanes.

The steps at which a layer is applied and has an output come from the moves of the network's flow. Only the steps that
are drawn are looked at, so a long sequence takes no longer than a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import compress, pairwise, zip_longest
from typing import Literal, NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Embedding, External, Output
from rnncalc.letters import has_letters
from rnncalc.network.flow import Final, InitialState, Placement, Window, ends, shapes, takes_last
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.pictures.picture import (
    MOST_OF_A_NAME,
    Arrow,
    Box,
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

DOTS, BETWEEN, APART = 3, 3, 4
"""The width of a gap; the length of an arrow from step to step; the space between two halves that no arrow joins."""

UP, JOINED = 2, 4
"""The lines between two rows: for an arrow, and for one that another joins."""

PAST, QUERY, KEYS = 4, 4, 2
"""How much narrower than others a box of attention is, because what its context joins runs past it; how far left of it
the states turn to it, and the encoder's outputs."""


def pictures(network: Network, only: tuple[str, ...], frame: Frame) -> list[Picture]:
    """Return the network unrolled, in two pictures if its halves do not fit side by side; or the named layers."""
    parts = drawn_parts(network)
    if only:
        rows = {row.name: (part, row) for part in parts for row in part.rows}
        alone = [(name, *rows[name]) for name in only]
        return [_fitting(network, [part.with_layers([row])], frame, name) for name, part, row in alone]
    parts = [
        part.with_layers([*layers[:FIRST_LAYERS], _left_out(layers[FIRST_LAYERS:-LAST_LAYERS]), *layers[-LAST_LAYERS:]])
        if len(layers := part.rows[1:-1]) > MOST_LAYERS
        else part
        for part in parts
    ]
    whole = _fitting(network, parts, frame)
    if len(parts) == 1 or frame.width is None or whole.width <= frame.width:
        return [whole]
    return [_fitting(network, [part], frame, str(part.name)) for part in parts]


# Rows: inputs, layers and outputs, and at which steps the moves of the network's flow apply them

Steps = Literal["every", "first", "last"]
"""The steps at which something happens."""


class Row(NamedTuple):
    """A layer, several that are left out, or the inputs or the outputs, in its place.

    applied, output: at which steps the first of the layers is applied, and the last of them has an output.
    lines: what a box says. letter: of the inputs and the outputs, which are circles. start: the name of the encoder's
    layer whose final states are its first ones, None if it starts with zeros. makers: the dense layers that make its
    first states, if any do. states: what runs from step to step, `h 16` and `c 16`. two_way: whether it runs in both
    directions. attention: the layer, if it is a decoder's attention. top: the line at which its boxes begin.
    """

    applied: Steps
    output: Steps
    layers: tuple[Placed, ...] = ()
    lines: tuple[Line, ...] = ()
    letter: str = ""
    start: str | None = None
    makers: tuple[Placed, ...] = ()
    states: tuple[tuple[Term, str], ...] = ()
    two_way: bool = False
    attention: DecoderAttention | None = None
    top: int = 0

    @property
    def elided(self) -> bool:
        """Whether it stands for layers that are left out."""
        return len(self.layers) > 1

    @property
    def name(self) -> str:
        """The name of the layer, or of the first of several."""
        return self.layers[0].name if self.layers else ""

    @property
    def bottom(self) -> int:
        """The line below its boxes."""
        return self.top + (max(len(self.lines) + 2, len(self.states) + 4 if self.two_way else 0) if self.lines else 1)

    @property
    def line(self) -> int:
        """The line of the states."""
        return (self.top + self.bottom - 1 - (len(self.states) + 1) * self.two_way) // 2

    @property
    def backward(self) -> int:
        """The line of the states of the second direction, if there is one."""
        return self.line + len(self.states) + 1

    @property
    def ends_apart(self) -> bool:
        """Whether its two directions end apart, and are joined into the one vector that it outputs."""
        return self.two_way and self.output == "last"

    @property
    def compares_below(self) -> bool:
        """Whether it is attention that compares the output of the box below, which its context joins."""
        return self.attention is not None and self.attention.query == "after" and self.attention.joins[1]

    @property
    def output_width(self) -> Line:
        """What runs up out of a box."""
        return (f"{self.layers[0].outputs:,}",) if len(self.layers) == 1 else ()

    def states_at(self, step: str) -> Line:
        """Return the states at a step: `h_0, c_0`."""
        return tuple(piece for term, _ in self.states for piece in (", ", at(term.letter, step)))[1:]

    def input_width(self, below: Row, context: int = 0) -> Line:
        """Return what runs up into a box: the width, `256 + 512` with extra inputs, or how many tokens there are.

        context: the width of a context that comes from a box of attention.
        """
        if len(self.layers) != 1:
            return below.output_width
        (placed,) = self.layers
        extra, inputs = placed.layer.extra_inputs, placed.inputs - context
        if isinstance(placed.layer, Embedding) and below.letter:
            return (f"1 of {inputs:,}",)
        return (f"{inputs - extra:,} + {extra:,}" if extra else f"{inputs:,}",)


def at(letter: str, step: str) -> Term:
    """Return a letter at a step: `x_3`, `x_(t−1)`."""
    return Term(letter, subscript=step) if step.isdecimal() else Term(letter, time=step)


def _box_of(placed: Placed, row: Row, spelled: Callable[[str], str]) -> Row:
    """Return the row of a layer: the box has its name, kind and width, how two directions join, and its parameters.

    spelled: returns what is written for a state.
    """
    layer, kind, joined = placed.layer, placed.kind, tuple[Line, ...]()
    size = getattr(layer, layer.number) if layer.number else None  # which attention has for some scores alone
    number = "" if isinstance(layer, External) or size is None else f" {size:,}"
    if isinstance(layer, DecoderAttention):
        kind = plural(layer.heads, "head") if layer.heads else f"{layer.scoring} scores"
        row = row._replace(attention=layer)
    if isinstance(layer, Cell):
        states = tuple((Term(spelled(letter)), f" {placed.sizes[size]:,}") for letter, size in layer.states.items())
        row = row._replace(states=states, two_way=layer.bidirectional)
        joined = ((f"⇄ {layer.merge or 'concat'}",),) if layer.bidirectional else ()
    lines = (fitted(placed.name, MOST_OF_A_NAME),), (f"{kind}{number}",), *joined, (f"{placed.params:,}",)
    return row._replace(layers=(placed,), lines=lines)


def _left_out(rows: list[Row]) -> Row:
    """Return a row that stands for others."""
    layers = tuple(placed for row in rows for placed in row.layers)
    params = plural(sum(placed.params for placed in layers), "parameter")
    makers = tuple(placed for row in rows for placed in row.makers)
    lines = (f"⋯ {plural(len(layers), 'layer')} left out",), (params,)
    return Row(rows[0].applied, rows[-1].output, layers, lines, makers=makers)


class DrawnPart(NamedTuple):
    """A whole network, or one half: its rows from the lowest, and what the columns depend on.

    steps: the length of its sequence, None if it is not a number; letter: what it is called then.
    output: what is written for its output, and for that of a layer without states.
    at_once: whether one column stands for all steps, because a layer reads several or changes their number.
    """

    name: str | None
    steps: int | None
    letter: str
    rows: list[Row]
    output: tuple[str, str]
    at_once: bool = False

    def with_layers(self, rows: list[Row]) -> DrawnPart:
        """Return the part with other layers between its inputs and its outputs: h, or y of a layer without states."""
        output = rows[-1].output
        letter = self.output[not rows[-1].states]
        return self._replace(rows=[self.rows[0], *rows, Row(output, output, letter=letter)])


def drawn_parts(network: Network) -> list[DrawnPart]:
    """Return the parts of a network, each with all its layers."""
    moves, ended, spelled = network.flow, ends(network.flow), network.spelling.letter
    steps: list[Steps] = []  # at which the value of each move is there
    for move, shape in zip(moves, shapes(moves), strict=True):
        before = steps[move.reads[0]] if move.reads else "first"
        steps.append("every" if len(shape) > 1 else "first" if before == "first" else "last")

    def giver(place: int) -> str | None:
        """Return the name of the layer whose final state a value is made of, if it is one's."""
        move = moves[place]
        if isinstance(move, InitialState):
            return giver(move.reads[0])
        return getattr(moves[move.reads[0]], "name", None) if isinstance(move, Final) else None

    rows: dict[str | None, list[Row]] = {part: [] for part in network.parts}
    stack = {placed.name: placed for placed in network.stack}
    makers = [(placed, placed.starts[0]) for placed in network.stack if placed.starts]
    for place, move in enumerate(moves):
        if isinstance(move, Placement) and not isinstance(move, InitialState):
            starting = tuple(placed for placed, started in makers if started == move.name)
            start = next(filter(None, map(giver, move.reads)), None)
            row = Row(steps[move.reads[0]], steps[ended[place]], start=start, makers=starting)
            rows[move.part].append(_box_of(stack[move.name], row, spelled))
    at_once = {
        move.part
        for move in moves
        if isinstance(move, Window)
        and (move.layer.time.along or move.layer.time.begins or (move.layer.time.ends and not takes_last(move.layer)))
    }
    parts = []
    for name, part in network.parts.items():
        layers = rows[name]
        if part.attention:  # below the first recurrent layer or above that of the query, as its context joins them
            below = part.attention.joins[0] and (part.attention.query == "before" or not part.attention.joins[1])
            (row,) = (row for row in layers if row.attention)
            layers.remove(row)
            cells = [place for place, each in enumerate(layers) if each.states]
            layers.insert(cells[0] if below else part.attention.query_layer(cells) + 1, row)
        length, letter = (None, str(part.steps)) if has_letters(part.steps) else (part.steps, "T")
        reads: Steps = steps[next(place for place, move in enumerate(moves) if getattr(move, "part", "") == name)]
        inputs, output = Row(reads, reads, letter=spelled("x") if part.width != 0 else ""), (spelled("h"), spelled("y"))
        parts.append(DrawnPart(name, length, letter, [inputs], output, name in at_once).with_layers(layers))
    return parts


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

    def among(self, steps: Steps) -> bool:
        """Return whether this step is among some steps; a gap has steps, but neither the first nor the last."""
        return steps == "every" or (self.first if steps == "first" else self.last)


Columns = tuple[TimeColumn, ...]
Way = tuple[Columns, bool]
"""A way to draw a part: its columns, and whether it is as narrow as possible, without its first states."""


def ways(part: DrawnPart, alone: bool) -> list[Way]:
    """Return the ways to draw a part, the fullest first.

    Of many steps, or of T, the first two and the last are drawn; if there is less room one of each, and of a part that
    is drawn alone, if there is still less, one in all.
    """
    steps, reads = part.steps, part.rows[0].applied

    def with_gap(head: int, tail: int) -> Columns:
        first = (TimeColumn(str(step), first=step == 1) for step in range(1, head + 1))
        last = TimeColumn(part.letter if steps is None or steps >= SHORT else str(steps), last=True)
        return *first, TimeColumn(gap=True, left_out=steps - head - tail if steps else 0), *[last] * tail

    if part.at_once or "every" not in (reads, part.rows[-1].applied):
        every = (TimeColumn(first=True, last=True),)
        return [(every, False), (every, True)]
    full = [with_gap(head, 1) for head in (2, 1) if steps is None or head + 1 < steps]
    if steps is not None and steps <= MOST_STEPS:
        full.insert(0, tuple(TimeColumn(str(step), step == 1, step == steps) for step in range(1, steps + 1)))
    drawn = [*((columns, False) for columns in full), (full[-1], True)]
    if alone and steps != 1:
        one = with_gap(1, 0) if part.name == "decoder" or reads != "every" else with_gap(0, 1)
        drawn += [(one, False), (one, True)]
    return drawn


# Halves: rows and columns in their places, and the way of each arrow between them


def route(x: int, y: int, *turns: int, upright: bool = False) -> tuple[GridPoint, ...]:
    """Return the corners of an arrow from a cell: by turns across to a column of cells, and up or down to a line."""
    corners = [(x, y)]
    for turn in turns:
        x, y = (x, turn) if upright else (turn, y)
        corners += [(x, y)] if (x, y) != corners[-1] else []
        upright = not upright
    return tuple(corners)


class Half(Frozen):
    """A whole network, or one half of an encoder-decoder, in its place.

    tight: whether its boxes have no room to spare, and its first states are left out. rows: from the lowest.
    feedback: whether its output at a step is its input at the next. giving: the half left of it that gives it its first
    states.
    """

    part: DrawnPart
    columns: Columns
    tight: bool
    rows: tuple[Row, ...]
    feedback: bool
    giving: Half | None = None

    @cached_property
    def box(self) -> int:
        """The width of every box; one of attention is PAST cells narrower."""
        circles = self.rows[0].letter, *self.part.output
        widths = [self.circle(letter, column) for column in self.columns for letter in circles]
        for row in self.rows:
            words = 0 if row.elided else max([0, *map(span, row.lines)]) + 4 - 2 * self.tight
            widths.append(max(words, 2 * span(row.output_width) + 1) + PAST if row.attention else words)
        return max(widths) | 1

    @property
    def middle(self) -> int:
        """The middle cell of a box, counted from its first."""
        return (self.box - 1) // 2

    def circle(self, letter: str, step: TimeColumn) -> int:
        """Return the width of a circle."""
        return (span((at(letter, step.name),)) + 2) | 1

    @cached_property
    def attention(self) -> Row | None:
        """The row of attention; None if there is none, or no other layer."""
        return next((row for row in self.rows if row.attention and len(self.rows) > 3), None)

    @cached_property
    def fork(self) -> int | None:
        """The line where the context enters further boxes: above the query's layer, or those of the first.

        None if there are none, or if layers are left out.
        """
        row, cells = self.attention, [place for place, row in enumerate(self.rows) if row.states]
        if not (row and row.attention and all(row.attention.joins)) or any(row.elided for row in self.rows):
            return None
        place = row.attention.query_layer(cells)
        joined = cells[0] if self.rows.index(row) > place else place + 1
        return self.rows[joined].bottom - 2

    @property
    def entry(self) -> int:
        """The cells left of the first box that are kept for what runs to attention."""
        return QUERY + 3 if self.attention else 0

    @cached_property
    def first_arrow(self) -> int:
        """The length of the arrow to the first step, on which its widths are."""
        return max([BETWEEN, *(span(label) + 2 for row in self.rows for label in row.states)]) + self.entry

    @cached_property
    def over(self) -> int:
        """How far past the right side of a box go the words beside an arrow that runs up."""
        past = self.middle - 1
        words = [0 if self.fork is None or not self.attention else past + span(self.attention.output_width)]
        for below, row in pairwise(self.rows):
            words.append(span(row.input_width(below)) + past * bool(below.attention))
        return max(words) + 2 - self.middle

    @property
    def lane(self) -> int:
        """How far right of a box runs what turns past it, clear of these words."""
        return max(self.over, 1)

    @cached_property
    def between(self) -> int:
        """The cells between two columns."""
        lane = self.lane + QUERY + 2 * (self.fork is not None) if self.attention else self.feedback and self.lane + 3
        return max(BETWEEN if any(row.states for row in self.rows) else 2, self.over + 1, lane)

    @cached_property
    def wide(self) -> int:
        """The width of all columns."""
        columns = [DOTS if column.gap else self.box for column in self.columns]
        return sum(columns) + self.between * (len(columns) - 1)

    @cached_property
    def left(self) -> int:
        """The first cell of the first column, clear of the half left of it and of the words of both."""
        giving = self.giving
        if not giving:
            return 0
        words = max(giving.over, 0) if self.attention else 0
        if behind := [0 if giving.tight else giving.behind(row)[1] + BETWEEN for row in giving.rows if row.two_way]:
            words = max(giving.over, *behind) + 3  # its last states come down there
        if not self.tight:  # of layers that do not start from the encoder
            zeros = [row.states_at("0") for row in self.rows if row.states and not row.start and not row.elided]
            words = max(words, *[span(line) + 2 + APART for line in zeros], 0)
        return giving.right + max(words + self.first_arrow, giving.overhang + self.overhang + self.entry + APART)

    @property
    def right(self) -> int:
        """The first cell behind the last column."""
        return self.left + self.wide

    @cached_property
    def sides(self) -> list[tuple[int, int]]:
        """The first cell of each column, and the first behind it."""
        left, sides = self.left, []
        for column in self.columns:
            sides.append((left, left + (DOTS if column.gap else self.box)))
            left = sides[-1][1] + self.between
        return sides

    @cached_property
    def words(self) -> tuple[str, str]:
        """What the picture says of the weights of all steps, and below that of the half."""
        part = self.part
        repeated = f"×{part.letter if part.steps is None else f'{part.steps:,}'}, the same weights"
        if part.at_once:
            repeated = "all steps at once"
        elif part.steps == 1:
            repeated = "one step" if part.name else ""
        left_out = sum(column.left_out for column in self.columns)
        below = [part.name or "", f"{plural(left_out, 'step')} left out" if left_out else ""]
        return repeated, "; ".join(filter(None, below))

    @property
    def overhang(self) -> int:
        """How much wider these words are than the columns, on each side."""
        return max(max(span((text,)) for text in self.words) - self.wide + 1, 0) // 2

    def behind(self, row: Row) -> tuple[Line, int]:
        """Return the first states of a row that run backwards, and the cells that they need."""
        steps = self.part.steps
        past = str(steps + 1) if steps and steps + 1 < SHORT else None
        line = row.states_at(f"{self.part.letter}+1" if self.part.at_once or past is None else past)
        return line, span(line) + 2

    def at(self, *steps: Steps, gaps: bool = False) -> list[tuple[TimeColumn, int]]:
        """Return the columns that are among all steps, each with its first cell; gaps: with those that are left out."""
        columns = zip(self.columns, self.sides, strict=True)
        return [(each, x) for each, (x, _) in columns if all(map(each.among, steps)) and (gaps or not each.gap)]

    def shapes(self) -> Iterator[Shape]:
        """Yield everything of a half."""
        for row in self.rows:
            yield from self._boxes(row)
            if row.states:
                yield from self._in_time(row)
        yield from self._up()
        if self.attention:
            yield from self._attention(self.attention)
        if self.feedback:
            yield from self._fed_back()
        if words := [text for text in self.words if text and self.words[0]]:
            y, last = self.rows[0].bottom, self.right - 1
            yield Arrow(route(self.left, y, y + 1, last, y, upright=True), Style.AXIS, head=False)
            middle = (self.left + last) // 2
            yield from (Label(middle, line, (text,), Style.NOTE, "middle") for line, text in enumerate(words, y + 2))

    def _boxes(self, row: Row) -> Iterator[Shape]:
        height, width = row.bottom - row.top, self.box - PAST * (row is self.attention)
        by = self.middle - 1 if row is self.rows[0] and self.rows[1] is self.attention else 0
        if row.elided:
            width = max(self.wide, *(span(line) + 4 for line in row.lines)) | 1
            yield Box(self.left, row.top, width, height, row.lines, Style.ELIDED)
            return
        if not (row.letter or row.layers):  # a decoder without an input of its own
            return
        style = Style.INPUT if row is self.rows[0] else Style.OUTPUT if row.letter else Style.LAYER
        if row.layers and isinstance(row.layers[0].layer, Output):
            style = Style.OUTPUT
        for column, x in self.at(row.applied, gaps=True):
            if column.gap:
                yield from (_dots(x, y) for y in (row.line, row.backward)[: 1 + row.two_way])
            elif row.letter:
                wide = self.circle(row.letter, column)
                line = (at(row.letter, column.name),)
                yield Box(x + by + (self.box - wide) // 2, row.top, wide, 1, (line,), style, round=True)
            else:
                yield Box(x, row.top, width, height, row.lines, style)

    def _in_time(self, row: Row) -> Iterator[Shape]:
        """Yield the arrows from step to step, forwards and, with two directions, backwards."""
        y, back, sides = row.line, row.backward, [*self.sides]
        if not self.tight and not (self.giving and (row.start or row.elided)):
            line = row.states_at("0")
            wide, right = span(line) + 2, self.left - self.first_arrow
            yield Box(right - wide, y, wide, 1, (line,), Style.STATE, round=True)
            sides.insert(0, (0, right))
        for giver in self.giving.rows if self.giving else ():
            if giver.name == row.start and not giver.elided and self.giving:
                sides.insert(0, self.giving.sides[-1])
                if giver.two_way:
                    yield from self.giving.joining(giver, self.left - self.first_arrow - 2, y)
        for number, label in enumerate(row.states if sides != self.sides else ()):  # the first above, others below
            x = self.left - self.first_arrow + (self.first_arrow - self.entry - span(label)) // 2
            yield Label(x, y + (1 + number if row.two_way else number or -1), label, Style.SHAPE)
        yield from (Arrow(route(right, y, left - 1), Style.STATE) for (_, right), (left, _) in pairwise(sides))
        if not row.two_way:
            return
        sides = [*self.sides]
        if not self.tight:
            line, wide = self.behind(row)
            sides.append((self.right + BETWEEN, 0))
            yield Box(self.right + BETWEEN, back, wide, 1, (line,), Style.STATE, round=True)
        yield from (Arrow(route(left - 1, back, right), Style.BACKWARD) for (_, right), (left, _) in pairwise(sides))
        if row.ends_apart and row is not self.rows[-1] and len(self.columns) > 1:
            yield from self.joining(row, self.sides[-1][0] + self.middle, row.top - 2)

    def joining(self, row: Row, x: int, y: int) -> Iterator[Shape]:
        """Yield how the last state of the backward direction joins an arrow at a cell, above the row and right."""
        start = (row.line if self.columns[0].gap else row.top) - 1
        yield Arrow(route(self.left + 1, start, row.top - 2, x, y, upright=True), Style.BACKWARD, head=False)
        yield Dot(x, y)

    def _up(self) -> Iterator[Shape]:
        """Yield the arrows that run up. What a context joins runs past attention."""
        below, attends = self.rows[0], None
        attention = self.attention and self.attention.attention
        added = attention is not None and attention.context == "added"
        context = self.attention.layers[0].outputs if self.attention and not added else 0
        for row in self.rows[1:]:
            if row is self.attention:
                attends = row
                if row.compares_below:
                    yield from self._straight(below, row, row.input_width(below), -PAST // 2)
                continue
            if attends:
                yield from self._straight(attends, row, attends.output_width, -PAST // 2)
            width = row.input_width(below, context if attends or row.bottom - 2 == self.fork else 0)
            if below.letter or below.layers:
                yield from self._straight(below, row, width, self.middle - 1 if attends else 0)
            below, attends = row, None

    def _straight(self, below: Row, row: Row, label: Line, by: int) -> Iterator[Shape]:
        """Yield the arrows from one row up to another, so far right of the middle of a column.

        The first has a label at its end, clear of what joins it further down.
        """
        for _, left in self.at(below.output, row.applied):
            x = left + self.middle + by
            yield Arrow(route(x, below.top - 1, row.bottom, upright=True), Style.LAYER)
            yield from [Label(x + 2, row.bottom, label, Style.SHAPE)] * bool(label)
            label = ()

    def _attention(self, row: Row) -> Iterator[Shape]:
        """Yield the arrows to the left side of attention, and those from its right side to boxes further away."""
        columns = self.at(row.applied, gaps=True)
        boxes = [(column, x) for column, x in columns if not column.gap]
        states = [each.line for each in self.rows if each.states]
        asks = row.attention if states and not row.compares_below else None
        for column, left in boxes:
            if asks and (self.giving or not (self.tight and column.first)):
                line = asks.query_layer(states)
                yield Dot(left - QUERY, line)
                yield Arrow(route(left - QUERY, line, row.top + 1, left - 1, upright=True), Style.STATE)
        if self.giving:
            yield from self._keys(self.giving, row.bottom + 1, row.bottom - 2, [left for _, left in boxes])
        if self.fork is None:
            return
        later = self.fork > row.top  # into the boxes of the next step
        pairs = [*zip(columns, columns[1:] if later else columns, strict=False)]
        if pairs:
            yield Label(columns[0][1] + self.box, row.line - 1, row.output_width, Style.SHAPE)
        for (column, x), (after, left) in pairs:
            start, lane = (x + DOTS, left - QUERY) if column.gap else (x + self.box - PAST, x + self.box + self.lane)
            turns = (left - 1,) if after.gap else (lane, self.fork, left - 1 if later else left + self.box)
            if later or not column.gap:
                yield Arrow(route(start, row.line, *turns), Style.LAYER)

    def _keys(self, giving: Half, line: int, to: int, lefts: list[int]) -> Iterator[Shape]:
        """Yield how all outputs of the encoder run along a line below boxes, and up beside each of them."""
        row = giving.rows[-1]
        bus, turn = row.top - (3 if row.two_way else 2), self.left - QUERY - 2
        first, *others = (left + giving.middle for _, left in giving.at("every"))
        for x in others:
            yield Arrow(route(x, row.top - 1, bus, upright=True), Style.LAYER, head=False)
            yield Dot(x, bus)
        *beside, last = (left - KEYS for left in lefts)
        for x in beside:
            yield Dot(x, line)
            yield Arrow(route(x, line, to, x + KEYS - 1, upright=True), Style.LAYER)
        corners = route(first, row.top - 1, bus, turn, line, last, to, last + KEYS - 1, upright=True)
        yield Arrow(corners, Style.LAYER)
        yield Label(first + 2, row.top - 1, row.output_width, Style.SHAPE)

    def _fed_back(self) -> Iterator[Shape]:
        """Yield the arrows from the output of a step down to the box of the next; dots stand for steps left out."""
        inputs, outputs = self.rows[0].line, self.rows[-1]
        for (column, x), (after, left) in pairwise(self.at("every", gaps=True)):
            turns = [] if column.gap else [x + self.box + self.lane, inputs]
            turns += [left - 1] if after.gap else [left + self.middle, self.rows[1].bottom]
            circle = x + (self.box + self.circle(outputs.letter, column)) // 2, outputs.line
            yield from [_dots(left, inputs)] * after.gap
            yield Arrow(route(*((x + DOTS, inputs) if column.gap else circle), *turns), Style.OUTPUT)


def _dots(x: int, y: int) -> Box:
    """Return what stands for steps that are left out."""
    return Box(x, y, DOTS, 1, (("⋯",),), Style.ELIDED)


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
        drawn = framed(caption, [shape for half in halves for shape in half.shapes()], frame)
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
    starts = network.decoder.initial_states if network.decoder else "all"
    if starts != "all" and not (starts == "last" and sum(bool(row.states) for row in parts[-1].rows) == 1):
        first = "all" if starts == "zeros" else "all but the first"
        yield f"Of the decoder's recurrent layers {first} start from zeros."
    for row in (row for row in rows if row.makers and not row.elided):
        letters = all_of([f"{network.spelling.letter(placed.starts[1])}_0" for placed in row.makers if placed.starts])
        vector = plural(row.makers[0].inputs, "number")
        source = "the encoder's final states" if row.start else f"a vector of {vector}"
        params = sum(placed.params for placed in row.makers)
        dense = "a dense layer" if len(row.makers) == 1 else "a dense layer each"
        yield f"{letters} of {row.name} come from {source} through {dense}: {plural(params, 'parameter')}."
    for attention in (part.attention for part in network.parts.values() if part.attention):
        name, after = attention.name or "attention", attention.query == "after"
        enters = "what enters the recurrent layers" + " one step later" * after
        leaves = f"what leaves {'them' if attention.layer == 'last' else 'the first'}"
        query = "output" if after else "state before the step"
        past = ", and with its weights of the steps before" if attention.score == "location" else ""
        of_layer = f"{query} of the {attention.layer} recurrent layer"
        yield f"{name} compares the {of_layer} with all outputs of the encoder{past}."
        joins = "is added to" if attention.context == "added" else "joins"
        yield f"Its context {joins} {' and '.join(compress((enters, leaves), attention.joins))}."
    if later := one_to_many(network):
        yield later


def _halves(network: Network, parts: list[DrawnPart], chosen: list[Way]) -> list[Half]:
    """Return the halves, each row at its height; recurrent layers whose states meet are at the same."""
    bridged = len(parts) > 1  # and then the first has no outputs of its own
    sides: list[list[Row | None]] = [[*part.rows] for part in parts]
    if bridged:
        giving, taking = parts[0].rows[:-1], parts[1].rows
        sides[0], begin = [*giving], 1
        for giver in giving:
            for taker in (row for row in taking if row.start == giver.name and not giver.elided):
                places = sides[0].index(giver), sides[1].index(taker)
                for side, place in zip(sides, places, strict=True):
                    side[begin:begin] = [None] * (max(places) - place)
                begin = max(places) + 1
    y, lines = 0, list[int]()  # the line of the states of each level
    for level in [*zip_longest(*sides)][::-1]:
        rows = [row for row in level if row]
        joined = any(row.ends_apart or (bridged and row.two_way) for row in rows)
        y += (JOINED - UP) * joined + max(row.line for row in rows)
        lines.insert(0, y)
        y += max(row.bottom - row.line for row in rows) + UP + any(row.attention for row in rows)
    halves: list[Half] = []
    for part, side, way in zip(parts, sides, chosen, strict=True):
        rows = [row._replace(top=y - row.line) for row, y in zip(side, lines, strict=False) if row]
        halves.append(Half(part, *way, tuple(rows), network.feedback, halves[0] if halves else None))
    return halves
