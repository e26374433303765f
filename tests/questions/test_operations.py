"""The operations of a forward pass: those of each step, times the steps, the directions and the batch."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from strategies import Spec, network, network_of

from rnncalc import (
    GRU,
    LSTM,
    MGU,
    RNN,
    SRU,
    Cell,
    Dense,
    External,
    Flatten,
    MinGRU,
    MultiHeadAttention,
    Network,
    letter,
)
from rnncalc.errors import SpecError
from rnncalc.forward.arrays import Floats, Meter
from rnncalc.forward.network_pass import Pass
from rnncalc.layers.cell import Merge
from rnncalc.network.stack import Placed
from rnncalc.questions.operations import pass_operations
from rnncalc.step.costs import OperationCounts
from rnncalc.step.operations import Operation

M, H, N, T = 5, 3, 2, 7


@pytest.mark.parametrize(("merge", "each"), [("concat", 0), ("sum", 1), ("mul", 1), ("ave", 2)])
@pytest.mark.parametrize(("topology", "merged"), [("many-to-many", T), ("many-to-one", 1)])
def test_two_directions_and_their_merge(merge: Merge, each: int, topology: str, merged: int) -> None:
    """Joined at every step, or at the end alone; a mean is a sum and a division."""
    net = Network(input=M, layers=[LSTM(H, bidirectional=True, merge=merge)], steps=T, topology=topology)  # type: ignore[arg-type]  # a word of the table above
    (counts,) = pass_operations(net).layers
    assert counts == OperationCounts(
        2 * T * 4 * H * (M + H), 2 * T * 4 * H, 2 * T * 4 * H + each * merged * H, 2 * T * 5 * H
    )


def test_what_is_not_known() -> None:
    """A layer whose steps nobody says, a part that is counted elsewhere, and a sum with either of them."""
    operations = pass_operations(Network(input=M, layers=[RNN(H)], output=N))
    assert (operations.layers[0], operations.total) == (None, None)
    assert operations.layers[1] is not None
    assert pass_operations(Network(input=M, layers=[External(9), Dense(N)], steps=T)).layers[0] is None


def test_steps_in_letters() -> None:
    """Four 1 × 1 matrices at each of T steps, a score and a product for each of T² pairs; flattening is free."""
    steps: Any = letter("T")
    attention, flatten = pass_operations(Network(1, [MultiHeadAttention(1), Flatten()], steps=steps)).layers
    assert attention == OperationCounts(4 * steps + 2 * steps * steps, 4 * steps, steps * steps, steps * steps)
    assert flatten == OperationCounts(0, 0, 0, 0)


@given(network())
def test_multiply_adds_are_those_of_the_count(of: Spec) -> None:
    """Of every layer, under every convention; a batch multiplies each number."""
    net = network_of(of)
    one, three = pass_operations(net), pass_operations(net, batch=3)
    for placed, counts, more in zip(net.stack, one.layers, three.layers, strict=True):
        assert (counts and counts.multiply_adds) == placed.multiply_adds or counts is None
        assert more == (counts and OperationCounts(*(3 * number for number in counts)))


class Counted(float):
    """A number that counts the sums, products and quotients that it takes part in."""

    done = 0


def _counting(name: str) -> Callable[[float, float], Counted]:
    of = getattr(float, name)

    def operation(self: float, other: float) -> Counted:
        Counted.done += 1
        return Counted(of(float(self), float(other)))

    return operation


for name in ("add", "sub", "mul", "truediv"):
    for form in (f"__{name}__", f"__r{name}__"):
        setattr(Counted, form, _counting(form))


class CountingFloats(Floats):
    """Vectors of one layer in a pass that counts what is done to them."""

    def __init__(self, meter: Meter, done: dict[str, int]) -> None:
        super().__init__(meter)
        self.done = done
        self.kept: list[Any] = []  # so that no identity is used twice
        self.biases: set[int] = set()
        self.sums: set[int] = set()  # matrix products, and their sums with one another and with biases
        self.product = self._kept(meter.product, self.sums)
        self.weight = self._kept(meter.vector, self.biases)

    def _kept(self, make: Callable[..., list[float]], among: set[int]) -> Callable[..., list[float]]:
        def keep(*operands: Any) -> list[float]:
            made = [*make(*operands)]
            self.kept.append(made)
            among.add(id(made))
            return made

        return keep

    def operation(self, row: Operation) -> Callable[..., list[float]]:
        def apply(*operands: list[float]) -> list[float]:
            biases = sum(id(each) in self.biases for each in operands)
            of_sums = all(id(each) in self.sums | self.biases for each in operands)
            if row.name == "plus" and of_sums:
                self.done["bias_additions"] += biases * len(operands[0])
                return self._kept(row.forward, self.sums)(*operands)
            if row.name == "plus" and biases:
                self.done["bias_additions"] += len(operands[0])
                return self._kept(row.forward, set())(*operands)
            Counted.done = 0
            made = row.forward(*([Counted(number) for number in vector] for vector in operands))
            if row.activations:
                self.done["activations"] += row.activations * len(made)
            else:
                self.done["elementwise"] += Counted.done
            return self._kept(lambda: [float(number) for number in made], set())()

        return apply


CELLS = [RNN, GRU, LSTM, MGU, SRU, MinGRU]


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize(
    "options", [{}, {"bias": False}, {"bidirectional": True, "merge": "sum"}, {"bidirectional": True, "merge": "ave"}]
)
@pytest.mark.parametrize("convention", ["textbook", "pytorch", "keras"])
def test_other_operations_are_those_of_a_pass(kind: type[Cell], options: dict[str, Any], convention: str) -> None:
    """Each sum, product and quotient of a pass is counted during the pass; the rest by its calls."""
    try:
        net = Network(input=M, layers=[kind(H, **options), Dense(N, activation="relu")], steps=T, convention=convention)
    except SpecError:
        return  # this convention has no such cell
    counted = pass_operations(net)
    done: dict[str, dict[str, int]] = {}

    def vectors(placed: Placed, meter: Meter) -> CountingFloats:
        tally = done.setdefault(placed.name, {"bias_additions": 0, "elementwise": 0, "activations": 0})
        return CountingFloats(meter, tally)

    ran = [*Pass(net, vectors).run()]
    for layer, counts in zip(ran, counted.layers, strict=True):
        assert counts is not None
        assert layer.multiplications == counts.multiply_adds
        assert done[layer.placed.name] == {key: getattr(counts, key) for key in done[layer.placed.name]}
