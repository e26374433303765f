"""Polynomials: they are added and multiplied as the numbers that their letters stand for."""

from operator import add, mul, sub

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncalc.polynomial import Number, Polynomial, letter

M, H, P = map(letter, ("m", "h_1", "p"))
LEAVES = st.one_of(st.sampled_from([M, H, P]), st.integers(-9, 9))
SIZES = st.fixed_dictionaries({name: st.integers(-50, 50) for name in ("m", "h_1", "p")})


def at(of: Number, sizes: dict[str, int]) -> Number:
    return of.at(sizes) if isinstance(of, Polynomial) else of


def combined(children: st.SearchStrategy[Number]) -> st.SearchStrategy[Number]:
    return st.tuples(st.sampled_from([add, sub, mul]), children, children).map(lambda of: of[0](of[1], of[2]))


POLYNOMIALS = st.recursive(LEAVES, combined, max_leaves=8)


@given(POLYNOMIALS, POLYNOMIALS, SIZES)
def test_its_arithmetic_is_that_of_numbers(one: Number, two: Number, sizes: dict[str, int]) -> None:
    """Whatever numbers the letters stand for."""
    left, right = at(one, sizes), at(two, sizes)
    assert at(one + two, sizes) == left + right
    assert at(one - two, sizes) == left - right
    assert at(one * two, sizes) == left * right


@given(POLYNOMIALS)
def test_what_it_has_in_common_times_the_rest_is_the_whole(of: Number) -> None:
    """Factored it is the same polynomial."""
    if isinstance(of, Polynomial):
        number, common, rest = of.factored()
        whole: Number = number * rest
        for name in common:
            whole *= letter(name)
        assert whole == of


@given(POLYNOMIALS, POLYNOMIALS)
def test_equal_polynomials_have_no_difference(one: Number, two: Number) -> None:
    """However they came to be; and they have one hash."""
    assert (one == two) == (one - two == 0)
    assert one + two == two + one
    assert hash(one + two) == hash(two + one)


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (4 * H * (M + H + 1), "4h_1·m + 4h_1² + 4h_1"),
        (1 + M, "m + 1"),
        (2 * M - 3 * P * P * P - 1, "2m − 3p³ − 1"),
        (-M, "−m"),
        (M - M + 5, "5"),
    ],
)
def test_it_is_written_as_on_paper(of: Number, text: str) -> None:
    """Powers raised, a number last."""
    assert f"{of:,}" == str(of) == text


def test_letters_are_in_no_order() -> None:
    """A comparison holds if it holds whatever the letters stand for."""
    assert M < M + 1 <= M + 1
    assert M + 1 > M >= M
    assert not M < H
    assert not M > H
    assert M >= 1 > 0 < M * H - 1 + 1
    assert not M > 1
    assert 2 * M > M < M + H


def test_a_whole_number_divides_each_coefficient() -> None:
    """As the sum of two directions halves a width."""
    assert (4 * H + 2) // 2 == 2 * H + 1
    assert divmod(3 * H, 2) == (H, H)
    assert abs(-H) == H == abs(H)
    assert (H + 1) ** 2 == H * H + 2 * H + 1
    assert 1 - H == -(H - 1)
