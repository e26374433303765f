"""The two streams that people and pipes read, and what can be amiss with them. Knows no command and no network."""

from __future__ import annotations

import os
import sys

PLAIN = {"→": "->", "×": "x", "·": "*", "–": "-", "…": "...", "─": "-", "✓": "ok", "✗": "no", "█": "#"}
"""What stands for our few symbols where an encoding lacks them."""


def tell(*lines: str) -> None:
    """Write lines to standard error, unless the caller has closed it."""
    if sys.stderr is not None:
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def discard_unwritten() -> None:
    """Send what standard output still holds to nowhere: the interpreter would try again to write it as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_encodable() -> None:
    """See that every character can be written: our symbols become plain ones where need be, others `?`."""
    if sys.stdout is None:  # closed by the caller, who does not want the answer
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open for as long as the process runs
    if sys.stdout.encoding.lower().replace("-", "") != "utf8":
        import codecs

        codecs.register_error("rnncalc", _plainly)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="rnncalc")  # type: ignore[union-attr]


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end
