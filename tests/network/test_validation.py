"""What is wrong with a network that is made in Python: each problem with the path that it would have in a spec."""

from typing import Any

import pytest

import rnncalc
from rnncalc import (
    GRU,
    LSTM,
    RNN,
    ConvLSTM,
    Dense,
    Dropout,
    Embedding,
    Expect,
    External,
    Layer,
    Network,
    Output,
    Part,
    SpecError,
    letter,
)
from rnncalc.errors import Path
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.reshaping import Flatten, LastStep, RepeatVector

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
            {"expect": Expect(total=True, saved=-1)},
            [(("expect", "total"), f"{COUNT} True"), (("expect", "saved"), f"{COUNT} -1")],
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
                "the last layer must output the embedding's width, 3, got 5; add a projection or a dense layer",
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


@pytest.mark.parametrize(
    ("layers", "place", "name"),
    [
        ([RNN(3, name="a"), RNN(3, name="a")], 1, "a"),
        ([RNN(3), RNN(3, name="rnn_1")], 1, "rnn_1"),
        ([RNN(3, name="rnn_2"), RNN(3)], 0, "rnn_2"),
        ([RNN(3, name="a_2"), RNN(3, name="a", repeat=2)], 1, "a_2"),
        ([RNN(3, name="a_3"), RNN(3, name="a", repeat=3)], 1, "a_3"),
        ([RNN(3, name="a", repeat=2), RNN(3, name="a_2")], 1, "a_2"),
        ([RNN(3), RNN(3), RNN(3), RNN(3, name="rnn_3")], 3, "rnn_3"),
    ],
)
def test_a_name_that_is_taken_is_told_where_it_is_given(layers: list[Any], place: int, name: str) -> None:
    """At the later of two that are given, a repeated layer's copies being one item; else at the one that is."""
    with pytest.raises(SpecError) as raised:
        Network(input=3, layers=layers)
    (problem,) = raised.value.problems
    assert problem.path == ("layers", place, "name")
    assert f"another layer is called '{name}'" in problem.message


def test_the_layers_by_default_names_do_not_clash() -> None:
    """Each kind has numbers of its own, and a name that is no layer's default is free."""
    net = Network(input=3, layers=[RNN(3), RNN(3, name="rnn_0"), RNN(3, repeat=2), RNN(3, name="a", repeat=2)])
    assert [placed.name for placed in net.stack] == ["rnn_1", "rnn_0", "rnn_3", "rnn_4", "a_1", "a_2"]


def told_of_states(giving: list[Layer], taking: list[Layer]) -> list[tuple[object, ...]]:
    """Return what is wrong below the decoder's layers: place and key, message, whether it follows, and the gaps."""
    with pytest.raises(SpecError) as caught:
        Network(encoder=Part(2, tuple(giving)), decoder=Part(2, tuple(taking)))
    for problem in caught.value.problems:
        assert problem.path[:2] == ("decoder", "layers")
    return [(each.path[2:], each.message, each.follows, each.gaps) for each in caught.value.problems]


def state(want: str, got: str, cure: str = "", joined: str = "") -> str:
    return f"expected a state of {want}, as the encoder's final one{joined}, got {got}{cure}"


BOTH = " (both directions side by side)"
SUM, AVERAGE = (f" (both directions side by side; merge: {of} joins outputs, not states)" for of in ("sum", "ave"))
STARTS = (
    "its final state starts this layer; change it to gru, "
    "or give it initial_state 3, whose dense layers make its states"
)

CASES: list[tuple[list[Layer], list[Layer], list[Any]]] = [
    ([RNN(3)] * 2, [RNN(3)], [((), "expected 2 recurrent layers, as in the encoder, got 1", True, (-1,))]),
    ([RNN(3)], [RNN(3, repeat=3)], [((), "expected 1 recurrent layers, as in the encoder, got 3", True, (2,))]),
    ([GRU(3)], [RNN(3)], [((0, "rnn"), f"expected the encoder's kind, gru, got rnn: {STARTS}", True, (1,))]),
    (
        [Dense(5), GRU(3, repeat=3)],
        [GRU(3), Dense(5), RNN(3), RNN(3)],
        [((place, "rnn"), f"expected the encoder's kind, gru, got rnn: {STARTS}", True, (1,)) for place in (2, 3)],
    ),
    ([RNN(3, bidirectional=True)], [RNN(5)], [((0, "rnn"), state("6", "5", "; give it 6 units", BOTH), True, (-1, 1))]),
    (
        [RNN(3, bidirectional=True, merge="sum")],
        [RNN(3)],
        [((0, "rnn"), state("6", "3", "; give it 6 units", SUM), True, (-3, 1))],
    ),
    (
        [LSTM(4, bidirectional=True, merge="ave", projection=2)],
        [LSTM(4, projection=2)],
        [((0, "lstm"), state("4 and 8", "2 and 4", "", AVERAGE), True, (-2, -4, 1))],
    ),
    (
        [RNN(3, bidirectional=True, merge="concat")],
        [RNN(5)],
        [((0, "rnn"), state("6", "5", "; give it 6 units", BOTH), True, (-1, 1))],
    ),
    (
        [LSTM(4, repeat=3, projection=2)],
        [LSTM(4, projection=2), LSTM(7, repeat=2, projection=3)],
        [((1, "lstm"), state("2 and 4", "3 and 7"), True, (1, 3, 2))],
    ),
    (
        [LSTM(4, projection=2)],
        [LSTM(5, projection=2)],
        [((0, "lstm"), state("2 and 4", "2 and 5", "; give it 4 units"), True, (1, 1))],
    ),
    (
        [RNN(3)],
        [RNN(3, learned_state=True)],
        [
            (
                (0, "learned_state"),
                "does not apply in a decoder: it starts from the encoder's final state; remove it",
                False,
                (),
            )
        ],
    ),
    (
        [RNN(3, repeat=2), RNN(4, repeat=2)],
        [RNN(4, repeat=3), RNN(4)],
        [((0, "rnn"), state("3", "4", "; give it 3 units"), True, (1, 2))],
    ),
]


@pytest.mark.parametrize(("giving", "taking", "problems"), CASES, ids=str)
def test_states_that_do_not_fit(giving: list[Layer], taking: list[Layer], problems: list[Any]) -> None:
    """Each is told once, with by how much each width is off and how many copies it is of."""
    assert told_of_states(giving, taking) == problems


def test_an_odd_number_is_no_two_directions() -> None:
    """3 units are no state of two directions, 4 of one are two of 2."""
    (odd,), (even,) = (told_of_states([RNN(units)], [RNN(9, bidirectional=True)]) for units in (3, 4))
    assert odd[1] == state("3", "18")
    assert even[1] == state("4", "18", "; give it 2 units")


def test_states_that_fit() -> None:
    """Repeats on one side, layers in a list on the other; both directions joined in one of twice the units."""
    for giving, taking in (
        ([RNN(3), RNN(3), RNN(4)], [RNN(3, repeat=2), RNN(4)]),
        ([RNN(3, bidirectional=True)], [RNN(6)]),
        ([LSTM(4, projection=2)], [Dense(3), LSTM(4, projection=2)]),
    ):
        Network(encoder=Part(2, tuple(giving)), decoder=Part(2, tuple(taking)))


ONE_TO_MANY: dict[str, Any] = {"topology": "one-to-many", "feedback": True}
FEEDBACK = ("feedback",)


def told_of_feedback(**given: Any) -> list[tuple[object, str, tuple[int, ...]]]:
    with pytest.raises(SpecError) as caught:
        Network(**given)
    return [(problem.path, problem.message, problem.gaps) for problem in caught.value.problems]


def test_where_later_steps_have_inputs() -> None:
    """Other topologies, the usual one too, and a decoder."""
    layers = [RNN(3)]
    for given, got in (({}, "many-to-one"), ({"topology": "many-to-many"}, "many-to-many")):
        message = f"applies to one-to-many, where later steps have no input, got {got}; remove it"
        assert told_of_feedback(input=3, layers=layers, feedback=True, **given) == [(FEEDBACK, message, ())]
    half = Part(3, (RNN(3),))
    message = "does not apply to an encoder-decoder, whose decoder reads inputs of its own; remove it"
    assert told_of_feedback(encoder=half, decoder=half, feedback=True) == [(FEEDBACK, message, ())]


def test_layers_that_cannot() -> None:
    """An embedding, both directions, what is applied once."""
    message = "an embedding reads token numbers, and the output is a vector; remove one of them"
    assert told_of_feedback(input=3, layers=[Embedding(2), RNN(3)], **ONE_TO_MANY) == [(FEEDBACK, message, ())]
    message = "reads later inputs first, and with feedback there is none before its output; remove it"
    layers = [RNN(3), GRU(3, bidirectional=True), RNN(3)]
    assert told_of_feedback(input=3, layers=layers, **ONE_TO_MANY) == [(("layers", 1, "bidirectional"), message, ())]
    message = "the dense before the first recurrent layer is applied once, to the one input; remove it, or feedback"
    assert told_of_feedback(input=3, layers=[Dense(3), RNN(3)], **ONE_TO_MANY) == [
        (("layers", 0, "dense"), message, ())
    ]


@pytest.mark.parametrize(
    ("given", "width"),
    [
        ({"layers": [RNN(3), Dropout(0.5, extra_inputs=2)]}, 5),
        ({"layers": [RNN(4)], "output": Output(1)}, 1),
        ({"layers": [RNN(3), RNN(7)]}, 7),
    ],
)
def test_an_output_of_another_width(given: dict[str, Any], width: int) -> None:
    """The last layer's, or the output layer's; how far off it is can be worked with."""
    message = f"the output must be as wide as the input, 3, got {width}"
    assert told_of_feedback(input=3, **given, **ONE_TO_MANY) == [(FEEDBACK, message, (width - 3,))]
    Network(input=width, **given, **ONE_TO_MANY)


@pytest.mark.parametrize(
    ("given", "path", "message"),
    [
        (
            {"layers": [LastStep(), RNN(3)]},
            ("layers", 1, "rnn"),
            "reads a sequence, and last below it ends the sequence in one vector; put a repeat_vector before it",
        ),
        (
            {"layers": [RNN(3), RepeatVector(4)], "topology": "one-to-many"},
            ("layers", 0, "rnn"),
            "reads a sequence, and one vector reaches it; put a repeat_vector before it",
        ),
        (
            {"layers": [RNN(4), RepeatVector(4)]},
            ("layers", 1, "repeat_vector"),
            "reads one vector, and a sequence reaches it; put a layer last before it",
        ),
        (
            {"layers": [Flatten(), Pool1D(3)]},
            ("layers", 1, "pool1d"),
            "reads a sequence, and one vector reaches it; put a repeat_vector before it",
        ),
        (
            {"layers": [Conv1D(3, 2)], "topology": "one-to-many"},
            ("layers", 0, "conv1d"),
            "reads a sequence, and one vector reaches it; choose a topology that reads a sequence, or remove it",
        ),
        (
            {"layers": [Conv1D(4, 9)]},
            ("layers", 0, "conv1d"),
            "reads 9 steps at once, and 5 reach it; give it more steps, or a shorter window",
        ),
    ],
)
def test_a_layer_that_cannot_read_what_reaches_it(given: dict[str, Any], path: Path, message: str) -> None:
    """A sequence where a vector is needed, or the reverse; it follows from the layers below and from the steps."""
    with pytest.raises(SpecError) as caught:
        Network(input=2, steps=5, **given)
    assert [(each.path, each.message, each.follows) for each in caught.value.problems] == [(path, message, True)]


def test_what_ends_a_sequence_that_is_needed() -> None:
    """A topology of outputs at every step, a decoder; and a tied output that is not as wide as its table."""
    needed = "has an output at every step, and last ends the sequence; "
    for topology in ("many-to-many", "one-to-many"):
        cure = "make it many-to-one, or begin it again with repeat_vector"
        layers = [RNN(3), LastStep()]
        assert told({"input": 2, "layers": layers, "topology": topology}) == [
            (("topology",), topology + " " + needed + cure)
        ]
    half = Half(input=3, layers=[RNN(4), LastStep()])
    assert told({"encoder": ENCODER, "decoder": half}) == [
        (("topology",), f"a decoder {needed}begin it again with repeat_vector")
    ]
    tied = {"input": 2, "layers": [Embedding(3), Conv1D(4, 2)], "output": Output(2, tied=True)}
    message = "the last layer must output the embedding's width, 3, got 4; add a dense layer"
    assert told(tied) == [(("output", "tied"), message)]


GRID, LINE = ConvLSTM(4, space=(8, 8)), ConvLSTM(4, space=(6,))
FIRST = "reads the places of a space; make it the first layer, or put it behind another such layer or an external one"
PLACES = "reads a row of features, and the layer below outputs 8 x 8 places; "
WRITE = "a layer at each place is not known; write it as an external one"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (
            {"encoder": Half(3, [GRID]), "decoder": Half(3, [Dense(2), GRID])},
            (("decoder", "layers", 1, "conv_lstm"), FIRST, True, ()),
        ),
        (
            {"input": 3, "layers": [GRID], "output": 2},
            (
                ("output",),
                f"output {PLACES}put last, then flatten, before it for the last step, or flatten alone for all steps",
                True,
                (),
            ),
        ),
        (
            {"input": 3, "layers": [GRID, Dense(2)], "topology": "many-to-many"},
            (("layers", 1, "dense"), f"dense {PLACES}{WRITE}", True, ()),
        ),
        (
            {"input": 3, "layers": [GRID, LastStep(), Dense(2)]},
            (("layers", 2, "dense"), f"dense {PLACES}put a flatten layer before it", True, ()),
        ),
        ({"input": 3, "layers": [Dense(4), GRID]}, (("layers", 1, "conv_lstm"), FIRST, True, ())),
        (
            {"input": 3, "layers": [LINE, ConvLSTM(4, space=(7,))]},
            (("layers", 1, "space"), "expected the space of the layer below, 6, got 7", True, ()),
        ),
        (
            {"input": 3, "layers": [External(9, outputs=65), Dropout(0.5), GRID]},
            (
                ("layers", 2, "conv_lstm"),
                "65 numbers per step: expected a multiple of 64 places; change one of them",
                True,
                (),
            ),
        ),
        (
            {"encoder": ENCODER, "decoder": Half(2, [RNN(4, merge="sum")])},
            (
                ("decoder", "layers", 0, "merge"),
                "applies to a bidirectional layer only; make it bidirectional, or remove it",
                False,
                (),
            ),
        ),
        (
            {"input": 3, "layers": [LSTM(4, projection=6)], "convention": "pytorch"},
            (
                ("layers", 0, "projection"),
                "pytorch projects to fewer numbers than there are units, 4, got 6; give fewer, or remove it",
                True,
                (3,),
            ),
        ),
        (
            {"input": 3, "layers": [RNN(3), Conv1D(3, 2)], "topology": "one-to-many", "feedback": True},
            (
                ("layers", 1, "conv1d"),
                "reads or makes several steps at once, and with feedback there is one at a time; remove it"
                ", or feedback",
                False,
                (),
            ),
        ),
        (
            {"input": 3, "layers": [Conv1D(letter("f"), 2, groups=2)]},
            (("layers", 0, "groups"), "do not go with a letter; give numbers", False, ()),
        ),
        (
            {"input": letter("m"), "layers": [Conv1D(4, 2, groups=2)]},
            (("layers", 0, "groups"), "do not go with a letter; give numbers", True, ()),
        ),
        (
            {"input": 9, "layers": [Conv1D(4, 2, groups=2)]},
            (
                ("layers", 0, "groups"),
                "9 features of the input are no multiple of 2 groups; change one",
                True,
                (),
            ),
        ),
        (
            {"input": 4, "layers": [Conv1D(9, 2, groups=2)]},
            (("layers", 0, "groups"), "9 filters are no multiple of 2 groups; change one of them", False, ()),
        ),
        (
            {"input": 4, "layers": [RNN(3), LastStep(), RepeatVector(3), Flatten(), RNN(2)]},
            (
                ("layers", 4, "rnn"),
                "reads a sequence, and flatten below it ends the sequence in one vector; put a repeat_vector before it",
                True,
                (),
            ),
        ),
    ],
)
def test_one_problem_with_all_of_it(given: dict[str, Any], found: tuple[Any, ...]) -> None:
    """Its place, message, whether it follows from other layers, and by how much a size is off."""
    with pytest.raises(SpecError) as caught:
        Network(**given)
    assert [(each.path, each.message, each.follows, each.gaps) for each in caught.value.problems] == [found]
