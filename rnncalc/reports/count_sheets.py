"""What a count says to people: the table of its layers, and that of their tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions.count import Count, bytes_of
from rnncalc.reports.setting import halves_of, setting, title
from rnncalc.reports.sheet import Arithmetic, Column, Row, Sheet
from rnncalc.text import KIBI, byte_size, decimal

if TYPE_CHECKING:
    from rnncalc.questions.dense import DenseEquivalent

MOST_CHAINS, MOST_WIDTHS = 4, 8
"""More chains, and a chain of more widths, are cut in their middle."""


def sheets(count: Count, tensors: bool, cost: bool) -> list[Sheet]:
    """Return the table of layers, with their cost where that is wished for, and likewise the table of tensors."""
    return [_layer_sheet(count, cost)] + ([_tensor_sheet(count)] if tensors else [])


def _layer_sheet(count: Count, cost: bool) -> Sheet:
    network = count.network
    titles = _key_titles(count)
    words = Column("Kind"), Column("In → out", whole=True), Column("Output shape", whole=True), Column("Formula")
    rows: list[Row] = [_row(count, cost, layer) for layer in count.layers]
    numbers = [*_numbers(count, cost, count)]
    return Sheet(
        columns=(
            *(Column(title, key=True) for title in titles),
            *words,
            *(Column(title, right=True) for title, _ in numbers),
        ),
        rows=rows,
        total=("Total", *[""] * (len(titles) + len(words) - 1), *(number for _, number in numbers)),
        title=title(network),
        subtitle=setting(network),
        notes=tuple(_notes(count, cost)),
    )


def _row(count: Count, cost: bool, layer: Placed) -> Row:
    whole = Arithmetic(layer.formula, layer.substituted)
    numbers = (number for _, number in _numbers(count, cost, layer))
    widths = f"{layer.inputs:,} → {layer.outputs:,}"
    return (*_key(count, layer), layer.kind, widths, layer.output_shape, whole, *numbers)


def _numbers(count: Count, cost: bool, of: Count | Placed) -> Iterator[tuple[str, int | None]]:
    """Yield the columns of numbers: the titles, and the numbers of a layer or of the whole network."""
    yield "Parameters", of.params
    if count.trainable != count.params:
        yield "Trainable", of.trainable
        yield "Frozen", of.params - of.trainable
    if not cost:
        return
    if steps_known(count.network.parts):
        yield "Multiply-adds", of.multiply_adds
    else:
        yield "Multiply-adds a step", of.multiply_adds_per_step
    yield "Bytes", of.params * bytes_of(count.dtype)


def ties_told(network: Network) -> Iterator[str]:
    """Yield the sentence on each layer whose matrix another layer owns."""
    for placed in network.stack:
        if placed.layout.shared:
            yield f"{placed.name}: its matrix is the embedding's, transposed, and counted there."


def _notes(count: Count, cost: bool) -> Iterator[str]:
    yield from ties_told(count.network)
    dense = count.dense
    if dense is None:
        yield "Dense equivalent: not known without the number of steps; give steps, or -T."
    elif dense.ratio is not None:
        yield _dense_note(count, dense, dense.ratio)
    if cost:
        size = f"; {byte_size(count.bytes)} in all" if count.bytes >= KIBI else ""
        yield f"Bytes: {bytes_of(count.dtype)} a parameter, {count.dtype}{size}."


def _tensor_sheet(count: Count) -> Sheet:
    titles = _key_titles(count)
    rows: list[Row] = [
        (*_key(count, layer), tensor.name, tensor.role, tensor.shape, tensor.params)
        for layer in count.layers
        for tensor in layer.tensors
    ]
    return Sheet(
        columns=(
            *(Column(title, key=True) for title in titles),
            *map(Column, ("Tensor", "Role", "Shape")),
            Column("Parameters", right=True),
        ),
        rows=rows,
        total=("Total", *[""] * (len(titles) + 2), count.params),
        title="Tensors",
    )


def _key_titles(count: Count) -> tuple[str, ...]:
    return ("Part", "Layer") if halves_of(count.network) else ("Layer",)


def _key(count: Count, layer: Placed) -> tuple[str | None, ...]:
    """Return the cells that tell which row it is."""
    return (layer.part, layer.name) if halves_of(count.network) else (layer.name,)


def _dense_note(count: Count, dense: DenseEquivalent, ratio: float) -> str:
    steps = " and ".join(f"{part.steps:,}" for part in count.network.parts.values())
    chains = [[f"{width:,}" for width in chain] for chain in dense.chains]
    if len(chains) > MOST_CHAINS:
        chains[1:-1] = [["…"]]
    for widths in chains:
        if len(widths) > MOST_WIDTHS:
            widths[4:-2] = ["…"]
    plural = "" if steps == "1" else "s"
    told = "; ".join(" → ".join(widths) for widths in chains)
    return (
        f"Dense equivalent for {steps} step{plural}: {told + ', ' if told else ''}{dense.params:,} parameters, "
        f"{decimal(ratio)} × this network's."
    )
