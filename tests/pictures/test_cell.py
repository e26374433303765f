"""A cell is drawn as its step runs: read back as a circuit, the picture gives the numbers that the step gives."""

from functools import cache
from itertools import combinations, islice, product

import cells
import pytest
from circuit import Circuit, Numbers
from pictured import hold

from rnncalc import GRU, LSTM, MGU, RNN, SRU, Cell, Dense, FastGRNN, Layer, Network, Output, SpecError, count
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.errors import RefusedError
from rnncalc.layers import kind
from rnncalc.layers.cell import Habits
from rnncalc.pictures.cell import rows
from rnncalc.pictures.circuit import graph
from rnncalc.pictures.picture import Box, Label, Picture, Style
from rnncalc.reports.draw import Drawing
from rnncalc.step.trace import trace
from rnncalc.typeset.equations import plain

M = 4

OPTIONS = cells.OPTIONS | {"activation": ("relu", "linear", "softmax"), "bidirectional": (True,)}


@cache
def networks(name: str, together: bool = True) -> list[Network]:
    """Return one of a cell with each of its options alone, and two together, under every convention that has it.

    As wide as its input, each alone.
    """
    cell = kind(name)
    single = [{option: value} for option, values in OPTIONS.items() if option in cell.fields for value in values]
    pairs = [first | second for first, second in combinations(single, 2) if together and [*first] != [*second]]
    every = []
    narrower = product([3], [{}, *single, *pairs], CONVENTIONS)
    for units, options, convention_name in [*narrower, *product([M], [{}, *single], CONVENTIONS)]:
        try:
            every.append(Network(input=M, layers=[cell(**{"units": units, **options})], convention=convention_name))
        except SpecError:
            continue
    return every


@cache
def drawn(net: Network, width: int | None = None) -> Picture:
    (picture,) = Drawing(net, "cell").pictures(width)
    return picture


def habits_of(net: Network) -> Habits:
    arrays = convention(net.convention).arrays(net.layers[0].kind)
    assert arrays is not None
    return arrays.habits


def cell_of(net: Network) -> Cell:
    layer = convention(net.convention).settled(net.layers[0])
    assert isinstance(layer, Cell)
    return layer


@cache
def unlike(name: str, together: bool = True) -> list[Network]:
    """Return those of the networks of a cell whose steps differ."""
    steps: dict[object, Network] = {}
    for net in networks(name, together):
        nodes = (*graph(trace(cell_of(net), M, convention(net.convention))).items(),)
        steps.setdefault((nodes, habits_of(net)), net)
    return [*steps.values()]


@pytest.mark.broad
@pytest.mark.parametrize("name", cells.CELLS)
def test_the_picture_computes_what_the_step_computes(name: str) -> None:
    """Every cell and option under every convention: the same numbers for what is output and for every state."""
    for net in unlike(name):
        layer, picture = cell_of(net), drawn(net)
        hold(picture)
        circuit = Circuit(picture)
        circuit.runs_clear()
        circuit.computes(layer, Numbers(layer, M, habits_of(net)))


@pytest.mark.parametrize("layer", [LSTM(3), GRU(3), GRU(3, reset_after=True), MGU(3), SRU(3), FastGRNN(3)], ids=repr)
def test_the_reading_of_the_picture_can_fail(layer: Cell) -> None:
    """With two of its arrows that are not alike exchanged, each third pair, it gives other numbers, or none."""
    picture = drawn(Network(input=M, layers=[layer]))
    whole = Circuit(picture)
    numbers = Numbers(layer, M, Habits())
    whole.computes(layer, numbers)
    for one, other in islice(combinations(range(len(whole.targets)), 2), 0, None, 3):
        if whole.targets[one] == whole.targets[other] or whole.sources[one] == whole.sources[other]:
            continue
        targets = [*whole.targets]
        targets[one], targets[other] = targets[other], targets[one]
        wrong = Circuit(picture)
        wrong.targets = targets
        with pytest.raises((AssertionError, ValueError)):
            wrong.computes(layer, numbers)


@pytest.mark.broad
@pytest.mark.parametrize("name", cells.CELLS)
def test_the_legend_sums_to_the_count(name: str) -> None:
    """Under every convention: the rows to the last, and that to the layer's parameters."""
    for net in networks(name):
        (placed,) = net.stack
        assert sum(row.params for row in rows(placed, habits_of(net), net.spelling, {})) == net.params
    numbers = legend(drawn(net))
    assert sum(numbers[:-1]) == numbers[-1] == net.params


def legend(picture: Picture) -> list[int]:
    """Return the numbers of a legend, the total last."""
    notes = [shape for shape in picture.shapes if isinstance(shape, Label) and shape.style is Style.NOTE]
    (head,) = (label for label in notes if plain(label.text) == "parameters")
    return [int(plain(label.text).replace(",", "")) for label in notes if label.x == head.x and label is not head]


@pytest.mark.parametrize(
    ("net", "numbers"),
    [
        (Network(input=4, layers=[LSTM(3)]), [3 * (4 + 3 + 1)] * 4),
        (Network(input=4, layers=[LSTM(3)], convention="pytorch"), [3 * (4 + 3 + 2)] * 4),
        (Network(input=4, layers=[LSTM(3, bidirectional=True)], convention="keras"), [2 * 3 * (4 + 3 + 1)] * 4),
        (
            Network(input=4, layers=[LSTM(3, projection=2, peepholes=True)]),
            [3 * (4 + 2 + 1 + 1), 3 * (4 + 2 + 1 + 1), 3 * (4 + 2 + 1), 3 * (4 + 2 + 1 + 1), 2 * 3],
        ),
        (Network(input=4, layers=[FastGRNN(3)]), [3, 3, 3 * (4 + 3), 1, 1]),
        (Network(input=4, layers=[SRU(3)]), [3 * 4, 3 * (4 + 1 + 1), 3 * (4 + 1 + 1), 3 * 4]),
        (Network(input=4, layers=[RNN(3, learned_state=True)]), [3 * (4 + 3 + 1), 3]),
    ],
    ids=lambda value: f"{value.layers[0]!r} {value.convention}" if isinstance(value, Network) else "",
)
def test_the_legend_s_numbers(net: Network, numbers: list[int]) -> None:
    """A gate's own weights and biases, worked out by hand; what gates share, and what is beside them, apart."""
    assert legend(drawn(net))[:-1] == numbers


@pytest.mark.broad
@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("name", cells.CELLS)
def test_no_picture_is_wider_than_asked(name: str, width: int) -> None:
    """Drawn, or, where that takes more, written as equations; at 80 every cell as it comes is drawn."""
    for net in networks(name)[:1] + networks(name)[-1:]:
        picture = drawn(net, width)
        assert picture.width <= width
        assert legend(picture)[-1] == net.params
        hold(picture)
    assert width < 80 or any(isinstance(shape, Box) for shape in drawn(networks(name)[0], width).shapes)


def test_a_long_name_widens_no_picture() -> None:
    """Of a network, of a layer, and of another with the same cell."""
    layers = [LSTM(3, name="a" * 60), LSTM(3, name="b" * 60)]
    for picture in Drawing(Network(input=4, layers=layers, name="c" * 90), "cell").pictures(80):
        assert picture.width <= 80
        hold(picture)


def test_the_description_tells_the_equations() -> None:
    """For those who cannot see the picture."""
    words = drawn(Network(input=4, layers=[MGU(3)])).description
    assert "f_t = σ(W_xf x_t + W_hf h_(t−1) + b_f); n_t = tanh(" in words


def test_cells_that_are_alike_are_drawn_once() -> None:
    """Whatever their widths; the others are named, and each is drawn by its name with its own numbers."""
    layers = [LSTM(3), LSTM(5), GRU(2), LSTM(4, peepholes=True), LSTM(2)]
    net = Network(input=4, layers=layers, output=Output(1))
    pictures = Drawing(net, "cell").pictures()
    assert [legend(each)[-1] for each in pictures] == [
        layer.params for layer in (*count(net).layers[:1], *count(net).layers[2:4])
    ]
    assert "The same cell: lstm_2 and lstm_4" in pictures[0].description
    (named,) = Drawing(net, "cell", ("lstm_4",)).pictures()
    assert legend(named)[-1] == count(net).layers[4].params


@pytest.mark.parametrize(("only", "message"), [((), "has no cell to draw"), (("output",), "output is not recurrent")])
def test_what_has_no_cell_is_refused(only: tuple[str, ...], message: str) -> None:
    """A network without a recurrent layer, and a layer that is none."""
    net = Network(input=4, layers=[LSTM(2) if only else Dense(2)], output=Output(1))
    with pytest.raises(RefusedError, match=message):
        Drawing(net, "cell", only).pictures()


@pytest.mark.parametrize(
    ("layer", "convention", "note"),
    [
        (GRU(5), "pytorch", "A box with round corners has no weights"),
        (FastGRNN(5), "textbook", "· multiplies a vector by a number."),
    ],
)
def test_what_is_not_in_every_picture_is_explained_where_it_is(layer: Layer, convention: str, note: str) -> None:
    """A gate whose sum was made by hand, and a product with a trained number."""
    assert note in drawn(Network(input=4, layers=(layer,), convention=convention)).description
    assert note not in drawn(Network(input=4, layers=(LSTM(5),))).description
