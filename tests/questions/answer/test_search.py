"""The search: what gives a number, alone or in pairs, and sums that are true."""

import json

import yaml
from conftest import Call
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network

from rnncalc.questions.answer.arithmetic import write
from rnncalc.questions.answer.given import Given
from rnncalc.questions.answer.grading import judge
from rnncalc.spec import parse


@given(st.one_of(network(), encoder_decoder()), st.integers(-20, 20))
@settings(max_examples=150)
def test_right_is_right_and_wrong_is_wrong(spec: Spec, off: int) -> None:
    """The exact total is right and nothing else is; each sum that is told gives the learner's number."""
    net = parse(yaml.safe_dump(spec, sort_keys=False).encode(), "spec").network
    number = max(0, net.params + off)
    answer = judge(net, [Given(number)])
    assert answer.right == (number == net.params)
    for diagnosis in answer.judged[0].diagnoses:
        assert eval(write(diagnosis.yours).replace("×", "*")) == diagnosis.params == number
        assert eval(write(diagnosis.right).replace("×", "*")) == net.params
    assert len(answer.judged[0].diagnoses) <= 5


def test_two_mistakes_together_are_found(call: Call) -> None:
    """A GRU counted with four gates and no biases: 4 × 16 × (8 + 16) in place of 3 × 16 × (8 + 16 + 1)."""
    (report,) = json.loads(call("answer", "specs/gru.yaml", 4 * 16 * 24, "-f", "json").out)["reports"]
    assert report["right"] is False
    assert report["mistakes"][0]["id"] == "no-biases+gates-4"
    assert report["mistakes"][0]["params"] == report["answer"] == 1_536


def test_the_output_width_that_would_give_it(call: Call) -> None:
    """50 × 121 + 3 × 51: three outputs, not two."""
    out = call("answer", "-i", 70, "-l", "rnn:50", "-o", 2, 50 * 121 + 3 * 51).out
    assert "gives the output layer 3 units, and it has 2" in out


def test_nothing_at_all_is_a_sum_too(call: Call) -> None:
    """Where the mistake leaves nothing, the arithmetic is a zero."""
    (report,) = json.loads(call("answer", "-i", 3, "-l", "external:5", 0, "-f", "json").out)["reports"]
    (mistake,) = report["mistakes"]
    assert (mistake["id"], mistake["arithmetic"], mistake["right"]) == ("no-external", "0", "5")
