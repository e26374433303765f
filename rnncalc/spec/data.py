"""The numbers of a run in YAML, read from a spec or a file of their own.

What the numbers must be is `network/data.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from rnncalc.errors import Path
from rnncalc.network.data import read_inputs, read_start, read_targets, read_weights
from rnncalc.network.network import Network
from rnncalc.printable import escape
from rnncalc.spec import nodes
from rnncalc.spec.nodes import Node, Scalar, TreeReader, what

READERS: dict[str, Callable[[DataReader, Node, Path, Network], Any]] = {
    "weights": read_weights,
    "inputs": read_inputs,
    "start": read_start,
    "targets": read_targets,
}
"""The readers by their keys in a spec. Targets come after the inputs, which may give the number of steps."""


class DataReader(TreeReader):
    """Reads numbers in the nodes of a file."""

    def note(self, node: Node, path: Path, message: str) -> None:
        self.problem(node.mark, path, message)

    def has_keys(self, node: Node) -> bool:
        return isinstance(node, nodes.Mapping)

    def items(self, node: Node) -> Sequence[Node] | None:
        return node.items if isinstance(node, nodes.Sequence) else None

    def got(self, node: Node) -> str:
        """Return its description, for messages; a number as its digits."""
        if not isinstance(node, Scalar) or not node.plain or not node.value or node.value[0] not in "+-.0123456789":
            return what(node)
        if re.fullmatch(r"[-+.eE0-9]+([ ,]+[-+.eE0-9]+)+,?", node.value):
            return f"{what(node)}; write a list in brackets, its numbers with commas between them"
        return f"the number {escape(node.value)}"
