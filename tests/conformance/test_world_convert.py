"""Every pair of frameworks and every kind of cell, as test_convert.py has some of them."""

import pytest
from conformance.test_convert import CELLS, PAIRS, same

from rnncalc import Layer

pytestmark = pytest.mark.world


@pytest.mark.parametrize("layer", CELLS)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_other_framework_gives_what_the_first_does(one: str, other: str, layer: Layer) -> None:
    """Its own call loads the converted arrays."""
    same(one, other, layer)
