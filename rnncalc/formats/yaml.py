"""Documents as YAML, remarks as comments above their entries.

Written by hand: a spec has few kinds of values, and PyYAML writes no comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rnncalc.reports.report import DocumentReport
from rnncalc.reports.sheet import Document, Entry
from rnncalc.text import escape

MOST_OF_A_REMARK = 1_000

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_MEANT = re.compile(r"(?i)(true|false|yes|no|on|off|null|y|n|nan|inf)")
"""Words that some readers of YAML do not read as text."""


def write(reports: Iterable[DocumentReport], file: TextIO) -> None:
    """Write a document for each report, `---` between them."""
    for number, report in enumerate(reports):
        document = report.document()
        if number:
            file.write("---\n")
        file.writelines(f"{line}\n" for line in _lines(document))


def _lines(document: Document) -> Iterator[str]:
    yield from _comments(document.remarks, "")
    for entry in document.entries:
        yield from _entry(entry, "")


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
                yield from _item(item, f"{indent}  ")
        case _:
            value = "" if entry.value is None else f" {scalar(entry.value)}"
            yield f"{indent}{scalar(entry.key)}:{value}"


def _item(entries: tuple[Entry, ...], indent: str) -> Iterator[str]:
    """Yield the keys of an item of a list, its remarks before the dash."""
    yield from _comments(tuple(remark for entry in entries for remark in entry.remarks), indent)
    for number, entry in enumerate(entries):
        for line in _entry(entry.replace(remarks=()), ""):
            yield f"{indent}{'  ' if number else '- '}{line}"


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
