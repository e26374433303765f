"""A baseline from an earlier report: the numbers of each network in the JSON that `count` or `check` printed.

As strict as a spec is: a number that is none, a name that is none and a key that stands twice are located problems.
"""

from __future__ import annotations

from rnncalc.cli.json_text import JsonText
from rnncalc.errors import Path
from rnncalc.layers.options import MAX_DIGITS, Size, Text
from rnncalc.questions.limits import Numbers
from rnncalc.text import escape

MOST_REPORTS = 100_000

_EXPECTED = "expected a spec, or the JSON that rnncalc count -f json prints"


def is_report(path: str, data: bytes) -> bool:
    """Return whether a file is a JSON report, and not a spec, which may be written in JSON too."""
    start = data[:1_000].lstrip()
    return path.endswith(".json") or (start[:1] == b"{" and b'"reports"' in start[:100])


def read_reports(data: bytes, source: str) -> dict[str, Numbers]:
    """Return the numbers of each report by its name. Raises SpecError where it is no report."""
    text = JsonText(data.removeprefix(b"\xef\xbb\xbf"), source)
    found: dict[str, Numbers] | None = None
    if not text.is_object():
        raise text.error((), _EXPECTED)
    for key in text.members(()):
        if key == "version":
            version = text.scalar((key,))
            if version != b"1":
                raise text.error((key,), f"expected 1, got {escape(version[:80].decode())}: made by another rnncalc")
        elif key == "reports":
            found = _reports(text, (key,))
        else:
            text.skip((escape(key),))
    text.end()
    if found is None:
        raise text.error((), _EXPECTED)
    return found


def _reports(text: JsonText, path: Path) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    for number in text.items(path):
        at = (*path, number)
        if number == MOST_REPORTS:
            raise text.error(path, f"expected at most {MOST_REPORTS:,} reports")
        start = text.at
        name, numbers = _report(text, at)
        if name is None or numbers is None:
            if name is not None or numbers is not None:
                raise text.error(at, "expected a name and params, or null for both: a file that is no spec", start)
        elif name in found:
            message = f"two reports are called '{escape(name)}'; compare to a folder, or name them apart"
            raise text.error(at, message, start)
        else:
            found[name] = numbers
    return found


def _report(text: JsonText, path: Path) -> tuple[str | None, Numbers | None]:
    """Return the name and the numbers of a report; both are None for a file that was no spec."""
    start = text.at
    name: str | None = None
    counts: dict[str, int | None] = {}
    for key in text.members(path):
        at = (*path, escape(key))
        match key:
            case "name":
                name = _name(text, at)
            case "params" | "bytes" | "multiply_adds" | "dense_params":
                counts[key] = _count(text, at)
            case "dense":
                counts["dense_params"] = _dense(text, at)
            case _:
                text.skip(at)
    if "params" not in counts:
        raise text.error(path, "params: missing; give the JSON that rnncalc count -f json prints", start)
    params = counts.pop("params")
    return name, None if params is None else Numbers(params, **counts)


def _dense(text: JsonText, path: Path) -> int | None:
    """Return the parameters of a dense equivalent."""
    if text.null():
        return None
    params = None
    for key in text.members(path):
        if key == "params":
            params = _count(text, (*path, key))
        else:
            text.skip((*path, escape(key)))
    return params


def _name(text: JsonText, path: Path) -> str | None:
    if text.null():
        return None
    start = text.at
    name = text.text(path)
    if problem := Text().problem(name):
        raise text.error(path, problem, start)
    return name


def _count(text: JsonText, path: Path) -> int | None:
    if text.null():
        return None
    start = text.at
    written = text.scalar(path)
    if not written.isdigit():
        got = escape(written[:200].decode(errors="replace"))
        raise text.error(path, f"expected {Size(0).expected}, got {got}", start)
    if len(written) > MAX_DIGITS:
        raise text.error(path, f"expected at most {MAX_DIGITS} digits, got {len(written):,}", start)
    return int(written)
