"""The two streams that people and pipes read, and what can be amiss with them. Knows no command and no network."""

from __future__ import annotations

import os
import sys


def leave_unwritten() -> None:
    """Let what could not be written be, so that the interpreter does not fail on it again as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(*lines: str) -> None:
    """Write lines to standard error."""
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def be_encodable() -> None:
    """Let output pass where the terminal's encoding lacks our few symbols: they become plain ones, others `?`."""
    if sys.stdout is None:  # closed by the caller, who does not want the answer
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open for as long as the process runs
    if sys.stdout.encoding.lower().replace("-", "") != "utf8":
        import codecs

        plain = {"→": "->", "×": "x", "·": "*", "–": "-", "…": "...", "─": "-", "✓": "ok", "✗": "no", "█": "#"}

        def replace(error: UnicodeError) -> tuple[str, int]:
            assert isinstance(error, UnicodeEncodeError)
            return "".join(plain.get(char, "?") for char in error.object[error.start : error.end]), error.end

        codecs.register_error("rnncalc", replace)
        sys.stdout.reconfigure(errors="rnncalc")  # type: ignore[union-attr]
        sys.stderr.reconfigure(errors="rnncalc")  # type: ignore[union-attr]
