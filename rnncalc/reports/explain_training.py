"""The report of `explain --training`: for each layer its saved activations and its backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnncalc.layers.cell import Cell
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import External, Transform
from rnncalc.network.parts import Topology
from rnncalc.questions import network_of
from rnncalc.questions.explain_training import TrainingDerivation
from rnncalc.questions.training import Training
from rnncalc.reports.explain import equations, in_layers, in_words, on_parts, row_data
from rnncalc.reports.report import DataReport, DerivationReport, fields
from rnncalc.reports.run import ON_LOSS
from rnncalc.reports.training import on_bytes, on_chunks
from rnncalc.step.gradients import ABOVE, part_of
from rnncalc.step.layer_trace import slides
from rnncalc.typeset.equations import (
    LOSS,
    ON_DELTA,
    Derivative,
    Line,
    Piece,
    Sign,
    Term,
    enumeration,
    in_letters,
    line_of,
    on_functions,
    plain,
    vector,
    without_shapes,
)
from rnncalc.typeset.setting import in_model, setting, title
from rnncalc.typeset.sheet import Arithmetic, Column, Phrase, Sheet, worked
from rnncalc.words import plural

Row = tuple[Phrase, Phrase | str, Arithmetic, int]
"""A line of a derivation: its label, its meaning, the arithmetic, the number."""


def _sum_over_k(last: str, *sums: Term, loss: Term = LOSS) -> Phrase:
    """Return the sum of the terms of the steps k up to `last`."""
    w, of_last, of_k = Term("W"), Term("h", time=last), Term("h", time="k")
    terms = (*(piece for term in sums for piece in (term, Sign.APPLIED)), Derivative(loss, of_last), Sign.TIMES)
    line = (Derivative(LOSS, w), Sign.EQUALS, *terms, Derivative(of_last, of_k), Sign.TIMES, Derivative(of_k, w))
    k = (Term("k"),)
    ending = ", ", k, " from 1 to ", (Term(last),), ": every step ", k, " uses the same ", (w,), "."
    return Phrase((line, *ending))


def _left_out(kept: str, within: str, last: str, others: str) -> Phrase:
    """Return what truncation leaves out of such a sum."""
    of_last = (Term("h", time=last),)
    lies = f" lies in {within}; what "
    return Phrase((f"Of these terms {kept} whose ", (Term("k"),), lies, of_last, f" owes to {others} is left out."))


SUM_OVER_K = _sum_over_k("t", Term("sum", "t"), Term("sum", "k"), loss=Term("L", time="t"))
OF_THE_LAST = _sum_over_k("T", Term("sum", "k"))
LEFT_OUT = _left_out("a chunk keeps those", "it", "t", "earlier chunks")
OF_THE_LAST_LEFT_OUT = _left_out("those stay", "the last chunk", "T", "others")


_GRADIENT_OF_H = Derivative(LOSS, Term("h", time="t"))
_SOURCES = "above: the gradient of the next layer's input, or of the loss; 0 at a step that is not read."
ON_ABOVE = Phrase(((Term(ABOVE, time="t"),), " is the part of ", (_GRADIENT_OF_H,), f" that comes from {_SOURCES}"))
ENDS = Phrase(("After the last step of a backward pass, the gradients of step ", (Term("t+1"),), " are 0."))
_START_REMARK = " In an encoder, the states after it have the decoder's ", (Derivative(LOSS, Term("h", time="0")),), "."
ENCODER_ENDS = Phrase((*ENDS.parts, *_START_REMARK))


class TrainingExplanationReport(DerivationReport, DataReport):
    """The report on a derivation of the numbers of training.

    loss: that of the equations, if one was chosen. within: the name of the network in a model of several.
    """

    training: Training
    layers: tuple[TrainingDerivation, ...]
    loss: str = ""
    within: str | None = None

    def data(self) -> dict[str, Any]:
        training = self.training
        return {
            **fields(training.network, "name", "convention"),
            "network": self.within,
            "notation": network_of(training.network).spelling.name,
            "layers": [
                {
                    **fields(each.derivation.placed, "name", "kind"),
                    "steps": each.steps,
                    "equations": [*map(plain, equations(each.derivation))],
                    "gradients": [*map(plain, gradients(each))],
                    "saved": [row_data(row) for row in _saved(each)],
                    "backward_multiply_adds": each.multiply_adds,
                }
                for each in self.layers
            ],
            **fields(training, "gradients", "saved", "backward_multiply_adds", "bytes"),
            "remarks": [in_words(remark) for remark in self._remarks()],
        }

    def sheets(self) -> list[Sheet]:
        """Return remarks, and for each layer a table of saved activations and the equations of its backward pass."""
        network = self.training.network
        head = Sheet(columns=(), rows=(), title=title(network), subtitle=setting(network), notes=(*self._remarks(),))
        return [head, *in_model(self.within, (sheet for each in self.layers for sheet in _sheets(each)))]

    def _remarks(self) -> Iterator[str | Phrase]:
        training = self.training
        network = network_of(training.network)

        def lettered(phrase: Phrase) -> Phrase:
            spelling = network.spelling
            return Phrase(
                tuple([part if isinstance(part, str) else in_letters(part, spelling) for part in phrase.parts])
            )

        yield from on_chunks(training)
        if self.loss:
            yield ON_LOSS[self.loss]
        if any(isinstance(each.layer, Cell) for each in network.stack):
            last = network.topology_name == Topology.MANY_TO_ONE
            yield lettered(OF_THE_LAST if last else SUM_OVER_K)
            if training.truncated:
                yield lettered(OF_THE_LAST_LEFT_OUT if last else LEFT_OUT)
        if any(line.left.letter == "delta" for each in self.layers for line in each.gradients):
            yield ON_DELTA
        if any(isinstance(each.layer, Cell) for each in network.stack):
            yield lettered(ON_ABOVE)
            yield lettered(ENCODER_ENDS if network.encoder else ENDS)
        yield on_bytes(training)


def _saved(each: TrainingDerivation) -> list[Row]:
    """Return the lines of the saved activations, and their sum."""
    sizes = {**each.derivation.placed.sizes, each.letter: each.steps}
    rows: list[Row] = [
        (
            Phrase((in_layers(each.derivation, vector(line.formula, sizes, each.derivation.notation)),)),
            line.gate or line.kind.value,
            worked(line.expression, sizes),
            line.number,
        )
        for line in each.saved
    ]
    total = sum(line.number for line in each.saved)
    return [*rows, (Phrase(("saved",)), "all of it", worked(each.formula, sizes), total)] if rows else []


def _sheets(each: TrainingDerivation) -> Iterator[Sheet]:
    placed, notes = each.derivation.placed, tuple(_notes(each))
    steps = f"{each.letter} = {each.steps}: steps of one backward pass" if each.steps > 1 else ""
    sizes = [f"{letter} = {size}" for letter, size in placed.sizes.items() if len(letter) == 1]
    rows, subtitle = _saved(each), "; ".join(filter(None, (placed.layer.kind, steps, *sizes)))
    columns = Column("Saved", key=True), Column("What it is"), Column("Arithmetic"), Column("Numbers", right=True)
    saved = Sheet(columns, rows[:-1], rows[-1]) if rows else Sheet((), ())
    yield saved.replace(title=placed.name, subtitle=subtitle, equations=equations(each.derivation), notes=notes)
    if each.gradients:
        title, work = f"{placed.name}: backward pass", plural(each.multiply_adds or 0, "multiply-add")
        yield Sheet((), (), title=title, subtitle=work, equations=gradients(each), notes=(*_on_gradients(each),))


def gradients(each: TrainingDerivation) -> tuple[Line, ...]:
    """Return the backward equations of a layer, without shapes, behind those of the matrices that have blocks."""
    derived = each.derivation
    lines = (line_of(equation, derived.placed.sizes, derived.notation) for equation in each.gradients)
    return (*_blocks(each), *(without_shapes(in_layers(derived, line)) for line in lines))


def _blocks(each: TrainingDerivation) -> Iterator[Line]:
    """Yield how the matrices lie in each that the notation makes of several: `W_z = [W_hz, W_xz]`, `[W_hz; W_xz]`."""
    derived = each.derivation
    for array, blocks in derived.named.arrays.items() if derived.named and each.gradients else ():
        if len(blocks[0]) > 1:
            rows = zip(*blocks, strict=True) if derived.notation.rows else blocks
            signs: list[Piece] = []
            for row in rows:
                for block in row:
                    signs += [*vector(block, derived.placed.sizes), Sign.COMMA]
                signs[-1] = Sign.SEMICOLON
            yield (*vector(array, {}), Sign.EQUALS, Sign.OPEN_STACK, *signs[:-1], Sign.CLOSE_STACK)


def _notes(each: TrainingDerivation) -> Iterator[str | Phrase]:
    layer = each.derivation.placed.layer
    if isinstance(layer, External):
        yield "What it saves is not known: it is counted elsewhere."
    elif layer.frozen:
        yield "Frozen: it saves what gradients through it need, and has none of its own."
    elif not each.saved:
        yield "Nothing is saved, and the backward pass multiplies nothing."
    elif isinstance(layer, Cell) and layer.directions > 1:
        yield "The numbers are those of both directions, twice the steps of one; x, which both read, is saved once."


def _on_gradients(each: TrainingDerivation) -> Iterator[str | Phrase]:
    """Yield remarks on the letters and functions of backward equations, and on a second direction."""
    layer = each.derivation.placed.layer
    yield from on_parts(each.derivation)
    if isinstance(layer, Transform) and layer.time.whole:
        several = layer.values().get("heads")
        heads = ", and the gradient for a head i is a part of that for all heads" if several else ""
        yield f"Sums are over the steps that read each other{heads}."
        yield from _on_joined(each)
        if isinstance(layer, DecoderAttention) and each.gradients:
            yield from _on_decoder(layer)
    elif slides(layer) and each.gradients:
        yield "Before the first step and after the last, inputs are 0, and so are gradients of outputs."
    yield from on_functions(gradients(each))
    if isinstance(layer, Cell) and layer.directions > 1 and each.gradients:
        yield "Each direction has these equations, step t+1 being the next that it reads; the gradient of x is the sum."


def _on_joined(each: TrainingDerivation) -> Iterator[Phrase]:
    """Yield the parts of a matrix that reads several vectors, joined."""
    named, sizes = each.derivation.named, each.derivation.placed.sizes
    nodes = named.trace.nodes if named and each.gradients else ()
    for node in nodes:
        if named and node.operation == "matrix" and nodes[node.operands[1]].operation == "join":
            matrix, *reads = map(named.formula, (node.operands[0], *nodes[node.operands[1]].operands))
            parts = [vector(part_of(matrix, read, number), sizes) for number, read in enumerate(reads)]
            of_reads = enumeration([vector(read, sizes) for read in reads])
            yield Phrase((*enumeration(parts), " are the parts of ", vector(matrix, sizes), " for ", *of_reads, "."))


def _on_decoder(layer: DecoderAttention) -> Iterator[Phrase]:
    """Yield where the gradient of a context comes from, and where those of queries and keys go."""
    before, (query, keys) = layer.query == "before", layer.vectors
    context, x = Term("y" if layer.heads else "c", time="t"), Term("x", time="t" if before else "t+1")
    of_x = ((Derivative(LOSS, x),), " of the decoder's first recurrent layer"), layer.joins[0]
    of_output = (f"the gradient of the vector that the layer after its {layer.layer} one reads",), layer.joins[1]
    if layer.score == "location":
        past = [(Term(letter),) for letter in layer.pasts]
        zero = (*enumeration(past), " is" if len(past) < 2 else " are", " 0, and so are gradients.")
        yield Phrase(("Before the first step and beyond the ends of the encoder's output, ", *zero))
        if len(past) > 1:
            columns = ((Term("F", "n,1"),), " and ", (Term("F", "n,2"),), " are the columns of ", (Term("F", "n"),))
            yield Phrase((*columns, " for ", *enumeration(past), "."))
    reads = [words for words, joins in (of_x, of_output) if joins]
    both = (*reads[0], *(part for words in reads[1:] for part in (" and of ", *words)))
    yield Phrase(((Derivative(LOSS, context),), " is the part of the context in ", *both, "."))
    of_query, of_keys = Derivative(LOSS, Term(query, time="t")), Derivative(LOSS, Term(keys, time="s"))
    above = Term(ABOVE, time="t−1" if before else "t")
    last = (of_query,), " is part of ", (above,), f" of the decoder's {layer.layer} recurrent layer, and "
    yield Phrase((*last, (of_keys,), " of ", (Term(ABOVE, time="s"),), " of the encoder."))
