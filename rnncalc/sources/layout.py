"""How lines of source are broken: as ruff's formatter breaks them, in 88 columns.

Knows calls and sums, and nothing of what they are about.
"""

from __future__ import annotations

from typing import Union

from rnncalc.layers.frozen import Frozen

WIDTH = 88
INDENT = "    "


class Call(Frozen):
    """Something with arguments in brackets: a call, a list, the head of a function; `after` stands behind it."""

    head: str
    args: tuple[Code, ...] = ()
    open: str = "("
    close: str = ")"
    after: str = ""


class Chain(Frozen):
    """Operands in a row, each but the first with its operator before it."""

    operands: tuple[str, ...]


Code = Union[str, Call, Chain]  # noqa: UP007  refers to itself


def flat(code: Code) -> str:
    """Return code on one line."""
    match code:
        case Call():
            return f"{code.head}{code.open}{', '.join(map(flat, code.args))}{code.close}{code.after}"
        case Chain():
            return " ".join(code.operands)
        case _:
            return code


def statement(code: Code, *, before: str = "", after: str = "", depth: int = 0, note: str = "") -> list[str]:
    """Return the lines of a statement: `before` and `after` stand around the code, the note is a comment.

    depth: how deep it is indented. The comment stands behind a line that leaves room for it, else above.
    """
    lines = _broken(code, before, after, depth)
    if not note:
        return lines
    if len(lines) == 1 and len(lines[0]) + 4 + len(note) <= WIDTH:
        return [f"{lines[0]}  # {note}"]
    return [f"{INDENT * depth}# {note}", *lines]


def _broken(code: Code, before: str, after: str, depth: int) -> list[str]:
    line = f"{INDENT * depth}{before}{flat(code)}{after}"
    if len(line) <= WIDTH:
        return [line]
    match code:
        case Call(args=args) if args:
            head, tail = f"{before}{code.head}{code.open}", f"{code.close}{code.after}{after}"
            if before and len(INDENT * depth + head) > WIDTH:
                inside = _broken(code, "", "", depth + 1)
                return [f"{INDENT * depth}{before}(", *inside, f"{INDENT * depth}){after}"]
            return [f"{INDENT * depth}{head}", *_inside(args, depth + 1), f"{INDENT * depth}{tail}"]
        case Chain():
            return [f"{INDENT * depth}{before}(", *_inside((code,), depth + 1), f"{INDENT * depth}){after}"]
        case _:
            return [line]


def _inside(args: tuple[Code, ...], depth: int) -> list[str]:
    """Return what stands in brackets that were opened on a line before."""
    together = f"{INDENT * depth}{', '.join(map(flat, args))}"
    if len(together) <= WIDTH:
        return [together]
    if len(args) == 1 and isinstance(args[0], Chain):
        return [f"{INDENT * depth}{operand}" for operand in args[0].operands]
    return [line for arg in args for line in _broken(arg, "", ",", depth)]
