"""The report of `count --training`: a count's object and records with the numbers of training, and their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.network.parts import Topology
from rnncalc.questions.count import bytes_of
from rnncalc.questions.kept import kept
from rnncalc.questions.training import Training
from rnncalc.reports.beside import ExtendedCountReport, on_unknown
from rnncalc.reports.count import CountReport, dtype_of, on_dtypes
from rnncalc.reports.report import fields
from rnncalc.words import KIBI, all_of, byte_size, plural

if TYPE_CHECKING:
    from rnncalc.network.stack import Placed
    from rnncalc.questions.count import Count


class TrainingReport(ExtendedCountReport):
    """A count, and what a training step needs."""

    columns: ClassVar[Mapping[str, str]] = {
        "gradients": "Gradients",
        "saved": "Saved activations",
        "backward_multiply_adds": "Backward",
    }

    training: Training

    def numbers(self) -> Iterator[dict[str, Any]]:
        return (fields(each, *self.columns) for each in (*self.training.layers, self.training))

    def whole(self) -> dict[str, Any]:
        training = self.training
        *_, total = self.numbers()
        step = {
            **fields(training, "chunk", "batch", "optimizer", "updates", "states_carried"),
            **total,
            "bytes": training.bytes,
            "dtype": dtype_of(training.network, training.dtype),
            "epoch": training.epoch and training.epoch._asdict(),
            "kept": (keeps := kept(training)) and keeps._asdict(),
        }
        return {"training": step}

    def words(self, placed: Placed) -> dict[str, str]:
        return {} if self.counts.cost else super().words(placed)

    def cells(self, counted: Count | Placed, numbers: Mapping[str, Any]) -> dict[str, int | None]:
        cells = super().cells(counted, numbers)
        cells.pop("Multiply-adds", cells.pop("Multiply-adds per step", None))  # those of the forward pass are a column
        if self.counts.counted.trainable == self.counts.counted.params:
            del cells["Gradients"]
        backward = cells.pop("Backward")
        return {**cells, **({"Forward": counted.multiply_adds} if self.counts.cost else {}), "Backward": backward}

    def notes(self) -> Iterator[str]:
        training = self.training
        yield "Saved activations: what the backward equations read of a forward pass over one sequence."
        forward = "Forward, backward" if self.counts.cost else "Backward"
        yield f"{forward}: multiply-adds for one sequence."
        if training.saved is None:
            yield from on_unknown(training.network)
        yield from on_chunks(training)
        if training.states_carried is not None:
            at_once = "of a chunk's steps" if training.truncated else "of all steps"
            yield f"States carried, {at_once}: {plural(training.states_carried, 'number')}."
        yield on_bytes(training)
        if epoch := training.epoch:
            work = "multiply-adds are not known"
            if epoch.multiply_adds is not None and epoch.backward_multiply_adds is not None:
                work = f"{epoch.multiply_adds:,} multiply-adds forward and {epoch.backward_multiply_adds:,} backward"
            updates = "" if epoch.updates is None else f", {plural(epoch.updates, 'update')}"
            batches = f"{epoch.batches:,} batch{'es' * (epoch.batches != 1)}"
            yield f"An epoch of {plural(epoch.sequences, 'sequence')}: {work}; {batches}{updates}."
        yield from on_kept(training)


def on_kept(training: Training) -> Iterator[str]:
    """Yield what PyTorch keeps for the backward pass, if that is known."""
    if keeps := kept(training):
        batch = f" for {training.batch:,} sequences" if training.batch > 1 else ""
        tokens, workspace = plural(keeps.tokens, "token number"), f"a workspace of {keeps.workspace:,} bytes"
        parts = [plural(keeps.numbers, "number"), *[tokens] * bool(keeps.tokens), *[workspace] * bool(keeps.workspace)]
        yield f"PyTorch 2.13 on the CPU keeps {keeps.bytes:,} bytes{batch}: {all_of(parts)}."


def on_bytes(training: Training) -> str:
    """Return a sentence with the bytes as a sum."""
    params, dtypes = training.network.params, [*on_dtypes(training.network, training.dtype)]
    size = f"{bytes_of(training.dtype)}{f' ({all_of(dtypes)})' if dtypes else ''}"
    parts = [plural(params, "weight"), plural(training.gradients, "gradient")]
    if training.kept:
        parts.append(f"{training.kept:,} of {training.optimizer}")
    if training.saved is None or training.bytes is None:
        return f"Bytes: {size} × ({' + '.join(parts)}) and the saved activations."
    parts.append(f"{training.batch:,} × {training.saved:,} saved")
    short = f", {byte_size(training.bytes)}" if training.bytes >= KIBI else ""
    batch = plural(training.batch, "sequence")
    return f"Bytes for {batch}: {size} × ({' + '.join(parts)}) = {training.bytes:,}{short}."


LOSS_AT = {Topology.MANY_TO_ONE: "after the last step", Topology.ONE_TO_ONE: "after its one step"}
"""The steps with a loss, for topologies without one at every step."""


def on_chunks(training: Training) -> Iterator[str]:
    """Yield sentences on the steps with a loss, and on what truncation leaves out."""
    network = training.network
    if not isinstance(network, Network):
        every = {name: [*on_chunks(training._replace(network=each.network))] for name, each in network.networks.items()}
        same = len({*map(tuple, every.values())}) == 1
        yield from (
            next(iter(every.values()))
            if same
            else (f"{name}: {note}" for name, notes in every.items() for note in notes)
        )
        return
    if not training.truncated:
        part = " of the decoder" if network.encoder else ""
        where = LOSS_AT.get(Topology(network.topology_of(None)), "at every step") if not network.encoder else ""
        yield f"The loss is computed {where or 'at every step'}{part}; backpropagation goes through all steps."
        return
    count = "" if training.updates is None else f", {plural(training.updates, 'update')} per sequence"
    chunks = f"chunks of {plural(training.chunk or 0, 'step')}{count}"
    yield f"Truncated: {chunks}; the state is carried forward, gradients stop between chunks."
    if network.encoder:
        yield "Every chunk of the decoder has a loss; of the encoder, that reaches only where each direction stops."
    elif network.topology_name == Topology.MANY_TO_ONE:
        both = any(isinstance(each.layer, Cell) and each.layer.bidirectional for each in network.stack)
        last = "the chunk that each direction reads last" if both else "the last chunk"
        yield f"The loss is that of {last}: a shorter chunk learns nothing from earlier ones."
    else:
        yield "Every chunk has a loss."


def of_training(training: Training) -> TrainingReport:
    """Return the report of the numbers of training, beside those of their network."""
    return TrainingReport(CountReport(training.counted), training)
