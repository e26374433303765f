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
    ("conv1d:8,kernal=5", ["kernal: unknown key; did you mean 'kernel'?"]),
    ("conv1d:8,kernel_size=5", ["kernel_size: unknown key; write kernel"]),
    ("pool1d", ["pool1d: expected a positive whole number, such as pool1d:2, got nothing"]),
    ("repeat_vector", ["repeat_vector: expected a positive whole number, such as repeat_vector:20, got nothing"]),
    (
        "lstm:4,initial_state",
        ["initial_state: expected a positive whole number, such as initial_state=20, got nothing"],
    ),
    ("flaten", ["flaten: unknown kind of layer; did you mean 'flatten'?"]),
    ("flatten:4", ["flatten: expected no number, got '4'; write -l flatten"]),
    ("batch_norm,bias=false", ["bias: does not apply to batch_norm; write center=false"]),
    ("layer_norm,center=false", ["center: does not apply to layer_norm; write bias=false"]),
    ("lstm:4,activation=gelu", ["activation: expected tanh, relu, sigmoid, linear or softmax, got 'gelu'"]),
    ("convlstm2d:40,space=40x40", ["convlstm2d: unknown kind of layer; write conv_lstm:40,kernel=3,space=40x40"]),
    (
        "convlstm2d:40,kernel_size=5",
        ["convlstm2d: unknown kind of layer; write conv_lstm:40,kernel=5,space=64x64"],
    ),
    ("mgu:4,layer_norm", ["layer_norm: is a layer of its own; write -l layer_norm for it"]),
    ("conv1d:4,kernel=k", ["kernel: expected a positive whole number, got 'k'"]),
    ("lstm:20,dropout:0.5", ["dropout:0.5: unknown key; write -l dropout:0.5, as a layer of its own"]),
    (
        "lstm:16:bidirectional",
        [
            "lstm: expected a positive whole number, got '16:bidirectional'; "
            "write a comma before an option: 16,bidirectional"
        ],
    ),
    ("lstm:20,bias:false", ["bias:false: unknown key; write bias=false"]),
    ("lstm:20,30", ["30: unknown key; a layer has one number; write -l lstm:30 for another"]),
    ("lstm:20,relu", ["relu: unknown key; write activation=relu"]),
    ("lstm:20,bidirectional,Sum", ["Sum: unknown key; write merge=sum"]),
    ("lstm:20,hidden=4", ["hidden: unknown key; the units follow the kind, as in lstm:20"]),
    (
        "lstm:20,return_sequences",
        ["return_sequences: unknown key; remove it, and give --topology many-to-many"],
    ),
    ("lstm:20,return_sequences=false", ["return_sequences: unknown key; remove it: the topology is many-to-one"]),
    ("lstm=20", ["expected KIND:UNITS, such as lstm:512, got 'lstm=20'; write lstm:20"]),
    ("LSTM(20),bidirectional", ["expected KIND:UNITS, such as lstm:512, got 'LSTM(20)'; write lstm:20"]),
    (
        "convlstm",
        ["convlstm: unknown kind of layer; write conv_lstm:20,kernel=3,space=64x64"],
    ),
    ("lstm:20,merge=sum", ["merge: applies to a bidirectional layer only; make it bidirectional, or remove it"]),
    ("bilstm:4", ["bilstm: unknown kind of layer; write lstm:4,bidirectional"]),
    ("indrnn:4", ["indrnn: unknown kind of layer; write rnn:4,recurrence=diagonal,activation=relu"]),
    ("ligru:4", ["ligru: unknown kind of layer; write gru:4,reset_gate=false,activation=relu"]),
    ("CuDNNLSTM:4", ["CuDNNLSTM: unknown kind of layer; write lstm:4, and -c pytorch, which has its two bias vectors"]),
    ("lstm:20,trainable=false", ["trainable: unknown key; write frozen"]),
    ("lstm:20,trainable", ["trainable: unknown key; remove it: a layer is trained unless it is frozen"]),
    ("lstm:20,direction=bidirectional", ["direction: unknown key; write bidirectional"]),
    ("lstm:20,dropout_rate=0.2", ["dropout_rate: unknown key; dropout is a layer of its own; write -l dropout:0.2"]),
    ("embedding:5,3", ["3: unknown key; for 5 words of 3 numbers each, write -i 5 -l embedding:3"]),
    ("dropout:0,5", ["5: unknown key; write -l dropout:0.5"]),
    ("lstm:4,projection=1,000", ["000: unknown key; write projection=1000"]),
    ("lstm:4,bias,5", ["5: unknown key; a layer has one number; write -l lstm:5 for another"]),
    ("lstm:1,000", ["000: unknown key; write -l lstm:1000"]),
    ("ugrnn:4", ["ugrnn: unknown kind of layer; write gru:4,reset_gate=false"]),
    ("output:4", ["output: unknown kind of layer; the output layer is -o N"]),
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
            "expected a whole number, such as 1600 or 1.6k, got '600,'; write 600",
        ),
        ((*ANSWER, "1,6k"), "expected a whole number, such as 1600 or 1.6k, got '1,6k'; write 1.6k"),
        ((*ANSWER, "1.600"), "expected a whole number, such as 1600 or 1.6k, got '1.600'; write 1600"),
        ((*ANSWER, "1.600.000"), "expected a whole number, such as 1600 or 1.6k, got '1.600.000'; write 1600000"),
        ((*ANSWER, "1,66666k"), "expected a whole number, such as 1600 or 1.6k, got '1,66666k'"),
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
        (("count", "--bias=false"), "'--bias'; an option of a layer stands behind it, as in -l lstm:20,bias=false"),
        (
            ("count", "--reset-gate"),
            "'--reset-gate'; an option of a layer stands behind it, as in -l gru:20,reset_gate=false",
        ),
        (("count", "--merge", "sum"), "'--merge'; an option of a layer stands behind it, as in -l lstm:20,merge=sum"),
        (
            ("count", "--num-layers", "2"),
            "'--num-layers'; an option of a layer stands behind it, as in -l lstm:20,repeat=N",
        ),
        (
            ("count", "--trainable", "false"),
            "'--trainable'; an option of a layer stands behind it, as in -l lstm:20,frozen",
        ),
        (("count", "--tied"), "'--tied'; an option of the output layer stands behind it, as in -o 5,tied"),
        (("count", "--units", "5"), "'--units'; write the units behind a layer's kind, as in -l lstm:20"),
        (("count", "--hidden-size", "5"), "'--hidden-size'; the units follow the kind, as in -l lstm:20"),
        (("count", "--drop-rate", "5"), "'--drop-rate'; dropout is a layer of its own; write -l dropout:0.5"),
        (("count", "--lstm", "5"), "'--lstm'; a layer is written -l lstm:20"),
        (("count", "--layers", "lstm:5"), "'--layers'; did you mean '--layer'?"),
        (("count", "--params", "5"), "'--params'; it is a flag of rnncalc solve"),
        (("count", "--framework", "pytorch"), "'--framework'; write --convention"),
        (("check", "--max-macs", "4"), "'--max-macs'; write --max-multiply-adds"),
        (
            ("check", "--max-flops", "4"),
            "'--max-flops'; write --max-multiply-adds with half the number: one multiply-add is two FLOPs",
        ),
        (("check", "--max-mem", "4"), "'--max-mem'; write --max-bytes"),
        (("check", "--max-latency", "4"), "'--max-latency'."),
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("draw", "-f", "tex"), "--format: expected text, svg, tikz or html, got 'tex'; write tikz"),
        (("check", "--baseline", "main"), "--baseline: 'main': no such file; a commit is git:main"),
        (("check", "--baseline", "a/b~1"), "--baseline: 'a/b~1': no such file; a commit is git:a/b~1"),
        (("check", "--baseline", "no.json"), "--baseline: 'no.json': no such file"),
        (
            ("compare", "--steps", "1-100"),
            "--steps: expected a positive whole number, or FIRST..LAST, got '1-100'; write 1..100",
        ),
        (
            ("run", "--backward", "--loss", "squared"),
            "rnncalc: --loss squared needs targets, what the outputs should be: give --targets FILE, "
            "or targets in the spec",
        ),
    ],
)
def test_a_form_that_is_expected_is_shown(call: Call, words: tuple[str, ...], said: str) -> None:
    """As it would be typed."""
    assert call(words[0], "specs/lstm.yaml", *words[1:]) == (2, "", f"{said}\n")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("specs/lstm", "specs/lstm.yaml"), ("specs/lstm.yml", "specs/lstm.yaml"), ("specs/lstmm.yaml", "specs/lstm.yaml")],
)
def test_a_spec_that_stands_beside_is_offered(call: Call, given: str, meant: str) -> None:
    """Under the other suffix, or a name that is near."""
    assert call(given) == (2, "", f"'{given}': no such file; did you mean '{meant}'?\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", ["1:2: [0]: expected shape (1), got the number 1; one number is a list too, [1] say"]),
        ("1, 2", ["1:1: expected a list of 2 steps, got '1, 2'; a list stands in brackets, its numbers with commas"]),
    ],
)
def test_numbers_without_brackets(call: Call, tmp_path: Path, text: str, said: list[str]) -> None:
    """Told as what they are, with the brackets to write."""
    inputs = tmp_path / "inputs.yaml"
    inputs.write_text(text)
    done = call("run", "-i", 1, "-l", "rnn:1", "-T", 2, "--inputs", inputs)
    assert done.code == 2
    assert done.err.splitlines()[0].startswith(f"{inputs}:{said[0]}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "expect: {layers: {lstm_1: 288, dropout_1: 0}}",
            "5:18: expect.layers: expected a list of counts, got keys; write [288, 0], one for each layer in order",
        ),
        ("expect: {layers: 288}", "5:18: expect.layers: expected a list of counts, got '288'; write [288]"),
        ("", "4:14: layers[1].dropout: expected a number from 0 to 1, got '20%'; write 0.2"),
    ],
)
def test_a_value_in_a_spec_is_shown_how_to_be_written(call: Call, tmp_path: Path, line: str, said: str) -> None:
    """A share as a number, the layers' counts as a list."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"input: 3\nlayers:\n  - lstm: 7\n  - dropout: {'0.2' if line else '20%'}\n{line}\n")
    assert call(spec) == (2, "", f"{spec}:{said}\n")


def test_one_count_too_many(call: Call, tmp_path: Path) -> None:
    """One is no plural."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("input: 3\nlayers:\n  - rnn: 2\nexpect: {layers: [12, 1]}\n")
    assert ": expected 1 count, one for each layer and the output layer last, got 2\n" in call(spec).err


def test_weights_under_another_convention_than_the_spec_says(call: Call) -> None:
    """Who gave the flag is told to leave it out, not to give another."""
    done = call("run", "specs/pytorch/tagger.yaml", "-c", "textbook", "--weights", "specs/models/tagger.pt")
    said = "--convention: the file has the tensors of pytorch, as the spec says; leave this flag out\n"
    assert done == (2, "", said)


def test_what_is_no_model_file(call: Call, tmp_path: Path) -> None:
    """An empty file, and a folder, at each flag."""
    empty = tmp_path / "empty.safetensors"
    empty.touch()
    assert call("read", empty) == (2, "", f"'{empty}': is empty\n")
    assert call("read", "specs/models") == (2, "", "'specs/models': is a folder; name a file in it\n")
    for command, flag in (("check", "--model"), ("run", "--weights")):
        said = f"{flag}: 'specs/models': is a folder; name a file in it\n"
        assert call(command, "specs/lstm.yaml", flag, "specs/models") == (2, "", said)


def test_a_baseline_of_one_spec_counts_specs_alone(call: Call, tmp_path: Path) -> None:
    """Other YAML in the folder is left out of the number, and of the refusal."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text("input: 4\nlayers:\n  - rnn: 3\n")
    (tmp_path / "compose.yml").write_text("services: {}\n")
    said = "rnncalc: --baseline: one spec, 'specs/rnn.yaml', for 2: give a folder, or JSON of them all\n"
    assert call("check", tmp_path, "--baseline", "specs/rnn.yaml") == (2, "", said)
    (tmp_path / "b.yaml").unlink()
    assert call("check", tmp_path, "--baseline", "specs/rnn.yaml").code == 0


FOLLOWED = [
    (("-l", "lstm:20,trainable=false"), "write frozen\n", ("-l", "lstm:20,frozen"), " 0   1,920"),
    (("-l", "ligru:16"), "write gru:16,reset_gate=false,activation=relu", None, "640"),  # 2 x 16 x (3 + 16 + 1)
    (("-l", "lstm:20", "-T", "1.000"), "write 1000, or 1\n", ("-l", "lstm:20", "-T", "1000"), "1,920"),  # 4 x 20 x 24
    ((), "such as -l lstm:512\n", ("-l", "lstm:512"), "1,056,768"),  # 4 x 512 x (3 + 512 + 1)
    (("-l", "lstm", "20"), "one word; write -l lstm:20\n", ("-l", "lstm:20"), "1,920"),
    (("-l", "rnn:2", "-l", "gru", "5"), "one word; write -l gru:5\n", ("-l", "rnn:2", "-l", "gru:5"), "120"),
    (("-l", "lstm=20"), "write lstm:20\n", ("-l", "lstm:20"), "1,920"),
    (("lstm=20",), "a layer has its flag before it; write -l lstm:20\n", ("-l", "lstm:20"), "1,920"),
    (("-l", "rnn:2", "-o", "dense:5"), "dense: write 5\n", ("-l", "rnn:2", "-o", "5"), "15"),  # 5 x (2 + 1)
    (("-l", "rnn:2", "-o", "lstm:5"), "write -l lstm:5 for a layer", ("-l", "rnn:2", "-l", "lstm:5"), "160"),
    (("-l", "rnn:2", "-t", "10"), "'-t'; write -T ", ("-l", "rnn:2", "-T", "10"), "10 steps"),
    (("-l", "cudnnlstm:20"), "lstm:20, and -c pytorch, which", ("-l", "lstm:20", "-c", "pytorch"), "2,000"),  # 80 more
    (("-l", "lstm:20", "-c", "cudnn"), "write pytorch\n", ("-l", "lstm:20", "-c", "pytorch"), "2,000"),
    (("-l", "timedistributed:5"), "write dense:5; under topology", ("-l", "dense:5"), "20"),  # 5 x (3 + 1)
    (("-l", "rnn:2", "-l", "masking"), "remove it: it has no parameters", ("-l", "rnn:2"), "12"),
    (
        ("-l", "rnn:2", "-l", "flatten", "-o", "5"),
        "give the steps with -T\n",
        ("-l", "rnn:2", "-l", "flatten", "-o", "5", "-T", 4),
        "45",  # 4 steps of 2 units: 5 x (8 + 1)
    ),
    (
        ("-l", "rnn:2", "-l", "repeat_vector:4", "-l", "rnn:1"),
        "put a layer last before it",
        ("-l", "rnn:2", "-l", "last", "-l", "repeat_vector:4", "-l", "rnn:1"),
        "16",  # 2 x (3 + 2 + 1) + 1 x (2 + 1 + 1)
    ),
    (("-l", "LayerNormalization"), "write layer_norm", ("-l", "layer_norm"), "6"),  # 2 x 3
    (("-l", "conv:5"), "write conv1d:5,kernel=N", ("-l", "conv1d:5,kernel=2"), "35"),  # 5 x (2 x 3 + 1)
    (
        ("-l", "rnn:2,return_sequences", "-l", "rnn:4"),
        "remove it: lower layers always output every step",
        ("-l", "rnn:2", "-l", "rnn:4"),
        "28",  # 4 x (2 + 4 + 1)
    ),
    (
        ("-l", "rnn:2,return_sequences", "-T", 9),
        "remove it, and give --topology many-to-many",
        ("-l", "rnn:2", "-T", 9, "--topology", "many-to-many"),
        "many-to-many, 9 steps",
    ),
    (("-l", "rnn:2", "--flops"), "write --cost (one multiply-add is two FLOPs)", ("-l", "rnn:2", "--cost"), "Multiply"),
    (("-l", "rnn:2", "--macs"), "write --cost (see", ("-l", "rnn:2", "--cost"), "Multiply-adds"),
    (("-l", "rnn:2", "--memory"), "write --cost (see", ("-l", "rnn:2", "--cost"), "Bytes"),
    (("-l", "rnn:2", "--bytes"), "write --cost (see", ("-l", "rnn:2", "--cost"), "Bytes"),
]


@pytest.mark.parametrize(("given", "cure", "instead", "shown"), FOLLOWED)
def test_a_cure_that_is_followed_helps(
    call: Call, given: tuple[str, ...], cure: str, instead: tuple[str, ...] | None, shown: str
) -> None:
    """What it says to write is read, and means what was meant."""
    assert cure in call("-i", 3, *given).err
    done = call("-i", 3, *(instead or ("-l", cure.removeprefix("write "))))
    assert (done.code, done.err) == (0, "")
    assert shown in done.out


COMMANDS_OF_OTHERS = [
    (("plot", "SPEC"), "'plot': no such file; write rnncalc draw\n", ("draw", "SPEC")),
    (("grade", "SPEC", "1600"), "'grade': no such file; write rnncalc answer\n", ("answer", "SPEC", "1600")),
    (("import", "MODEL"), "'import': no such file; write rnncalc read\n", ("read", "MODEL")),
    (("convert", "SPEC"), "write rnncalc export --to NAME\n", ("export", "--to", "keras", "SPEC")),
    (
        ("plot", "-i", "4", "-l", "gru:3"),
        "'plot': no such file; write rnncalc draw\n",
        ("draw", "-i", 4, "-l", "gru:3"),
    ),
    (
        ("check", "SPEC", "1600"),
        "1600: a number is not a PATH; write rnncalc answer SPEC 1600",
        ("answer", "SPEC", "1600"),
    ),
    (("explain", "SPEC", "--layer", "lstm_1"), "flags; write --only lstm_1\n", ("explain", "SPEC", "--only", "lstm_1")),
    (("draw", "SPEC", "-l", "lstm_1"), "flags; write --only lstm_1\n", ("draw", "SPEC", "--only", "lstm_1")),
]


@pytest.mark.parametrize(("given", "cure", "instead"), COMMANDS_OF_OTHERS)
def test_what_another_program_calls_a_command(
    call: Call, given: tuple[str, ...], cure: str, instead: tuple[object, ...]
) -> None:
    """The command or the flag is named, and the call with it works."""
    files = {"SPEC": "specs/lstm.yaml", "MODEL": "specs/models/tagger.pt"}
    result = call(*(files.get(word, word) for word in given))
    assert (result.code, result.out) == (2, "")
    assert cure.replace("SPEC", files["SPEC"]) in result.err
    assert call(*(files.get(str(word), word) for word in instead)).code == 0


IN_SPECS = [
    (
        "input: [10, 3]\nlayers: [rnn: 2]",
        "got the shape 10 × 3; write steps: 10 and input: 3",
        "steps: 10\ninput: 3\nlayers: [rnn: 2]\nexpect: 12",
    ),
    (
        "input: (None, 3)\nlayers: [rnn: 2]",
        "got the shape T × 3; write input: 3",
        "input: 3\nlayers: [rnn: 2]\nexpect: 12",
    ),
    (
        "input: 3\nlayers: [rnn: 2]\nbudget: 2M",
        "expected keys, got '2M'; write budget: {max_params: 2M}",
        "input: 3\nlayers: [rnn: 2]\nbudget: {max_params: 2M}",
    ),
    (
        "input: 3\nlayers: [rnn: 2]\nbudget: 4MB",
        "expected keys, got '4MB'; write budget: {max_bytes: 4MB}",
        "input: 3\nlayers: [rnn: 2]\nbudget: {max_bytes: 4MB}",
    ),
    (
        "input: 3\nlayers: [rnn: 2]\noutput: 1\nexpect: [12, 3]",
        "expected a total, or keys, got a list; write expect: {layers: [12, 3]}",
        "input: 3\nlayers: [rnn: 2]\noutput: 1\nexpect: {layers: [12, 3]}",
    ),
    (
        "input: 3\nlayers:\n- rnn: 2\n  return_sequences: true\n- bilstm: 4",
        "return_sequences: unknown key; remove it: lower layers always output every step",
        "input: 3\nlayers:\n- rnn: 2\n- lstm: 4\n  bidirectional: true\nexpect: 236",
    ),
    (
        "input: 3\nlayers:\n- rnn: 2\n  return_sequences: true\n- dense: 4",
        "return_sequences: unknown key; remove it, and write topology: many-to-many beside input",
        "input: 3\ntopology: many-to-many\nlayers:\n- rnn: 2\n- dense: 4\nexpect: 24",
    ),
    (
        "input: 3\nlayers:\n- rnn: 2\n  recurrent_activation: hard_sigmoid",
        "remove it: it changes no count; in a pass the gates have sigmoid",
        "input: 3\nlayers:\n- rnn: 2\nexpect: 12",
    ),
    (
        "input: 3\nlayers:\n- cudnngru: 2",
        "write gru, and convention: pytorch beside input, which has its two bias vectors",
        "input: 3\nconvention: pytorch\nlayers:\n- gru: 2\nexpect: 42",
    ),
]


@pytest.mark.parametrize(("given", "cure", "instead"), IN_SPECS)
def test_a_cure_that_is_followed_in_a_spec_helps(
    call: Call, tmp_path: Path, given: str, cure: str, instead: str
) -> None:
    """What is written as it says is checked and found right."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(given)
    result = call(spec)
    assert (result.code, result.out) == (2, "")
    assert cure in result.err
    spec.write_text(instead)
    assert call("check", spec).code == 0


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("lstm:16", "bidirectional"), "-l lstm:16,bidirectional"),
        (("lstm:16,", "bidirectional", "projection=4"), "-l lstm:16,bidirectional,projection=4"),
        (("lstm:16", ",bias=false", "-l", "gru:3", "bidirectional"), "-l lstm:16,bias=false -l gru:3,bidirectional"),
    ],
)
def test_an_option_behind_a_space_is_put_into_its_layer(call: Call, words: tuple[str, ...], cure: str) -> None:
    """The cure is followed to the letter."""
    wrong = call("-i", 8, "-l", *words)
    assert wrong == (2, "", f"rnncalc: a layer and its options are one word, with commas; write {cure}\n")
    assert call("-i", 8, *cure.split()).code == 0


def test_a_similar_folder_is_offered_if_the_file_is_in_it(call: Call, tmp_path: Path) -> None:
    """`spec/lstm.yaml` for `specs/lstm.yaml`, with or without its suffix."""
    (tmp_path / "specs").mkdir()
    spec = tmp_path / "specs" / "lstm.yaml"
    spec.write_text("input: 8\nlayers: [{lstm: 16}]\n")
    for name in ("lstm.yaml", "lstm"):
        assert call(tmp_path / "spec" / name).err.endswith(f": no such file; did you mean '{spec}'?\n")
    assert call(tmp_path / "spec" / "gru.yaml").err.endswith(": no such file\n")


def test_the_words_behind_a_command_that_is_meant_are_no_files(call: Call) -> None:
    """One line says which command; `1600` and `x.pt` are its arguments."""
    assert call("grade", "specs/lstm.yaml", 1600) == (2, "", "'grade': no such file; write rnncalc answer\n")
    assert call("import", "x.pt") == (2, "", "'import': no such file; write rnncalc read\n")


KERAS = len([*Path("specs/keras").glob("*.yaml")])
EMPTY = "rnncalc: a PATH is empty: give a spec or a folder of specs, or leave it out"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--steps",), "rnncalc: Option '--steps' requires an argument. (see rnncalc count --help)"),
        (("run", "--seed"), "rnncalc: Option '--seed' requires an argument. (see rnncalc run --help)"),
        (("-i", 4, "-l", "rnn:3", "-T", 2, "-T", 3), "--steps: stands here a second time; remove one"),
        (("-i", 4, "-l", "rnn:3", "-o", 5, "--output=6"), "--output: stands here a second time; remove one"),
        (("check", "specs", "-c", "keras", "-connx"), "--convention: stands here a second time; remove one"),
        (("run", "specs/lstm.yaml", "--weights", ""), "--weights: '': no such file"),
        (("run", "specs/lstm.yaml", "--inputs", ""), "--inputs: '': no such file"),
        (("run", "specs/lstm.yaml", "--start", ""), "--start: '': no such file"),
        (("run", "specs/lstm.yaml", "--backward", "--targets", ""), "--targets: '': no such file"),
        (
            ("compare", "specs/lstm.yaml", "--same-params", "--steps", "1..5"),
            "rnncalc: --steps FIRST..LAST and --same-params ask different things: give one of them",
        ),
        (
            ("compare", "specs/lstm.yaml", "--steps", "10..1"),
            "rnncalc: --steps: expected FIRST..LAST, the smaller first; write 1..10",
        ),
        (("answer", "specs/keras", 5), f"rnncalc: expected one network, got {KERAS}; name one spec"),
        (("check", ""), EMPTY),
        (("check", "", "specs", "--baseline", "specs"), EMPTY),
    ],
)
def test_a_flag_that_is_wrong(words: tuple[object, ...], said: str, call: Call) -> None:
    """Without its value, with the help that lists it; given twice, where only one can be meant."""
    result = call(*words)
    assert (result.code, result.out, result.err) == (2, "", f"{said}\n")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x" * 20_000, f"--seed: expected a whole number, 0 or more, got '{'x' * 79}…'"),
        ("1.5", "--seed: expected a whole number, 0 or more, got '1.5'"),
        ("-1", "--seed: expected a whole number, 0 or more, got '-1'"),
    ],
)
def test_a_seed_that_is_none(word: str, said: str, call: Call) -> None:
    """As any other number of a flag; a negative one would be the same as its positive."""
    assert call("run", "-i", 1, "-l", "rnn:1", "-T", 1, "--seed", word) == (2, "", f"{said}\n")
    assert call("run", "-i", 1, "-l", "rnn:1", "-T", 1, "--seed", "1_000").code == 0


@pytest.mark.parametrize("word", ["x" * 20_000, "--" + "x" * 20_000, "-x=" + "x y" * 9_000, "x " * 9_000])
@pytest.mark.parametrize("before", [["schema"], ["run", "-i", 1, "-l", "rnn:1", "-T", 1], [], ["answer", "-i"]])
def test_no_word_is_told_at_length(word: str, before: list[object], call: Call) -> None:
    """However long it is, and whoever reads the call."""
    for words in ([*before, word], [*before, *word.split()[:500]]):
        result = call(*words)
        assert (result.code, result.out) == (2, "")
        assert all(len(line) < 1_000 for line in result.err.splitlines())


def test_which_of_several_specs_is_refused(call: Call) -> None:
    """By its file; of one spec alone, or of flags, there is no doubt."""
    asked = "a step would write 1,600 weights"
    assert call("run", "specs/lstm.yaml", "specs/gru.yaml", "--work").err.startswith(
        f"rnncalc: specs/lstm.yaml: {asked}"
    )
    assert call("run", "specs/lstm.yaml", "--work").err.startswith(f"rnncalc: {asked}")


def test_what_may_be_repeated_is_not_refused(call: Call) -> None:
    """Layers and names are several, and a value may look like a flag that was given."""
    assert call("-i", 4, "-l", "rnn:3", "-l", "rnn:3").code == 0
    assert call("explain", "-i", 4, "-l", "rnn:3", "-o", 1, "--only", "rnn_1", "--only", "output").code == 0


def test_a_folder_in_place_of_a_spec(call: Call, tmp_path: Path) -> None:
    """All specs below it, in order; a folder without any is told to be one."""
    result = call("run", "specs/onnx", "-f", "csv")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("\n") > 4
    empty = call("run", tmp_path)
    assert (empty.code, empty.out) == (2, "")
    assert empty.err.endswith(": is a folder; give a file in it, or all of it to rnncalc check\n")


def test_all_wrong_names_are_told_at_once(call: Call) -> None:
    """Not the first alone."""
    result = call("explain", "-i", 4, "-l", "gru:5", "--only", "gru_1", "--only", "nix", "--only", "gru1")
    assert result.err == "rnncalc: --only: expected gru_1, got 'nix' and 'gru1'; did you mean 'gru_1'?\n"


def test_weights_and_inputs_are_told_at_once(call: Call, tmp_path: object) -> None:
    """What is wrong with the inputs is not held back by what is wrong with the weights."""
    from pathlib import Path

    spec = Path(str(tmp_path), "spec.yaml")
    spec.write_text("input: 2\nsteps: 1\nlayers:\n  - rnn: 1\nweights: {nix: 1}\ninputs: [[1]]\n")
    lines = call("run", spec).err.splitlines()
    assert any("weights.nix" in line for line in lines)
    assert any("inputs[0]" in line for line in lines)
