"""Where the operations of a pass come from: equation by equation, they are those of `count --operations`."""

from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc.conventions.formula import numbers
from rnncalc.questions.operations import explain_operations, pass_operations
from rnncalc.step.costs import OperationCounts


@given(spec=st.one_of(network(), encoder_decoder()), batch=st.integers(1, 3))
def test_the_lines_come_to_the_counts(spec: Spec, batch: int) -> None:
    """Of every layer; each line of arithmetic is true, and every operation has an equation."""
    net = network_of(spec)
    counted = pass_operations(net, batch)
    for each, counts in zip(explain_operations(counted), counted.layers, strict=True):
        for line in (*each.step, *each.sequence):
            text = numbers(line.expression, each.derivation.placed.sizes).replace("×", "*")
            assert eval(text) == line.number
            assert all(left.letter for left in line.lefts)
        assert each.counts == counts
        if counts is None:
            assert each.sequence == ()
            continue
        of_kind = {line.kind: line for line in each.sequence}
        for kind in (*OperationCounts._fields, "flops"):
            assert getattr(counts, kind) == (of_kind[kind].number if kind in of_kind else 0)
