"""The report of `convert`: a row for each array of the target, what it is made of, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rnncalc.conventions import convention
from rnncalc.conventions.tensor import BIASES, Tensor, TensorBlock
from rnncalc.layers.cell import Cell
from rnncalc.models.convert import Conversion, Summand
from rnncalc.network.parts import steps_known
from rnncalc.questions.convert import STEPS, Converted
from rnncalc.questions.run import assumed_steps
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.typeset.setting import flow, title
from rnncalc.typeset.sheet import Column, Row, Sheet
from rnncalc.words import all_of, plural

HEADER = ("network", "layer", "target", "shape", "sources", "steps", "condition")


class ConvertReport(SheetReport, DataReport, RecordReport):
    """A recipe, and what two passes gave.

    saved: the file with the arrays. within: the name of the network in a model of several. differences: of the passes
    of all its networks.
    """

    converted: Converted
    saved: str = ""
    within: str | None = None
    differences: tuple[float | None, ...] = ()

    listed_as = "conversions"

    def data(self) -> Iterable[dict[str, Any]]:
        for each in self.converted.conversions:
            array = self.within, each.placed.name, each.tensor.name, each.tensor.shape
            values = (*array, [tensor.name for tensor in each.sources], steps(each), condition_of(each) or None)
            yield dict(zip(HEADER, values, strict=True))

    def beside(self) -> dict[str, Any]:
        differences = self.differences or (self.converted.largest_difference,)
        passes = [each for each in differences if each is not None]
        return {"largest_difference": max(passes) if len(passes) == len(differences) else None}

    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        rows = (
            (network, layer, target, shape, " ".join(sources), "; ".join(done), condition)
            for network, layer, target, shape, sources, done, condition in (each.values() for each in self.data())
        )
        return HEADER, rows

    def sheets(self) -> list[Sheet]:
        converted, rows, last = self.converted, list[Row](), ""
        for _, layer, target, shape, sources, done, condition in (each.values() for each in self.data()):
            how = "; ".join([*done, condition] if condition else done)
            rows.append(("" if layer == last else layer, target, shape, ", ".join(sources), how))
            last = layer
        names = [convention(each.convention).title for each in (converted.source, converted.target)]
        titles = (names[1], True), ("Shape", True), (f"From {names[0]}", False), ("How", False)
        columns = [Column(text, key=text == names[1], whole=whole, together=True) for text, whole in titles]
        columns = [Column("Layer", key=True), *columns]
        subtitle = f"{' to '.join(names)}; {flow(converted.source)}"
        heading = title(converted.source)
        return [Sheet(tuple(columns), rows, title=heading, subtitle=subtitle, notes=tuple(self._notes()))]

    def _notes(self) -> Iterator[str]:
        converted = self.converted
        row = convention(converted.target.convention)
        for placed in converted.target.stack:
            layer, defaults = row.opened(placed.layer), placed.layer.defaults
            left_open = [option for option, value in defaults.items() if value is None and option not in Cell.fields]
            values = {option: getattr(layer, option) for option in left_open}
            chosen = [f"{key}: {str(value).lower()}" for key, value in values.items() if isinstance(value, bool | str)]
            if chosen:
                yield f"In {row.title}, {placed.name} needs {all_of(chosen)}."
        if converted.numbers is None:
            yield "These are the shapes alone; a model file, or --weights, gives the arrays."
        elif converted.largest_difference is None:
            yield "No pass compares the two, because it would cost too much; --max-multiply-adds raises the limit."
        else:
            source = converted.source
            passes = (
                flow(source) if steps_known(source.parts) else plural(assumed_steps(source, None, STEPS) or 0, "step")
            )
            verdict = f"{converted.largest_difference:.2g}, of outputs up to {converted.largest_output:.2g}"
            sign = "✓" if converted.agrees else "✗"
            yield f"{sign} Two passes on the same random inputs, {passes}: the largest difference is {verdict}."
        if self.saved:
            numbers = sum(each.tensor.params for each in converted.conversions)
            yield f"{plural(len(converted.conversions), 'array')} of {plural(numbers, 'number')} are in {self.saved}."


def condition_of(conversion: Conversion) -> str:
    """Return what must be true of the source's numbers, empty if nothing."""
    named = [_some_of(tensor, blocks) for tensor, blocks, _ in _uses((one, one.block) for one in conversion.zeros)]
    return f"only if {all_of(named)} {'is' if len(named) == 1 else 'are'} zero" if named else ""


def steps(conversion: Conversion) -> list[str]:
    """Return what is done with the source's arrays, in order, in words that can be followed by hand."""
    return [*_steps(conversion)] or ["unchanged"]


def _steps(conversion: Conversion) -> Iterator[str]:
    tensor, fillings = conversion.tensor, conversion.fillings
    first = _uses((each.sources[0], each.block) for each in fillings if each.sources)
    added = _uses((source, each.block) for each in fillings for source in each.sources[1:])
    for ours, blocks, _ in first:
        if len(blocks) < len(ours.blocks):
            yield _some_of(ours, blocks) if len(first) > 1 else _which(ours, blocks)
    yield from dict.fromkeys(step for use in first for step in _moved(*use, conversion))
    orders = [
        (_letters(block for block in ours.blocks if block in blocks), _letters(there)) for ours, blocks, there in first
    ]
    yield from dict.fromkeys(
        f"blocks {' '.join(one)} reordered to {' '.join(other)}" for one, other in orders if one != other
    )
    if zeros := [each.block for each in fillings if not each.sources and not each.constant] if first else []:
        yield from (f"{ours.name} as {_which(tensor, there)}" for ours, _, there in first if len(first) > 1)
        yield f"zeros for {_which(tensor, zeros)}"
    elif len(first) > 1:
        yield _together([there[0] for _, _, there in first])
    for ours, blocks, _ in added:
        whole = len(first) == len(added) == 1 and len(blocks) == len(ours.blocks) == len(fillings)
        yield "the two biases added" if whole else f"{_some_of(ours, blocks)} added"
    if not first and not any(each.constant for each in fillings):
        yield "zeros"
    for factor in sorted({source.factor for each in fillings for source in each.sources} - {1}):
        which = _which(tensor, [each.block for each in fillings if each.sources and each.sources[0].factor == factor])
        words = [which] * bool(which) + ["negated"] * (factor < 0)
        words += ["and"] * (factor < 0 and abs(factor) != 1) + [f"multiplied by {abs(factor)}"] * (abs(factor) != 1)
        yield " ".join(words)
    for constant in sorted({each.constant for each in fillings} - {0}):
        which = _which(tensor, [each.block for each in fillings if each.constant == constant])
        verb, place = ("added", "to") if constant > 0 else ("subtracted", "from")
        yield f"{float(abs(constant)):g} {verb}{which and f' {place} {which}'}"
    if first and _ones(tensor) and not _ones(first[0][0]):
        yield "with an axis of 1 in front"


_Use = tuple[Tensor, list[TensorBlock], list[TensorBlock]]
"""An array, its blocks that are used, and where each is in the target."""


def _uses(pairs: Iterable[tuple[Summand, TensorBlock]]) -> list[_Use]:
    uses: dict[str, _Use] = {}
    for source, block in pairs:
        _, blocks, there = uses.setdefault(source.tensor.name, (source.tensor, [], []))
        blocks.append(source.block)
        there.append(block)
    return [*uses.values()]


def _letters(blocks: Iterable[TensorBlock]) -> list[str]:
    """Return the letters of blocks in their order, each once."""
    return [*dict.fromkeys(block.letter for block in blocks)]


def _some_of(tensor: Tensor, blocks: Sequence[TensorBlock]) -> str:
    """Return `block n of bias_hh_l0`; the name alone if all blocks are meant."""
    which = _which(tensor, blocks)
    return f"{which} of {tensor.name}" if which else tensor.name


def _which(tensor: Tensor, blocks: Sequence[TensorBlock]) -> str:
    """Return which blocks of an array are meant; empty if all are."""
    rows, letters = {_row(each) for each in blocks}, _letters(blocks)
    there = [each for each in tensor.blocks if _row(each) in rows]
    words = [f"block{'s' * (len(letters) > 1)} {' '.join(letters)}"] if len(letters) < len(_letters(there)) else []
    if len(there) < len(tensor.blocks):
        words.append(f"row {max(max(row) for row in rows)}")
    if {each.role for each in blocks} != {each.role for each in there}:
        halves = f"the {'second' if blocks[0].role is BIASES[1] else 'first'} half"
        words.append(f"the rows of {blocks[0].vector}" if blocks[0].vector else halves)
    return " of ".join(words)


def _row(block: TensorBlock) -> tuple[int, ...]:
    """Return where a block is on the axes that only place it."""
    return tuple(start.times for start, at in zip(block.starts, block.along, strict=True) if at is None)


def _moved(
    ours: Tensor, blocks: Sequence[TensorBlock], there: Sequence[TensorBlock], conversion: Conversion
) -> Iterator[str]:
    """Yield how the axes of an array become those of the target."""
    block, home, theirs = blocks[0], there[0], conversion.tensor
    along, others = ([at for at in each.along if at is not None] for each in (block, home))
    axes, order = [*dict.fromkeys(along)], [*dict.fromkeys(others)]
    if _ones(ours) and not _ones(theirs):
        yield "without the axis of 1"
    if len(axes) < len(along):  # the heads have an axis of their own
        yield f"reshaped to {' × '.join(str(block.axes[at].size(conversion.placed.sizes)) for at in axes)}"
    if axes != order:
        yield "transposed" if len(order) == 2 else f"transposed to axes {' '.join(str(axes.index(at)) for at in order)}"
    if len(order) < len(others):
        yield f"reshaped to {' × '.join(map(str, theirs.shape))}"
    if _rows(blocks) != _rows(there):
        yield "rows joined one after the other" if _rows(blocks) > 1 else "halves stacked"


def _rows(blocks: Sequence[TensorBlock]) -> int:
    """Return how many rows blocks are in, on axes that only place them."""
    return len({*map(_row, blocks)})


def _ones(tensor: Tensor) -> bool:
    """Return whether an array has an axis of 1 that only places what is in it."""
    return any(at is None and size == 1 for at, size in zip(tensor.blocks[0].along, tensor.shape, strict=True))


def _together(groups: Sequence[TensorBlock]) -> str:
    """Return how arrays become one, from the first block of each in it."""
    one = groups[0]
    axes = [axis for axis in range(len(one.starts)) if len({block.starts[axis] for block in groups}) > 1]
    matrix = [axis for axis, along in enumerate(one.along) if along is not None]
    words = ["side by side"] if matrix[-1] in axes and len(matrix) > 1 else []
    words += ["one below the other" if len(matrix) > 1 else "one after the other"] if matrix[0] in axes else []
    joined = [f"joined {', then '.join(words)}"] if words else []
    return ", then ".join([*joined, "stacked"] if any(one.along[axis] is None for axis in axes) else joined)
