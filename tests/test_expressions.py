"""The grammar of mathematics: sympy expands the same formulas, and every verdict is the same."""

from typing import Any

import pytest
from fuzz.answers import Asked, Chance, Expression, Over, Plus, Term, Times, network, rewritten, spelt

from rnncalc.answers.judgement import Judgement
from rnncalc.answers.reading import GivenNumber, read_answer
from rnncalc.letters import has_letters

sympy: Any = pytest.importorskip("sympy")


def expanded(expression: Expression) -> Any:
    """Return an expression as a sum of products, by sympy."""

    def symbolic(expression: Expression) -> Any:
        match expression:
            case Term(factor, letters):
                return sympy.Integer(factor) * sympy.prod(map(sympy.Symbol, letters))
            case Times(factors):
                return sympy.prod(map(symbolic, factors))
            case Plus(terms):
                return sum(sign * symbolic(each) for sign, each in terms)
            case Over(above, below):
                return symbolic(above) / below

    return sympy.expand(symbolic(expression))


def mistaken(chance: Chance, expression: Expression) -> Expression:
    """Return an expression with one change, which may leave its value as it is."""
    match expression:
        case Term(factor, letters):
            changes = [Term(factor + 1, letters), Term(factor, letters[1:]), Term(factor, (*letters, "m"))]
            return chance.choice(changes)
        case Times(parts):
            place = chance.randrange(len(parts))
            return Times((*parts[:place], mistaken(chance, parts[place]), *parts[place + 1 :]))
        case Plus(terms):
            place = chance.randrange(len(terms))
            sign, changed = terms[place]
            new = [(-sign, changed)] if place and chance.random() < 0.3 else [(sign, mistaken(chance, changed))]
            return Plus((*terms[:place], *(new if not place or chance.random() < 0.8 else []), *terms[place + 1 :]))
        case Over():
            return expression  # a quotient must be whole


def value_of(asked: Asked, text: str) -> Any:
    """Return the value that rnncalc reads in a text, in the terms of sympy."""
    answer = read_answer(text, sizes=asked.grader.sizes)
    assert isinstance(answer, GivenNumber), text
    if not has_letters(answer.number):
        return sympy.Integer(answer.number)
    return sum(factor * sympy.prod(map(sympy.Symbol, letters)) for letters, factor in answer.number.terms.items())


SLOW = [range(20, 1_000), range(1_000, 2_000)]  # side by side on two cores


@pytest.mark.parametrize("seeds", [range(20), *(pytest.param(seeds, marks=pytest.mark.slow) for seeds in SLOW)])
def test_sympy_gives_the_same_verdicts(seeds: range) -> None:
    """Random formulas, right and with a mistake, in random writings: the value and the verdict are those of sympy."""
    verdicts = {True: 0, False: 0}
    for seed in seeds:
        chance = Chance(seed)
        chance.group = seed // 200  # ten networks each
        asked = network(chance, in_letters=True)
        expression = asked.formula
        for _ in range(chance.randint(1, 3)):
            expression = rewritten(chance, expression)
        if chance.random() < 0.5:
            expression = mistaken(chance, expression)
        text = spelt(chance, expression, None)
        expected = expanded(expression)
        if not expected or min(expected.as_coefficients_dict().values()) < 0:
            continue  # less than 0 for some sizes, which is refused
        assert sympy.expand(value_of(asked, text) - expected) == 0, text
        right = expected == expanded(asked.formula)
        judged = Judgement(None, read_answer(text, sizes=asked.grader.sizes), asked.grader.network.params)
        assert judged.right == right, text  # no mistake is looked for, which would take most of the time
        verdicts[right] += 1
    assert min(verdicts.values()) > len(seeds) // 5
