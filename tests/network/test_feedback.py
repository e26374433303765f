"""What keeps outputs from being the next inputs, each at its place and with the numbers."""

from typing import Any

import pytest

from rnncalc import GRU, RNN, Dense, Dropout, Embedding, Network, Output, Part, SpecError

ONE_TO_MANY: dict[str, Any] = {"topology": "one-to-many", "feedback": True}
AT = ("feedback",)


def told(**given: Any) -> list[tuple[object, str, tuple[int, ...]]]:
    with pytest.raises(SpecError) as caught:
        Network(**given)
    return [(problem.path, problem.message, problem.gaps) for problem in caught.value.problems]


def test_where_later_steps_have_inputs() -> None:
    """Other topologies, the usual one too, and a decoder."""
    layers = [RNN(3)]
    for given, got in (({}, "many-to-one"), ({"topology": "many-to-many"}, "many-to-many")):
        message = f"applies to one-to-many, where later steps have no input, got {got}; remove it"
        assert told(input=3, layers=layers, feedback=True, **given) == [(AT, message, ())]
    half = Part(3, (RNN(3),))
    message = "does not apply to an encoder-decoder, whose decoder reads inputs of its own; remove it"
    assert told(encoder=half, decoder=half, feedback=True) == [(AT, message, ())]


def test_layers_that_cannot() -> None:
    """An embedding, both directions, what is applied once."""
    message = "an embedding reads token numbers, and the output is a vector; remove one of them"
    assert told(input=3, layers=[Embedding(2), RNN(3)], **ONE_TO_MANY) == [(AT, message, ())]
    message = "reads later inputs first, and with feedback there is none before its output; remove it"
    layers = [RNN(3), GRU(3, bidirectional=True), RNN(3)]
    assert told(input=3, layers=layers, **ONE_TO_MANY) == [(("layers", 1, "bidirectional"), message, ())]
    message = "the dense before the first recurrent layer is applied once, to the one input; remove it, or feedback"
    assert told(input=3, layers=[Dense(3), RNN(3)], **ONE_TO_MANY) == [(("layers", 0, "dense"), message, ())]


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
    assert told(input=3, **given, **ONE_TO_MANY) == [(AT, message, (width - 3,))]
    Network(input=width, **given, **ONE_TO_MANY)
