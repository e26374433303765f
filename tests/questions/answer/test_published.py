"""Wrong answers that people published, with the mistake that the source tells, which is told first.

Each is a question or an answer on a forum or in a quiz; the flags, the numbers, and the id of the mistake.
"""

import json
import shlex

import pytest
from conftest import Call

PUBLISHED = (
    ("-i 1 -l lstm:2 -T 3 -c keras", "48", "steps-as-features"),  # Stack Overflow 52759193
    ("-i 5 -l lstm:8 -o 3 -T 2", "448 132", "no-biases+output-as-cell"),  # 4·3·(8 + 3): Dense as an LSTM
    ("-i 160 -l lstm:100 -c pytorch", "10240000 6400000 400 400", "times-160"),  # RNN_HLS issue 5: one set a feature
    ("-i 59 -l lstm:59 -o 59", "28084 60", "output-width"),  # Data Science 85199: features + 1
    ("-i 1 -l lstm:16 -c pytorch", "256", "only-one-recurrent"),  # 16·16
    ("-i 1 -l lstm:16 -c pytorch", "17", "widths-added"),  # 16 + 1
    ("-i 10 -l rnn:20", "200 200 20", "other-tensor"),  # W_h as W_x
    ("-i 10 -l gru:20,bidirectional,reset_after=false -c keras", "4960", "gates-4"),  # Keras issue 9426
    ("-i 128 -l lstm:256 -c pytorch", "790528", "two-directions"),  # eight times an RNN
    ("-i 128 -l gru:256 -c pytorch", "395264", "gates-4"),  # as many as an LSTM
    ("-i 100 -l lstm:256 -c pytorch", "91648", "gates-1"),  # as many as an RNN
    ("-i 100 -l lstm:64,bias=false -o 10,bias=false", "44544", "output-in-each-gate"),  # 4·64·164 + 4·10·64
    ("-i 400 -l lstm:32 -o 1 -c keras", "55585", "convention-pytorch"),  # Keras issue 8860: two biases
    ("-i 500 -l lstm:500 -c pytorch", "2002000", "convention-textbook"),  # OpenNMT issue 127: one bias
    ("-i 3 -l lstm:3,bidirectional -c onnx", '"(24,3)" "(24,3)" "(48)"', "axes"),  # PyTorch issue 6879
    ("-i 5 -l lstm:10 -c keras", '"(5,40)" "(10,40)" "(10)"', "one-gate"),  # the bias of one gate
    ("-i 5 -l lstm:5 -T 8", "448", "steps-for-units"),  # 4·8·(5 + 8 + 1)
    ("-i 100 -l rnn:64 -o 10", "11136", "no-biases"),  # Data Science 10589
    ("-i 128 -l gru:256", "492800", "other-gates-5"),  # five times an RNN
    ("-i 32 -l mgu:50", "8400", "two-biases"),
    ("-i 3 -l lstm:150 -o 2 -T 50 -c keras", "92400 453", "output-width"),  # Keras issue 2074: 3·151
)


@pytest.mark.parametrize(("flags", "numbers", "mistake"), PUBLISHED, ids=[each[1] for each in PUBLISHED])
def test_the_mistake_of_a_published_answer_is_told_first(call: Call, flags: str, numbers: str, mistake: str) -> None:
    """The first of the report is the one that its author made."""
    done = call("answer", *shlex.split(flags), *shlex.split(numbers), "-f", "json")
    (report,) = json.loads(done.out)["reports"]
    assert report["mistakes"][0]["id"] == mistake
