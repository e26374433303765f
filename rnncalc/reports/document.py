"""A document that people go on writing in: keys and values in order, remarks above them. Knows no way to write it."""

from __future__ import annotations

from typing import NamedTuple

Scalar = str | int | float | bool


class Entry(NamedTuple):
    """A key with its value: one word, keys below it, or a list of those. remarks: what is to be known of it."""

    key: str
    value: Scalar | tuple[Entry, ...] | tuple[tuple[Entry, ...], ...]
    remarks: tuple[str, ...] = ()


class Document(NamedTuple):
    """Remarks on the whole, and what it holds."""

    remarks: tuple[str, ...]
    entries: tuple[Entry, ...]
