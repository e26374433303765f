"""The directions of a layer, where a package's module knows one only, and what becomes of what they give."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rnncalc.layers.cell import Cell

Weights = dict[str, Any]

MARKS = ("forward/", "backward/")
"""What rnncalc puts before the textbook's names of each direction."""


def merges(concatenated: Callable[[list[Any]], Any]) -> dict[str | None, Callable[[Any, Any], Any]]:
    """Return how two directions are merged, of arrays that a package concatenates."""
    return {
        None: lambda a, b: concatenated([a, b]),
        "concat": lambda a, b: concatenated([a, b]),
        "sum": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "ave": lambda a, b: (a + b) / 2,
    }


MERGES = merges(lambda ways: np.concatenate(ways, axis=-1))


def marks_of(layer: Cell) -> tuple[str, ...]:
    """Return the mark of each direction of a layer."""
    return MARKS if layer.bidirectional else ("",)


def of_one(weights: Weights, mark: str) -> Weights:
    """Return the weights of one direction, by the names they have in a layer of one."""
    return {name.removeprefix(mark): array for name, array in weights.items() if name.startswith(mark)}


def each_way(layer: Cell, weights: Weights, flow: Any, one: Callable[[Weights, Any], Any], *, final: bool) -> Any:
    """Return what leaves a layer; `one` runs a direction on its weights, over the sequence in the order it is read."""
    ahead, *back = (of_one(weights, mark) for mark in marks_of(layer))
    return joined(layer, [one(ahead, flow), *(one(way, flow[::-1].copy())[::-1] for way in back)], final=final)


def joined(layer: Cell, ways: list[Any], *, final: bool) -> Any:
    """Return what the directions give together, or, where `final`, the last that each of them came to."""
    if final:
        ways = [way[end] for way, end in zip(ways, (-1, 0), strict=False)]
    return MERGES[layer.merge](*ways) if layer.bidirectional else ways[0]
