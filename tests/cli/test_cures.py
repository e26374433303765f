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


ANSWER = ("answer", "specs/lstm.yaml")
SEE = "(see rnncalc {} --help)\n"


@pytest.mark.parametrize("words", [("1600", "--formt", "json"), ("--formt", "json", "1600"), ("1600", "--formt=json")])
def test_a_misspelt_flag_is_no_answer(call: Call, words: tuple[str, ...]) -> None:
    """Nor is the word behind it."""
    said = f"rnncalc: No such option '--formt'; did you mean '--format'? {SEE.format('answer')}"
    assert call(*ANSWER, *words) == (2, "", said)


def test_what_stands_behind_two_dashes_is_an_answer(call: Call) -> None:
    """Whatever it looks like: who grades ends the flags; and a number below 0 is no flag."""
    said = "rnncalc: expected a whole number, such as 1600 or 1.6k, got '{}'\n"
    assert call(*ANSWER, "--", "1600", "--formt") == (2, "", said.format("--formt"))
    assert call(*ANSWER, "--", "-h") == (2, "", said.format("-h"))
    assert call(*ANSWER, "-5") == (2, "", said.format("-5"))
    assert call(*ANSWER, "--", "1600").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*ANSWER, "20,10"), "expected a whole number, such as 1600 or 1.6k, got '20,10'; write (20,10) for a shape"),
        (
            (*ANSWER, "600,", "7"),
            "expected a whole number, such as 1600 or 1.6k, got '600,'; write 600, without the comma",
        ),
        (("answer", "1600", "specs/lstm.yaml"), "the SPEC comes first: rnncalc answer specs/lstm.yaml 1600"),
        (
            ("answer", "-i", "8", "-l", "gru:16", "1152", "specs/lstm.yaml"),
            "-i and -l describe a network, and so does 'specs/lstm.yaml': give one of them",
        ),
    ],
)
def test_an_answer_is_shown_how_to_be_written(call: Call, words: tuple[str, ...], said: str) -> None:
    """A shape without its brackets, a list with commas, a SPEC that comes last: one line each."""
    assert call(*words) == (2, "", f"rnncalc: {said}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("draw", "--cell"), "'--cell'; write --view cell"),
        (("count", "--json"), "'--json'; write --format json"),
        (("count", "--inputs"), "'--inputs'; it is a flag of rnncalc run, or did you mean '--input'?"),
        (("run", "--to", "keras"), "'--to'; it is a flag of rnncalc export"),
        (
            ("count", "--bidirectional"),
            "'--bidirectional'; an option of a layer stands behind it, as in -l lstm:20,bidirectional",
        ),
        (("check", "--maxparams", "4"), "'--maxparams'; did you mean '--max-params'?"),
        (("count", "--vers"), "'--vers'; did you mean '--version'?"),
        (("draw", "--zzz"), "'--zzz'."),
    ],
)
def test_a_flag_that_is_not_there(call: Call, words: tuple[str, ...], said: str) -> None:
    """What was meant, be it a word of another flag, an option of a layer, or the flag of another command."""
    assert call(*words) == (2, "", f"rnncalc: No such option {said} {SEE.format(words[0])}")


def test_a_short_flag_has_no_equals_sign(call: Call) -> None:
    """`-i=10` is `-i` with the value `=10`."""
    said = "--input: expected a positive whole number, got '=10'; write --input 10\n"
    assert call("-i=10", "-l", "rnn:3") == (2, "", said)
