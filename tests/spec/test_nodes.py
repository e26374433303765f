"""What is wrong with an input: kept as numbers and paths, told as lines in the order of their places."""

import random
from pathlib import Path
from typing import Any

import pytest
from conftest import Call

from rnncalc import Network, Problem, SpecError
from rnncalc.spec import load, parse
from rnncalc.spec.nodes import Flag, Mapping, Scalar


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (Problem(("layers", 1, "lstm"), "wrong", "a.yaml", 3, 7), "a.yaml:3:7: layers[1].lstm: wrong"),
        (Problem(("lstm",), "wrong", "--layer 2"), "--layer 2: lstm: wrong"),
        (Problem((), "wrong", "--input"), "--input: wrong"),
        (Problem((), "too large", "a.yaml"), "a.yaml: too large"),
        (Problem(("expect", "layers", 0), "wrong"), "expect.layers[0]: wrong"),
        (Problem((), "and more"), "and more"),
    ],
)
def test_a_problem_is_one_line(problem: Problem, line: str) -> None:
    """Where, the path there, the message: those that there are."""
    assert str(problem) == line


def test_a_place_is_kept_in_numbers() -> None:
    """Line and column are counted from 1, and no text has to be taken apart to know them."""
    with pytest.raises(SpecError) as caught:
        parse(b"input: 4\nlayers:\n  - rnn: many\n", "a:5:6.yaml")
    (problem,) = caught.value.problems
    assert problem == Problem(("layers", 0, "rnn"), problem.message, "a:5:6.yaml", 3, 10)
    assert problem.place == (3, 10)
    assert str(caught.value) == str(problem)


def test_a_network_in_python_has_problems_without_a_place() -> None:
    """The path is the one that a spec would have; a consequence says that it is one."""
    with pytest.raises(SpecError) as caught:
        Network(input=0)
    assert [(problem.path, problem.place, problem.source) for problem in caught.value.problems] == [
        (("input",), None, "")
    ]


def test_problems_are_told_in_the_order_of_their_places(tmp_path: Path) -> None:
    """By line and column as numbers: line 10 after line 9."""
    path = tmp_path / "wrong.yaml"
    path.write_text("input: xx\nlayers:\n" + "".join(f"  - {{rnn: x{n}, merge: y}}\n" for n in range(30)))
    with pytest.raises(SpecError) as caught:
        load(path)
    places = [problem.place for problem in caught.value.problems]
    assert places == sorted({(1, 8), *((n, column) for n in range(3, 33) for column in (11, 23 if n > 12 else 22))})


def test_the_problems_of_flags_are_told_by_their_layers(call: Call) -> None:
    """Those of a layer together, tenth after ninth; those of other flags first."""
    layers = [word for n in range(11) for word in ("-l", f"rnn:x{n},bais=1")]
    lines = call("-i", "yy", *layers, "-o", "zz").err.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "--input",
        "--output",
        *(f"--layer {n}" for n in range(1, 12) for _ in range(2)),
    ]


def test_the_order_of_problems_is_that_of_places_whatever_was_found_first() -> None:
    """Shuffled lines of wrong keys come out sorted."""
    chance = random.Random(5)
    lines = ["input: xx", "output: yy", "steps: zz", "kyes: 3", "name: []", "budget: {max_params: x}"]
    for _ in range(20):
        chance.shuffle(lines)
        with pytest.raises(SpecError) as caught:
            parse("\n".join([*lines, "layers: [rnn: 3]"]).encode(), "spec")
        places = [problem.place or (0, 0) for problem in caught.value.problems]
        assert places == sorted(places)
        assert len(places) == len(lines)


class Watched(list[Any]):
    """A list that counts how often it is gone through."""

    times = 0

    def __reversed__(self) -> Any:
        self.times += 1
        return super().__reversed__()

    def __iter__(self) -> Any:
        self.times += 1
        return super().__iter__()


def scalar(word: str) -> Scalar:
    return Scalar(word, True, Flag(""))


def test_the_keys_of_a_mapping_are_gone_through_once() -> None:
    """However many are asked for, as the places of thousands of expected tensors are."""
    mapping = Mapping(Flag(""))
    items = mapping.items = Watched((scalar(f"k{number}"), scalar(str(number))) for number in range(1_000))
    found = [mapping.get(f"k{number}") for number in range(1_000)]
    assert found == [value for _, value in items]
    assert items.times == 2  # and once for the line above


def test_the_first_of_two_keys_is_found_and_a_later_one_too() -> None:
    """A key that is added, or put, after others were asked for is there."""
    mapping = Mapping(Flag(""))
    assert mapping.get("a") is None
    first, second, third = map(scalar, "123")
    mapping.items += [(scalar("a"), first), (scalar("a"), second)]
    assert mapping.get("a") is first
    mapping.items.append((scalar("b"), second))
    assert mapping.get("b") is second
    mapping.put("a", third)
    assert mapping.get("a") is third
    assert mapping.get("c") is None
