"""What is wrong with a network that is made in Python: each problem with the path that it would have in a spec."""

from typing import Any

import pytest

import rnncalc
from rnncalc import LSTM, RNN, Dense, Embedding, Expect, Network, Output, Part, SpecError
from rnncalc.errors import Path

UNTYPED: Any = rnncalc
Half: Any = Part  # layers in a list, and pieces of the wrong type, are what is tested
ENCODER = Half(input=3, layers=[RNN(4)])
DECODER = Half(input=2, layers=[RNN(4)], output=Output(2))
GAVE_UNITS = "expected an Output, or its units, got"


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (
            {},
            [
                (("input",), "missing; give the number of features per step, or the vocabulary of an embedding"),
                (("layers",), "missing; give at least one layer"),
            ],
        ),
        (
            {"input": 3, "layers": [RNN(4)], "topology": "one-to-one", "steps": 2},
            [(("steps",), "one-to-one has 1 step, got 2; remove steps, or choose another topology")],
        ),
        (
            {"input": 3, "layers": [RNN(4), "lstm", LSTM(2), 5], "output": "2"},
            [
                (("layers", 1), "expected a layer, such as LSTM(20), got 'lstm'"),
                (("layers", 3), "expected a layer, such as LSTM(20), got 5"),
                (("output",), f"{GAVE_UNITS} '2'"),
            ],
        ),
        ({"input": 3, "layers": "rnn:4"}, [(("layers",), "expected a list of layers, got 'rnn:4'")]),
        ({"input": 3, "layers": 4, "output": True}, [(("layers",), "expected a list of layers, got 4")]),
        ({"input": 3, "layers": [RNN(4)], "output": True}, [(("output",), f"{GAVE_UNITS} True")]),
        (
            {"encoder": 5, "decoder": Half(input=3, layers=[RNN(4), 6], output=2.5)},
            [
                (("encoder",), "expected a Part, got 5"),
                (("decoder", "layers", 1), "expected a layer, such as LSTM(20), got 6"),
                (("decoder", "output"), f"{GAVE_UNITS} 2.5"),
            ],
        ),
    ],
)
def test_what_is_missing_or_of_another_type(given: dict[str, Any], problems: list[tuple[Path, str]]) -> None:
    """All of it at once, each at its place."""
    assert told(given) == problems


def told(given: dict[str, Any]) -> list[tuple[Path, str]]:
    with pytest.raises(SpecError) as caught:
        Network(**given)
    return [(problem.path, problem.message) for problem in caught.value.problems]


BESIDE = "does not apply beside encoder and decoder; move it into one of them"


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (
            {"encoder": ENCODER, "decoder": DECODER, "input": 3, "layers": [RNN(4)], "output": 2, "steps": 5},
            [((key,), BESIDE) for key in ("input", "layers", "output", "steps")],
        ),
        (
            {"encoder": ENCODER._replace(output=Output(1)), "decoder": DECODER, "topology": "many-to-one"},
            [
                (("topology",), "does not apply to an encoder-decoder, which is a topology of its own; remove it"),
                (("encoder", "output"), "only the decoder has an output; move it there"),
            ],
        ),
        (
            {"encoder": ENCODER},
            [(("decoder",), "missing; an encoder-decoder has both halves")],
        ),
        (
            {"decoder": DECODER._replace(layers=[Dense(4)])},
            [
                (("encoder",), "missing; an encoder-decoder has both halves"),
                (("decoder", "layers"), "the decoder needs a recurrent layer: its state joins the halves"),
            ],
        ),
        (
            {"encoder": ENCODER, "decoder": DECODER._replace(input=0, steps=-1, layers=[RNN(0)])},
            [
                (("decoder", "steps"), "expected a positive whole number, got -1"),
                (("decoder", "input"), "expected a positive whole number, got 0"),
                (("decoder", "layers", 0, "units"), "expected a positive whole number, got 0"),
            ],
        ),
        ({"decoder": DECODER._replace(input=0)}, [(("decoder", "input"), "expected a positive whole number, got 0")]),
    ],
)
def test_what_is_wrong_with_two_halves(given: dict[str, Any], problems: list[tuple[Path, str]]) -> None:
    """What stands beside them, what one of them lacks, and values out of range, which are told alone."""
    assert told(given) == problems


COUNT = "expected a whole number, 0 or more, got"


@pytest.mark.parametrize(
    ("asked", "problems"),
    [
        ({"expect": 5}, [(("expect",), "expected an Expect, such as Expect(total=1600), got 5")]),
        (
            {"expect": Expect(total=True, held=-1)},
            [(("expect", "total"), f"{COUNT} True"), (("expect", "held"), f"{COUNT} -1")],
        ),
        ({"expect": UNTYPED.Expect(layers=5)}, [(("expect", "layers"), "expected a list of counts, got 5")]),
        ({"expect": UNTYPED.Expect(layers=["44"])}, [(("expect", "layers", 0), f"{COUNT} '44'")]),
        (
            {"expect": UNTYPED.Expect(tensors=5)},
            [(("expect", "tensors"), "expected shapes by the names of layers and tensors, got 5")],
        ),
        (
            {"expect": UNTYPED.Expect(tensors={"rnn_1": 5})},
            [(("expect", "tensors", "rnn_1"), "expected shapes by the names of tensors, got 5")],
        ),
        (
            {"expect": Expect(tensors={"rnn_1": {"W_xh": (4, -3)}})},
            [(("expect", "tensors", "rnn_1", "W_xh"), "expected a shape, such as (20, 10), got (4, -3)")],
        ),
        (
            {"budget": {"max_params": 5}},
            [(("budget",), "expected a Budget, such as Budget(max_params=10**6), got {'max_params': 5}")],
        ),
        ({"training": 5}, [(("training",), "expected an Update, such as Update(chunk=35), got 5")]),
    ],
)
def test_what_cannot_be_asked_of_a_network(asked: dict[str, Any], problems: list[tuple[Path, str]]) -> None:
    """Of another type than what is asked with, or no numbers and no shapes within it."""
    assert told({"input": 3, "layers": [RNN(4)], **asked}) == problems


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"layers": [UNTYPED.LSTM(4, bias=None)]}, ("layers", 0, "bias")),
        ({"layers": [UNTYPED.LSTM(None)]}, ("layers", 0, "units")),
        ({"layers": [UNTYPED.LSTM(4, repeat=None)]}, ("layers", 0, "repeat")),
        ({"layers": [UNTYPED.LSTM(4, extra_inputs=None)]}, ("layers", 0, "extra_inputs")),
        ({"output": UNTYPED.Output(None)}, ("output", "units")),
        ({"convention": None}, ("convention",)),
        ({"convention": ["keras"]}, ("convention",)),
        ({"feedback": None}, ("feedback",)),
        ({"name": None}, ("name",)),
    ],
)
def test_nothing_is_a_value_only_where_it_is_one_by_default(given: dict[str, Any], path: Path) -> None:
    """None stands for no name of a layer and no projection, but for no switch and no size."""
    ((found, message),) = told({"input": 3, "layers": [LSTM(4, name=None, projection=None)], **given})
    assert found == path
    assert message.startswith("expected ")
    half = UNTYPED.Part(None, (RNN(4),))
    assert told({"encoder": half, "decoder": DECODER})[0][0] == ("encoder", "input")


def test_an_output_has_a_name_of_its_own_and_stands_alone() -> None:
    """What it does not take it refuses, as a spec does."""
    cure = "does not apply to the output layer; make it a dense layer, or remove this"
    for option, value in (("name", "head"), ("repeat", 2), ("extra_inputs", 3)):
        output = UNTYPED.Output(2, **{option: value})
        assert told({"input": 3, "layers": [RNN(4)], "output": output}) == [(("output", option), cure)]
    assert Output.options() == ("bias", "activation", "tied", "frozen", "path")


def test_an_embedding_stands_first() -> None:
    """Each that does not is told, repeated ones by their place."""
    layers = [RNN(4), Embedding(3), Embedding(3), RNN(2)]
    message = "an embedding must be the first layer: it looks up token numbers; move it there"
    assert told({"input": 9, "layers": layers}) == [(("layers", place, "embedding"), message) for place in (1, 2)]
    assert told({"input": 9, "layers": [Embedding(3)] * 2}) == [(("layers", 1, "embedding"), message)]
    half = Half(input=9, layers=[Embedding(3), RNN(4), Embedding(3)], output=2)
    assert told({"encoder": ENCODER, "decoder": half}) == [(("decoder", "layers", 2, "embedding"), message)]


@pytest.mark.parametrize("path", [(), ("decoder",)])
def test_a_tied_output_fits_its_table(path: Path) -> None:
    """One problem for each side, with how far off it is; without a table the other way out."""
    for layers, width, units, gaps in (([Embedding(3), RNN(5)], 5, 7, [-2, 2]), ([RNN(4)], 4, 9, [None])):
        part = Half(input=9, layers=layers, output=Output(units, tied=True))
        given = {"encoder": Half(2, [RNN(width)]), "decoder": part} if path else part._asdict()
        with pytest.raises(SpecError) as caught:
            Network(**given)
        problems = caught.value.problems
        assert [problem.path for problem in problems] == [(*path, "output", "tied")] * len(gaps)
        assert [problem.gaps for problem in problems] == [() if gap is None else (gap,) for gap in gaps]
        assert all(problem.follows for problem in problems)
        assert [problem.message for problem in problems] == (
            [
                "the output must be as wide as the embedding's vocabulary, 9, got 7",
                "the last layer must hand on the embedding's width, 3, got 5; add a projection or a dense layer",
            ]
            if len(gaps) == 2
            else ["needs an embedding as the first layer, whose matrix it shares; add one, or remove tied"]
        )


def test_what_is_expected_is_of_the_layers_there_are() -> None:
    """A count for each copy and for the output, here 2 + 1 + 1; tensors of layers by their names."""
    layers = [RNN(4, repeat=2), LSTM(4)]
    expect = Expect(layers=(1, 2), tensors={"lstm_1": {}, "lstm_2": {}})
    with pytest.raises(SpecError) as caught:
        Network(input=3, layers=layers, output=2, expect=expect)
    assert [(each.path, each.message, each.gaps) for each in caught.value.problems] == [
        (("expect", "tensors", "lstm_2"), "no layer has this name; did you mean 'lstm_1'?", ()),
        (("expect", "layers"), "expected 4 counts, one for each layer and the output layer last, got 2", (2,)),
    ]
    assert all(each.follows for each in caught.value.problems)
    Network(input=3, layers=layers, output=2, expect=Expect(layers=(1, 2, 3, 4), tensors={"rnn_2": {}}))


@pytest.mark.parametrize("option", ["repeat", "extra_inputs"])
def test_an_output_layer_is_one_and_reads_the_last(option: str) -> None:
    """From Python too, where it has the fields of every layer."""
    output: Any = Output(2).replace(**{option: 3})
    with pytest.raises(SpecError, match=rf"^output\.{option}: does not apply to the output layer; make it a dense"):
        Network(input=3, layers=[LSTM(5)], output=output)
