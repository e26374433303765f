"""Eight random examples of a property, in parts that processes can share. Knows no framework."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

EXAMPLES, PARTS = 8, 2

in_parts = pytest.mark.parametrize("part", range(PARTS))


def held_by_all(part: int, drawn: st.SearchStrategy[Any], hold: Callable[[Any], None]) -> None:
    """Hold one part of what is drawn: the same in every run, and not what the other parts draw.

    One more than its share: each part begins with the simplest example there is.
    """
    count = 0

    @seed(part)
    @settings(max_examples=EXAMPLES // PARTS + 1, deadline=None, suppress_health_check=[*HealthCheck])
    @given(drawn)
    def held(one: Any) -> None:
        nonlocal count
        count += 1
        hold(one)

    held()
    assert count > EXAMPLES // PARTS, f"only {count} were drawn"
