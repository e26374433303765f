"""The formula of a layer's count, read off its tensors, in letters and with the numbers in.

Knows tensors only: a declaration that changes changes the formula with it.
"""

from collections.abc import Iterable, Mapping
from math import gcd
from typing import NamedTuple

from rnncalc.conventions.tensor import Tensor

_GATE_TERMS = {"input": "input", "recurrent": "recurrent", "bias": "bias", "recurrent_bias": "bias", "kernel": "kernel"}
"""The roles whose terms stand in one bracket, `h(m + h + 1)`; the two kinds of bias are one term there."""


class Term(NamedTuple):
    """A product: a whole number times letters."""

    number: int
    letters: str

    def write(self, words: Mapping[str, int] | None) -> str:
        """Return `4h·m`, or with numbers for the letters `4 × 512 × 10`."""
        if words is None:
            return (str(self.number) if self.number != 1 or not self.letters else "") + "·".join(self.letters)
        factors = [str(words[letter]) for letter in self.letters]
        return " × ".join([str(self.number), *factors] if self.number != 1 or not factors else factors)


class Formula(NamedTuple):
    """A formula: `front` times the sum `inside` a bracket, plus `others`; two directions double it all."""

    front: Term
    inside: tuple[Term, ...]
    others: tuple[Term, ...]
    doubled: bool

    @classmethod
    def of(cls, tensors: Iterable[Tensor]) -> "Formula":
        """Return the formula of the tensors' count."""
        terms: dict[str, Term] = {}
        doubled = False
        for tensor in tensors:
            if tensor.direction == "backward":
                doubled = True
                continue
            term = _term(tensor)
            if tensor.direction == "both":  # an axis of 2 in front
                doubled = True
                term = Term(term.number // 2, term.letters)
            key = _GATE_TERMS.get(tensor.role) or f"{tensor.role} {term.letters}"
            terms[key] = Term(term.number + terms[key].number, term.letters) if key in terms else term
        gates = [term for key, term in terms.items() if key in _GATE_TERMS]
        others = [term for key, term in terms.items() if key not in _GATE_TERMS]
        if len(gates) < 2:
            return cls(Term(1, ""), (), (*gates, *others), doubled)
        number = gcd(*(term.number for term in gates))  # all gates' terms begin with the same letter, h or n
        inside = tuple(Term(term.number // number, term.letters[1:]) for term in gates)
        return cls(Term(number, gates[0].letters[:1]), inside, tuple(others), doubled)

    def write(self, words: Mapping[str, int] | None = None) -> str:
        """Return `4h(m + h + 1)`, or with numbers for the letters `4 × 3 × (2 + 3 + 1)`."""
        parts = [term.write(words) for term in self.others]
        if self.inside:
            inside = " + ".join([term.write(words) for term in self.inside])
            parts.insert(0, f"{self.front.write(words)}{'' if words is None else ' × '}({inside})")
        text = " + ".join(parts) or "0"
        if not self.doubled:
            return text
        return f"2 × ({text})" if len(parts) > 1 else f"2 × {text}"


def _term(tensor: Tensor) -> Term:
    number = 1
    for times, _ in tensor.axes:
        number *= times
    return Term(number, "".join(sorted((letter for _, letter in tensor.axes), key=lambda letter: letter not in "hn")))
