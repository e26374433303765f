"""Sizes that are letters, in the commands that take them: what an option cannot do with letters is the option's."""

from itertools import product

import click
import pytest
from conftest import Call, Result

from rnncalc.cli.beside import REPORTS
from rnncalc.cli.commands import cli
from rnncalc.cli.flags import WordOption, flag_of

COMMANDS = ("count", "explain", "answer", "draw")
VALUES = {"--steps": ("T", "5"), "--only": ("gru_1",), "--chunk": ("2",), "--batch": ("2",), "--rate": ("2", "0.5")}


def options(command: str) -> list[tuple[str, ...]]:
    """Return each option of a command, with each of its values; a network's own and files are left out."""
    found = cli.get_command(click.Context(cli), command)
    assert found
    words: list[tuple[str, ...]] = []
    for option in found.params:
        flag = option.opts[-1]
        if isinstance(option, WordOption):
            words += [(flag, word) for word in option.words()]
        elif isinstance(option, click.Option):
            words += [(flag,)] if option.is_flag else [(flag, value) for value in VALUES.get(flag, ())]
    return words


def reports(command: str) -> list[tuple[str, ...]]:
    """Return nothing, and each report that other options may go with."""
    known = {words[0] for words in options(command)}
    flags = [flag_of(key) for key in REPORTS if flag_of(key) in known]
    return [(), *((flag, "int8") if flag == "--quantize" else (flag,) for flag in flags)]


@pytest.mark.broad
@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_works_in_letters_or_is_named(command: str, call: Call) -> None:
    """Each option beside each report, if the call works in numbers; the first that cannot have letters is named."""

    def result(*words: str, numbers: bool = False) -> Result:
        network = ("-i", 3, "-l", "gru:4") if numbers else ("-i", "m", "-l", "gru:h")
        return call(command, *network, *words, *(("--", "3h(m+h+1)") if command == "answer" else ()))

    for report, option in product(reports(command), options(command)):
        done = result(*report, *option)
        if done.code == 2 and result(*report, *option, numbers=True).code != 2:
            culprit = report if result(*report).code == 2 else option
            assert culprit[0] in done.err, (report, option, done.err)
            assert command not in done.err.split(), (report, option, done.err)
