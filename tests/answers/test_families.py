"""Families of mistakes: the variants of each, worked out by hand in families.yaml."""

from typing import Any

import pytest
from case_files import cases, worked_out
from finding import judged, variants_made
from strategies import network_of

from rnncalc import GRU, LSTM, RNN, BatchNorm, Conv1D, Dense, Flatten, Network, Output
from rnncalc.answers.search import Search
from rnncalc.answers.table import TABLE
from rnncalc.answers.worksheet import worksheet_of


@pytest.mark.parametrize("case", cases("answers/families.yaml"), ids=lambda case: str(case)[:80])
def test_the_variants_of_a_family(case: dict[str, Any]) -> None:
    """Each is found, in order, and no other; what a case does not say of it is open."""
    network = network_of(case["network"])
    lines = [line.params for line in worksheet_of(network)]
    assert worked_out(case.get("right", lines)) == lines
    for family, expected in worked_out(case["families"]).items():
        variants = variants_made(family, network, worked_out(case.get("number", 0)))
        made: list[dict[str, Any]] = [
            {"layer": layer, **values, "lines": [*lines]} for lines, values, layer in variants
        ]
        assert len(made) == len(expected)
        assert [{key: each[key] for key in one} for each, one in zip(made, expected, strict=True)] == expected
        if "first" in case:
            first, *others = [each.mistakes[0].text for each in judged(network, sum(made[0]["lines"])).diagnoses]
            assert first == f"{case['first']} {made[0]['gate']}, which has none here"
            assert not any("counts the cell as" in each for each in others)


@pytest.mark.broad
def test_up_to_a_hundred_layers_one_alone_may_be_wrong() -> None:
    """Each row about which layers are counted has variants then, and none is tried of one layer more."""
    hundred = Network(input=3, layers=(RNN(2, bidirectional=True), RNN(3, bidirectional=True)) * 50)
    assert len(variants_made("no-layer", hundred, 0)) == 100 + 99
    by_layer = {row.id for row in TABLE if row.by_layer}
    for net, tried in ((hundred, by_layer), (hundred.replace(output=Output(2)), set())):
        search = Search(net)
        assert {row.id for row in search.rows} & by_layer == tried
        assert {row.id for row in search.rows if search.variants(row)} & by_layer == tried


def test_steps_are_counted_in_up_to_a_hundred_layers() -> None:
    """Each convolution and pooling below a flatten has a variant then."""
    layers = (Conv1D(8, kernel=5), BatchNorm(), Flatten(), *(Dense(number) for number in range(5, 101)))
    for count, variants in ((99, 1), (98, 1), (100, 0)):
        net = Network(input=6, layers=(*layers, Dense(7))[:count], output=2, steps=2_003)
        assert len(variants_made("steps-before-{layer}", net, 0)) == variants


def test_the_other_conventions() -> None:
    """Those that count alike are one way: two biases in each gate of a GRU, or two in its candidate alone."""
    ways = variants_made("convention-{name}", Network(input=3, layers=(GRU(5),)), 0)  # 3·5·(3 + 5 + 1) = 135
    assert {lines for lines, _, _ in ways} >= {(3 * 5 * (3 + 5 + 2),), (3 * 5 * (3 + 5) + 4 * 5,)}
    (names,) = [values["names"] for lines, values, _ in ways if lines == (3 * 5 * (3 + 5) + 4 * 5,)]
    assert names.startswith("flax-linen")
    assert {values["here"] for _, values, _ in ways} == {"textbook"}
    assert not any("textbook" in values["names"] for _, values, _ in ways)
    torch = Network(input=3, layers=(LSTM(5),), convention="pytorch")
    ((lines, values, _), *_) = variants_made("convention-{name}", torch, 0)
    assert (lines, values["name"], values["here"]) == ((4 * 5 * (3 + 5 + 1),), "textbook", "pytorch")
    assert values["names"].startswith("textbook, keras, flax-linen, flax-nnx")
    assert variants_made("convention-{name}", Network(input=5, layers=(GRU(5, repeat=101),)), 0) == []
    assert variants_made("convention-{name}", Network(input=5, layers=(GRU(5, repeat=100),)), 0)
