"""What the playground asks of rnncalc, in Pyodide: plain values in, plain values out.

A network comes as flags (`-i 8 -l gru:16 -o 1`) or as a spec in YAML, with the settings of the page beside it. Every
view is a call of the command line, and what it prints is what the page shows.
"""

import io
import json
import os
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from typing import Any

import yaml

import rnncalc
from rnncalc.answers.exercise import OF_PASS
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import GivenNumber, GivenShape, read_answer, read_answers
from rnncalc.answers.tensors import tensors_of
from rnncalc.cli import call
from rnncalc.cli.compare import spec_typed
from rnncalc.cli.variants import read_exercise
from rnncalc.conventions import CONVENTIONS, NOTATIONS
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.formats import html
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import Choice, Switch
from rnncalc.network.network import Network
from rnncalc.network.parts import TOPOLOGIES
from rnncalc.network.writer import spec_of
from rnncalc.programs import SPELLINGS
from rnncalc.reports.answer import AnswerReport
from rnncalc.spec import parse
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
"""The network of the page: `form` (flags or yaml), `network` (its text), and `convention`, `steps`, `sizes`, `topology`
and `notation`, each empty where the network itself says it; of an exercise also what it asks for (`ask`), its `seed`,
and what varies (`vary`), a line each."""

HERE = {
    "rnncalc explain derives": "The view Explanation derives",
    ", or write --states, which shows only the results": "",
    "--view unrolled": "the view Unrolled",
    "--view growth": "the view Growth",
    "--training": "the view Training",
}
"""What messages of the command line say, and what the page has instead."""

MOST_FIELDS = 12
"""How many numbers that an exercise asks for have a field each."""

MOST_SEEDS = 20
"""How many seeds are tried for other numbers."""


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
    if "problems" in network(settings):
        return {"problems": ["The network has a mistake, which is shown beside it. Correct it first."]}
    return _page(["answer", *_arguments(settings, ("notation",)), "-f", "html", "--", *_answers(answer)])


def exercise(settings: Settings) -> dict[str, Any]:
    """Return the page of an exercise, and as `fields` the names of the numbers that it asks for, if several."""
    page = _page([*_question(settings), "--sheet", "-f", "html"])
    if "problems" in page:
        return page
    grader = _grader(settings)
    names = {
        "layers": [placed.name for placed in grader.network.stack],
        "tensors": [f"{layer}.{tensor.name}" for layer, tensor in tensors_of(grader.network)],
    }.get(grader.asks, [*getattr(grader, "asked", ())])
    return page | {"fields": names if 1 < len(names) <= MOST_FIELDS else []}


def _grader(settings: Settings) -> Grader:
    data = _exercise(*settings.items())
    return read_exercise(data.encode(), "this exercise")._replace(hint=True).grader("1")


def solution(settings: Settings) -> dict[str, Any]:
    """Return the page of the answer to an exercise, and its network as YAML."""
    try:
        spec = json.loads(_exercise(*settings.items()))["exercises"][0]["spec"]
    except ValueError as error:
        return {"problems": str(error).splitlines()}
    return _page([*_question(settings), "--key", "-f", "html"]) | {"yaml": _yaml(spec)}


def other(settings: Settings) -> dict[str, Any]:
    """Return the next seed that gives an exercise other numbers, or the lines that say why there is none."""
    try:
        shown, first = _exercise(*settings.items()), int(settings["seed"] or 0) + 1
        for seed in range(first, first + MOST_SEEDS):
            if _exercise(*(settings | {"seed": str(seed)}).items()) != shown:
                return {"seed": str(seed)}
    except ValueError as error:
        return {"problems": str(error).splitlines()}
    return {"problems": ["The ranges of this exercise allow no other numbers."]}


@cache
def _exercise(*settings: tuple[str, str]) -> str:
    """Return an exercise as JSON. Raises ValueError with the lines that say what is wrong."""
    code, out, err = _call([*_question(dict(settings)), "-f", "json"])
    if code:
        raise ValueError(err)
    return out


def _question(settings: Settings) -> list[str]:
    """Return the words of the call that writes an exercise."""
    varied = [f"--vary={each}" for each in settings["vary"].splitlines()]
    return ["exercise", *_arguments(settings, ("notation", "ask", "seed")), *varied]


def hint(settings: Settings, answer: str) -> dict[str, Any]:
    """Return the page of an answer to an exercise, and as `right` whether it solves it.

    Until then the page asks what to look at, without a correct number. Numbers are taken exactly, and a shape
    by name is not the whole answer.
    """
    try:
        grader = _grader(settings)
        read = partial(read_answers, sizes=grader.sizes, quantity=grader.quantity)
        answers = [
            each._replace(unit=1, coarse=0) if isinstance(each, GivenNumber) else each
            for text in ([] if grader.asks in OF_PASS else _answers(answer))
            for each in read(text)
        ]
        judged = grader.judge(answers or grader.read(answer))
    except ValueError as error:
        return {"problems": str(error).splitlines()}
    shapes = [each.answer for each in judged.judged if isinstance(each.answer, GivenShape) and not each.value]
    names = {each.name or place for place, each in enumerate(shapes)}
    part = grader.missing(judged.judged) or (
        shapes and (grader.asks != "tensors" or len(names) != len(grader.right_answer))
    )
    right = judged.right and not part
    page = io.StringIO()
    html.write([AnswerReport(judged, hint=not right)], page)
    return {"page": page.getvalue(), "right": right}


def _answers(text: str) -> list[str]:
    """Return what is between blanks if each is an answer, else the text, which may be several in another way.

    The signs of a formula join what is beside them.
    """
    pieces = re.split(r"(?<![-+*×·,;(=])\s+(?![-+*×·,;)=])", text.strip())
    try:
        for piece in pieces:
            read_answer(piece)
    except CallError:
        return [text]
    return pieces


def export(settings: Settings, target: str) -> dict[str, Any]:
    """Return the network as a program of a framework."""
    code, out, err = _call(["export", *_arguments(settings), "--to", target])
    return {"text": out} if code == 0 else {"problems": err.splitlines()}


def network(settings: Settings) -> dict[str, Any]:
    """Return the total of the network, it as YAML, as a command line, and as an exercise asks for it; or its problems.

    `asked` is its text without what may contain its counts. Each problem has its line, 0 where it has none.
    """
    try:
        read = _read(settings)
    except SpecError as error:
        return {"problems": [{"line": each.line or 0, "text": str(each)} for each in error.problems]}
    text = settings["network"]
    if settings["form"] == "yaml":
        texts = {"yaml": text, "asked": _asked(text)}
    else:
        texts = {"yaml": _yaml(spec_of(read)), "asked": text}
    total = str(read.params) if read.letters else f"{read.params:,}"
    return {"total": total, "ask": "formula" if read.letters else "total", "command": _command(settings)} | texts


def _yaml(spec: dict[str, Any]) -> str:
    return yaml.safe_dump(spec, sort_keys=False, allow_unicode=True, width=100)


def _asked(text: str) -> str:
    """Return a spec without what may contain its counts: comments, and the keys that say where they come from."""
    tree = yaml.compose(text)
    assert tree
    tree.value = [(key, value) for key, value in tree.value if key.value not in ("source", "expect", "budget")]
    return str(yaml.serialize(tree, allow_unicode=True, width=100))


def _read(settings: Settings) -> Network:
    """Return the network of the page. Raises SpecError with its problems."""
    if settings["form"] == "yaml":
        overrides = {key: settings[key] or None for key in ("convention", "steps", "topology")}
        return parse(settings["network"].encode(), SPEC, sizes=_sizes(settings), **overrides).network
    try:
        words = _arguments(settings)
    except ValueError:
        raise SpecError((Problem((), "a quotation mark is not closed"),)) from None
    try:
        return spec_typed(words).network
    except SpecError as error:  # its messages write nothing that the page has beside the flags
        typed = _arguments({"form": "flags", "network": settings["network"]})
        beside = shlex.join(words[len(typed) :])
        problems = (each._replace(message=each.message.replace(f" {beside}", "")) for each in error.problems)
        raise SpecError(tuple(problems) if beside else error.problems) from None


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
    return [*words, *(f"--set={each}" for each in _sizes(settings))]


def _sizes(settings: Settings) -> tuple[str, ...]:
    """Return the values of named sizes on the page, `D=64`."""
    return tuple(re.sub(r"\s*=\s*", "=", settings.get("sizes", "")).split())


def _page(args: list[str]) -> dict[str, Any]:
    code, out, err = _call(args)
    for command, here in HERE.items():
        out, err = out.replace(command, here), err.replace(command, here)
    if code < 2:
        return {"page": out, "right": code == 0}
    return {"problems": [line.removeprefix("rnncalc: ") for line in err.splitlines()]}


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
