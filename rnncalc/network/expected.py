"""What can be wrong with the counts and the shapes that are expected of a network. Whether they are met is a question.

Read when something is expected, and not at every start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rnncalc.errors import Path, Problem
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.network.names import named
from rnncalc.network.parts import Expect, Parts
from rnncalc.text import did_you_mean, escape, plural

_COUNT, _SIZE = WholeNumber(), Size()


def problems_of(expect: object, parts: Parts) -> Iterator[Problem]:
    """Yield what cannot be expected of a network of these parts."""
    if not isinstance(expect, Expect):
        yield Problem(("expect",), f"expected an Expect, such as Expect(total=1600), got {expect!r}")
        return
    for key in ("total", "held", "backward_multiply_adds"):
        value = getattr(expect, key)
        if value is not None and (problem := _COUNT.problem(value)):
            yield Problem(("expect", key), problem)
    if expect.tensors is not None:
        yield from _tensors(expect.tensors, parts)
    if expect.layers is not None:
        yield from _layers(expect.layers, parts)


def _layers(counts: object, parts: Parts) -> Iterator[Problem]:
    if not isinstance(counts, Sequence) or isinstance(counts, str):
        yield Problem(("expect", "layers"), f"expected a list of counts, got {counts!r}")
        return
    for place, count in enumerate(counts):
        if problem := _COUNT.problem(count):
            yield Problem(("expect", "layers", place), problem)
    want = sum(sum(layer.repeat for layer in part.layers) + bool(part.output) for part in parts.values())
    if len(counts) != want:
        message = f"expected {plural(want, 'count')}, one for each layer and the output layer last, got {len(counts):,}"
        yield Problem(("expect", "layers"), message, follows=True, gaps=(want - len(counts),))


def _tensors(shapes: object, parts: Parts) -> Iterator[Problem]:
    if not isinstance(shapes, Mapping):
        yield Problem(("expect", "tensors"), f"expected shapes by the names of layers and tensors, got {shapes!r}")
        return
    names = tuple(name for _, name, _ in named(parts)) if shapes else ()
    for layer, tensors in shapes.items():
        at: Path = ("expect", "tensors", escape(str(layer)))
        if layer not in names:
            yield Problem(at, f"no layer has this name{did_you_mean(str(layer), names)}", follows=True)
        if not isinstance(tensors, Mapping):
            yield Problem(at, f"expected shapes by the names of tensors, got {tensors!r}")
            continue
        for name, shape in tensors.items():
            if not isinstance(shape, Sequence) or any(map(_SIZE.problem, shape)):
                yield Problem((*at, escape(str(name))), f"expected a shape, such as (20, 10), got {shape!r}")
