"""The door: a call comes in, an exit code goes out; in between one command reads, asks, and has the answer written.

What commands there are stands in `commands.py`; each has a file of its own. No arithmetic and no formatting here.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from rnncalc.cli.streams import discard_unwritten, make_encodable, tell
from rnncalc.errors import CallError, DeclarationError, RefusedError, SpecError


def main() -> NoReturn:
    """Run the command line: answers to standard output, everything else to standard error, an exit code at the end."""
    gc.disable()  # one short call leaves no cycles worth looking for: that would cost a tenth of its time
    code = call(sys.argv[1:])
    gc.freeze()  # nor need the interpreter look for any as it ends
    sys.exit(code)


def call(args: list[str]) -> int:
    """Run one call and return its exit code: 0 fine, 1 the answer is no, 2 the input is wrong."""
    import click  # not above: main() has it imported when the garbage collector no longer runs

    from rnncalc.cli.commands import COMMANDS, DEFAULT, cli

    make_encodable()
    try:
        code = cli.main(args or ["--help"], prog_name="rnncalc", standalone_mode=False)
    except (CallError, DeclarationError, RefusedError) as error:
        tell(f"rnncalc: {error}")
    except SpecError as error:
        tell(*map(str, error.problems))
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else f"rnncalc {args[0] if args[0] in COMMANDS else DEFAULT}"
        tell(f"rnncalc: {error.format_message()} (see {command} --help)")
    except click.ClickException as error:
        tell(f"rnncalc: {error.format_message()}")
    except OSError as error:
        discard_unwritten()
        tell(f"rnncalc: cannot write the answer: {(error.strerror or str(error)).lower()}")
    except (KeyboardInterrupt, click.Abort):
        tell("rnncalc: interrupted")
        return 130
    else:
        return code if isinstance(code, int) else 0
    return 2
