"""The tables of other programs' words lead to words that there are, and what is told of a word is read."""

import re
import shlex

import pytest
from conftest import Call, refusal

from rnncalc.answers.asked import OF
from rnncalc.cli.commands import COMMANDS
from rnncalc.errors import SpecError
from rnncalc.formats import FORMATS
from rnncalc.layers import KINDS, kind
from rnncalc.layers.decoder_attention import BIASED
from rnncalc.layers.options import DTYPES, OPTIONS, Choice
from rnncalc.network.budget import BUDGET_KEYS
from rnncalc.network.parts import Expect
from rnncalc.network.training import UPDATE_KEYS
from rnncalc.network.validation import KEYS
from rnncalc.spec import parse, spec_in_flags
from rnncalc.spec.aliases import IN_FLAGS, TABLE, our_words
from rnncalc.spec.reader import OUTPUT_KEYS, TOP_KEYS
from rnncalc.words import did_you_mean

ALIASES = TABLE["anywhere"]
KEYS_OF_ALL = {*TOP_KEYS, *OUTPUT_KEYS, *BUDGET_KEYS, *UPDATE_KEYS, *Expect.fields, *OPTIONS}
KEYS_OF_ALL |= {option for name in KINDS for option in kind(name).options()}
CHOICES = [of for of in [*KEYS.values(), *(option.allowed for option in OPTIONS.values())] if isinstance(of, Choice)]
VALUES = {word for choice in CHOICES for word in choice.words} | {*DTYPES, *FORMATS, *BIASED}


def ours(row: str) -> str:
    return re.split("[ ;{]", row)[0]


def told(row: str) -> list[str]:
    return ALIASES[row].split()


def test_a_word_that_is_told_is_ours() -> None:
    """A key, a kind or a value, whatever is after it."""
    assert {ours(row) for row in ALIASES} <= KEYS_OF_ALL | {*KINDS} | VALUES | {*COMMANDS, "cost", "operations", *OF}


def test_a_word_of_ours_is_no_others() -> None:
    """Where one of ours is known, no row leads away from it to another."""
    together = [TOP_KEYS, OUTPUT_KEYS, (*BUDGET_KEYS, "layers"), [*UPDATE_KEYS], Expect.fields, [*KINDS]]
    for known in [*map(list, together), *([*choice.words] for choice in CHOICES)]:
        assert {word for word in known if {*our_words(word)} & {*known}} == set()


@pytest.mark.parametrize("row", [row for row in ALIASES if "{number}" in row])
def test_a_kind_that_is_told_is_one(row: str) -> None:
    """Typed as it is after -l, it is read."""
    number = "0.5" if ours(row) == "dropout" else "4"
    typed = re.split("; |, and ", row.format(**IN_FLAGS | {"number": f":{number}"}))[0].replace("=N", "=3")
    before = ("last",) if ours(row) == "repeat_vector" else ()
    assert spec_in_flags("4", (*before, typed.replace(":T", ":4")), None, steps="4").network.layers


SAVED = {*BUDGET_KEYS, *UPDATE_KEYS, "total", "tied"}


@pytest.mark.parametrize("word", sorted(SAVED | {word for row in ALIASES if ours(row) in SAVED for word in told(row)}))
def test_what_is_told_of_a_network_is_read(word: str) -> None:
    """A limit, a count or an update at the top of a spec: what the message says to write, written there, is read."""
    spec, value = "input: 3\nlayers: [embedding: 3, lstm: 3]\n", "adam" if word.startswith("opt") else "3"
    with pytest.raises(SpecError) as caught:
        parse(f"{spec}{word}: {value}\n".encode(), "spec")
    match = re.fullmatch(
        r"unknown key; write (\w+: \{.+\})( with half the number.*)?", caught.value.problems[0].message
    )
    assert match
    assert bool(match[2]) == ("flop" in word)
    assert parse(f"{spec}{match[1].replace('N', '3')}\n".encode(), "spec").network


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("max_parms", ("max_params", "max_saved"), "max_params"),
        ("max_flops", ("max_params", "max_saved"), ""),
        ("max_latency", ("max_bytes", "max_saved"), ""),
        ("max_ratio", ("max_params", "min_dense_ratio"), ""),
        ("forget_gate", ("output_gate", "name"), ""),
        ("reset_gates", ("output_gate", "reset_gate"), "reset_gate"),
        ("update", ("path", "name"), ""),
        ("rnn_2", ("rnn_1",), "rnn_1"),
        ("stesp", ("steps",), "steps"),
        ("many to one", ("one-to-one", "many-to-one"), "many-to-one"),
    ],
)
def test_keys_are_near_where_what_they_do_not_share_is(word: str, known: tuple[str, ...], meant: str) -> None:
    """A part that many keys have says nothing."""
    assert did_you_mean(word, known) == (f"; did you mean '{meant}'?" if meant else "")


@pytest.mark.parametrize(("row", "flags"), TABLE["flag"].items())
def test_a_flag_that_is_typed_gets_the_whole_call_that_is_meant(row: str, flags: str, call: Call) -> None:
    """The call is accepted, and has the numbers of the one that was typed."""
    command = {"--params": "solve", "--max-params": "check"}.get(row.split()[0], "count")
    layers = "gru" if "units" in row else "gru:?" if command == "solve" else "gru:20"
    network = ["specs/dense-equivalent.yaml"] if command == "check" else ["-i", 10, "-l", layers]
    values = ["90" if "repeat" in row else "900"] if "{number}" in row else ["lstm:20"] if "{layer}" in row else []
    others = " ".join(ALIASES.get(name, "") for name in flags.split()).split()
    for word in sorted({*flags.split(), *others} - {"chunk", "cost", "operations", "units" if "repeat" in row else ""}):
        if {"input", "output", "steps", "seed", "params", "bytes"} & {word, *our_words(word)}:
            continue  # it is a flag, or may be meant for one
        for flag in {f"--{word.replace('_', '-')}", f"--{word}"} if len(word) > 1 else {f"-{word}"}:
            message = refusal(call, command, *network, flag, *values)
            meant = re.search(r"write rnncalc (.*) \(see", message)
            assert meant, message
            assert all(value in meant[1] for value in values)
            assert call(*shlex.split(meant[1])).code == 0, message


@pytest.mark.parametrize(
    ("typed", "params"),
    [
        ("gru 8 16 -o 5", 3 * 16 * (8 + 16 + 1) + 5 * 17),
        ("lstm 10 -h 20", 4 * 20 * 31),
        ("bilstm 12 34 --steps 3", 2 * 4 * 34 * 47),
        ("-i 10 -l gru:20 --hidden=64", 3 * 64 * 75),
        ("gru 10 2 --num-layers 2 --macs", 3 * 2 * 13 + 3 * 2 * 5),
        ("lstm 10 20 dense 5 frozen", 4 * 20 * 31 + 5 * 21),
        ("solve gru 10 ? 900 --layers 2", None),
    ],
)
def test_a_network_that_is_typed_gets_the_whole_call_that_is_meant(typed: str, params: int | None, call: Call) -> None:
    """Its numbers and options are kept, and the call is accepted."""
    message = refusal(call, *typed.split())
    meant = re.search(r"write rnncalc (.*?)( \(see|$)", message, re.MULTILINE)
    assert meant, message
    done = call(*shlex.split(meant[1]))
    assert done.code == 0
    assert params is None or f"{params:,}" in done.out
