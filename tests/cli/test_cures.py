"""What a message says to do is in the words of the place it came from: flags for flags, YAML for YAML."""

from pathlib import Path

import pytest
from conftest import Call

IN_LAYERS = [
    ("lstm:20,dropout=0.2", ["dropout: is a layer of its own; write -l dropout:0.2 for it"]),
    (
        "lstm:20,biderectional=yes,dropout=0.5",
        [
            "dropout: is a layer of its own; write -l dropout:0.5 for it",
            "biderectional: unknown key; did you mean 'bidirectional'?",
        ],
    ),
    ("lstm:20,dropout:0.5", ["dropout:0.5: unknown key; write -l dropout:0.5, as a layer of its own"]),
    ("lstm:20,bias:false", ["bias:false: unknown key; write bias=false"]),
    ("lstm:20,30", ["30: unknown key; a layer has one number; write -l lstm:30 for another"]),
    ("lstm:20,relu", ["relu: unknown key; write activation=relu"]),
    ("lstm:20,bidirectional,Sum", ["Sum: unknown key; write merge=sum"]),
    ("lstm:20,hidden=4", ["hidden: unknown key; the units follow the kind, as in lstm:20"]),
    ("lstm:20,return_sequences", ["return_sequences: unknown key; give --topology many-to-many, or many-to-one"]),
    ("lstm:20,merge=sum", ["merge: applies to a bidirectional layer only; make it bidirectional, or remove it"]),
    ("bilstm:4", ["bilstm: unknown kind of layer; write lstm:4,bidirectional"]),
    ("indrnn:4", ["indrnn: unknown kind of layer; write rnn:4,recurrence=diagonal"]),
    ("ugrnn:4", ["ugrnn: unknown kind of layer; write gru:4,reset_gate=false"]),
    ("output:4", ["output: unknown kind of layer; the output layer is --output N"]),
    ("type:gru,units=4", ["type: unknown kind of layer; write gru:4, the kind and its number"]),
]


@pytest.mark.parametrize(("layer", "said"), IN_LAYERS)
def test_a_layer_in_flags_is_mended_in_flags(call: Call, layer: str, said: list[str]) -> None:
    """Every mistake in it is told, each with what to type."""
    assert call("-i", 3, "-l", layer) == (2, "", "".join(f"--layer 1: {line}\n" for line in said))


def test_a_word_is_offered_as_an_option_only_where_the_kind_has_it(call: Call) -> None:
    """An SRU has no activation to choose."""
    assert "write" not in call("-i", 3, "-l", "sru:20,relu").err
    assert (
        call("-i", 3, "-l", "sru:20", "-o", "5,softmax").err
        == "--output: softmax: unknown key; write activation=softmax\n"
    )
    assert (
        "--output: repeat: does not apply to output; it applies to"
        in call("-i", 3, "-l", "sru:2", "-o", "5,repeat=2").err
    )


def test_a_number_in_flags_is_refused_without_words_of_yaml(call: Call) -> None:
    """Nobody reads `-i 010` as YAML."""
    assert call("-i", "010", "-l", "rnn:3").err == "--input: expected a positive whole number, got '010'; write 10\n"


def test_a_layer_within_a_layer_hides_no_other_mistake(call: Call, tmp_path: Path) -> None:
    """All of them are told at once."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("input: 3\nlayers:\n  - lstm: 3\n    bidirectional: yes\n    dropout: 0.3\n    activation: Tanh\n")
    assert call(spec).err.splitlines() == [
        f"{spec}:4:20: layers[0].bidirectional: expected true or false, got 'yes'; write true",
        f"{spec}:5:5: layers[0].dropout: is a layer of its own; write - dropout: 0.3 for it",
        f"{spec}:6:17: layers[0].activation: expected tanh, relu, sigmoid, linear or softmax, got 'Tanh'; "
        "did you mean 'tanh'?",
    ]
