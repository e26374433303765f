"""Where a network can be, among sizes up to 10^12: few of them are tried."""

import json

import pytest
from conftest import Call

from rnncalc import LSTM, SRU, Dense, External, Network, Problem, RefusedError, SpecError
from rnncalc.questions.pieces import TriedSizes, pieces
from rnncalc.questions.solve import solve


def solved(call: Call, *args: object) -> dict[str, object]:
    (report,) = json.loads(call("solve", *args, "-f", "json").out)["reports"]
    found: dict[str, object] = report
    return found


def test_a_count_that_bends_where_a_cell_is_as_wide_as_its_input(call: Call) -> None:
    """An SRU of 10 on 10 features does without the skip's matrix: 3·100 + 40 = 340, and at 8, 4·80 + 32 = 352."""
    flags = ["-i", 10, "-l", "sru:?", "--params"]
    assert solved(call, *flags, 351)["size"] == 10
    assert solved(call, *flags, 352)["size"] == 10
    assert solved(call, *flags, 352, "--exact")["size"] == 8


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


def test_the_largest_size_there_can_be_is_tried_too(call: Call) -> None:
    """A part of 10^12 parameters counted elsewhere fits where 10^12 do, and one fewer where one fewer do."""
    flags = ["-i", 4, "-l", "dropout:0.5", "-l", "external:?", "--params"]
    for budget in (10**12, 10**12 - 1):
        found = solved(call, *flags, budget)
        assert (found["size"], found["left"]) == (budget, 0)
        assert found["next_size"] == (None if budget == 10**12 else 10**12)


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


def test_bytes_are_met_exactly_too() -> None:
    """352 parameters of 4 bytes are those of 8 units, and 340 those of 10; 1,409 bytes are met by none."""

    def sized(size: int) -> Network:
        return Network(input=10, layers=(SRU(size),))

    assert solve(sized, 4 * 352, exact=True, bytes_each=4).size == 8
    assert solve(sized, 4 * 352 + 1, exact=True, bytes_each=4).size == 10
