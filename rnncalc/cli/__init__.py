"""The command line: parses a call, runs one command, returns an exit code.

`commands.py` lists the commands; each has a file of its own. No arithmetic and no formatting here.
"""

from __future__ import annotations

import os
import sys  # and nothing that takes time, so that an interrupt during the start is reported here
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line: results on standard output, everything else on standard error, then exit with a code."""
    try:
        import gc

        gc.disable()  # a short call leaves few reference cycles; collecting them would take a tenth of its time
        code = call(sys.argv[1:])
    except KeyboardInterrupt:  # a second interrupt while the first was reported
        code = 130
    os._exit(code)  # output is flushed; tearing down a hundred modules would take another tenth of the time


def call(args: list[str]) -> int:
    """Run one call and return its exit code: 0 fine, 1 the answer is no, 2 the input is wrong, 130 interrupted."""
    try:
        from rnncalc.cli.commands import run_call

        return run_call(args)
    except KeyboardInterrupt:
        return _ended("interrupted", 130)
    except MemoryError:
        return _ended("the memory of this machine is not enough for this call", 2)


def _ended(why: str, code: int) -> int:
    from rnncalc.cli.output import tell

    tell(f"rnncalc: {why}")
    return code
