"""What a tensor is, and how a convention's templates become tensors. Knows shapes and names, not what a layer is."""

from collections.abc import Iterable, Mapping
from math import prod
from types import MappingProxyType
from typing import NamedTuple

Axis = tuple[int, str]
"""A coefficient and a letter: `(4, "h")` is an axis of 4h. The letter is empty for a bare number."""

ROLES = (
    "input",
    "recurrent",
    "bias",
    "recurrent_bias",
    "projection",
    "peephole",
    "state",
    "kernel",
    "embedding",
    "scale",
    "shift",
    "mean",
    "variance",
    "external",
)


class Tensor(NamedTuple):
    """One array of parameters.

    role: what it is for, one of ROLES.
    direction: forward, backward or both in a recurrent layer, else None.
    gates: the letters of the gates it holds, in the order they lie in it.
    axes: its shape in letters; shape: the same in numbers, empty until it is `sized`.
    """

    name: str
    role: str
    direction: str | None
    gates: str
    axes: tuple[Axis, ...]
    shape: tuple[int, ...] = ()

    @property
    def params(self) -> int:
        """The number of its parameters: the product of its shape."""
        return prod(self.shape)

    @property
    def is_product(self) -> bool:
        """Whether each parameter takes part in one multiplication of a matrix product at each use."""
        return self.role in ("input", "recurrent", "projection", "kernel") and len(self.axes) > 1

    def sized(self, words: Mapping[str, int]) -> "Tensor":
        """Return the tensor with numbers for its letters."""
        name, role, direction, gates, axes, _ = self
        return Tensor(name, role, direction, gates, axes, tuple(self.sizes(words)))

    def sizes(self, words: Mapping[str, int]) -> list[int]:
        """Return its shape with numbers for the letters."""
        return [times * words[letter] if letter else times for times, letter in self.axes]


def tensor(
    template: str,
    role: str,
    *,
    gates: str = "",
    direction: str | None = None,
    directions: int = 1,
    mark: str = "",
    renamed: Mapping[str, str] = MappingProxyType({}),
    **names: str,
) -> Tensor:
    """Return the tensor that a template names, not yet sized.

    A template is a name and its axes, `W: D Gh m`. In an axis G stands for the number of `gates`, D for the number
    of `directions`, a number for itself and a letter for a width. `{...}` in the name is filled from `names`; the
    `mark` of the direction stands where it says `{d}`, or else before it. `renamed` is for its parts between /.
    """
    name, _, words = template.partition(":")
    counts = {"": 1, "G": len(gates), "D": directions}
    axes = []
    for word in words.split():
        rest = word.lstrip("0123456789")
        count = rest[:1] if rest[:1] in ("G", "D") else ""
        axes.append((int(word.removesuffix(rest) or 1) * counts[count], rest.removeprefix(count)))
    name = name.format(d=mark, **names) if "{d}" in name else mark + name.format(**names)
    name = "/".join(renamed.get(part, part) for part in name.split("/"))
    return Tensor(name, role, direction, gates, tuple(axes))


class Polynomial(NamedTuple):
    """A sum of products of letters with whole-number coefficients: how many parameters tensors have, for any widths."""

    terms: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, tensors: Iterable[Tensor]) -> "Polynomial":
        """Return the sum of the products of the tensors' axes."""
        terms: dict[str, int] = {}
        for tensor in tensors:
            letters = "".join(sorted(letter for _, letter in tensor.axes))
            terms[letters] = terms.get(letters, 0) + prod(times for times, _ in tensor.axes)
        return cls(tuple((number, letters) for letters, number in terms.items()))

    def at(self, words: Mapping[str, int]) -> int:
        """Return its value with numbers for the letters."""
        return sum(number * prod([words[letter] for letter in letters]) for number, letters in self.terms)
