"""How gradients meet the layers of a stack: in which chunks, and at which steps."""

from typing import Any

import pytest
from case_files import cases
from strategies import network_of
from verified import backward

from rnncalc.questions.gradient_flow import Chunks, chunks_of


@pytest.mark.parametrize(
    ("steps", "chunk", "expected"),
    [
        (7, None, [(1, 7, True, True)]),
        (7, 9, [(1, 7, True, True)]),
        (7, 7, [(1, 7, True, True)]),
        (8, 4, [(1, 4, True, False), (1, 4, False, True)]),
        (7, 4, [(1, 4, True, False), (1, 3, False, True)]),
        (7, 3, [(1, 3, True, False), (1, 3, False, False), (1, 1, False, True)]),
        (9, 2, [(1, 2, True, False), (3, 2, False, False), (1, 1, False, True)]),
        (3, 1, [(1, 1, True, False), (1, 1, False, False), (1, 1, False, True)]),
        (1, 1, [(1, 1, True, True)]),
    ],
)
def test_the_chunks_of_a_sequence(steps: int, chunk: int | None, expected: list[tuple[int, int, bool, bool]]) -> None:
    """The first, those between, of which there are none, one or several, and what is left for the last."""
    assert [*chunks_of(steps, chunk)] == [Chunks(*each) for each in expected]


@pytest.mark.broad
@pytest.mark.parametrize("spec", cases("questions/gradient_flow.yaml"), ids=str)
def test_what_is_counted_is_what_a_backward_pass_reads_and_multiplies(spec: dict[str, Any]) -> None:
    """Of each layer: the loss reaches some steps of it, the gradient goes on below it or not."""
    assert all(layer.agrees for layer in backward(network_of(spec)).layers)
