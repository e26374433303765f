"""The unrolled picture says what the count says, of as many boxes as there are steps, and leaves out with numbers."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from pictured import hold, said
from strategies import Spec, encoder_decoder, fitting, network, network_of

from rnncalc import GRU, LSTM, RNN, DecoderAttention, Dense, Embedding, Network, Output, Part, count, load
from rnncalc.layers.cell import Cell
from rnncalc.network.flow import Window
from rnncalc.network.stack import Placed
from rnncalc.pictures.picture import Arrow, Box, Label, Picture, Style, cells_along
from rnncalc.reports.draw import Drawing
from rnncalc.typeset.equations import plain

SPECS = sorted({*Path("specs").rglob("*.yaml")} - {*Path("specs/several").glob("*.yaml")})


def drawn(net: Network, width: int | None = None) -> Picture:
    (picture,) = Drawing(net).pictures(width)
    return picture


def boxes(picture: Picture, name: str) -> list[Box]:
    """Return the boxes of a layer."""
    return [shape for shape in picture.shapes if isinstance(shape, Box) and shape.lines[0] == (name,)]


def middle(box: Box) -> int:
    return box.x + (box.width - 1) // 2


def arrows(picture: Picture, role: Style) -> list[Arrow]:
    return [shape for shape in picture.shapes if isinstance(shape, Arrow) and shape.style is role]


def inputs(picture: Picture) -> list[str]:
    return [shape.lines[0][0].name for shape in picture.shapes if isinstance(shape, Box) and shape.style is Style.INPUT]  # type: ignore[union-attr]


def outputs(picture: Picture) -> list[str]:
    return [box.lines[0][0].name for box in circles(picture)]  # type: ignore[union-attr]


def circles(picture: Picture) -> list[Box]:
    """Return the circles of the outputs."""
    return [shape for shape in picture.shapes if isinstance(shape, Box) and shape.style is Style.OUTPUT and shape.round]


def expected_input(layer: Placed) -> str:
    """Return what must be beside the arrow into a layer."""
    if isinstance(layer.layer, Embedding):
        return f"1 of {layer.inputs:,}"
    extra = layer.layer.extra_inputs
    return f"{layer.inputs - extra:,}{f' + {extra:,}' if extra else ''}"


def expected_states(layer: Placed) -> list[str]:
    """Return the widths of a layer's states, of one direction, from its options."""
    cell = layer.layer
    if not isinstance(cell, Cell):
        return []
    shown = getattr(cell, "projection", None) or cell.units
    return [f"{letter} {shown if letter == 'h' else cell.units:,}" for letter in cell.states]


def arrows_into(picture: Picture, targets: list[Box]) -> list[Arrow]:
    """Return the arrows that run up into boxes."""
    below = {(box.x + across, box.y + box.height) for box in targets for across in range(box.width)}
    return [arrow for arrow in arrows(picture, Style.LAYER) if arrow.corners[-1] in below]


def beside(picture: Picture, up: list[Arrow]) -> set[str]:
    """Return what is beside arrows that run up."""
    places = {(x + 2, y) for arrow in up for x, y in cells_along(arrow.corners)}
    return {plain(shape.text) for shape in picture.shapes if isinstance(shape, Label) and (shape.x, shape.y) in places}


@given(network() | encoder_decoder())
def test_boxes_say_what_the_count_says(spec: Spec) -> None:
    """A box for each time that a layer is applied, with its own numbers in it; nothing overlaps.

    The last states of each recurrent layer of an encoder lead into the decoder's.
    """
    net = network_of(spec)
    picture = drawn(net)
    hold(picture)
    at_once = not net.decoder and fitting(1, net) is None  # one box reads all steps
    for layer in count(net).layers:
        uses = 1 if at_once else layer.uses
        applied = boxes(picture, layer.name)
        assert len(applied) == (uses if uses is not None else len(applied))
        for box in applied:
            assert box.lines[-1] == (f"{layer.params:,}",)
            kind = ("score", "head") if layer.kind == "decoder_attention" else (layer.kind,)
            assert any(word in str(box.lines[1][0]) for word in kind)
            assert layer.kind in ("external", "decoder_attention") or str(layer.units or "") in str(box.lines[1][0])
        into = arrows_into(picture, applied)
        context = net.decoder and net.decoder.attention  # beside what a layer would read without it
        assert context or beside(picture, into) == ({expected_input(layer)} if into else set())
    assert any(f"{net.params:,} parameter" in text for text in said(picture))
    widths = {label for label in said(picture) if re.fullmatch(r"[hc] [\d,]+", label)}
    assert widths == {label for layer in count(net).layers for label in expected_states(layer)}
    cells = [entry for entry in net.stack if entry.part == "decoder" and hasattr(entry.layer, "states")]
    started = {"all": len(cells), "last": 1, "zeros": 0}[net.decoder.initial_states] if net.decoder else 0
    for layer in cells[:started]:
        first = min(boxes(picture, layer.name), key=lambda box: box.x)
        into = [arrow for arrow in arrows(picture, Style.STATE) if arrow.corners[-1][0] == first.x - 1]
        assert [arrow for arrow in into if first.y < arrow.corners[-1][1] < first.y + first.height]


CROWDED: Spec = {
    "encoder": {"input": 1, "layers": [{"gru": 5, "bidirectional": True}, {"rnn": 1, "extra_inputs": 1}], "steps": 1},
    "decoder": {"input": 1, "layers": [{"gru": 10}, {"rnn": 1}], "steps": 1},
}
"""What goes over from the backward direction comes down where the words on the arrow above it are."""


@pytest.mark.broad
@given(network() | encoder_decoder())
@example(CROWDED)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_picture_keeps_within_its_width(width: int, spec: Spec) -> None:
    """On a narrow screen more steps are left out, and two halves are two pictures."""
    for picture in Drawing(network_of(spec)).pictures(width):
        hold(picture)
        assert picture.width <= width


@pytest.mark.broad
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_example_is_drawn(path: Path) -> None:
    """Every topology and every kind, as wide as it needs and on a usual screen.

    That has room for the first step and the last of each recurrent layer: the first states are left out rather than
    one of these. A network whose number of steps changes is drawn with one column for all of them.
    """
    net = load(path)
    for width in (None, 140, 80):
        pictures = Drawing(net).pictures(width)
        for picture in pictures:
            hold(picture)
            assert width is None or picture.width <= width
        starts = "Its first states are the last states of the encoder." in pictures[-1].description
        assert len(pictures) == 1 or not net.decoder or starts == (net.decoder.initial_states != "zeros")
    if any(isinstance(move, Window) for move in net.flow):
        return
    for layer in (placed for placed in net.stack if isinstance(placed.layer, Cell)):
        assert sum(len(boxes(picture, layer.name)) for picture in pictures) > 1 or layer.uses == 1


@pytest.mark.parametrize(
    ("topology", "steps", "read", "spoken"),
    [
        ("many-to-many", 3, "x_1 x_2 x_3", "y_1 y_2 y_3"),
        ("many-to-many", None, "x_1 x_2 x_T", "y_1 y_2 y_T"),
        ("many-to-one", 3, "x_1 x_2 x_3", "y_3"),
        ("many-to-one", None, "x_1 x_2 x_T", "y_T"),
        ("one-to-many", 3, "x_1", "y_1 y_2 y_3"),
        ("one-to-many", None, "x_1", "y_1 y_2 y_T"),
        ("one-to-one", None, "x", "y"),
    ],
)
def test_a_topology_reads_and_speaks_where_it_does(topology: Any, steps: int | None, read: str, spoken: str) -> None:
    """Inputs at one step or at all, outputs where the topology has them; of T steps, 1, 2 and T."""
    picture = drawn(Network(input=4, layers=(RNN(3),), output=1, steps=steps, topology=topology))
    assert (inputs(picture), outputs(picture)) == (read.split(), spoken.split())


def test_two_directions_run_against_each_other() -> None:
    """Three steps: two arrows back, one in from behind the last; and the first step's last state joins the output."""
    picture = drawn(Network(input=4, layers=(LSTM(3, bidirectional=True),), steps=3))
    back = [arrow for arrow in arrows(picture, Style.BACKWARD) if arrow.head]
    assert len(back) == 3
    assert all(arrow.corners[0][0] > arrow.corners[-1][0] for arrow in back)
    assert said(picture)["h_4, c_4"] == 1
    (joined,) = [arrow for arrow in arrows(picture, Style.BACKWARD) if not arrow.head]
    assert joined.corners[0][0] < boxes(picture, "lstm_1")[1].x < joined.corners[-1][0]
    for steps in (
        1,
        2,
    ):  # its two last states are one box's where there is one step, and are joined where there are two
        few = drawn(Network(input=1, layers=(RNN(1, bidirectional=True),), steps=steps))
        hold(few)
        assert len([arrow for arrow in arrows(few, Style.BACKWARD) if not arrow.head]) == steps - 1


@pytest.mark.parametrize(("steps", "left_out"), [(6, None), (7, "4 steps"), (200, "197 steps")])
def test_of_more_than_six_steps_the_middle_is_left_out(steps: int, left_out: str | None) -> None:
    """The first two and the last are drawn, and the picture says how many are not; with all of them it says nothing."""
    picture = drawn(Network(input=4, layers=(GRU(3),), steps=steps))
    texts = said(picture)
    assert inputs(picture) == ([f"x_{step}" for step in range(1, 7)] if steps == 6 else ["x_1", "x_2", f"x_{steps}"])
    assert texts[f"×{steps:,}, the same weights"] == 1
    assert [text for text in texts if "left out" in text] == ([f"{left_out} left out"] if left_out else [])
    for width in (60, 80, 100) if left_out else ():  # those drawn and those left out are all
        narrow = drawn(Network(input=4, layers=(GRU(3),), steps=steps), width)
        (text,) = [text for text in said(narrow) if "left out" in text]
        assert len(boxes(narrow, "gru_1")) + int(text.split()[0]) == steps


def test_the_first_states_stand_before_the_first_step() -> None:
    """h_0 and c_0, from which one arrow leads into the first box."""
    picture = drawn(Network(input=4, layers=(LSTM(3),), steps=2))
    (start,) = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.style is Style.STATE]
    assert plain(start.lines[0]) == "h_0, c_0"
    first = arrows(picture, Style.STATE)[0]
    assert first.corners[0] == (start.x + start.width, start.y)
    assert first.corners[-1][0] + 1 == boxes(picture, "lstm_1")[0].x


def test_of_unknown_steps_the_backward_direction_comes_from_behind_the_last() -> None:
    """T + 1; without an output layer, what is output are the states."""
    many = drawn(Network(input=4, layers=(RNN(3, bidirectional=True),), topology="many-to-many"))
    assert outputs(many) == ["h_1", "h_2", "h_T"]
    assert {"h_(T+1)", "×T, the same weights"} <= {*said(many)}


@pytest.mark.parametrize("layers", [12, 13, 1_000])
def test_of_more_than_twelve_layers_the_middle_is_left_out(layers: int) -> None:
    """And the picture says how many and how many parameters they have."""
    net = Network(input=4, layers=(GRU(4, repeat=layers),), steps=2)
    picture = drawn(net)
    hold(picture)
    names = {box.lines[0][0] for box in picture.shapes if isinstance(box, Box) and box.style is Style.LAYER}
    if layers == 12:
        assert len(names) == 12
        return
    assert names == {*(f"gru_{n}" for n in range(1, 7)), *(f"gru_{n}" for n in range(layers - 4, layers + 1))}
    (text,) = [text for text in said(picture) if "layers left out" in text]
    assert re.sub(r"\D", "", text) == str(layers - 11)
    assert said(picture)[f"{(layers - 11) * 3 * 4 * 9:,} parameters"] == 1


@pytest.mark.parametrize("repeat", [1, 998])
def test_many_steps_are_not_walked(repeat: int) -> None:
    """10^12 steps make no more shapes than seven, whatever the layers."""

    def shapes(steps: int) -> int:
        layers = (Embedding(4), LSTM(4, bidirectional=True, repeat=repeat), RNN(2))
        return len(drawn(Network(input=9, layers=layers, output=Output(1), steps=steps)).shapes)

    assert shapes(10**12) == shapes(7) < 400


def test_extra_inputs_and_tokens_are_told() -> None:
    """What joins from elsewhere is added on the arrow, and a token is one of the vocabulary."""
    layers = (Embedding(5), RNN(3, extra_inputs=2))
    texts = said(drawn(Network(input=1000, layers=layers, steps=2)))
    assert (texts["1 of 1,000"], texts["5 + 2"]) == (1, 1)


@pytest.mark.parametrize(("kind", "score"), [("dot scores", {"score": "dot"}), ("2 heads", {"heads": 2})])
@pytest.mark.parametrize("query", ["before", "after"])
@pytest.mark.parametrize(("context", "reader", "widths"), [("input", "gru_2", {"4", "6"}), ("output", "output", {"6"})])
def test_attention_is_drawn_where_its_context_joins(
    query: Any, context: Any, reader: str, widths: set[str], kind: str, score: Any
) -> None:
    """The context's 6 numbers are beside the 4 of the input, or the 6 of the output, which run past its box.

    Each box reads the encoder's outputs, and a state from before its step or the output of the box below.
    """
    attention = DecoderAttention(query=query, context=context, **score)
    halves = Part(5, (GRU(6),), steps=2), Part(4, (GRU(6),), Output(2), 3, attention)
    picture = drawn(Network(encoder=halves[0], decoder=halves[1]))
    hold(picture)
    attends, into = boxes(picture, "attention"), arrows_into(picture, boxes(picture, reader))
    assert attends[0].lines[1] == (kind,)
    assert (len(into), beside(picture, into)) == (6, widths)
    sides = {(box.x - 1, box.y + line) for box in attends for line in range(box.height)}
    reads = [sum(arrow.corners[-1] in sides for arrow in arrows(picture, each)) for each in (Style.LAYER, Style.STATE)]
    below = 3 * (query == "after" and context == "output")
    assert [*reads, len(arrows_into(picture, attends))] == [3, 3 - below, below]


@pytest.mark.parametrize("units", [6, 1_024])
@pytest.mark.parametrize(("query", "reader", "side"), [("before", "output", 1), ("after", "gru_3", 0)])
def test_a_context_that_joins_twice_runs_past_the_layers_between(
    query: Any, reader: str, side: int, units: int
) -> None:
    """Into the right side of the output of its step, or into the left side of the first recurrent layer of the next.

    At every width nothing overlaps, also where the encoder has two directions and large numbers are beside arrows.
    """
    encoder = Part(5, (GRU(units), GRU(units // 2, bidirectional=True)), steps=3)
    attention = DecoderAttention(query=query, context="both")
    one, net = (
        Network(encoder=encoder, decoder=Part(4, (GRU(units),) * 2, Output(2), steps, attention)) for steps in (1, 3)
    )
    for width in (80, 140, None):
        for picture in Drawing(net).pictures(width):
            hold(picture)
    reads = boxes(picture, reader)
    beside = {(box.x + box.width if side else box.x - 1, box.y + box.height - 2) for box in reads}
    ends = [arrow.corners[-1] for arrow in arrows(picture, Style.LAYER)]
    assert len(reads) == 3
    assert sum(end in beside for end in ends) == 2 + side
    widths = [said(each)[f"{units:,}"] for each in (drawn(one), picture)]
    assert widths[1] - widths[0] == 1 - side  # one less where no step is next


def test_one_layer_alone() -> None:
    """It is drawn by itself, with its own parameters, under its own name."""
    net = Network(input=4, layers=(RNN(3), GRU(5, repeat=4)), output=Output(1), steps=3)
    first, second = Drawing(net, only=("gru_3", "rnn_1")).pictures()
    assert said(first) >= Counter({"gru_3": 3, "gru 5": 3, "165": 3, "many-to-one, 3 steps; 165 parameters": 1})
    assert len(boxes(second, "rnn_1")) == 3
    assert not boxes(second, "gru_3")


def test_recurrent_layers_that_meet_stand_beside_each_other() -> None:
    """Though a half has a layer more below them: the arrow between them is straight."""
    encoder = Part(9, (Embedding(4), LSTM(3), LSTM(5)), steps=2)
    picture = drawn(Network(encoder=encoder, decoder=Part(4, (LSTM(3), LSTM(5)), Output(1), steps=2)))
    hold(picture)
    for giving, taking in (("lstm_1", "lstm_3"), ("lstm_2", "lstm_4")):
        assert {box.y for box in boxes(picture, giving)} == {box.y for box in boxes(picture, taking)}


@pytest.mark.parametrize("steps", [1, 2, 5, 9, None])
def test_what_is_fed_back_runs_to_the_next_step(steps: int | None) -> None:
    """From the output of each step that is drawn to the box of the next, around all between."""
    layers = (LSTM(16), GRU(5))
    net = Network(input=4, layers=layers, output=4, steps=steps, topology="one-to-many", feedback=True)
    picture = drawn(net)
    hold(picture)
    applied = boxes(picture, "lstm_1")
    bottoms = {box.y + box.height for box in applied}
    ends = [arrow.corners[-1] for arrow in arrows(picture, Style.OUTPUT) if arrow.corners[-1][1] in bottoms]
    assert [x for x, _ in ends] == [middle(box) for box in applied[1:]]
    starts = [arrow.corners[0] for arrow in arrows(picture, Style.OUTPUT)]
    assert {(box.x + box.width, box.y) for box in circles(picture)[:-1]} <= {*starts}
    plain = Network(input=4, layers=layers, output=4, steps=steps, topology="one-to-many")
    assert not arrows(drawn(plain), Style.OUTPUT)


def test_a_layer_that_is_called_output_is_drawn_as_a_layer() -> None:
    """What a box is follows from the layer, and not from what a stranger calls it."""
    named = Network(input=2, layers=[RNN(4), Dense(3, name="output")], steps=2)
    assert {box.style for box in boxes(drawn(named), "output")} == {Style.LAYER}
    assert {box.style for box in boxes(drawn(Network(2, [RNN(4)], 3, steps=2)), "output")} == {Style.OUTPUT}
