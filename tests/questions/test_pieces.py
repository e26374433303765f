"""Where a network can be, among sizes up to 10^12: few of them are tried."""

import json

import pytest
from conftest import Call

from rnncalc import LSTM, RNN, SRU, Dense, Network, RefusedError
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
    """A network of many layers is counted a dozen times at most, whatever the answer; too many are refused."""
    tries = 0

    def sized(size: int) -> Network:
        nonlocal tries
        tries += 1
        return Network(input=5, layers=[LSTM(size)] * 1_000)

    params = [999 * 4 * h * (2 * h + 1) + 4 * h * (h + 6) for h in (35_363, 35_364)]
    assert params[0] <= 10**13 < params[1]
    assert solve(sized, 10**13).size == 35_363
    assert tries <= 12
    many = tuple(Dense(number) for number in range(1, 63_001))
    with pytest.raises(RefusedError, match="63,001 different layers, and to find a size counts them 8 times or more"):
        solve(lambda size: Network(input=5, layers=(RNN(size), *many)), 10**15)


def test_the_largest_size_there_can_be_is_tried_too(call: Call) -> None:
    """A part of 10^12 parameters counted elsewhere fits where 10^12 do, and one fewer where one fewer do."""
    flags = ["-i", 4, "-l", "dropout:0.5", "-l", "external:?", "--params"]
    for budget in (10**12, 10**12 - 1):
        found = solved(call, *flags, budget)
        assert (found["size"], found["left"]) == (budget, 0)
        assert found["next_size"] == (None if budget == 10**12 else 10**12)


def test_counts_that_bend_at_thousands_of_sizes_are_refused_at_once() -> None:
    """Each of 5,000 SRUs has a size of its own at which it is as wide as its input."""
    tries = 0

    def sized(size: int) -> Network:
        nonlocal tries
        tries += 1
        return Network(input=5, layers=[layer for n in range(1, 5_001) for layer in (Dense(n), SRU(size))])

    with pytest.raises(RefusedError, match="10,000 different layers, and to find a size counts them 5,006 times"):
        solve(sized, 10**9)
    assert tries <= 6
