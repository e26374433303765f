"""What a picture says, read back from each format; names stay text in all of them; characters that a terminal has."""

import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from conftest import written
from hypothesis import given
from pictured import SVG, bare, hold, said, svg_texts, tikz_texts
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, Embedding, FastGRNN, MinLSTM, Network, Output
from rnncalc.formats.svg import element
from rnncalc.formats.text import drawn
from rnncalc.formats.tikz import environment
from rnncalc.layers.layer import Layer
from rnncalc.pictures.picture import PAGE, Arrow, Box, Dot, Label, Picture, Shape, Style, columns, stacked
from rnncalc.printable import escape
from rnncalc.reports.draw import VIEWS, Drawing

HOSTILE = [
    "<script>alert(1)</script>",
    "]]>&amp;--><!--",
    r"\input{/etc/passwd}$x^2$%#~",
    "a\u202eb\x1b[31mc\nd\x00",
    "}\\end{document}",
    "\u5b57\u5b57\u5b57",
    "W" * 200,
    "' onload='x",
]
SMALL = {"input": 3, "steps": 3, "output": 1}


def pictures(net: Network) -> list[Picture]:
    return [picture for view in VIEWS for picture in Drawing(net, view).pictures(PAGE)]


def read_back(picture: Picture) -> None:
    """Assert that each text of a picture is in SVG and TikZ as often, and in characters at least as often."""
    texts = said(picture)
    assert bare(svg_texts(element(picture))) == bare(tikz_texts(environment(picture))) == bare(texts)
    text = "\n".join(drawn(picture))
    for label, times in texts.items():  # one may be a part of another
        assert text.count(label) >= times, label


@given(network() | encoder_decoder())
def test_every_label_is_read_back(spec: Spec) -> None:
    """From the picture of any network."""
    (picture,) = Drawing(network_of(spec)).pictures()
    read_back(picture)


@pytest.mark.parametrize(
    "layer", [LSTM(3, peepholes=True, projection=2), GRU(3, reset_after=True), MinLSTM(3), FastGRNN(3)]
)
def test_every_label_of_a_cell_is_read_back(layer: Layer) -> None:
    """Signs and Greek letters too."""
    (picture,) = Drawing(Network(input=4, layers=(layer,)), "cell").pictures()
    read_back(picture)


@pytest.mark.parametrize("view", VIEWS)
def test_a_file_says_its_size_where_svg_has_it(view: str) -> None:
    """Width and height are those of the view box, in pixels, and no style is in their place.

    They are presentation attributes (SVG 2, 7.8), which any declaration of CSS overrides; `auto` is then the size of a
    window, and CairoSVG, which has none, draws nothing.
    """
    (picture,) = Drawing(Network(input=4, layers=(LSTM(3),), steps=3), view).pictures()
    root = ET.fromstring(element(picture))
    size = [float(root.attrib["width"]), float(root.attrib["height"])]
    assert size == [float(number) for number in root.attrib["viewBox"].split()[2:]]
    assert min(size) > 100
    styles = " ".join([*(node.text or "" for node in root.iter(f"{SVG}style")), root.get("style", "")])
    declared = set(re.findall(r"[{;]\s*([a-z-]+)\s*:", styles))
    assert "font" in declared
    assert not [name for name in declared if re.fullmatch("((max|min)-)?(width|height|inline-size|block-size)", name)]


def test_several_pictures_are_one_element() -> None:
    """A file of SVG holds one; below each other, nothing overlaps, and each label is there as often as in all."""
    net = Network(input=4, layers=(LSTM(3), GRU(2)))
    text = written(Drawing(net, "cell"), "svg")
    counted = [said(picture) for picture in Drawing(net, "cell").pictures(PAGE)]
    assert len(counted) == 2
    assert bare(svg_texts(text)) == bare(counted[0] + counted[1])
    hold(stacked(Drawing(net, "cell").pictures(PAGE)))


@pytest.mark.broad
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    """Of a network or a layer: no element, command, comment or control character comes of them."""
    net = Network(input=3, layers=(GRU(2, name=name),), output=Output(1), steps=3, name=name)
    for picture in pictures(net):
        text = element(picture)
        root = ET.fromstring(text)
        tags = {node.tag.removeprefix(SVG) for node in root.iter()}
        known = {"svg", "title", "desc", "style", "rect", "text", "tspan", "polyline", "polygon", "circle"}
        assert tags <= known
        assert not [key for node in root.iter() for key in node.attrib if key.startswith("on")]
        for shown in (text, *drawn(picture), *drawn(picture, "ascii")):
            assert not {char for char in shown if not char.isprintable() and char != "\n"}
        assert "\\input" not in environment(picture)
        assert r"\end{document}" not in environment(picture)
        assert environment(picture).isascii()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_read_back_as_every_format_writes_it(name: str) -> None:
    """Escaped where it would act, cut where it is long, and otherwise as it is."""
    (picture,) = Drawing(Network(input=3, layers=(GRU(2, name=name),), steps=3)).pictures()
    shown = [text for text, times in svg_texts(element(picture)).items() if times == 3 and not text.isdecimal()]
    (label,) = [text for text in shown if text != "gru 2" and text != "⋯"]
    assert escape(name, 500).startswith(label.removesuffix("…"))
    assert label.endswith("…") == (label != escape(name, 500))


def test_svg_is_self_contained() -> None:
    """A title and a description, for both schemes, and neither script nor anything from elsewhere."""
    for picture in pictures(network_of(SMALL | {"layers": [{"lstm": 2}]})):
        text = element(picture)
        root = ET.fromstring(text)
        title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
        assert title is not None
        assert desc is not None
        assert picture.title == title.text
        assert picture.description == desc.text
        assert [*root].index(title) == 0
        assert "prefers-color-scheme:dark" in text
        assert not re.search(r"script|href|url\(|@import|<image", text)
        assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_tikz_asks_for_standard_libraries_alone() -> None:
    """Those that come with it, and packages of every installation."""
    text = written(Drawing(network_of(SMALL | {"layers": [{"gru": 2}]})), "tikz")
    assert re.findall(r"\\(?:usepackage|usetikzlibrary)(?:\[.*?\])?\{(.*?)\}", text) == ["amsmath,tikz", "arrows.meta"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_terminal_gets_characters_that_it_has(encoding: str, view: str) -> None:
    """And the picture keeps its shape: each is in the same cell."""
    layers = (Embedding(4), LSTM(3, bidirectional=True, name="\u5b57x\u00e9"))
    (picture,) = Drawing(Network(input=9, layers=layers, output=Output(1), steps=9), view).pictures(80)
    lines, encodable = drawn(picture), drawn(picture, encoding)
    "\n".join(encodable).encode(encoding)
    assert [*map(columns, encodable)] == [*map(columns, lines)]
    assert ("─" in "".join(encodable)) == (encoding == "utf-8")


def test_powers_of_ten_keep_their_meaning_in_plain_characters() -> None:
    """As wide as raised digits, and read as one number."""
    (picture,) = Drawing(Network(input=9, layers=(GRU(9),), steps=10**9), "growth").pictures()
    marks = [re.sub(r"\s.*", "", line.strip()) for line in drawn(picture) if " ┼" in line]
    encodable = [re.sub(r"\s.*", "", line.strip()) for line in drawn(picture, "latin-1") if " +" in line]
    assert any(mark.startswith("10¹") for mark in marks)
    lowered = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    assert [mark if mark.isascii() else f"1e{mark[2:].translate(lowered)}" for mark in marks] == encodable


BOXES = [Box(x, 0, 5, 3, (("a",),), Style.LAYER) for x in (0, 8)]
LINES = (Arrow(((0, 1), (4, 1)), Style.STATE, head=False), Arrow(((2, 0), (2, 2)), Style.STATE, head=False))
CIRCLE = Box(0, 0, 7, 1, (("abcd",),), Style.OUTPUT, round=True)


@pytest.mark.parametrize(
    ("shapes", "encoding", "lines"),
    [
        ((*BOXES, Arrow(((5, 1), (7, 1)), Style.STATE)), "utf-8", "┌───┐   ┌───┐\n│ a ├──►│ a │\n└───┘   └───┘"),
        ((*BOXES, Arrow(((5, 1), (7, 1)), Style.STATE)), "ascii", "+---+   +---+\n| a +-->| a |\n+---+   +---+"),
        (LINES, "utf-8", "  │\n──┼──\n  │"),  # where there is no dot they cross
        ((*LINES, Dot(2, 1)), "utf-8", "  │\n──●──\n  │"),
        ((CIRCLE, Arrow(((7, 0), (9, 0)), Style.OUTPUT)), "utf-8", "(abcd)───►"),  # on to the bracket of narrow text
        ((CIRCLE, Arrow(((9, 0), (7, 0)), Style.OUTPUT)), "utf-8", "(abcd)◄───"),
    ],
)
def test_a_picture_in_characters(shapes: tuple[Shape, ...], encoding: str, lines: str) -> None:
    """By hand."""
    assert "\n".join(drawn(Picture("", "", 13, lines.count("\n") + 1, shapes), encoding)) == lines


def test_wide_characters_take_two_cells() -> None:
    """What is after them is where it would be behind two others."""
    wide, plain = (
        Picture("", "", 9, 1, (Label(0, 0, (name,), Style.NOTE), Label(6, 0, ("|",), Style.NOTE)))
        for name in ("\u5b57\u5b57", "abcd")
    )
    assert columns(drawn(wide)[0]) == columns(drawn(plain)[0]) == 7


def test_a_page_holds_the_picture() -> None:
    """With its title, and nothing from elsewhere."""
    text = written(Drawing(Network(input=3, layers=(GRU(2),), steps=3, name="<b>x</b>")), "html")
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>&lt;b&gt;x&lt;/b&gt;, unrolled in time</title>" in text
    assert Counter(re.findall(r"<svg|<script|<b>", text)) == {"<svg": 1}
