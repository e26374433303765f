"""What the playground asks of rnncalc, in Pyodide: plain values in, plain values out.

A network comes as flags (`-i 8 -l gru:16 -o 1`) or as a spec in YAML, with the settings of the page beside it. Every
view is a call of the command line, and what it prints is what the page shows.
"""

import io
import os
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import yaml
from click import Context

import rnncalc
from rnncalc.cli import call
from rnncalc.cli.commands import cli
from rnncalc.cli.flags import NetworkFlags
from rnncalc.conventions import CONVENTIONS, NOTATIONS
from rnncalc.errors import SpecError
from rnncalc.export import SPELLINGS
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import Choice, Switch
from rnncalc.network.parts import TOPOLOGIES
from rnncalc.network.writer import spec_of
from rnncalc.spec import from_flags, parse
from rnncalc.spec.reader import TOP_KEYS

SPEC = "network.yaml"
"""The name of the spec that is on the page, as messages have it."""

VIEWS = {
    "count": (("count", "--tensors"), ("notation",)),
    "explain": (("explain",), ("notation",)),
    "unrolled": (("draw", "--view", "unrolled"), ()),
    "cell": (("draw", "--view", "cell"), ("notation",)),
    "growth": (("draw", "--view", "growth"), ()),
    "work": (("run", "--work"), ("notation",)),
    "cost": (("count", "--cost"), ()),
    "training": (("count", "--training"), ()),
}
"""A view: the words of the call that prints it, and the settings that it takes beside those of a network."""

Settings = dict[str, Any]
"""The network of the page: `form` (flags or yaml), `network` (its text), and `convention`, `steps`, `topology`,
`notation`, each empty where the network itself says it."""


def about() -> dict[str, Any]:
    """Return what the page offers: the words of a network, the examples' views and the version."""
    return {
        "version": rnncalc.__version__,
        "conventions": [*CONVENTIONS],
        "notations": [*NOTATIONS],
        "topologies": [*TOPOLOGIES],
        "keys": [*TOP_KEYS],
        "kinds": {name: {option: _values(name, option) for option in kind(name).options()} for name in KINDS},
        "views": [*VIEWS],
        "targets": [*SPELLINGS],
    }


def _values(name: str, option: str) -> list[str]:
    match kind(name).option(option).allowed:
        case Choice() as choice:
            return [*choice.words]
        case Switch():
            return ["true", "false"]
    return []


def show(settings: Settings, view: str) -> dict[str, Any]:
    """Return the page of a view, or the lines that say what is wrong."""
    words, takes = VIEWS[view]
    return _page([*words, *_arguments(settings, takes), "-f", "html"])


def judge(settings: Settings, answer: str) -> dict[str, Any]:
    """Return the page that says whether an answer is right, or which mistake gives it."""
    answers = re.split(
        r"(?<![-+*×·,(=])\s+(?![-+*×·,)=])", answer.strip()
    )  # the signs of a formula join what is beside
    return _page(["answer", *_arguments(settings, ("notation",)), "-f", "html", "--", *answers])


def export(settings: Settings, target: str) -> dict[str, Any]:
    """Return the network as a program of a framework."""
    code, out, err = _call(["export", *_arguments(settings), "--to", target])
    return {"text": out} if code == 0 else {"problems": err.splitlines()}


def network(settings: Settings) -> dict[str, Any]:
    """Return the network as YAML and as a command line, or its problems, each with its line, 0 where it has none."""
    if settings["form"] == "yaml":
        overrides = {key: settings[key] or None for key in ("convention", "steps", "topology")}
        try:
            name = parse(settings["network"].encode(), SPEC, **overrides).network.name
        except SpecError as error:
            return {"problems": [{"line": each.line or 0, "text": str(each)} for each in error.problems]}
        return {"name": name, "yaml": settings["network"], "command": _command(settings)}
    try:
        words = _arguments(settings)
    except ValueError:
        return {"problems": [{"line": 0, "text": "a quotation mark is not closed"}]}
    code, _, err = _call(["count", *words])
    if code:
        return {"problems": [{"line": 0, "text": line} for line in err.splitlines()]}
    count = cli.get_command(Context(cli), "count")
    assert count
    flags = count.make_context("count", words).params
    found = from_flags(**{key: flags[key] for key in NetworkFlags.__annotations__}).network
    written = yaml.safe_dump(spec_of(found), sort_keys=False, allow_unicode=True, width=100)
    return {"name": found.name, "yaml": written, "command": _command(settings)}


def _command(settings: Settings) -> str:
    return f"rnncalc {shlex.join(_arguments(settings))}"


def _arguments(settings: Settings, takes: tuple[str, ...] = ()) -> list[str]:
    """Return the words of a call that stand for the network, its spec written to a file where it is YAML."""
    if settings["form"] == "yaml":
        with open(SPEC, "w", encoding="utf-8") as file:
            file.write(settings["network"])
        words = [SPEC]
    else:
        words = shlex.split(settings["network"])
        words = words[1:] if words[:1] == ["rnncalc"] else words
    for key in ("convention", "steps", "topology", *takes):
        words += [f"--{key}", settings[key]] if settings.get(key) else []
    return words


def _page(args: list[str]) -> dict[str, Any]:
    code, out, err = _call(args)
    return {"page": out, "right": code == 0} if code < 2 else {"problems": err.splitlines()}


def _call(args: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = call(args)
    return code, out.getvalue(), err.getvalue()


def read(name: str, data: bytes) -> dict[str, Any]:
    """Return what a model file holds, as a page, and the draft of the spec that it can be of, as YAML."""
    path = os.path.basename(name) or "model"
    with open(path, "wb") as file:
        file.write(data)
    page = _page(["read", "-f", "html", "--", path])
    code, out, _ = _call(["read", "--", path])
    os.remove(path)
    return page | ({"yaml": out} if code == 0 else {})
