"""The numbers of a run in YAML: read from a spec or a file of their own, and weights written as `--weights` reads them.

What the numbers must be is `network/data.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rnncalc.bounds import MAX_BYTES, MAX_NODES
from rnncalc.errors import Path, RefusedError
from rnncalc.network.data import read_inputs, read_start, read_targets, read_weights
from rnncalc.network.network import Network
from rnncalc.spec import nodes
from rnncalc.spec.nodes import Node, Scalar, TreeReader, what
from rnncalc.text import escape

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_/]*")
_NOT_TEXT = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
"""Words that some readers of YAML take for something else."""

Read = Callable[["DataReader", Node, Path, Network], Any]
READERS: dict[str, Read] = {
    "weights": read_weights,
    "inputs": read_inputs,
    "start": read_start,
    "targets": read_targets,
}
"""The readers by their keys in a spec. Targets come after the inputs, which may give the number of steps."""


class DataReader(TreeReader):
    """Reads numbers in the nodes of a file."""

    def note(self, node: Node, path: Path, message: str) -> None:
        """Note a problem at the node's place."""
        self.problem(node.mark, path, message)

    def has_keys(self, node: Node) -> bool:
        """Return whether it is a mapping."""
        return isinstance(node, nodes.Mapping)

    def items(self, node: Node) -> Sequence[Node] | None:
        """Return the items of a list."""
        return node.items if isinstance(node, nodes.Sequence) else None

    def got(self, node: Node) -> str:
        """Return its description, for messages; a number as its digits."""
        if not isinstance(node, Scalar) or not node.plain or not node.value or node.value[0] not in "+-.0123456789":
            return what(node)
        if re.fullmatch(r"[-+.eE0-9]+([ ,]+[-+.eE0-9]+)+,?", node.value):
            return f"{what(node)}; a list stands in brackets, its numbers with commas between them"
        return f"the number {escape(node.value)}"


def weights_text(weights: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the text of a file of weights, by layer and tensor. Raises RefusedError for one too large to be read."""
    lines: list[str] = []
    size = numbers = 0
    for layer, tensors in weights:
        lines.append(f"{_key(layer)}:")
        for name, nested in tensors.items():
            start = f"  {_key(name)}: "
            lines.append(f"{start}{_nested(nested, len(start))}")
            size += len(lines[-1]) + 1
            numbers += lines[-1].count(",") + 1
            if size > MAX_BYTES or numbers > MAX_NODES // 2:
                message = (
                    f"the weights take more than the {MAX_BYTES:,} bytes, or {MAX_NODES // 2:,} numbers, that --weights"
                )
                raise RefusedError(f"--save-weights: {message} reads; lower the widths")
    return "\n".join([*lines, ""]) if lines else "{}\n"


def _nested(nested: Any, indent: int) -> str:
    """Return nested lists in brackets, a line a row."""
    if not isinstance(nested, list):
        return _number(nested)
    if not (nested and isinstance(nested[0], list)):
        return f"[{', '.join(map(_number, nested))}]"
    between = f",\n{' ' * (indent + 1)}"
    return f"[{between.join(_nested(row, indent + 1) for row in nested)}]"


def _number(number: float) -> str:
    """Return the shortest digits for this float, with a point, as YAML 1.1 requires."""
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _key(text: str) -> str:
    """Return a name as a key: unquoted if it is a plain word, else in quotes."""
    if _WORD.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    safe = (char if " " <= char <= "~" and char not in '"\\' else f"\\U{ord(char):08x}" for char in text)
    return f'"{"".join(safe)}"'
