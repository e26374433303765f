"""Weights as the YAML that `--weights` reads: the very same floats, in a form that other readers of YAML take too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rnncalc.errors import RefusedError
from rnncalc.spec import MAX_BYTES
from rnncalc.spec.document import MAX_NODES

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_/]*")
_NOT_TEXT = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
"""Words that some readers of YAML take for something else."""


def weights_text(weights: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the text of a file of weights, by layer and tensor. Raises RefusedError where none so large is read."""
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
    """Return the shortest digits that are this float, with a point, as YAML 1.1 wants it."""
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _key(text: str) -> str:
    """Return a name as a key: as it is where it is a plain word, else in quotes."""
    if _WORD.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    safe = (char if " " <= char <= "~" and char not in '"\\' else f"\\U{ord(char):08x}" for char in text)
    return f'"{"".join(safe)}"'
