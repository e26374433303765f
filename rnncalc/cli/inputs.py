"""Reads the networks of a call from spec files, standard input or flags."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack

import click

from rnncalc.bounds import MAX_BYTES, MAX_TEXT, MOST_IN_FOLDER
from rnncalc.cli.commands import COMMANDS, NO_COMMAND, SEVERAL
from rnncalc.cli.flags import NetworkFlags
from rnncalc.cli.output import AllAtOnce, call_text, tell
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.network.network import Network
from rnncalc.printable import escape, escape_path
from rnncalc.spec import OVERRIDES, Override, Spec, contents, spec_in_file, spec_in_flags
from rnncalc.words import all_of, did_you_mean, not_among, one_of, plural

if TYPE_CHECKING:
    from rnncalc.network.model import Described

Kept = TypeVar("Kept")

_FILE = r"/|\.[A-Za-z]\w*$"
"""Characters that occur in a file's name and not in a number of units."""


class Chosen(NamedTuple):
    """A network to show, the layers of it that are named, or none for all, and its name if it is one of a model."""

    network: Network
    only: tuple[str, ...]
    within: str | None = None


def chosen(described: Sequence[Described], only: tuple[str, ...]) -> list[Chosen]:
    """Return the networks to show one after the other: of a model those of which `--only` names all or a layer.

    The name of one of a model begins with that of the model. Raises CallError for names that there are not.
    """
    layers = (placed.full_name for each in described for placed in each.stack)
    if wrong := not_among(only, (*(name for each in described for name in each.networks), *layers)):
        raise CallError(f"--only: {wrong}")
    networks = []
    for each in described:
        if isinstance(each, Network):
            networks.append(Chosen(each, only))
            continue
        for name, member in each.networks.items():
            below = tuple(word.partition(".")[2] for word in only if word.partition(".")[0] == name)
            if below or not only:
                network = member.network.replace(name=f"{each.name}: {name}"[:MAX_TEXT])
                networks.append(Chosen(network, () if "" in below else below, name))
    return networks


def read_each(
    specs: Sequence[str], flags: Mapping[str, Any], kept: Callable[[Spec], Kept], *, one: bool = False
) -> list[Kept]:
    """Return what `kept` makes of each spec, or of the flags, as read: its text takes several times the memory.

    one: whether several specs are refused, before any is read.
    Raises SpecError with the problems of all specs, or if neither specs nor flags are given, or both.
    """

    def keep(file: SpecPath) -> Kept:
        if file.problem:
            raise file.problem
        spec = _spec(file.path, overrides(flags), hint=True)
        if spec.several and (context := click.get_current_context(silent=True)):
            context.meta[SEVERAL] = True
        read = kept(spec)
        tell(*map(str, spec.misspelt()))
        return read

    in_flags = describing(flags)
    with AllAtOnce() as at_once:
        if letters := flags.get("letters"):
            flags = {**flags, "letters": at_once.ask(read_file, letters, flag="--letters")}
        problem = _file_for_units(flags)
        if in_flags and specs:
            problem = problem or _both(in_flags, specs, flags["layers"])
        elif not (in_flags or specs):
            weights = _weights() or ""
            cure = f"; or remove --weights before {escape_path(weights)}" if is_drafted(weights) else ""
            problem = f"no network: give a SPEC file, or flags such as -i 4 -l rnn:3 -o 1{cure}"
        elif specs:
            problem = problem or network_meant(specs)
        if problem:
            at_once.refuse(problem)
            return []
        if in_flags:
            return [at_once.ask(lambda: kept(spec_in_flags(**flags)))]
        if not os.path.exists(specs[0]) and _command_meant(specs[0]):
            specs = specs[:1]  # the other words belong to the misspelled command
        files = [file for spec in specs for file in below(spec)]
        if one and len(files) > 1:
            models, cure = [file.path for file in files if is_drafted(file.path)], "name one spec"
            if _weights() == "" and len(files) == 2 and len(models) == 1:
                cure = f"write --weights before {escape_path(models[0])}"
            at_once.refuse(f"expected one network, got {len(files):,}; {cure}")
            return []
        return [at_once.ask(keep, file) for file in files]


def _weights() -> str | None:
    """Return the file that --weights names in this call, empty without one; None if the command has no such flag."""
    context = click.get_current_context(silent=True)
    return (context.params["weights"] or "") if context and "weights" in context.params else None


def network_meant(words: Sequence[str]) -> str:
    """Return the hint for words that are no files if they are meant as a network, as in `rnncalc explain gru 10 20`."""
    if os.path.exists(words[0]):
        return ""
    from rnncalc.cli.typed import call_meant

    call = call_meant(click.get_current_context(silent=True))
    numbers = "".join(words).isdecimal()
    rule = "a number has its flag or its kind before it" if numbers else "a network is written in flags"
    return f"'{escape(' '.join(words))}': {rule}; {call}" if call else ""


def _file_for_units(flags: Mapping[str, Any]) -> str:
    """Return the hint for `-o report.html`, empty if the value of `-o` is not a file."""
    units = (flags["output"] or "").partition(",")[0]
    if units.isdecimal() or not re.search(_FILE, units):
        return ""
    return f"-o: '{escape(units)}' is a file, and -o is the units of the output layer; write --out {escape(units)}"


def _both(in_flags: list[str], specs: Sequence[str], layers: Sequence[str]) -> str:
    """Return the message for specs given together with the flags of a network."""
    spec, context = specs[0], click.get_current_context(silent=True)
    if cure := network_meant(specs):
        return cure
    has_only = context is not None and any("--only" in option.opts for option in context.command.params)
    if in_flags == ["-l"] and has_only and all(map(str.isidentifier, layers)):
        return f"-l is a layer of a network in flags; write {' '.join(f'--only {escape(name)}' for name in layers)}"
    if not os.path.exists(spec):
        if spec in COMMANDS:
            return f"the command comes first: rnncalc {spec} {in_flags[0]} ..."
        if meant := _command_meant(spec):
            return f"'{escape(spec)}': no such file{meant}"
    verb = "describes" if len(in_flags) == 1 else "describe"
    return f"{all_of(in_flags)} {verb} a network, and so does '{escape(spec)}': give one of them"


def read_open_spec(specs: Sequence[str], **flags: Unpack[NetworkFlags]) -> Spec:
    """Return the description in one spec or the flags, with sizes `?` left open. Raises as `read_each` does."""
    with AllAtOnce() as at_once:
        if hint := _file_for_units(flags):
            raise CallError(hint)
        if len(specs) + bool(describing(flags)) != 1:
            at_once.refuse("expected one network: a SPEC file, or flags such as -i 4 -l 'rnn:?' -o 1")
        return at_once.ask(_spec, specs[0], overrides(flags)) if specs else spec_in_flags(**flags)


def _spec(path: str, overrides: Mapping[str, Override], *, hint: bool = False) -> Spec:
    data, source = read_spec(path, hint=hint)
    return spec_in_file(data, source, **overrides)


def describing(flags: Mapping[str, Any]) -> list[str]:
    """Return the given flags that describe a network without a spec."""
    return [flag for flag, value in (("-i", flags["input"]), ("-l", flags["layers"]), ("-o", flags["output"])) if value]


def overrides(flags: Mapping[str, Any]) -> dict[str, Override]:
    """Return the values that override a spec's own."""
    keys = {*OVERRIDES, "letters", "dtype"}
    return {key: word for key, word in flags.items() if key in keys and isinstance(word, str | tuple)}


def read_spec(path: str, *, flag: str = "", hint: bool = False) -> tuple[bytes, str]:
    """Return the bytes and the name of a spec, or of a model file's draft. Raises SpecError as `read_file` does."""
    if is_drafted(path):
        return _draft(path, flag).encode(), path
    return read_file(path, flag=flag, hint=hint)


def is_drafted(path: str) -> bool:
    """Return whether a path is that of a model file, whose draft is read as the spec."""
    if path == "-" or path.lower().endswith(SUFFIXES) or not (os.path.isfile(path) or os.path.isdir(path)):
        return False
    from rnncalc.models.files import is_model

    return is_model(path)


def _draft(path: str, flag: str) -> str:
    """Return the spec that `read` drafts of a model file, and point at its comments in one line on standard error."""
    import io

    from rnncalc import formats
    from rnncalc.cli.progress import progress_of
    from rnncalc.models.files import read
    from rnncalc.models.read import with_parameters
    from rnncalc.reports.read import ReadReport

    with progress_of(None, "reading"):
        report, text = ReadReport(with_parameters(read(path, flag))), io.StringIO()
    if report.read.draft is None:
        raise SpecError((_at(path, flag, "no spec counts this file; rnncalc read says what is in it"),))
    formats.write([report], "yaml", text)
    kind = report.contents()
    if notes := sum(line.lstrip().startswith("#") for line in text.getvalue().splitlines()[1:]):
        tell(f"{escape_path(path)}: {kind}; {plural(notes, 'comment')} on it: {call_text(['rnncalc', 'read', path])}")
    return text.getvalue()


def read_file(path: str, *, flag: str = "", hint: bool = False, most: int = MAX_BYTES) -> tuple[bytes, str]:
    """Return the bytes and the name of a file or of standard input. Raises SpecError if it cannot be read.

    A file of more than `most` bytes is read up to one more byte, enough to know that it is too long.
    flag: the flag that names the file. hint: whether the word may be meant as a command.
    """
    if path != "-":
        try:
            return contents(path, most), path
        except OSError as error:
            raise SpecError((_at(path, flag, _unreadable(path, error, hint)),)) from None
        except ValueError:  # the name contains a zero byte
            raise SpecError((_at(path, flag, "no such file"),)) from None
    if sys.stdin is None or sys.stdin.closed or not (data := sys.stdin.buffer.read(most + 1)):
        raise SpecError((Problem((), "standard input is empty; give it one spec, once", "-"),))
    return data, "stdin"


def _at(path: str, flag: str, message: str) -> Problem:
    where = f"'{escape(path, limit=300)}'"  # the message ends with the file's name
    return Problem((), f"{where}: {message}", flag) if flag else Problem((), message, where)


def _unreadable(path: str, error: OSError, hint: bool) -> str:
    """Return why a file cannot be read, with a hint if the word is probably not a file."""
    if isinstance(error, FileNotFoundError):
        if os.path.islink(path):
            return "is a link that leads nowhere"
        return f"no such file{_beside(path) or (_hint(path) if hint else '')}"
    if isinstance(error, IsADirectoryError):
        return "is a folder; name a file in it"
    return (error.strerror or str(error)).lower()


def _beside(path: str) -> str:
    """Return a suggestion for a missing file: another suffix, or a similar name of the file or of its folder."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    stem, is_spec = (stem, True) if suffix.lower() in SUFFIXES else (name, False)
    folders = [folder]
    if folder and not os.path.isdir(folder):
        above, missing = os.path.split(folder)
        near = get_close_matches(missing, [each for each in _names_in(above) if each != missing], cutoff=0.75)
        folders = [os.path.join(above, each) for each in near]
    for each in folders:
        specs = {os.path.splitext(file)[0]: file for file in _names_in(each) if file.lower().endswith(SUFFIXES)}
        names = [stem] if stem in specs else get_close_matches(stem, specs, n=1, cutoff=0.75) if is_spec else []
        if names and os.path.isfile(file := os.path.join(each, specs[names[0]])):
            return f"; did you mean '{escape_path(file)}'?"
    return ""


def _names_in(folder: str) -> list[str]:
    """Return the first names in a folder; none if it cannot be read."""
    try:
        with os.scandir(folder or os.curdir) as entries:
            return sorted(each.name for each in islice(entries, MOST_IN_FOLDER))
    except (OSError, ValueError):
        return []


def _hint(word: str) -> str:
    """Return a suggestion for a word that is not a file."""
    if meant := _command_meant(word):
        return meant
    no_command = word.isidentifier() and _stands_first(word)
    return f", and no command; the commands are {one_of([*COMMANDS])}" if no_command else ""


def _command_meant(word: str) -> str:
    """Return the command that a misspelled first word is close to."""
    if not _stands_first(word):
        return ""
    from rnncalc.spec.aliases import spelled

    if names := spelled(word, [*COMMANDS]):
        return f"; write rnncalc {names[0]}"
    return did_you_mean(word, [*COMMANDS]).replace("mean", "mean the command")


def _stands_first(word: str) -> bool:
    """Return whether a word is the first of its call, where a command would be."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(NO_COMMAND) == word


# The files that a call names: files, specs below folders, and `-`; none of them is opened here

SUFFIXES = (".yaml", ".yml")


class SpecPath(NamedTuple):
    """A file to read: its path as the user wrote it.

    folder: the folder of the call that contains it, if any. below: its path below that folder.
    named: whether the call names the file itself.
    problem: why it cannot be read.
    """

    path: str
    folder: str | None = None
    below: str = ""
    named: bool = False
    problem: SpecError | None = None


def find(paths: Sequence[str]) -> list[SpecPath]:
    """Return the files of all paths, each once, sorted within a folder."""
    files: dict[str, SpecPath] = {}
    for path in paths:
        for file in below(path):
            earlier = files.get(file.path, file)
            files[file.path] = (earlier if earlier.folder else file)._replace(named=earlier.named or file.named)
    return [*files.values()]


def below(path: str) -> list[SpecPath]:
    """Return the file at a path, or the specs below a folder; if there are none, one file with a problem.

    Hidden files and folders are left out, and links to folders are not followed: they may lead in circles, or to the
    whole disk.
    """
    if path == "-" or not os.path.isdir(path) or is_drafted(path):
        return [SpecPath(path, named=True)]
    files = sorted(_walk(path), key=lambda file: file.path.split(os.sep))
    none = f"no {' or '.join(SUFFIXES)} file below this folder; a model file in it is named by itself"
    return files or [SpecPath(path, problem=unreadable(path, none))]


def is_listed(path: str) -> bool:
    """Return whether a path below a folder has a spec's suffix and no hidden part."""
    parts = path.replace(os.sep, "/").split("/")
    return parts[-1].lower().endswith(SUFFIXES) and not any(part.startswith(".") for part in parts)


def _walk(top: str) -> Iterator[SpecPath]:
    start = len(os.path.normpath(os.path.join(top, "_"))) - 1  # the start of the part below the folder
    errors: list[OSError] = []
    for folder, folders, files in os.walk(top, onerror=errors.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in filter(is_listed, files):
            path = os.path.normpath(os.path.join(folder, name))  # without ./, which GitHub's annotations do not match
            yield SpecPath(path, top, path[start:])
    for error in errors:
        yield SpecPath(error.filename, problem=unreadable(error.filename, (error.strerror or str(error)).lower()))


def unreadable(path: str, message: str) -> SpecError:
    """Return the error of a file or folder with nothing to check."""
    return SpecError((Problem((), message, f"'{escape_path(path)}'"),))
