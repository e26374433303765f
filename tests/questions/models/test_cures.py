"""The cures of `check --model`, followed as a user would: they give a spec that passes."""

import pytest
from hypothesis import given, note, settings
from questions.models.made import Shapes, cell, file, module
from questions.models.nearby import checked, followed, nearby
from strategies import Spec

from rnncalc.errors import SpecError
from rnncalc.modelfiles.model import ModelFile

CASES = given(nearby())


def hold(case: tuple[Spec, ModelFile]) -> None:
    """Follow the cures of a spec, once, after the paths that are asked for; the spec then passes.

    A path cannot be asked for in one case, which the message says, and a file of another network is drafted anew.
    """
    spec, model = case
    note(f"ordered: {model.ordered}; " + ", ".join(f"{each.name} {each.shape}" for each in model.tensors))
    way = followed(spec, model)
    result = checked(way[-1], model)
    if isinstance(result, SpecError):
        assert "a spec has no path for what computes an initial_state" in str(result), way
    else:
        assert result.kept or result.another_network, way


def test_what_is_below_the_path_of_an_external_layer_is_added_to_that_layer() -> None:
    """A norm without a bias looks like any vector of the file; the spec has an external layer at its path."""
    rnn = cell(1, 3, 2)
    modules: dict[str, Shapes] = {"rnn": rnn, "norm": {"weight": (2,)}, "other": {"scale": (1,)}}
    model = file("pytorch", *(module(path, shapes) for path, shapes in modules.items()), ordered=False)
    layers = [{"rnn": 2}, {"layer_norm": None, "bias": False}, {"external": 1, "path": "norm"}]
    hold(({"convention": "pytorch", "input": 3, "layers": layers}, model))


@CASES
def test_a_cure_that_is_followed_gives_a_spec_that_passes(case: tuple[Spec, ModelFile]) -> None:
    """Whatever the network of the file has otherwise: widths, options, kinds, layers, their order and names."""
    hold(case)


@pytest.mark.slow
@settings(max_examples=3_000)
@CASES
def test_a_cure_gives_a_spec_that_passes_in_thousands_of_cases(case: tuple[Spec, ModelFile]) -> None:
    """The same."""
    hold(case)
