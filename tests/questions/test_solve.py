"""`solve`: against brute force on small sizes, against its own count at both sides on large ones."""

import random
from functools import cache
from pathlib import Path
from typing import Any

import by_hand
import pytest
import strategies
import yaml
from cells import CELLS
from conftest import Call, report_of
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import GRU, LSTM, RNN, SRU, Dense, External, Layer, Network, Output, Problem, RefusedError, SpecError
from rnncalc.questions.solve import Solution, TriedSizes, pieces, solve
from rnncalc.spec import Spec, spec_in_file

KINDS = (RNN, GRU, LSTM, Dense)


def two_layers(kinds: tuple[type, type], size: int) -> Network:
    layers: tuple[Layer, ...] = (kinds[0](size), kinds[1](size))
    return Network(input=3, layers=layers, output=Output(2))


@cache
def counted_by_hand(kinds: tuple[type, type], size: int) -> int:
    first, second = by_hand.params(kinds[0](size), 3), by_hand.params(kinds[1](size), size)
    return first + second + by_hand.params(Output(2), size)


@given(st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)), st.integers(0, 5_000), st.integers(1, 9))
def test_it_finds_what_brute_force_finds(kinds: tuple[type, type], budget: int, multiple: int) -> None:
    """Every size is tried up to those of more than 4 · 1,250 parameters, with the counts of the textbook's formulas."""
    fitting = [size for size in range(multiple, 1_300, multiple) if counted_by_hand(kinds, size) <= budget]
    solution = solve(lambda size: two_layers(kinds, size), budget, multiple=multiple)
    assert solution.size == (fitting[-1] if fitting else None)
    assert solution.solved == bool(fitting)
    if solution.size:
        assert solution.network == two_layers(kinds, solution.size)
        assert solution.params == solution.network.params == counted_by_hand(kinds, solution.size)
        assert solution.left == budget - solution.params


@given(st.integers(10**3, 10**24), st.integers(1, 10**6))
def test_both_sides_of_a_large_answer(budget: int, multiple: int) -> None:
    """The size found fits, and the next one does not."""
    solution = solve(lambda size: two_layers((LSTM, GRU), size), budget, multiple=multiple)
    assert solution.next_size is not None
    assert two_layers((LSTM, GRU), solution.next_size).params > budget
    if solution.size:
        assert solution.next_size == solution.size + multiple
        assert solution.size % multiple == 0
        assert two_layers((LSTM, GRU), solution.size).params <= budget


SOLVED = [
    line.split(" => ")
    for line in Path(__file__).with_name("solved.txt").read_text(encoding="utf-8").splitlines()
    if line.startswith("-")
]


@pytest.mark.parametrize(("flags", "expected"), SOLVED)
def test_sizes_worked_out_by_hand(flags: str, expected: str, call: Call) -> None:
    """What the report says of each; above each in the file is how it is worked out."""
    values = yaml.safe_load(expected)
    report = report_of(call, "solve", *flags.split())
    assert {key: report[key] for key in values} == values


@pytest.mark.parametrize("budget", [1_000_000, 2_000_000, 10_000_000, 12_345_678, 10**9])
def test_a_count_that_is_no_polynomial_is_searched_by_halving(budget: int) -> None:
    """A caller's own function may bend at a size that nothing tells, here at 500."""

    def params(size: int) -> int:
        wide = max(size, 500)
        return 3 * wide * (3 + wide + 1) + 3 * size * (wide + size + 1)

    solution = solve(lambda size: Network(input=3, layers=(GRU(max(size, 500)), GRU(size))), budget)
    fitting = [size for size in range(1, 11_000) if params(size) <= budget]
    assert (solution.size, solution.params) == (fitting[-1], params(fitting[-1]))
    assert (solution.next_size, solution.next_params) == (fitting[-1] + 1, params(fitting[-1] + 1))


TRIED = range(61)
SIZES = ("input", "steps", "units", "repeat", "extra_inputs", "projection", "outputs", "external", "embedding", "dense")
MARKED = (*SIZES, *CELLS, "output")

Place = tuple[Any, Any]
"""A mapping or list, and the key of a size in it."""


def places(node: Any) -> list[Place]:
    """Return where the sizes of a document are."""
    if isinstance(node, list):
        return [place for below in node for place in places(below)]
    if not isinstance(node, dict):
        return []
    own = [(node, key) for key, value in node.items() if key in MARKED and type(value) is int]
    return own + [place for below in node.values() for place in places(below)]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a document whose sizes depend on one another, and write `?` for one to three of them."""
    spec = draw(st.one_of(strategies.network(), strategies.encoder_decoder(), tied(), repeated_halves()))
    if draw(st.booleans()):
        spec["convention"] = draw(st.sampled_from(["pytorch", "keras", "onnx", "flax-linen"]))
    sizes = places(spec)
    equal = draw(st.sampled_from([of[key] for of, key in sizes]))
    chosen = draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1, max_size=3, unique=True))
    if draw(st.booleans()):  # sizes that are the same are often meant to be
        chosen = [number for number, (of, key) in enumerate(sizes) if of[key] == equal][:3]
    for number in chosen:
        of, key = sizes[number]
        of[key] = "?"
    return {**spec}


@st.composite
def tied(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a network whose output shares the embedding's matrix."""
    vocabulary, width = draw(st.integers(1, 50)), draw(st.integers(1, 40))
    last = draw(strategies.cell(draw(st.sampled_from(["rnn", "gru", "lstm", "sru"])), width)) | {"repeat": 1}
    between = draw(st.lists(st.one_of(strategies.cell(), strategies.plain()), max_size=2))
    layers = [{"embedding": width}, *between, last]
    return {"input": vocabulary, "layers": layers, "output": {"units": vocabulary, "tied": True}}


@st.composite
def repeated_halves(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an encoder-decoder in which layers of two widths are repeated."""
    widths, times = st.sampled_from([4, 8]), st.integers(1, 9)
    layers = st.lists(st.builds(lambda h, n: {"gru": h, "repeat": n}, widths, times), min_size=1, max_size=3)
    encoder = draw(layers)
    decoder = draw(st.one_of(layers, st.just([{**layer} for layer in encoder])))
    return {"encoder": {"input": 3, "layers": encoder}, "decoder": {"input": 5, "layers": decoder}}


def spec_of_words(words: dict[str, Any]) -> Spec:
    return spec_in_file(yaml.safe_dump(words).encode(), "drawn.yaml")


def tried(spec: Spec) -> dict[int, int]:
    """Return the counts of the sizes at which there is a network."""
    found = {}
    for size in TRIED:
        try:
            found[size] = spec.sized(size).params
        except SpecError:
            continue
    return found


def hold(found: Solution, counts: dict[int, int], budget: int) -> None:
    """Hold a solution against the counts of the sizes that were tried."""
    fitting = [size for size, params in counts.items() if params <= budget]
    wanted = [size for size in fitting if counts[size] == budget] if found.exact else []
    best = max(wanted or fitting, default=None)
    if found.size is not None and found.size > TRIED[-1]:
        assert found.params is not None
        assert found.params <= budget
        assert not wanted or found.met
    else:
        assert found.size == best
        assert best is None or found.params == counts[best]
        beyond = min((size for size in counts if size > (-1 if best is None else best)), default=None)
        assert beyond is None or (found.next_size, found.next_params) == (beyond, counts[beyond])
    assert found.solved == (found.size is not None and (not found.exact or found.params == budget))


@pytest.mark.broad
@given(documents(), st.booleans(), st.integers(-1, 3), st.integers(1, 3), st.randoms(use_true_random=False))
def test_it_finds_in_drawn_networks_what_brute_force_finds(
    words: dict[str, Any], exact: bool, more: int, multiple: int, chance: random.Random
) -> None:
    """Sizes at which the network cannot be are no solutions, and of the others the largest that fits is."""
    spec = spec_of_words(words)
    counts = {size: params for size, params in tried(spec).items() if size % multiple == 0}
    budget = max(0, chance.choice([*counts.values()] or [500]) + more)
    try:
        solution = solve(spec.sized, budget, multiple=multiple, exact=exact)
    except SpecError:
        assert not counts
    except RefusedError:
        assert len({*counts.values()}) <= 1
    else:
        hold(solution, counts, budget)


@given(st.integers(2, 99), st.integers(0, 99), st.integers(0, 40_000), st.booleans())
def test_it_finds_sizes_between_others_where_the_count_falls(room: int, least: int, budget: int, exact: bool) -> None:
    """`least` units less than the size in one layer, the rest of the room in the other: the count falls."""

    def sized(size: int) -> Network:
        return Network(input=3, layers=(LSTM(least + room - size), Dense(size - least)))

    counts = {size: sized(size).params for size in range(least + 1, least + room)}
    fitting = [size for size in counts if counts[size] <= budget]
    met = [size for size in fitting if exact and counts[size] == budget]
    if len({*counts.values()}) > 1:
        assert solve(sized, budget, exact=exact).size == max(met or fitting, default=None)


def test_the_brute_force_can_object() -> None:
    """An answer that is not the largest is told."""
    spec = spec_of_words({"input": 3, "layers": [{"rnn": "?"}]})
    counts = tried(spec)
    right = solve(spec.sized, counts[9])
    hold(right, counts, counts[9])
    with pytest.raises(AssertionError):
        hold(right._replace(size=8, params=counts[8]), counts, counts[9])


def test_many_marks_are_few_counts() -> None:
    """A network of many layers is counted a dozen times at most, whatever the answer."""
    tries = 0

    def sized(size: int) -> Network:
        nonlocal tries
        tries += 1
        return Network(input=5, layers=[LSTM(size)] * 1_000)

    params = [999 * 4 * h * (2 * h + 1) + 4 * h * (h + 6) for h in (35_363, 35_364)]
    assert params[0] <= 10**13 < params[1]
    assert solve(sized, 10**13).size == 35_363
    assert tries <= 12


@pytest.mark.broad
def test_counts_that_bend_at_hundreds_of_sizes_are_refused_at_once() -> None:
    """Each of 500 SRUs has a size of its own at which it is as wide as its input."""
    tries = 0

    def sized(size: int) -> Network:
        nonlocal tries
        tries += 1
        return Network(input=5, layers=[layer for n in range(1, 501) for layer in (Dense(n), SRU(size))])

    with pytest.raises(
        RefusedError, match=r"^network has 1,000 different layers, and to find a size counts them 50\d times"
    ):
        solve(sized, 10**9)
    assert tries <= 6


def test_a_piece_ends_where_the_count_bends() -> None:
    """An SRU on 10 features is counted by itself where it is 10 wide; no piece goes beyond the last size."""
    sizes = TriedSizes(lambda size: Network(input=10, layers=(SRU(size),)), 1)
    assert pieces(sizes, 1, 20) == [(1, 9), (10, 10), (11, 20)]
    assert pieces(sizes, 1, 10) == [(1, 9), (10, 10)]
    assert pieces(sizes, 4, 4) == [(4, 4)]


@pytest.mark.parametrize("allowed", [range(1, 8), range(7, 10**12 + 1), range(1, 2), range(10**12, 10**12 + 1)])
def test_sizes_that_a_function_refuses_are_no_solution(allowed: range) -> None:
    """Above one, or below one, and without a word of how far they are from it."""

    def sized(size: int) -> Network:
        if size not in allowed:
            raise SpecError((Problem((), "not this one"),))
        return Network(input=1, layers=(External(size),))

    assert solve(sized, 10**13).size == allowed[-1]
    assert pieces(TriedSizes(sized, 1), 1, 10**12) == [(allowed[0], allowed[-1])]
