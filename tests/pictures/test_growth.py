"""The curves are those of the numbers, read back by the axes' own labels."""

import re
from math import log10

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictured import hold, said

from rnncalc import GRU, LSTM, RNN, Conv1D, Embedding, Network, Output, Part
from rnncalc.pictures.growth import linear_or_logarithmic
from rnncalc.pictures.picture import Curve, Label, Picture, Style
from rnncalc.questions.dense import dense_params
from rnncalc.reports.draw import Drawing
from rnncalc.typeset.equations import plain

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
NAMES = (Style.DENSE, Style.RECURRENT)
NETWORKS = [
    Network(input=4, layers=(RNN(3),), output=Output(1)),
    Network(input=4, layers=(RNN(3),), output=Output(1), steps=7),
    Network(input=1, layers=(LSTM(40),), steps=20, topology="one-to-many"),
    Network(input=7, layers=(GRU(64), GRU(32)), output=Output(24), steps=168),
    Network(input=7, layers=(GRU(6),), steps=10**12),
    Network(input=4, layers=(Conv1D(3, kernel=5), GRU(6)), output=Output(1)),  # too few steps for its kernel
    Network(encoder=Part(4, (GRU(5),), steps=6), decoder=Part(3, (GRU(5),), Output(2), 9)),
]


def drawn(network: Network, width: int | None = None) -> Picture:
    (picture,) = Drawing(network, "growth").pictures(width)
    return picture


def number(text: str) -> int:
    """Return the number that an axis writes: `1,000`, `10⁹` or `2.5e+07`."""
    if text[-1] in RAISED:
        return int(10 ** int("".join(str(RAISED.index(digit)) for digit in text[2:])))
    return round(float(text.replace(",", "")))


def read_back(marks: dict[float, int], at: float, logarithmic: bool) -> float:
    """Return the number at a place of an axis, from the two marks that are furthest apart."""
    first, last = min(marks), max(marks)
    share = (at - first) / (last - first)
    if logarithmic:
        return float(10 ** (log10(marks[first]) + share * (log10(marks[last]) - log10(marks[first]))))
    return marks[first] + share * (marks[last] - marks[first])


def axes(picture: Picture) -> tuple[dict[float, int], dict[float, int]]:
    """Return the numbers at the axes by their places: the steps', and the parameters'."""
    labels = [shape for shape in picture.shapes if isinstance(shape, Label) and shape.style is Style.SHAPE]
    numbers = [label for label in labels if plain(label.text)[:1].isdecimal()]
    return (
        {label.x + 0.5: number(plain(label.text)) for label in numbers if label.align == "middle"},
        {label.y + 0.5: number(plain(label.text)) for label in numbers if label.align == "end"},
    )


@pytest.mark.parametrize("network", NETWORKS, ids=range(len(NETWORKS)))
@pytest.mark.parametrize("width", [None, 80, 40])
def test_a_curve_goes_where_its_axes_say(network: Network, width: int | None) -> None:
    """Each point of both, to what a cell is worth, is the count's number, or the dense equivalent's."""
    picture = drawn(network, width)
    hold(picture)
    across, up = axes(picture)
    setting = " ".join(said(picture))
    both = "both scales logarithmic" in setting
    logarithmic = both or "logarithmic across" in setting, both or "logarithmic up" in setting
    curves = {shape.style: shape for shape in picture.shapes if isinstance(shape, Curve) and shape.style in NAMES}
    for role, curve in curves.items():
        for x, y in curve.points:
            near = [read_back(up, y + cells, logarithmic[1]) for cells in (0.6, -0.6)]
            constant = (network.params, network.params)
            around = constant if role is Style.RECURRENT else _dense(network, across, x, logarithmic[0])
            assert near[0] <= around[1], (role, x)
            assert around[0] <= near[1], (role, x)
    assert {*curves} == {Style.DENSE, Style.RECURRENT}


LARGE = Network(input=10**6, layers=(Embedding(128), RNN(100)), steps=3)
"""A table of 128 million numbers, beside which the rest is little: a linear scale."""


@pytest.mark.parametrize("network", [*NETWORKS, LARGE], ids=range(len(NETWORKS) + 1))
def test_an_axis_has_one_style(network: Network) -> None:
    """All its numbers in full, or as powers of ten, or, of a linear scale, with the power behind; 0 is 0."""
    styles = {"full": r"\d{1,3}(,\d{3})*", "powers": f"10[{RAISED}]+", "behind": r"\d(\.\d+)?e\+\d+|0"}
    labels = [shape for shape in drawn(network).shapes if isinstance(shape, Label) and shape.style is Style.SHAPE]
    for align in ("middle", "end"):
        texts = [text for each in labels if each.align is align and (text := plain(each.text))[0].isdecimal()]
        assert len(texts) > 1
        assert any(all(re.fullmatch(style, text) for text in texts) for style in styles.values()), texts


def _dense(network: Network, across: dict[float, int], x: float, logarithmic: bool) -> tuple[int, int]:
    """Return the dense equivalent's parameters for steps that are read half a cell to the left and to the right."""
    left, right = (read_back(across, x + cells, logarithmic) for cells in (-0.6, 0.6))
    return dense_params(network, max(int(left), 1)), dense_params(network, max(int(right + 1), 1))


@pytest.mark.parametrize("steps", [3, 20, 168])
def test_the_networks_own_steps_are_marked(steps: int) -> None:
    """By a line across the curves, at that number of steps."""
    picture = drawn(Network(input=7, layers=(GRU(64),), output=Output(2), steps=steps))
    ((x, _), (to, _)) = next(
        shape.points for shape in picture.shapes if isinstance(shape, Curve) and shape.style is Style.ELIDED
    )
    assert x == to
    across, _ = axes(picture)
    assert read_back(across, x, "logarithmic across" in " ".join(said(picture)) or steps > 20) == pytest.approx(steps)


@given(st.lists(st.integers(1, 10**30), min_size=1, unique=True))
def test_a_scale_has_room_for_its_numbers(numbers: list[int]) -> None:
    """From 0 to 1, in order; the marks are few, and reach from one end to the other in equal steps."""
    scale = linear_or_logarithmic(numbers)
    shares = [scale.share(number) for number in sorted(numbers)]
    assert shares == sorted(shares)
    assert shares[0] >= -1e-9
    assert shares[-1] <= 1 + 1e-9
    assert (scale.marks[0], scale.marks[-1]) == (scale.first, scale.last)
    assert 2 <= len(scale.marks) <= 6
    places = [scale.share(mark) * scale.steps for mark in scale.marks]
    assert places == pytest.approx(range(scale.steps + 1))
