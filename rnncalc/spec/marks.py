"""Where a node stands in a file, for type checkers alone."""

from typing import Protocol


class Mark(Protocol):
    """Where a node starts, counted from 0; PyYAML's own marks are such."""

    line: int
    column: int
