"""The door: a call comes in, an exit code goes out; in between one command reads, asks, and has the answer written.

What commands there are stands in `commands.py`; each has a file of its own. No arithmetic and no formatting here.
"""

from __future__ import annotations

import os
import sys  # and nothing that takes time, so that whoever interrupts the start is told of it here
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line: answers to standard output, everything else to standard error, an exit code at the end."""
    try:
        import gc

        gc.disable()  # one short call leaves no cycles worth looking for: that would cost a tenth of its time
        code = call(sys.argv[1:])
    except KeyboardInterrupt:  # once more, while the first was told
        code = 130
    os._exit(code)  # what was written is flushed; to take a hundred modules down one by one would cost another tenth


def call(args: list[str]) -> int:
    """Run one call and return its exit code: 0 fine, 1 the answer is no, 2 the input is wrong, 130 interrupted."""
    try:
        from rnncalc.cli.calling import answered

        return answered(args)
    except KeyboardInterrupt:
        return _ended("interrupted", 130)
    except MemoryError:
        return _ended("the memory of this machine is not enough for this call", 2)


def _ended(why: str, code: int) -> int:
    from rnncalc.cli.streams import tell

    tell(f"rnncalc: {why}")
    return code
