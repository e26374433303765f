"""`count`: the parameters layer by layer, the cost of a pass and the bytes of the weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.conventions.formula import Expression, folded_sum, plain
from rnncalc.conventions.tensor import BIASES, Role
from rnncalc.display import displayed
from rnncalc.layers.cell import Cell
from rnncalc.layers.options import DTYPES
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions import described_of, word
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.network.model import Described
    from rnncalc.questions.dense import DenseEquivalent


@displayed("rnncalc.reports.count:CountReport")
class Count(Frozen):
    """The counts of a network, or of a model of several: sums over the layers.

    params, trainable: parameters, and how many of them are trained.
    bytes: the bytes of the parameters, in the `dtype`, one of DTYPES, where a layer has none of its own.
    A property is computed at every access.
    """

    network: Described
    dtype: str
    params: int
    trainable: int
    bytes: int

    @property
    def layers(self) -> tuple[Placed, ...]:
        """The placed layers with their counts, the output layer last; tensors are spelled as they are shown."""
        return self.network.spelled

    @property
    def roles(self) -> Mapping[str, int]:
        """The parameters by the role of their tensors, biases of both sides together."""
        roles: dict[str, int] = {}
        for placed in self.network.stack:
            for tensor in placed.tensors:
                role = (Role.BIAS if tensor.role in BIASES else tensor.role).value
                roles[role] = roles.get(role, 0) + tensor.params
        return roles

    @property
    def multiply_adds(self) -> int | None:
        """Multiplications in the matrix products of one pass over one sequence; None if unknown."""
        return total(placed.multiply_adds for placed in self.network.stack)

    @property
    def multiply_adds_per_step(self) -> int | None:
        """The same of applying each layer once."""
        return total(placed.multiply_adds_per_step for placed in self.network.stack)

    @property
    def in_letters(self) -> Expression | None:
        """The formula of the parameters, layer by layer, if there are letters in it: `4h(m + h + 1) + p(h + 1)`."""
        if not has_letters(self.params):
            return None
        return folded_sum([layer.params if layer.in_letters is None else layer.in_letters for layer in self.layers])

    @property
    def params_formula(self) -> str | None:
        """The formula of the parameters with explicit signs: `4*h*(m + h + 1) + p*(h + 1)`."""
        return None if self.in_letters is None else plain(self.in_letters)

    @property
    def dense(self) -> DenseEquivalent | None:
        """The dense equivalent; None if the number of steps is not known, or sizes are letters."""
        if not steps_known(self.network.parts):
            return None
        from rnncalc.questions.dense import dense_equivalent  # imported only for a count with steps

        return dense_equivalent(self.network)


def count(network: Described, dtype: str = "float32") -> Count:
    """Return the counts of a network or a model, with bytes for parameters of a `dtype`, one of DTYPES.

    If all layers have one dtype of their own, that is the dtype of the counts.
    Raises CallError for an unknown dtype, and for an argument that is not a network.
    """
    network = described_of(network)
    bytes_of(dtype)
    dtypes = {placed.layer.dtype for placed in network.stack if placed.params}
    dtype = dtypes.pop() or dtype if len(dtypes) == 1 else dtype
    return Count(
        network=network,
        dtype=dtype,
        params=network.params,
        trainable=network.trainable,
        bytes=sum(placed.bytes_in(dtype) for placed in network.stack),
    )


class Condition(NamedTuple):
    """Of a cell in letters: two sizes, the first one in letters, and its parameters if they are equal."""

    size: Any
    other: Any
    params: Any


def condition_of(placed: Placed) -> Condition | None:
    """Return the sizes whose equality gives a layer in letters other gates; None if its formula always holds."""
    layer, inputs = placed.layer, placed.inputs
    width = layer.other_gates_at if isinstance(layer, Cell) else None
    if width is None or inputs > width or inputs < width or inputs == width:  # a comparison of letters may be neither
        return None
    alone = layer.replace(name=None, path=None, repeat=1, extra_inputs=0)
    *_, at_width = Network(
        input=width, layers=[alone], convention=placed.work.row.name
    ).stack  # below it are its initial states
    return Condition(*((inputs, width) if has_letters(inputs) else (width, inputs)), at_width.params)


def bytes_of(dtype: str) -> int:
    """Return the bytes of one parameter of a dtype. Raises CallError for an unknown dtype."""
    return DTYPES[word("dtype", dtype, tuple(DTYPES))]


def total(amounts: Iterable[int | None]) -> int | None:
    """Return the sum of amounts, or None if one of them is unknown."""
    whole = 0
    for amount in amounts:
        if amount is None:
            return None
        whole += amount
    return whole
