"""The changes that mistakes make to a worksheet. Only the table of mistakes names them.

A `LineChange` sees one line. A `WorksheetChange` sees the whole worksheet, so also the layer below. Both leave a line
unchanged if the mistake cannot be made there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from rnncalc.answers.worksheet import (
    A_UNIT,
    GateInput,
    GateLine,
    LayerLine,
    Products,
    Source,
    Worksheet,
    above,
    amount,
    multiple,
    neighbours,
    parts_of,
    times,
)
from rnncalc.conventions.tensor import Role
from rnncalc.layers.cell import Cell, GatedCell
from rnncalc.layers.layer import Dense, Layer, Output, Transform
from rnncalc.step.nodes import Repeats

LineChange = Callable[[LayerLine], LayerLine]
"""Returns a line with a mistake made in it."""

WorksheetChange = Callable[[Worksheet], Worksheet]
"""Returns a worksheet with a mistake made in it."""

Width = Callable[[LayerLine, LayerLine], int | None]
"""Returns the wrong input width of a line, from the line below it and the line; None if it is right."""


# --- where a change is made


def in_layers(change: LineChange, *kinds: type[Layer]) -> WorksheetChange:
    """Return the mistake that changes every layer of these kinds, by default of all. Output layers are dense layers."""
    return lambda worksheet: tuple(
        [change(line) if isinstance(line.layer, kinds or Layer) and not line.is_empty else line for line in worksheet]
    )


def in_cells(change: LineChange) -> WorksheetChange:
    """Return the mistake that changes every recurrent layer."""
    return in_layers(change, Cell)


def in_outputs(change: LineChange) -> WorksheetChange:
    """Return the mistake that changes the output layers."""
    return in_layers(change, Output)


def in_turn(*changes: WorksheetChange) -> WorksheetChange:
    """Return the mistake that makes several changes, one after the other."""
    return lambda worksheet: reduce(lambda changed, change: change(changed), changes, worksheet)


def replace_line(worksheet: Worksheet, place: int, line: LayerLine) -> Worksheet:
    """Return a worksheet with the line at one place replaced."""
    return (*worksheet[:place], line, *worksheet[place + 1 :])


# --- parts of a line


def leave_out(line: LayerLine) -> LayerLine:
    """Leave the layer out."""
    return line._replace(gates=(), others={})


def without_other(*names: str) -> LineChange:
    """Return the mistake that drops parts that belong to no gate."""
    return lambda line: line._replace(others={key: number for key, number in line.others.items() if key not in names})


def with_other(name: str, part: Callable[[LayerLine], Products]) -> LineChange:
    """Return the mistake that adds a part that belongs to no gate, unless its number is 0."""

    def change(line: LayerLine) -> LayerLine:
        added = part(line)
        return line._replace(others={**line.others, name: added}) if amount(added) else line

    return change


def with_count(name: str, part: Callable[[LayerLine], Products]) -> LineChange:
    """Return the mistake that takes another number for the whole count of a layer."""
    return lambda line: line._replace(gates=(), others={name: part(line)}, directions=1)


def with_part(name: str, part: Callable[[LayerLine], Products]) -> LineChange:
    """Return the mistake that counts a part that belongs to no gate by another number."""
    return lambda line: line._replace(others={**line.others, name: part(line)}) if line.part(name) else line


def along(letters: str) -> Callable[[LayerLine], Products]:
    """Return the function to the size of a kernel along some axes; c, the features of a group, is m without groups."""
    return lambda line: times(*[line.placed.sizes.get(letter, line.placed.sizes["m"]) for letter in letters])


def without_norm_of_states(line: LayerLine) -> LayerLine:
    """Leave out the vectors that normalise a state; they belong to no gate."""
    layer = line.layer
    vectors = {each.letter for each in layer.weights if len(each.widths) == 1} if isinstance(layer, Cell) else set()
    return without_other(*vectors)(line)


def without_gains(line: LayerLine) -> LayerLine:
    """Leave out the gains of normalised sums and states, but not their biases."""
    gains = [name for name in line.others if name.startswith("gamma_")]
    return without_other(*gains)(set_reads(line, "gain", width=0))


def put(**fields: Any) -> LineChange:
    """Return the mistake that gives fields of a line other values."""
    return lambda line: line._replace(**fields)


# --- biases


def each_gate(line: LayerLine, change: Callable[[GateLine], GateLine]) -> LayerLine:
    """Return a line with every gate changed."""
    return line._replace(gates=tuple(map(change, line.gates)))


def with_biases(number: Callable[[int], int]) -> LineChange:
    """Return the mistake that changes how many bias vectors each gate has; number: the wrong from the right number."""
    return lambda line: each_gate(line, lambda gate: gate._replace(biases=number(gate.biases)))


def with_bias_size(size: Callable[[LayerLine], int]) -> LineChange:
    """Return the mistake that gives each bias vector another size."""
    return lambda line: line._replace(bias_size=size(line)) if line.biases else line


def count_biases(line: LayerLine) -> LayerLine:
    """Give every gate or filter a bias if none has one. A tied output layer has no matrix of its own, and no bias."""
    layer = line.layer
    if isinstance(layer, Transform):
        biased = layer.replace(bias=True) if layer.values().get("bias") is False else layer
        added = [array for array in biased.arrays if array not in layer.arrays]
        return line._replace(others={**line.others, **parts_of(added, line.placed.sizes)})
    reads = any(gate.reads for gate in line.gates)
    return with_biases(lambda count: 1)(line) if reads and not line.biases else line


def without_biases(line: LayerLine) -> LayerLine:
    """Leave out the biases that belong to no gate."""
    return without_other(*[name for name in line.others if name.endswith("bias")])(line)


# --- what gates read


def with_reads(line: LayerLine, change: Callable[[GateInput], GateInput]) -> LayerLine:
    """Return a line with what each gate reads changed; with width 0 a gate no longer reads it."""
    reads = [tuple([read for read in map(change, gate.reads) if read.width]) for gate in line.gates]
    return line._replace(gates=tuple([GateLine(it, *gate[1:]) for it, gate in zip(reads, line.gates, strict=True)]))


def set_reads(line: LayerLine, *sources: Source, **changed: Any) -> LayerLine:
    """Change the `width` that gates read from some sources, or how many `times` their matrices are counted."""
    return with_reads(line, lambda read: read._replace(**changed) if read.source in sources else read)


def by_one_gate(*sources: Source) -> LineChange:
    """Return the mistake by which only the first gate reads these sources."""
    return lambda line: line._replace(gates=(*line.gates[:1], *set_reads(line, *sources, width=0).gates[1:]))


def with_width(source: Source, width: Callable[[LayerLine], int]) -> LineChange:
    """Return the mistake that changes the width that gates read from a source."""
    return lambda line: set_reads(line, source, width=width(line))


def with_taps(axes: int) -> LineChange:
    """Return the mistake that counts a kernel along this number of axes only: with 1, k weights instead of k × k."""

    def change(line: LayerLine) -> LayerLine:
        lost = line.placed.sizes.get("k", 1) ** max(0, len(line.layer.grid) - axes)
        return with_reads(
            line, lambda read: read._replace(width=read.width // lost) if read.source in ("input", "past") else read
        )

    return change


def with_recurrence(line: LayerLine) -> LayerLine:
    """Add a recurrent matrix to each gate."""
    return each_gate(line, lambda gate: gate._replace(reads=(*gate.reads, GateInput("past", line.h))))


def with_whole_matrices(line: LayerLine) -> LayerLine:
    """Count the recurrent matrices of a cell without their low rank or their blocks."""
    if not isinstance(line.layer, GatedCell) or not (line.layer.recurrent_rank or line.layer.recurrent_blocks):
        return line
    return without_other(Role.RIGHT)(set_reads(line, "past", width=line.layer.past_width))


def recurrent_among_inputs(line: LayerLine) -> LayerLine:
    """Count the recurrent matrices as m × m."""
    matrices = sum(bool(gate.width("past")) for gate in line.gates)
    added = times(matrices, line.width("input"), line.width("input"))
    return set_reads(line, "past", width=0)._replace(others={"recurrent": added, **line.others}) if matrices else line


def peephole_in_each_gate(line: LayerLine) -> LayerLine:
    """Add a peephole to every gate if some gates have one."""
    peephole = GateInput("peephole", line.width("peephole"))
    if not peephole.width:
        return line
    bare = set_reads(line, "peephole", width=0)
    return each_gate(bare, lambda gate: gate._replace(reads=(*gate.reads, peephole)))


# --- the gates themselves


def with_gates(count: int, kind: str = "") -> LineChange:
    """Return the mistake that counts this number of plain gates, as a cell of another kind has.

    Each reads the input and the past.
    """

    def change(line: LayerLine) -> LayerLine:
        reads = [tuple(read for read in gate.reads if read.source not in A_UNIT) for gate in line.gates]
        if not reads or line.layer.kind == kind:
            return line
        alike = len({*reads}) == 1 and not any(read.shared for read in reads[0])
        past = (line.width("past") if alike else 0) or line.h
        biases = max(gate.biases for gate in line.gates)
        gain = (GateInput("gain", 1),) if line.width("gain") else ()
        gate = GateLine((GateInput("input", line.width("input")), GateInput("past", past), *gain), biases)
        peepholes = [read for gate in line.gates for read in gate.reads if read.source == "peephole"][:count]
        gates = [gate._replace(reads=(*gate.reads, read)) for read in peepholes] + [gate] * (count - len(peepholes))
        return without_other("scalars")(line)._replace(gates=tuple(gates))

    return change


def number_of_gates(count: int) -> LineChange:
    """Return the mistake that counts this number of gates, in cells whose gates all read the same."""

    def change(line: LayerLine) -> LayerLine:
        kinds = {gate._replace(name="") for gate in line.gates}
        return line._replace(gates=(*kinds,) * count) if len(kinds) == 1 else line

    return change


def swap_sizes(line: LayerLine) -> LayerLine:
    """Swap the input width and the number of units."""
    units = line.width("input")
    past = units if line.width("past") == line.h else line.width("past")
    changed = set_reads(set_reads(line, "past", width=past), "input", width=line.h)
    return changed._replace(h=units, bias_size=units) if units else line


# --- the width that one layer gives the next


def by_layer_below(change: Callable[[LayerLine, LayerLine], LayerLine]) -> WorksheetChange:
    """Return the mistake that changes each line by the line below it, whose output it reads."""

    def changed(worksheet: Worksheet) -> Worksheet:
        lines = [*worksheet]
        for lower, place in neighbours(worksheet):
            lines[place] = change(worksheet[lower], worksheet[place])
        return tuple(lines)

    return changed


def feeding(width: Width) -> WorksheetChange:
    """Return the mistake that changes the input width of each layer but the first of a part."""
    return by_layer_below(lambda below, line: set_input(below, line, width(below, line)))


def to_output(width: Width) -> Width:
    """Return the width for the output layers alone."""
    return lambda below, line: width(below, line) if isinstance(line.layer, Output) else None


def to_hidden(width: Width) -> Width:
    """Return the width for the hidden layers alone."""
    return lambda below, line: None if isinstance(line.layer, Output) else width(below, line)


def set_input(below: LayerLine, line: LayerLine, width: int | None) -> LayerLine:
    """Return a line with another input width from the layer below; extra inputs and a context are added to it."""
    joined = line.placed.inputs - below.placed.outputs if line.half.attention else line.layer.extra_inputs
    return line if width is None else set_reads(line, "input", width=width + joined)


def feed_next(worksheet: Worksheet, place: int, width: int | None) -> Worksheet:
    """Return a worksheet with another input width of the line that reads the output of the one at this place."""
    reader = above(worksheet, place)
    if reader is None:
        return worksheet
    return replace_line(worksheet, reader, set_input(worksheet[place], worksheet[reader], width))


def direction_width(line: LayerLine) -> int:
    """Return the output width of one direction."""
    layer = line.layer
    return line.placed.sizes[layer.output] if isinstance(layer, Cell) else line.placed.outputs


def concatenates(layer: Layer) -> bool | None:
    """Return whether a layer's two directions are concatenated; None if it has one direction."""
    return layer.merge in (None, "concat") if isinstance(layer, Cell) and layer.bidirectional else None


def width_of_one_direction(below: LayerLine, line: LayerLine) -> int | None:
    """Return the width of one direction, if the layer below concatenates two."""
    return direction_width(below) if concatenates(below.layer) else None


def width_without_projection(below: LayerLine, line: LayerLine) -> int | None:
    """Return the width below without its projection."""
    return below.h * (2 if concatenates(below.layer) else 1) if below.part("projection") else None


def width_of_all_states(below: LayerLine, line: LayerLine) -> int | None:
    """Return the width of all states below side by side."""
    layer = below.layer
    return len(layer.states) * below.placed.outputs if isinstance(layer, Cell) and len(layer.states) > 1 else None


def recurrent_of_units(line: LayerLine) -> LayerLine:
    """Give the recurrent matrices h columns although the cell has a projection."""
    return set_reads(line, "past", width=line.h) if line.part("projection") else line


def first_reader(worksheet: Worksheet, part: str | None) -> int | None:
    """Return the place of a part's first hidden layer that reads vectors."""
    for place, line in enumerate(worksheet):
        if line.placed.part == part and isinstance(line.layer, Cell | Dense) and not isinstance(line.layer, Output):
            return place
    return None


def change_first(worksheet: Worksheet, part: str | None, change: LineChange) -> Worksheet:
    """Return a worksheet with a part's first hidden layer that reads vectors changed, if it has one."""
    place = first_reader(worksheet, part)
    return worksheet if place is None else replace_line(worksheet, place, change(worksheet[place]))


def of_input(width: Callable[[LayerLine], int]) -> WorksheetChange:
    """Return the mistake that gives the first layer another width of the network's input."""

    def changed(line: LayerLine) -> LayerLine:
        return set_reads(line, "input", width=width(line)) if line.width("input") == line.half.input else line

    return lambda worksheet: change_first(worksheet, worksheet[0].placed.part, changed)


def encoder_input(worksheet: Worksheet) -> Worksheet:
    """Give the decoder's first layer that reads vectors the input width of the encoder's."""
    encoder = first_reader(worksheet, "encoder")
    if encoder is None:
        return worksheet
    return change_first(worksheet, "decoder", with_width("input", lambda line: worksheet[encoder].width("input")))


def state_beside_input(worksheet: Worksheet) -> Worksheet:
    """Add the width of the encoder's state to the input of the decoder's first layer that reads vectors."""
    cells = [line for line in worksheet if line.placed.part == "encoder" and isinstance(line.layer, Cell)]
    if not cells:
        return worksheet
    state = cells[-1].placed.outputs
    return change_first(worksheet, "decoder", with_width("input", lambda line: line.width("input") + state))


# --- attention


def times_heads(line: LayerLine) -> LayerLine:
    """Count the projections of an attention, each of which holds all heads, once for each head."""
    heads = line.layer.values().get("heads") or 1
    projected = [name for name in line.others if name.removesuffix("_bias") in ("query", "key", "value", "output")]
    return line._replace(others={**line.others, **{name: multiple(heads, line.part(name)) for name in projected}})


def with_heads(line: LayerLine, *, whole: bool) -> LayerLine:
    """Give each head the whole width if it has its part of it, or else its part if it has a size of its own.

    Heads must divide the width of which they have parts.
    """
    options, width = line.layer.values(), line.placed.outputs
    heads = options.get("heads")
    if not heads or "key_size" not in options or bool(options["key_size"]) == whole:
        return line
    if not whole and isinstance(width, int) and width % heads:
        return line
    layer = line.layer.replace(**({"key_size": width} if whole else {"key_size": None, "value_size": None}))
    return line._replace(others=parts_of(layer.arrays, layer.sizes(line.placed.inputs)))


def in_attention(change: LineChange) -> WorksheetChange:
    """Return the mistake that changes a decoder's attention."""
    return in_layers(lambda line: change(line) if line.layer.kind == "decoder_attention" else line, Transform)


def with_keys(width: Callable[[LayerLine], int]) -> WorksheetChange:
    """Return the mistake that gives the keys of a decoder's attention another width."""

    def changed(line: LayerLine) -> LayerLine:
        keys, sizes = width(line), line.placed.sizes
        wrong = {**sizes, "k": keys, "q+k": sizes["q"] + keys}
        parts = parts_of(line.layer.arrays, wrong)
        return line._replace(others={name: parts.get(name, part) for name, part in line.others.items()})

    return in_attention(changed)


def with_keys_of_one_direction(worksheet: Worksheet) -> Worksheet:
    """Give the keys of the attention half the encoder's width, if that is two directions side by side."""
    cells = [line.layer for line in worksheet if line.placed.part == "encoder" and isinstance(line.layer, Cell)]
    half = with_keys(lambda line: line.placed.sizes["k"] // 2)
    return half(worksheet) if cells and concatenates(cells[-1]) else worksheet


def without_context(worksheet: Worksheet) -> Worksheet:
    """Leave the context out of the inputs of the layers that it joins."""
    attention = worksheet[-1].half.attention
    if not attention:
        return worksheet
    lines = [place for place, line in enumerate(worksheet) if line.half.attention]
    cells = [place for place in lines if isinstance(worksheet[place].layer, Cell)]
    query = attention.query_layer(cells)
    after = next((place for place in lines if place > query and worksheet[place].width("input")), None)
    for place, joins in zip((cells[0], after), attention.joins, strict=True):
        if joins and place is not None:
            line = worksheet[place]
            without = set_reads(line, "input", width=line.width("input") - attention.output_width(0))
            worksheet = replace_line(worksheet, place, without)
    return worksheet


def swap_inputs_and_units(worksheet: Worksheet) -> Worksheet:
    """Swap inputs and units in the first layer that reads vectors, and change the next layer's input width to match."""
    place = first_reader(worksheet, worksheet[0].placed.part)
    if place is None:
        return worksheet
    changed = replace_line(worksheet, place, swap_sizes(worksheet[place]))
    return feed_next(changed, place, changed[place].h * worksheet[place].directions)


def above_cells(change: Callable[[LayerLine, int], LayerLine]) -> WorksheetChange:
    """Return the mistake that changes each output layer above a cell; `change` gets the number of the cell's gates."""

    def changed(below: LayerLine, line: LayerLine) -> LayerLine:
        above = isinstance(line.layer, Output) and isinstance(below.layer, Cell)
        return change(line, len(below.gates)) if above else line

    return by_layer_below(changed)


def flatten_steps(worksheet: Worksheet, place: int, steps: int) -> Worksheet:
    """Give the layer that reads the flatten at this place the vectors of another number of steps."""
    reader = next((at for at in range(place + 1, len(worksheet)) if worksheet[at].width("input")), None)
    if reader is None:
        return worksheet
    width = steps * worksheet[place].placed.inputs
    return replace_line(worksheet, reader, set_input(worksheet[place], worksheet[reader], width))


def flatten_one_step(worksheet: Worksheet) -> Worksheet:
    """Give each layer that reads a flatten the vector of one step."""
    places = [place for place, line in enumerate(worksheet) if line.layer.kind == "flatten"]
    return reduce(lambda changed, place: flatten_steps(changed, place, 1), places, worksheet)


# --- steps and repeated layers


def times_steps(line: LayerLine) -> LayerLine:
    """Multiply the layer by the number of steps."""
    return line._replace(times=line.times * line.steps)


def times_repeats(number: Callable[[Repeats], int]) -> LineChange:
    """Return the mistake that multiplies a layer that reads a whole sequence by how often it computes something."""
    return lambda line: line._replace(times=line.times * number(line.placed.repeats)) if line.placed.repeats else line


def with_repeats(change: Callable[[Repeats], Repeats], *, biases: bool = False) -> LineChange:
    """Return the mistake that computes what a layer computes of a whole sequence for other steps, in multiply-adds.

    biases: whether each addition of a bias is counted too.
    """
    from rnncalc.step.costs import operations

    def changed(line: LayerLine) -> LayerLine:
        placed = line.placed
        if placed.repeats is None or placed.step is None:
            return line
        counts = operations(placed.step, placed.sizes, repeats=change(placed.repeats))
        products = counts.multiply_adds + (counts.bias_additions if biases else 0)
        return line._replace(times=1, others={"products": times(products)})

    return changed


def matrices_each_step(kind: type[Layer], *sources: Source, between: bool = False) -> WorksheetChange:
    """Return the mistake that counts the matrices for some sources once a step, or once between each two steps."""
    return in_layers(lambda line: set_reads(line, *sources, times=line.steps - between or 1), kind)


def steps_for_units(worksheet: Worksheet) -> Worksheet:
    """Replace the units of each recurrent layer by the number of steps, also in the next layer's input width."""

    def of_steps(line: LayerLine) -> LayerLine:
        changed = set_reads(line, "past", width=line.steps) if line.width("past") == line.h else line
        return changed._replace(h=line.steps, bias_size=line.steps)

    def width(below: LayerLine, line: LayerLine) -> int | None:
        recurrent = isinstance(below.layer, Cell) and not below.part("projection")
        return below.steps * (2 if concatenates(below.layer) else 1) if recurrent else None

    unknown = any(line.half.steps is None for line in worksheet)
    return worksheet if unknown else in_turn(feeding(width), in_cells(of_steps))(worksheet)


def as_one_plain_rnn(worksheet: Worksheet) -> Worksheet:
    """Count only the first of several recurrent layers, with one block, and leave out all biases."""
    cells = [place for place, line in enumerate(worksheet) if isinstance(line.layer, Cell)]
    if len(cells) < 2:
        return worksheet
    first, *others = cells
    one = with_gates(1)(worksheet[first])._replace(directions=1)
    kept = tuple(leave_out(line) if place in others else line for place, line in enumerate(worksheet))
    return in_layers(with_biases(lambda count: 0), Cell, Dense)(replace_line(kept, first, one))
