"""Answers in letters: judged as polynomials, whatever their form, and diagnosed by the same mistakes as numbers."""

from typing import Any

import pytest
from cells import CELLS
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import CallError, Network, answer
from rnncalc.answers.reading import GivenNumber, GivenShape, read_answer
from rnncalc.answers.search import Search
from rnncalc.answers.table import TABLE
from rnncalc.polynomial import Polynomial, letter
from rnncalc.spec import parse


def network(text: str) -> Network:
    return parse(text.encode(), "spec").network


def number(text: str) -> Any:
    found = read_answer(text)
    assert isinstance(found, GivenNumber)
    return found.number


LSTM = network("input: m\nlayers: [lstm: h]\noutput: p\nsteps: T")


def test_what_was_a_number_or_a_shape_still_is() -> None:
    """A suffix is no letter; a letter with a number behind it has a subscript."""
    assert read_answer("4k") == GivenNumber(4000, 1000, "4k")
    assert read_answer("(20, 10)") == GivenShape((20, 10))
    assert number("4*16*(8+16+1)") == number("4x16(8+16+1)") == 1600
    assert number("h1 + h₁ + h_{1}") == 3 * letter("h_1")
    with pytest.raises(CallError):
        read_answer("gru")


def totals(of: Network) -> dict[str, list[Any]]:
    """Return the count that each mistake gives, by its id; those that are fitted to an answer left out."""
    search = Search(of)
    return {row.id: [sum(counts) for _, counts in search.variants(row)] for row in TABLE if not row.fitted}


@given(st.sampled_from(CELLS), st.booleans(), st.booleans())
def test_each_mistake_makes_of_letters_what_it_makes_of_numbers(kind: str, both: bool, output: bool) -> None:
    """The table is one: its polynomials at any sizes are its numbers."""
    sizes = {"m": 1_009, "h": 503, "p": 251, "T": 7}
    text = f"input: %s\nlayers: [{{{kind}: %s, bidirectional: {str(both).lower()}}}]\n"
    text += "output: %s\nsteps: %s" if output else "# %s\nsteps: %s"
    in_letters, in_numbers = totals(network(text % tuple(sizes))), totals(network(text % tuple(sizes.values())))
    at = {
        name: [total.at(sizes) if isinstance(total, Polynomial) else total for total in found]
        for name, found in in_letters.items()
        if name != "letters-{one}-{other}"  # numbers have no letters to exchange
    }
    del in_numbers["letters-{one}-{other}"]
    assert at == in_numbers


NAMED = [
    ("{h: 16}", "h", "lstm: h/2", "2h(h + h/2 + 1)"),  # by hand: 4 blocks of h/2 units
    ("{h: 16}", "h/2", "gru: h", r"3h(\frac{h}{2} + h + 1)"),
    ("{h: 16, E: 2*h}", "h", "rnn: E", "2h(h + 2h + 1)"),
    ("{h: 16, E: h/2 + 1}", "E", "mgu: 3*h/4", "3h/2(h/2 + 1 + 3h/4 + 1)"),
    ("{α: 6, λ_1: 2*α}", "α", "gru: λ_1", r"6\alpha(\alpha + \lambda_{1} + 1)"),
]


@pytest.mark.broad
@pytest.mark.parametrize(("sizes", "inputs", "layer", "by_hand"), NAMED)
def test_formulas_in_named_sizes_are_read_as_they_are_printed(
    sizes: str, inputs: str, layer: str, by_hand: str
) -> None:
    """And in any other form, with fractions where a size is one."""
    of = network(f"sizes: {sizes}\ninput: {inputs}\nlayers: [{{{layer}}}]")
    (placed,) = of.stack
    assert answer(of, placed.formula).right
    assert answer(of, by_hand).right
    assert not answer(of, f"{by_hand} + h" if "h" in sizes else f"{by_hand} + α").right


def test_a_fraction_of_letters_is_refused_where_no_size_can_be_one() -> None:
    """In letters alone, and where the number is not whole."""
    with pytest.raises(CallError, match="a quotient that is whole at character 6"):
        answer(LSTM, "4h(m/2 + h + 1)")
    of = network("sizes: {h: 16}\ninput: h\nlayers: [lstm: h/2]")
    with pytest.raises(CallError, match="a quotient that is whole at character 6"):
        answer(network("sizes: {h: 16}\ninput: 3\nlayers: [lstm: h]"), "4h(h/3 + 1)")
    assert answer(of, "h/3").right is False  # h is 16, and 8 in the layer
