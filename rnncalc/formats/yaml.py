"""Documents as YAML, remarks as comments above their entries; and the weights of a run.

Written by hand: a spec has few kinds of values, and PyYAML writes no comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from rnncalc.bounds import MAX_BYTES, MAX_NODES
from rnncalc.errors import RefusedError
from rnncalc.printable import escape
from rnncalc.reports.report import DocumentReport
from rnncalc.typeset.sheet import Entry

MOST_OF_A_REMARK = 1_000

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*|[1-9][0-9]*x[1-9][0-9]*", re.ASCII)
_MEANT = re.compile(r"(?i)(true|false|yes|no|on|off|null|y|n|nan|inf)")
"""Words that some readers of YAML do not read as text."""


def write(reports: Iterable[DocumentReport], file: TextIO) -> None:
    """Write a document for each report, `---` between them."""
    for number, report in enumerate(reports):
        document = report.document()
        if number:
            file.write("---\n")
        lines = [*_comments(document.remarks, ""), *(line for entry in document.entries for line in _entry(entry, ""))]
        file.writelines(f"{line}\n" for line in lines)


def _comments(remarks: tuple[str, ...], indent: str) -> Iterator[str]:
    for remark in remarks:
        yield f"{indent}# {escape(remark, MOST_OF_A_REMARK)}"


def _entry(entry: Entry, indent: str) -> Iterator[str]:
    yield from _comments(entry.remarks, indent)
    match entry.value:
        case ():
            yield f"{indent}{scalar(entry.key)}: []"
        case (Entry(), *_):
            yield f"{indent}{scalar(entry.key)}:"
            for below in entry.value:
                assert isinstance(below, Entry)
                yield from _entry(below, f"{indent}  ")
        case tuple():
            yield f"{indent}{scalar(entry.key)}:"
            for item in entry.value:
                assert isinstance(item, tuple)
                yield from _comments(tuple(remark for each in item for remark in each.remarks), f"{indent}  ")
                lines = (line for each in item for line in _entry(each.replace(remarks=()), ""))
                yield from (f"{indent}  {'  ' if number else '- '}{line}" for number, line in enumerate(lines))
        case _:
            value = "" if entry.value is None else f" {scalar(entry.value)}"
            yield f"{indent}{scalar(entry.key)}:{value}"


def scalar(value: Any) -> str:
    """Return a value as YAML, text escaped for terminals."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not (_PLAIN.fullmatch(value) and not _MEANT.fullmatch(value)):
        return f'"{"".join(map(_escaped, value))}"'.replace("::", r":\x3a").replace("##[", r"#\x23[")
    return str(value)


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# The weights of a run, as `--weights` reads them


def weights_text(weights: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the text of a file of weights, by layer and tensor. Raises RefusedError for one too large to be read."""
    lines: list[str] = []
    size = numbers = 0
    for layer, tensors in weights:
        lines.append(f"{scalar(layer)}:")
        for name, nested in tensors.items():
            start = f"  {scalar(name)}: "
            lines.append(f"{start}{_nested(nested, len(start))}")
            size += len(lines[-1]) + 1
            numbers += lines[-1].count(",") + 1
            if size > MAX_BYTES or numbers > MAX_NODES // 2:
                most = f"{MAX_BYTES:,} bytes, or {MAX_NODES // 2:,} numbers"
                message = f"the weights take more than the {most}, that --weights reads"
                raise RefusedError(f"--save-weights: {message}; lower the widths")
    return "\n".join([*lines, ""]) if lines else "{}\n"


def _nested(nested: Any, indent: int) -> str:
    """Return nested lists in brackets, one line per row."""
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
