"""Equal objects of a list in the data for programs: what they share is made, and written, once."""

from __future__ import annotations

from typing import Any, NamedTuple


class Shared:
    """What equal objects of a list have in common, made once for all of them.

    value: their keys and values; text: what a writer made of them, kept here so that it is made once too.
    """

    __slots__ = ("text", "value")

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self.text: str | None = None


class Alike(NamedTuple):
    """An object of a list: the keys and values that are its own, and after them those it shares with its equals."""

    own: dict[str, Any]
    shared: Shared
