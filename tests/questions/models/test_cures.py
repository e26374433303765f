"""The cures of `check --model`, followed as a user would: they give a spec that passes."""

import pytest
from hypothesis import example, given, note, settings
from questions.models.made import cell, file, linear, module
from questions.models.nearby import checked, followed, nearby
from strategies import Spec

from rnncalc.errors import SpecError
from rnncalc.modelfiles.model import ModelFile

CASES = given(nearby())
RNN_LAYERS = 3
NORM_BELOW_AN_EXTERNAL: tuple[Spec, ModelFile] = (
    {
        "convention": "pytorch",
        "input": 1,
        "layers": [
            {"embedding": 1},
            *({"rnn": 1} for _ in range(RNN_LAYERS)),
            {"layer_norm": None, "bias": False},
            {"external": 1, "path": "l4"},
        ],
    },
    file(
        "pytorch",
        module("emb0", {"weight": (1, 1)}),
        *(module(f"l{number + 1}", cell(1, 1, 1)) for number in range(RNN_LAYERS)),
        module("l4", {"weight": (1,)}),
        module("l5", {"other": (1,)}),
        ordered=False,
    ),
)
"""A norm without a bias is a vector like any other in a file, and an external layer has its path."""

ATTENDING: tuple[Spec, ModelFile] = (
    {
        "convention": "pytorch",
        "encoder": {"input": 8, "layers": [{"gru": 5}]},
        "decoder": {"input": 9, "layers": [{"gru": 5}], "attention": {"units": 3}, "output": 2},
    },
    file(
        "pytorch",
        *(
            module("enc", cell(3, 8, 6)),
            module("attention.query", linear(6, 9)),
            module("attention.keys", linear(6, 9)),
        ),
        module("attention.score", linear(9, 1)),
        *(module("dec", cell(3, 7 + 6, 6)), module("fc", linear(6, 4))),
    ),
)
"""Cells, an input and an output of other widths on both sides of a decoder's attention of other units."""


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


@pytest.mark.broad
@CASES
@example(NORM_BELOW_AN_EXTERNAL)
@example(ATTENDING)
def test_a_cure_that_is_followed_gives_a_spec_that_passes(case: tuple[Spec, ModelFile]) -> None:
    """Whatever the network of the file has otherwise: widths, options, kinds, layers, their order and names."""
    hold(case)


@pytest.mark.slow
@settings(max_examples=200)
@CASES
def test_a_cure_gives_a_spec_that_passes_in_hundreds_of_cases(case: tuple[Spec, ModelFile]) -> None:
    """The same."""
    hold(case)
