"""What a call writes: results to standard output or a file, messages and problems to standard error.

`formats/` formats the results. Knows no command and no network.
"""

from __future__ import annotations

import io
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ParamSpec, TextIO, TypeVar, cast

import click

from rnncalc.errors import CallError, LettersError, Problem, RefusedError, SpecError
from rnncalc.files import is_input
from rnncalc.printable import PLAIN, escape, escape_path
from rnncalc.records import Frozen
from rnncalc.words import one_of

# Results


class Destination(Frozen):
    """The destination of a result: its format, and the file, None for standard output."""

    format: str
    file: str | None = None


def write(reports: Sequence[Any], to: Destination) -> None:
    """Write reports to standard output or to their file; what is not for screens whole or, if it fails, not at all."""
    from rnncalc import formats

    if to.file is None and formats.find(to.format).for_screens:
        try:
            formats.write(reports, to.format, sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, closed the pipe
            discard_unwritten(sys.stdout)
        return
    text = io.StringIO()
    formats.write(reports, to.format, text)
    if to.file is None and not sys.stdout.isatty():
        write_utf8()
    write_text(text.getvalue(), to.file)


def write_text(text: str, file: str | None = None) -> None:
    """Write text unchanged, to a file if one is named."""
    if file is not None:
        write_file(file, text)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_unwritten(sys.stdout)


def check_file(path: str, flag: str) -> None:
    """Raise CallError if a path must not be overwritten: a folder, a device, a file that this call reads."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # no such file, or `write_file` reports why it cannot be written
    if stat.S_ISDIR(mode):
        raise CallError(f"{flag} '{escape_path(path)}': is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise CallError(f"{flag} '{escape_path(path)}': is not a regular file; name another file")
    if is_input(path):
        raise CallError(f"{flag} '{escape_path(path)}': is read by this call; name another file")


_BITMAPS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
_PDF = {".tex": "and pdflatex makes a PDF of it", ".html": "and print it from a browser as a PDF"}


def check_suffix(path: str, suffixes: Sequence[str]) -> str:
    """Return the suffix of a file to write. Raises CallError for another suffix and for a folder."""
    suffix = os.path.splitext(path)[1].lower()
    check_file(path, "--out")
    if suffix not in suffixes:
        cure = f"; the units of the output layer are -o {path}" if path.isdecimal() else ""
        if suffix in _BITMAPS and ".svg" in suffixes:
            cure = f"; write {escape(path[: -len(suffix)])}.svg; no bitmaps are written"
        if suffix == ".pdf":
            ways = [f"write {escape(path[:-4])}{source}, {way}" for source, way in _PDF.items() if source in suffixes]
            cure = f"; {'; or '.join(ways)}"
        got = f"got '{escape(suffix)}'" if suffix else "got none"
        raise CallError(f"--out '{escape(path)}': expected the suffix {one_of([*suffixes])}, {got}{cure}")
    return suffix


def write_file(path: str, content: str | bytes, flag: str = "--out") -> None:
    """Write a file, text in UTF-8, whole or not at all: a new file beside it replaces it when complete.

    flag: the flag that names the file.
    Raises CallError if it cannot be written; an earlier file is then unchanged and no other file remains.
    """
    check_file(path, flag)
    try:
        mode = None
        with suppress(FileNotFoundError):  # OSError for a cycle of links is reported
            mode = os.stat(path).st_mode & 0o777
        place = os.path.realpath(path)  # keep a link and replace its target
        new = os.path.join(os.path.dirname(place), f".rnncalc-{os.urandom(8).hex()}.tmp")

        def remove() -> None:
            with suppress(FileNotFoundError):
                os.unlink(new)

        with cleared_when_ended(remove), open(new, "xb") as file:
            try:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:
                    os.chmod(new, mode)
                os.replace(new, place)
            except BaseException:
                remove()
                raise
    except (OSError, ValueError) as error:  # ValueError: the name contains a zero byte
        why = error.strerror or str(error) if isinstance(error, OSError) else "no such file"
        raise CallError(f"{flag} '{escape_path(path)}': cannot be written: {why.lower()}") from None


@contextmanager
def cleared_when_ended(clear: Callable[[], None]) -> Iterator[None]:
    """Call `clear` when SIGTERM or SIGHUP ends the process; it then ends as it would without this."""
    import signal  # takes time, and few calls write a file or draw a bar
    from threading import current_thread, main_thread

    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

    def end(number: int, _: object) -> None:
        clear()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    main = current_thread() is main_thread()  # only the main thread may set a handler
    ours = [number for number in signals if main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


# Standard output and standard error, and what can fail when they are written


MOST_OF_A_LINE = 10_000
"""The most characters of a line on standard error; longer lines are shortened."""


def tell(*messages: str) -> None:
    """Write messages to standard error with control characters escaped, in color if asked; do nothing if it is closed.

    All messages go through here, so that none can control a terminal or GitHub's runner. One may have more lines, such
    as a caret's, which begin with blanks. On a terminal the first is folded at blanks.
    """
    if sys.stderr is None:
        return
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "dumb", "unknown")
    start, end = ("\x1b[31m", "\x1b[0m") if sys.stderr.isatty() and not plain else ("", "")
    try:
        for message in messages:
            first, *more = [escape(line, MOST_OF_A_LINE) for line in message.split("\n    ")]
            if sys.stderr.isatty():
                first = "\n".join(_folded(first))
            text = "\n    ".join([first, *more])
            sys.stderr.write(f"{start}{text}{end}\n")
        sys.stderr.flush()
    except OSError:  # the pipe is closed, or the disk full: the exit code remains
        discard_unwritten(sys.stderr)


def _folded(line: str) -> list[str]:
    from textwrap import wrap  # for terminals alone

    from rnncalc.formats import terminal_width

    return wrap(line, terminal_width(), break_long_words=False, break_on_hyphens=False)


def call_text(words: Sequence[str]) -> str:
    """Return a call as a shell takes it, whole, for a message that says what to write."""
    return escape(shlex.join(words), MOST_OF_A_LINE)


def discard_unwritten(stream: TextIO) -> None:
    """Discard what a stream still buffers: the interpreter would write it again at exit."""
    with suppress(ValueError):  # closed, or without a file descriptor, as in a notebook
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def make_encodable() -> None:
    """Make every character writable: if the encoding lacks one of our symbols, write a plain one; others become `?`."""
    if sys.stdout is None:  # closed by the caller: what is not writable refuses an answer
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115  open for as long as the process runs
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_utf8(stream):
            import codecs

            codecs.register_error("rnncalc", _plainly)
            stream.reconfigure(errors="rnncalc")


def write_utf8() -> None:
    """Make standard output write UTF-8, whatever the terminal's encoding: a program or a file reads it."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not _is_utf8(sys.stdout):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")


def _is_utf8(stream: io.TextIOWrapper) -> bool:
    return stream.encoding.lower().replace("-", "") == "utf8"


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end


# The problems of a call, from its flags and its questions, which are reported at once

_NOTED = "rnncalc.problems"
_P = ParamSpec("_P")
_T = TypeVar("_T")


def note(problem: Problem) -> None:
    """Keep a problem of a flag until the others are known."""
    context = click.get_current_context()
    context.meta.setdefault(_NOTED, []).append(problem)


def noted(context: click.Context) -> Sequence[Problem]:
    """Return the problems that are kept."""
    problems: Sequence[Problem] = context.meta.get(_NOTED, ())
    return problems


@contextmanager
def name_file(file: str) -> Iterator[None]:
    """Put the file's name before a refusal if the call names several files."""
    try:
        yield
    except RefusedError as error:
        if not file:
            raise
        raise RefusedError(f"{escape_path(file)}: {error.message}", *error.cures) from None


@contextmanager
def needs_numbers(flag: str) -> Iterator[None]:
    """Name the flag that needs numbers, in a command that takes letters as sizes."""
    try:
        yield
    except LettersError as error:
        raise CallError(f"{flag} needs numbers: {error.sizes}; give numbers") from None


class AllAtOnce:
    """Collects the problems of several questions, and at its end raises SpecError with all of them.

    The result of a question that failed must not be used before the end.
    """

    def __init__(self) -> None:
        context = click.get_current_context(silent=True)
        self.problems: list[Problem] = [*noted(context)] if context else []

    def ask(self, question: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """Return the result of a question, or note its problems."""
        try:
            return question(*args, **named)
        except SpecError as error:
            self.problems += error.problems
        except CallError as error:
            self.refuse(str(error))
        return cast("_T", None)

    def refuse(self, message: str) -> None:
        """Note a problem of the call as a whole."""
        self.problems.append(Problem((), message, "rnncalc"))

    def __enter__(self) -> AllAtOnce:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self.problems:
            raise SpecError(tuple(dict.fromkeys(self.problems)))
