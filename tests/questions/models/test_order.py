"""The order of layers in a file that sorts them by their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions.models.made import Shapes, cell, file, linear, module, stacked

from rnncalc.questions.models.order import in_chain
from rnncalc.questions.models.site import sites_of

TABLE = {"weight": (20, 4)}
NORM = {"weight": (4,), "bias": (4,)}


def ordered(modules: dict[str, Shapes]) -> list[tuple[str, int]]:
    """Return the paths and numbers of sites in their order, those of the file sorted by the names of its modules."""
    sites = sites_of(file("pytorch", *(module(path, modules[path]) for path in sorted(modules))))
    found = in_chain(sites)
    assert sorted(map(id, found)) == sorted(map(id, sites))
    return [(site.path, site.number) for site in found]


@given(st.data())
def test_a_chain_of_widths_is_found_under_any_names(data: st.DataObject) -> None:
    """Where each width is read once, the order of the names does not matter."""
    widths = data.draw(st.lists(st.integers(1, 50), min_size=3, max_size=6, unique=True))
    paths = data.draw(st.permutations(["a", "b", "c", "d", "e"]))[: len(widths) - 1]
    chain = zip(paths, widths, widths[1:], strict=False)
    modules: dict[str, Shapes] = {path: cell(4, inputs, units) for path, inputs, units in chain}
    assert ordered(modules) == [(path, 0) for path in paths]


@pytest.mark.parametrize(
    ("modules", "paths"),
    [
        ({"decoder_rnn": cell(4, 6, 4), "encoder_rnn": cell(4, 3, 6)}, ["encoder_rnn", "decoder_rnn"]),
        ({"a": cell(4, 3, 3), "b": cell(4, 3, 3)}, ["a", "b"]),  # each reads what the other hands on
        ({"a": cell(4, 5, 6), "b": cell(4, 3, 4)}, ["a", "b"]),  # neither does
        ({"a": cell(4, 4, 4), "word_emb": TABLE}, ["word_emb", "a"]),
        ({"fc": linear(6, 6), "rnn": cell(4, 3, 6)}, ["rnn", "fc"]),
        ({"a": cell(4, 6, 6), "fc": linear(6, 6), "z": cell(4, 6, 6)}, ["a", "z", "fc"]),
        ({"a": cell(4, 3, 6), "model.head": linear(6, 4), "z": cell(4, 5, 5)}, ["a", "z", "model.head"]),
        ({"a": cell(4, 3, 6), "headroom": linear(6, 4), "z": cell(4, 5, 5)}, ["a", "headroom", "z"]),
        ({"a": cell(4, 3, 6), "fc1": linear(5, 2), "fc2": linear(6, 5)}, ["a", "fc2", "fc1"]),
        ({"a": cell(4, 9, 2), "b": cell(4, 3, 6), "c": linear(6, 9)}, ["b", "c", "a"]),
        ({"a": cell(4, 3, 6), "b": cell(4, 7, 7), "c": cell(4, 6, 7)}, ["a", "c", "b"]),
        ({"a": cell(4, 3, 6), "b": cell(4, 5, 2), "c": cell(4, 6, 9)}, ["a", "c", "b"]),
        ({"a": cell(4, 9, 4), "word_emb": TABLE}, ["word_emb", "a"]),
        ({"fc": NORM, "z": cell(4, 3, 4)}, ["z", "fc"]),
        ({"a": NORM, "b": cell(4, 6, 4), "c": cell(4, 3, 6)}, ["c", "b", "a"]),
        ({"a": cell(4, 3, 6), "b": NORM, "c": cell(4, 6, 2)}, ["a", "c", "b"]),
        ({"a": NORM, "b": NORM}, ["a", "b"]),
    ],
)
def test_each_reads_what_the_one_before_hands_on(modules: dict[str, Shapes], paths: list[str]) -> None:
    """Tables first, outputs last, and the names where widths leave a choice, or fit nowhere."""
    assert ordered(modules) == [(path, 0) for path in paths]


def test_layers_of_a_module_stay_together() -> None:
    """Though another reads the same width, or the module's own next one another."""
    same = {"a": cell(4, 6, 6), "b": stacked(3, 6, 6, 6)}
    assert ordered(same) == [("b", 0), ("b", 1), ("b", 2), ("a", 0)]
    torn: dict[str, Shapes] = {"a": {**cell(4, 3, 6), **cell(4, 8, 5, number=1)}, "b": cell(4, 6, 8)}
    assert ordered(torn) == [("a", 0), ("a", 1), ("b", 0)]


def test_no_layer_stands_before_the_one_it_is_stacked_on() -> None:
    """Even where that one is none that is known: it is a layer of the same module."""
    broken = {**cell(4, 9, 3), **cell(4, 3, 3, number=1), "bias_hh_l0": (1,)}
    assert ordered({"a": broken, "b": cell(4, 3, 7)}) == [("a", 0), ("a", 1), ("b", 0)]
