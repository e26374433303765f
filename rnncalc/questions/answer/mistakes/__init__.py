"""The mistakes that learners make when they count: a table, one row each, the likeliest first.

A row says what the mistake is called, in a sentence for the learner, and what it makes of a worksheet. Where one number
has several explanations, the order of the rows is that in which they are told: first what the subject is about, last
what is rare.
"""

from __future__ import annotations

from rnncalc.questions.answer.families import output_widths
from rnncalc.questions.answer.mistake import Family, Row
from rnncalc.questions.answer.mistakes.biases import BIASES
from rnncalc.questions.answer.mistakes.cells import CELLS, OF_THE_CELL
from rnncalc.questions.answer.mistakes.options import OPTIONS
from rnncalc.questions.answer.mistakes.parts import PARTS
from rnncalc.questions.answer.mistakes.sharing import SHARING
from rnncalc.questions.answer.mistakes.widths import WIDTHS

_OTHERS: tuple[Row, ...] = (*BIASES, *PARTS, *CELLS, *WIDTHS)

TABLE: tuple[Row, ...] = (
    *OF_THE_CELL,
    *OPTIONS,
    *SHARING,
    *sorted(_OTHERS, key=lambda row: row.rare),
    Family(
        "output-width",
        "gives the output layer {width} units, and it has {units}",
        output_widths,
        fitted=True,
        weak=True,
    ),
)
