"""A single size that would give the number."""

from conftest import Call
from finding import judged

from rnncalc import LSTM, RNN, Dense, Network, Output, Part
from rnncalc.questions.answer.sizes import OtherSize


def test_a_single_size_that_would_give_it(call: Call) -> None:
    """No mistake makes 52 × (70 + 52 + 1) of h = 50, but h = 52 does."""
    result = call("answer", "-i", 70, "-l", "rnn:50", 52 * 123)
    assert result.code == 1
    assert "h = 52 instead of 50 in layer 1 would" in result.out


def test_a_single_size_of_a_half_that_would_give_it() -> None:
    """The input of the decoder, or the width of its dense layer, or the encoder's input: which half, and what it is."""
    net = Network(encoder=Part(7, (LSTM(6),)), decoder=Part(5, (Dense(11), LSTM(6)), Output(5)))
    assert judged(net, net.params + 11 * 40).other_size == OtherSize("decoder", None, "m", 45, 5)
    assert judged(net, net.params + 9 * (5 + 1 + 24)).other_size == OtherSize("decoder", 0, "h", 20, 11)
    assert judged(net, net.params + 24 * 31).other_size == OtherSize("encoder", None, "m", 38, 7)


def test_a_size_is_told_beside_two_mistakes() -> None:
    """Two more inputs are as likely as two mistakes that come to 32 together."""
    net = Network(input=8, layers=(RNN(16, recurrence="diagonal"),))
    found = judged(net, 16 * (10 + 1 + 1))
    assert found.diagnoses
    assert all(len(diagnosis.mistakes) == 2 for diagnosis in found.diagnoses)
    assert found.other_size == OtherSize(None, None, "m", 10, 8)
