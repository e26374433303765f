"""Run one call: every error becomes a message on standard error and an exit code."""

from __future__ import annotations

import os
import re
import sys

import click

from rnncalc.cli.commands import COMMANDS, DEFAULT, cli
from rnncalc.cli.streams import discard_unwritten, make_encodable, tell
from rnncalc.errors import CallError, Cure, DeclarationError, RefusedError, SpecError, raised
from rnncalc.files import forget_inputs
from rnncalc.text import escape

FLAGS = {
    Cure.STEPS: "give steps, or -T",
    Cure.FEWER_STEPS: "lower the number of steps with -T",
    Cure.MORE_MULTIPLY_ADDS: "raise --max-multiply-adds",
    Cure.ONLY_RUN: "take --states, which shows the results alone",
    Cure.ANOTHER_SIZE: "write ? instead of another",
    Cure.ANY_PARAMS: "compare it without --same-params",
}
"""Cures of refusals, written with the command's flags."""


def run_call(args: list[str]) -> int:
    """Run a call and return its exit code."""
    make_encodable()
    forget_inputs()
    try:
        if asked := os.environ.get("_RNNCALC_COMPLETE"):
            from rnncalc.cli.completion import complete

            return complete(cli, asked)
        with cli.make_context("rnncalc", args or ["--help"]) as context:
            code = _invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (CallError, DeclarationError) as error:
        tell(f"rnncalc: {error}")
    except RefusedError as error:
        tell(f"rnncalc: {error.with_cures(FLAGS)}")
    except SpecError as error:
        tell(*map(str, error.problems))
    except click.UsageError as error:
        message = error.format_message()
        if isinstance(error, click.NoSuchOption) and error.ctx:
            from rnncalc.cli.unknown_flag import unknown_flag_message

            message = unknown_flag_message(error.option_name, error.ctx.command)
        command = error.ctx.command_path if error.ctx else f"rnncalc {args[0] if args[0] in COMMANDS else DEFAULT}"
        tell(f"rnncalc: {_shorten(message)} (see {command} --help)")
    except click.ClickException as error:
        tell(f"rnncalc: {_shorten(error.format_message())}")
    except OSError as error:
        discard_unwritten()
        tell(f"rnncalc: cannot write the answer: {(error.strerror or str(error)).lower()}")
    else:
        return code if isinstance(code, int) else 0
    return 2


def _invoke(context: click.Context) -> object:
    """Run the command; turn an exception that no command should raise into a line that names its file and line.

    Python's development mode, `python -X dev`, shows the traceback instead.
    """
    try:
        return cli.invoke(context)
    except (click.ClickException, click.exceptions.Exit, CallError, RefusedError, SpecError, DeclarationError):
        raise
    except (OSError, MemoryError):
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        name = context.invoked_subcommand
        own = getattr(sys.modules.get(f"rnncalc.cli.{name}"), "__file__", None)
        raise DeclarationError(f"{name}: {raised(error, own)}") from error


def _shorten(message: str) -> str:
    """Return a message with long words, which the call may have typed, shortened, and the whole limited in length."""
    return escape(re.sub(r"\S{81,}", lambda word: escape(word[0]), message), limit=500)
