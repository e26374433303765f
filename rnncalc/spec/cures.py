"""What was meant by a key, a kind or a word that is not known: another program's, by its tables, or one that is near.

Imported when a word is not known, and by no call in which all are.
"""

from __future__ import annotations

import re

from rnncalc.layers.kinds import KINDS as OUR_KINDS
from rnncalc.layers.options import OPTIONS
from rnncalc.spec.elsewhere import BY_VALUE, KEYS, KINDS, LAYER_KEYS, NETWORK_KEYS, NOT_HERE, WORDS, Spelling
from rnncalc.text import escape, near_key, one_of

ADDED = "the README says under Develop how a cell is added"


def ours(theirs: str, table: dict[str, str], known: tuple[str, ...] | list[str] = ()) -> list[str]:
    """Return the rows of a table in which a word of others stands, of those alone that start with a known word."""
    found = [row for row, others in table.items() if theirs.lower() in others.split()]
    return [row for row in found if re.split("[ ;]", row)[0] in known] if known else found


def key_cure(key: str, known: tuple[str, ...], value: str = "") -> str:
    """Return what to do with a key that is not known: `; write input`, or what was meant; nothing where it is open.

    value: the word that stands under it, where one does.
    """
    if space := space_cure(key, known):
        return f"; {space}"
    if found := ours(key, KEYS, known):
        return f"; write {found[0]}"
    of_network = {"input", "layers"} <= {*known}
    if of_network and value.lower() in OUR_KINDS:
        return f"; a layer stands in the list of layers, with a dash: - {value.lower()}: N"
    return (_network_cure(key, known, value) if of_network else "") or near_key(key, known)


def space_cure(key: str, known: tuple[str, ...]) -> str:
    """Return what to write for `units:5`, which YAML takes for a key in brackets."""
    name, _, value = key.partition(":")
    return f"a space is missing after the colon: write {name}: {escape(value)}" if name in known and value else ""


def _network_cure(key: str, known: tuple[str, ...], value: str) -> str:
    """Return what to do with a key of a network that stands elsewhere in it."""
    if key in OUR_KINDS:
        return f"; a layer stands in the list of layers, with a dash: - {key}: {escape(value) or 'N'}"
    for row in ours(key, NETWORK_KEYS):
        into = re.match(r"write (\w+): \{\{", row)  # a key of the whole is none of its halves
        if not into or into[1] in known:
            return f"; {row.format(value=escape(value) or 'N')}"
    if key in OPTIONS:
        return "; an option of a layer stands below the layer's kind, in the same column"
    meant = option_meant(key)
    return f"; write {meant} below the layer's kind, in the same column" if meant in OPTIONS else ""


def option_meant(key: str) -> str:
    """Return the option of a layer that another program calls so, whatever its value; nothing where it is none."""
    if key.lower() in BY_VALUE:
        return next(row.split("{")[0] for row in BY_VALUE[key.lower()].values() if "write" in row).split()[1]
    return next((row.removeprefix("write ") for row in ours(key, LAYER_KEYS) if row.startswith("write ")), "")


def option_cure(key: str, kind: str, options: tuple[str, ...], spelling: Spelling, value: str) -> str:
    """Return the same for a key of a layer of a kind, which has these options, and for the value it has there."""
    by_value = BY_VALUE.get(key.lower())
    found = [_for_value(by_value, value)] if by_value else ours(key, LAYER_KEYS)
    written = re.match(r"write (\w+)", found[0]) if found else None
    if found and (not written or written[1] in options):
        return f"; {found[0].format(**spelling | {'kind': kind, 'value': escape(value) or 'N'})}"
    return near_key(key, options)


def _for_value(cures: dict[str, str], value: str) -> str:
    """Return what to do where a key has a value; an option in flags without one is true."""
    word = {"": "true", "yes": "true", "on": "true", "1": "true"}.get(value.lower(), value.lower())
    return next((cure for values, cure in cures.items() if word in values.split()), cures[""])


def kind_cure(word: str, known: tuple[str, ...], spelling: Spelling) -> str:
    """Return what to do with a kind of layer that is not known."""
    if word.lower() in NOT_HERE.split():
        return f"; {ADDED}, and external{spelling['of']}N stands for a part of N parameters"
    if spelling["of"] != ":" and (space := space_cure(word, known)):
        return f"; {space}"
    found = ours(word, KINDS)
    return f"; {found[0].format(**spelling)}" if found else near_key(word, known)


def word_cure(word: str, known: tuple[str, ...]) -> str:
    """Return which of the words was meant by another program's."""
    found = ours(word, WORDS, known)
    return f"; write {one_of(found)}" if found else near_key(word, known)


def expected_word(word: str, known: tuple[str, ...]) -> str:
    """Return what to say of a word that is none of these."""
    return f"expected {one_of(known)}, got '{escape(word)}'{word_cure(word, known)}"
