"""`--help` and `rnncalc help`: what they show, and that it is short enough to be read."""

import re
from pathlib import Path

import click
import pytest
from conftest import Call, refusal
from examples import examples, make_files

from rnncalc.cli.commands import COMMANDS, cli
from rnncalc.cli.flags import OF_NETWORK, WordOption
from rnncalc.cli.help import TOPICS
from rnncalc.conventions import CONVENTIONS, NOTATIONS
from rnncalc.formats import FORMATS
from rnncalc.layers import KINDS, kind


def command(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command
    return command


def test_the_commands_stand_in_groups(call: Call) -> None:
    """Those of the table, in its order."""
    sections = re.findall(r"^(\w+):\n((?:  [a-z]+ .*\n)+)", call("--help").out, re.MULTILINE)
    shown = {name: group for group, lines in sections for name in re.findall(r"^  (\w+) ", lines, re.MULTILINE)}
    assert [*shown.items()] == [(name, group) for name, (group, _) in COMMANDS.items()]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_fits_a_screen(name: str, call: Call) -> None:
    """At 80 columns it has 45 lines at most, and says the first line that the list of commands has."""
    lines = call(name, "--help").out.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert lines[2] == f"  {COMMANDS[name][1]}"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_has_its_own_flags_first(name: str, call: Call) -> None:
    """Each on a line with its words below; those of a network in one line, which points to the topics."""
    text = call(name, "--help").out
    options = [option for option in command(name).params if isinstance(option, click.Option)]
    own = [option for option in options if option.name not in OF_NETWORK and not option.hidden]
    shown, _, rest = text.partition("\nNetwork (see rnncalc help network, layers, conventions):\n")
    assert bool(rest) == any(option.name in OF_NETWORK for option in options)
    for option in own:
        assert re.search(rf"^  (-\w, )?{option.opts[-1]}\b", shown, re.MULTILINE)
        if isinstance(option, WordOption):
            values = r",\s+".join(option.words())
            assert re.search(rf"^  {option.opts[-1]} +{values}$", text, re.MULTILINE)
    for option in options:
        if option.name in OF_NETWORK:
            assert re.search(rf"{option.opts[0]}\b", rest.partition("\n\n")[0])
    assert re.search(rf"Examples?:\n  rnncalc {name}\b", text)


def test_every_topic_is_named_where_it_is_looked_for(call: Call) -> None:
    """In the list of commands; and a misspelt one is told."""
    assert all(re.search(rf"\b{topic}\b", COMMANDS["help"][1]) for topic in TOPICS)
    assert refusal(call, "help", "layer").endswith("got 'layer'; did you mean 'layers'?\n")


SHOWN = {
    "layers": [
        *(f"{name}:{number.upper()}".rstrip(":") for name in KINDS for number in [kind(name).number]),
        *(option for name in KINDS for option in kind(name).options()),
        "tied",
        "concat|sum|mul|ave",
    ],
    "network": ["--input", "--layer", "--output", "--steps", "--topology", "--convention", "--feedback", *CONVENTIONS],
    "conventions": [*CONVENTIONS, "weight_ih_l0 12×4", "recurrent_kernel 3×12", "108"],
    "notations": [*NOTATIONS, "W_xh x_t + W_hh h_(t−1) + b_h", "x_t W_xh", "U x_t"],
    "formats": [*FORMATS, *(of.suffix for of in FORMATS.values())],
}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_shows_all_there_is(topic: str, call: Call) -> None:
    """What it lists comes from where it is declared."""
    code, out, err = call("help", topic)
    assert (code, err) == (0, "")
    assert [word for word in SHOWN[topic] if word not in out] == []


def test_the_examples_of_topics_are_calls_that_work(call: Call) -> None:
    """Each line of a topic that is a command can be copied."""
    lines = [line for topic in TOPICS for line in call("help", topic).out.splitlines()]
    examples = [line.split()[1:] for line in lines if line.startswith("  rnncalc ")]
    assert len(examples) > 3
    for words in examples:
        assert call(*words).code == 0


def test_the_help_of_a_command_is_a_topic(call: Call) -> None:
    """`rnncalc help count` is `rnncalc count --help`, and without a topic it is that of all."""
    for name in COMMANDS:
        assert call("help", name) == call(name, "--help")
    assert call("help") == call("--help")


@pytest.mark.broad
@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_help_are_calls_that_work(
    name: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ends well, or, of `answer` and `check`, with its verdict."""
    make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    good = (0, 1) if name in ("answer", "check") else (0,)
    assert examples(name)
    for words in examples(name):
        done = call(*words)
        assert done.code in good, words
        drafted = any(done.err.startswith(f"{word}: ") and "comments on it" in done.err for word in words)
        assert done.err == "" or drafted, words


@pytest.mark.parametrize("topic", TOPICS)
def test_no_line_of_a_topic_is_wider_than_a_screen(topic: str, call: Call) -> None:
    """Of 80 columns."""
    assert [line for line in call("help", topic).out.splitlines() if len(line) > 80] == []
