"""The tables of other programs' words lead to words that there are, and a guess to a key that is near."""

import re

import pytest

from rnncalc.layers.kinds import KINDS
from rnncalc.layers.options import OPTIONS
from rnncalc.network.budget import BUDGET_KEYS
from rnncalc.network.parts import TOPOLOGIES, Expect
from rnncalc.network.training import UPDATE_KEYS
from rnncalc.spec import elsewhere, from_flags, parse
from rnncalc.spec.reader import OUTPUT_KEYS, TOP_KEYS
from rnncalc.text import near_key

KEYS_OF_ALL = {*TOP_KEYS, *OUTPUT_KEYS, *BUDGET_KEYS, *UPDATE_KEYS, *Expect._fields}


def in_flags(row: str) -> str:
    return row.removeprefix("write ").format(**elsewhere.IN_FLAGS | {"number": ":4"}).replace("=N", "=3")


@pytest.mark.parametrize("row", [row for row in elsewhere.KINDS if row.startswith("write ") and "external" not in row])
def test_a_kind_that_is_told_is_one(row: str) -> None:
    """Typed as it stands behind -l, it is read."""
    assert from_flags("3", (in_flags(row),), None).network.layers


def test_a_key_that_is_told_is_one() -> None:
    """Of a network, its parts and its layers."""
    assert {row.split()[0] for row in elsewhere.KEYS} <= KEYS_OF_ALL
    rows = [*elsewhere.LAYER_KEYS, *(cure for cures in elsewhere.BY_VALUE.values() for cure in cures.values())]
    assert {found[1] for row in rows if (found := re.match(r"write (\w+)", row))} <= {*OPTIONS}


@pytest.mark.parametrize("row", [row for row in elsewhere.NETWORK_KEYS if "{{" in row])
def test_what_is_told_of_a_network_is_read(row: str) -> None:
    """As it stands in the message, with a value of its kind."""
    value = "adam" if "optimizer" in row else "3"
    written = row.removeprefix("write ").format(value=value).replace("units: N", "units: 3")
    assert parse(f"input: 3\nlayers: [embedding: 3, lstm: 3]\n{written}\n".encode(), "spec").network


def test_a_kind_that_is_none_of_ours_is_in_no_other_row() -> None:
    """Nor is it ours."""
    not_here = {*elsewhere.NOT_HERE.split()}
    assert not not_here & {*KINDS}
    assert not not_here & {word for row in elsewhere.KINDS.values() for word in row.split()}


def test_a_topology_that_is_told_is_one() -> None:
    """Those rows that begin as one do; a remark may follow."""
    rows = [row for row in elsewhere.WORDS if "-to-" in row]
    assert {re.split("[ ;]", row)[0] for row in rows} == {*TOPOLOGIES}


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("max_parms", ("max_params", "max_held"), "max_params"),
        ("max_flops", ("max_params", "max_held"), ""),
        ("max_latency", ("max_bytes", "max_held"), ""),
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
    assert near_key(word, known) == (f"; did you mean '{meant}'?" if meant else "")
