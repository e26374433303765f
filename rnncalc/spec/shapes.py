"""The shapes of tensors that a spec expects: `{rnn_1: {W_xh: [20, 10]}}`. Whether they are so is for `check` to say."""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.errors import Path
from rnncalc.layers.options import Size
from rnncalc.spec.nodes import Mapping, Node, Sequence
from rnncalc.spec.reading import Reading, what
from rnncalc.text import escape

Shape = tuple[int, ...]


def read_shapes(reading: Reading, node: Node, path: Path) -> dict[str, dict[str, Shape]]:
    """Return the shapes by the names of layers and tensors, having noted what is none."""
    return {
        layer: {name: _shape(reading, shape, (*below, escape(name))) for name, shape in _names(reading, tensors, below)}
        for layer, tensors in _names(reading, node, path)
        for below in [(*path, escape(layer))]
    }


def _names(reading: Reading, node: Node, path: Path) -> Iterator[tuple[str, Node]]:
    """Yield what stands under any names, each once."""
    if not isinstance(node, Mapping):
        of = "layers" if len(path) == 2 else "tensors"
        reading.problem(node.mark, path, f"expected the names of {of}, each with what is expected, got {what(node)}")
        return
    seen = set()
    for key, below in node.items:
        if key.value in seen:
            reading.problem(key.mark, (*path, escape(key.value)), "stands here a second time; remove one")
            continue
        seen.add(key.value)
        yield key.value, below


def _shape(reading: Reading, node: Node, path: Path) -> Shape:
    if not isinstance(node, Sequence) or not node.items:
        reading.problem(node.mark, path, f"expected a shape, such as [20, 10], got {what(node)}")
        return ()
    return tuple(reading.value(item, (*path, axis), Size(), 1) for axis, item in enumerate(node.items))
