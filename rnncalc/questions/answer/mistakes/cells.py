"""Mistakes about a cell: how many gates it has, and what they read."""

from __future__ import annotations

from functools import partial

from rnncalc.layers.cell import Cell
from rnncalc.questions.answer.arithmetic import product, total
from rnncalc.questions.answer.changes import gates
from rnncalc.questions.answer.changes.gates import not_reading, with_gates
from rnncalc.questions.answer.changes.lines import in_layers, with_other
from rnncalc.questions.answer.families import gate_numbers, gates_left_out, matrices_alone
from rnncalc.questions.answer.mistake import Family, Mistake, Row

OF_THE_CELL: tuple[Row, ...] = (
    Mistake(
        "recurrence-counted",
        "counts recurrent matrices, and no gate of this cell looks at the past",
        in_layers(gates.recurrence_counted, Cell),
    ),
)
"""Mistakes that only a cell without a past in its gates invites: nothing else is as likely there."""

CELLS: tuple[Row, ...] = (
    Mistake("gates-1", "counts the cell as a plain RNN, with 1 gate", in_layers(partial(with_gates, 1), Cell)),
    Mistake("gates-2", "counts the cell as an MGU, with 2 gates", in_layers(partial(with_gates, 2), Cell)),
    Mistake("gates-3", "counts the cell as a GRU, with 3 gates", in_layers(partial(with_gates, 3), Cell)),
    Mistake("gates-4", "counts the cell as an LSTM, with 4 gates", in_layers(partial(with_gates, 4), Cell)),
    Family("other-gates-{count}", "counts {count} gates instead of {gates}", gate_numbers),
    Family("no-gate", "leaves out the {gate}", gates_left_out),
    Mistake("as-dense", "treats a recurrent layer as a dense one, h(m + 1)", in_layers(gates.as_dense, Cell)),
    Mistake("no-recurrent", "forgets the recurrent matrices", in_layers(not_reading("past"), Cell)),
    Mistake("no-input", "forgets the input matrices", in_layers(not_reading("input"), Cell)),
    Family("only-{matrices}", "counts {which}", matrices_alone),
    Mistake(
        "diagonal",
        "counts one recurrent weight a unit instead of a matrix",
        in_layers(gates.diagonal, Cell),
        rare=True,
    ),
    Mistake(
        "shared-twice",
        "counts the matrices that the gates share once for each of them",
        in_layers(gates.not_shared, Cell),
    ),
    Mistake(
        "output-in-cell",
        "adds an output matrix h × h inside the cell",
        in_layers(with_other("output", lambda line: product(line.h, line.h)), Cell),
    ),
    Mistake(
        "output-and-bias-in-cell",
        "adds an output matrix h × h and a bias inside the cell",
        in_layers(with_other("output", lambda line: total((product(line.h, line.h), line.h))), Cell),
    ),
    Mistake(
        "matrices-of-one-gate",
        "counts the matrices of one gate, and the biases of all",
        in_layers(gates.by_one_gate("input", "past"), Cell),
        rare=True,
    ),
    Mistake(
        "input-of-one-gate",
        "counts one input matrix for all gates",
        in_layers(gates.by_one_gate("input"), Cell),
        rare=True,
    ),
    Mistake(
        "recurrent-of-one-gate",
        "counts one recurrent matrix for all gates",
        in_layers(gates.by_one_gate("past"), Cell),
        rare=True,
    ),
    Mistake(
        "cell-state-in-gates",
        "lets the gates read the cell state too, as they read h",
        in_layers(gates.past_of_all_states, Cell),
        rare=True,
    ),
    Mistake(
        "square",
        "gives the gates (m + h) × (m + h) weights instead of h × (m + h)",
        in_layers(gates.square, Cell),
        rare=True,
    ),
    Mistake(
        "recurrent-of-output",
        "lets the recurrence read the output instead of the state",
        gates.past_of_output,
        rare=True,
    ),
    Mistake(
        "peepholes-counted",
        "adds peepholes, and the cell has none",
        in_layers(gates.peepholes_counted, Cell),
        rare=True,
    ),
    Mistake(
        "full-peepholes",
        "counts h × h weights for each peephole instead of h",
        in_layers(gates.full_peepholes, Cell),
        rare=True,
    ),
    Mistake(
        "peephole-in-each-gate",
        "counts a peephole in the candidate too",
        in_layers(gates.peephole_in_each_gate, Cell),
        rare=True,
    ),
)
