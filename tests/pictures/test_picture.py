"""A picture is its shapes in a frame: with a title and a legend, or bare."""

from pictured import hold, said

from rnncalc import load
from rnncalc.pictures.picture import Box, Label, Style
from rnncalc.reports.draw import VIEWS, Drawing


def test_a_bare_picture_is_the_picture_without_words_around_it() -> None:
    """Neither title nor legend; who cannot see it still has both."""
    net = load("specs/lstm.yaml")
    for view in VIEWS:
        (whole,), (bare,) = Drawing(net, view).pictures(), Drawing(net, view, bare=True).pictures()
        hold(bare)
        assert (bare.title, bare.description) == (whole.title, whole.description)
        assert said(bare) < said(whole)
        assert not [shape for shape in bare.shapes if isinstance(shape, Label) and shape.style is Style.HEADING]
        assert bare.height < whole.height
        tops = [shape.y for shape in bare.shapes if isinstance(shape, Box | Label)]
        assert min(tops) == 0
