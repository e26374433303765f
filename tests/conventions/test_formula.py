"""The algebra of counts: what an expression is in letters, in numbers, and what it comes to."""

import pytest

from rnncalc import letter
from rnncalc.conventions.formula import (
    Expression,
    Plus,
    Times,
    factored,
    folded_sum,
    formula,
    letters,
    numbers,
    plain,
    substituted,
    value,
)
from rnncalc.conventions.tensor import Axis, Direction, Role, StackedAxis, Tensor
from rnncalc.records import Frozen

SIZES = {"h": 20, "m": 10, "p": 3}


@pytest.mark.parametrize(
    ("of", "said", "with_numbers", "comes_to"),
    [
        (7, "7", "7", 7),
        ("h", "h", "20", 20),
        (Axis(4, "h"), "4h", "80", 80),
        (Axis(1, "h"), "h", "20", 20),
        (Axis(1), "1", "1", 1),
        (Axis(3), "3", "3", 3),
        (Plus(()), "0", "0", 0),
        (Times(()), "1", "1", 1),
        (Plus(("m", 1)), "m + 1", "10 + 1", 11),
        (Times((4, "h")), "4h", "4 × 20", 80),
        (Times(("h", "p")), "h·p", "20 × 3", 60),
        (Times(("h", 4)), "h × 4", "20 × 4", 80),
        (Times((2, 3, "h", "m")), "2 × 3h·m", "2 × 3 × 20 × 10", 1_200),
        (Times((4, "h", Plus(("m", "h", 1)))), "4h(m + h + 1)", "4 × 20 × (10 + 20 + 1)", 2_480),
        (Times((2, Plus(("m", 1)))), "2 × (m + 1)", "2 × (10 + 1)", 22),
        (Times((Plus(("m", 1)), "h")), "(m + 1) × h", "(10 + 1) × 20", 220),
        (Times(("h", Plus(("m",)))), "hm", "20 × 10", 200),
        (Times((Axis(4, "h"), Axis(1, "m"))), "4h × m", "80 × 10", 800),
        (Plus((Times((3, "h")), Axis(2, "m"), 5)), "3h + 2m + 5", "3 × 20 + 20 + 5", 85),
    ],
)
def test_an_expression(of: Expression, said: str, with_numbers: str, comes_to: int) -> None:
    """A dot between letters, nothing between a number and a letter or before a bracket, else a cross."""
    assert (letters(of), numbers(of, SIZES), value(of, SIZES)) == (said, with_numbers, comes_to)


def test_terms_of_the_gates_alone_are_in_the_bracket() -> None:
    """Like terms are one; of a direction that is the other's copy only the factor is told."""
    axes = (Axis(1, "h"), Axis(1, "m"))
    one = [Tensor(name, Role.INPUT, Direction.FORWARD, name, axes) for name in "ab"]
    assert letters(formula(one)) == "2h·m"
    assert letters(formula([*one, *[tensor._replace(direction=Direction.BACKWARD) for tensor in one]])) == "2 × 2h·m"
    both = Tensor("B", Role.BIAS, Direction.BOTH, "ab", (Axis(2), Axis(2, "h")))
    assert letters(formula([both])) == "2 × 2h"
    others = [Tensor(name, Role.SCALAR, None, "", (Axis(1),)) for name in "cd"]
    assert letters(formula([*one, *others])) == "2h·m + 2"
    assert letters(formula([])) == "0"


def test_a_sum_is_no_product_of_the_same() -> None:
    """3 + 4 is not 3 × 4, whatever holds them."""
    plus: Expression = Plus((3, 4))
    assert plus != Times((3, 4))
    assert len({Plus((3, 4)), Times((3, 4)), Plus((3, 4))}) == 2
    assert Plus((Times((3, 4)), 1)) != Plus((Plus((3, 4)), 1))
    assert Plus((Times((3, 4)), 1)) == Plus((Times((3, 4)), 1))


H, M = letter("h"), letter("m")
OF_LETTERS = {"h": H, "m": M, "p": 2 * H + 1, "n": 5}


@pytest.mark.parametrize(
    ("of", "folded", "said"),
    [
        ("h", False, "h"),
        ("p", False, "2h + 1"),
        ("n", False, "5"),
        (Axis(4, "h"), False, "4h"),
        (Axis(4, "n"), False, "20"),
        (Axis(3), False, "3"),
        (StackedAxis(1, "h+m"), False, "h + m"),
        (StackedAxis(2, "h+n"), False, "2 × (h + 5)"),
        (Plus(("h", "h", 1, 2)), False, "h + h + 1 + 2"),
        (Plus(("h", "h", 1, 2)), True, "2h + 3"),
        (Plus(("n", 2)), False, "5 + 2"),
        (Plus(("n", 2)), True, "7"),
        (Plus(("h", Plus(("m", "n")))), True, "h + m + 5"),
        (Plus((0, "h")), True, "h"),
        (Times((2, 3, "h")), False, "2 × 3h"),
        (Times((2, 3, "h")), True, "6h"),
        (Times((2, Times((3, "h")))), True, "6h"),
        (Times((1, "h")), False, "h"),
        (Times((0, "h")), True, "0"),
        (Times((4, "h", Plus(("m", "p", 1)))), True, "4h(m + 2h + 2)"),
    ],
)
def test_letters_for_letters(of: Expression, folded: bool, said: str) -> None:
    """A sum in place of a letter joins the sum around it; folded, like terms and plain numbers are one."""
    assert letters(substituted(of, OF_LETTERS, folded=folded)) == said


def test_what_terms_have_in_common() -> None:
    """In front of a bracket; a number has nothing."""
    assert factored(12) == 12
    assert letters(factored(4 * H * M + 4 * H * H + 4 * H)) == "4h(m + h + 1)"
    assert letters(factored(3 * H)) == "3h"
    assert letters(folded_sum(["h", 2, "h", 3])) == "2h + 5"
    assert folded_sum([]) == 0


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (Times((4, "h", Plus(("m", "h", 1)))), "4*h*(m + h + 1)"),
        (Plus(("T", -2)), "T - 2"),
        (Plus((Times(("h", "m")), "h")), "h*m + h"),
        (Plus(()), "0"),
        (Times(()), "1"),
        (Times((2, Plus(("m",)))), "2*m"),
    ],
)
def test_plain_arithmetic(of: Expression, said: str) -> None:
    """As a program has it; what is taken away has its sign."""
    assert plain(of) == said


def test_a_long_sum_compares_its_terms_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not each with each other: a thousand layers with letters are one sum."""
    compared = []
    equal = Frozen.__eq__

    def counting(one: Frozen, other: object) -> bool:
        compared.append(one)
        return equal(one, other)

    monkeypatch.setattr(Frozen, "__eq__", counting)
    terms = [Times((number, "h")) for number in range(2, 1_002)]
    assert folded_sum([*terms, *terms]) == Plus(tuple(Times((2 * number, "h")) for number in range(2, 1_002)))
    assert len(compared) < 10 * len(terms)
