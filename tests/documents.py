"""The documents, and what in them is generated: `python tests/documents.py` writes it anew.

Generated are the output under each command of a console block, the line of contents of each page in docs/, the tables
of kinds and options of layers, and specs/README.md. The tests hold that nothing of it is out of date.
"""

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rnncalc import load_model
from rnncalc.cli import call
from rnncalc.cli.help import kinds_with_options, layers_by_kind, options_with_meanings
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Layer, Transform

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SPECS = ROOT / "specs" / "README.md"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [README, *PAGES, SPECS]

BLOCK = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(?P<marks>#+) (?P<title>.+)$", re.MULTILINE)
LINK = re.compile(r"!?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]*)\)")
CONTENTS = re.compile(r"^On this page:.*\n\n", re.MULTILINE)
STATUS = "; echo $?"


class Block(NamedTuple):
    """A block of a document in a fence: its language, its text, and the line of the document it starts on."""

    language: str
    body: str
    line: int


class Shown(NamedTuple):
    """A command that a document shows, and the output below it."""

    command: str
    output: str


def blocks(text: str, language: str = "") -> list[Block]:
    """Return the blocks of a document; of one language if it is named."""
    found = [
        Block(each["language"], each["body"], text.count("\n", 0, each.start()) + 1) for each in BLOCK.finditer(text)
    ]
    return [block for block in found if language in ("", block.language)]


def commands(body: str) -> list[Shown]:
    """Return the commands of a console block, each with the lines below it."""
    parts = re.split(r"^\$ (.*)\n", body, flags=re.MULTILINE)
    return [Shown(*pair) for pair in zip(parts[1::2], parts[2::2], strict=True)]


def prose(text: str) -> str:
    """Return a document without its blocks, whose lines stay, empty."""
    return BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)


def output_of(command: str, files: Path) -> str:
    """Return what a command prints into a pipe, standard error last; files that it writes go to a folder, by name.

    Known are rnncalc and cat, `> FILE` behind a command, and `; echo $?`, which shows the exit code.
    """
    status = command.endswith(STATUS)
    command, _, redirected = command.removesuffix(STATUS).partition(" > ")
    program, *args = shlex.split(command)
    if program == "cat":
        return "".join((ROOT / name).read_text(encoding="utf-8") for name in args)
    if program != "rnncalc":
        raise ValueError(f"a document may show rnncalc and cat, not {program}")
    for place, flag in enumerate(args[:-1]):
        if flag in ("--out", "--save-weights"):
            args[place + 1] = str(files / Path(args[place + 1]).name)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = call(args)
    if redirected:
        (files / Path(redirected).name).write_text(out.getvalue(), encoding="utf-8")
        out = io.StringIO()
    exit_code = f"{code}\n" if status else ""
    return (out.getvalue() + err.getvalue()).replace(f"{files}/", "") + exit_code


def written(body: str) -> Iterator[str]:
    """Yield the paths in docs/ that the commands of a console block write."""
    for shown in commands(body):
        yield from re.findall(r"--out (docs/\S+)", shown.command)


def slug(title: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(text: str) -> list[str]:
    """Return the anchors of a document's headings; GitHub numbers those that come again."""
    seen: list[str] = []
    for heading in HEADING.finditer(prose(text)):
        anchor = slug(heading["title"])
        seen.append(f"{anchor}-{count}" if (count := seen.count(anchor)) else anchor)
    return seen


def links(text: str) -> list[str]:
    """Return the targets of a document's links and images."""
    return [link["target"] for link in LINK.finditer(prose(text))]


def with_contents(text: str) -> str:
    """Return a page with its line of contents below its first paragraph, if it has three parts or more."""
    text = CONTENTS.sub("", text)
    titles = [heading["title"] for heading in HEADING.finditer(prose(text)) if heading["marks"] == "##"]
    if len(titles) < 3:
        return text
    line = " · ".join(f"[{title.replace('`', '')}](#{slug(title)})" for title in titles)
    title, opening, rest = text.split("\n\n", 2)
    return f"{title}\n\n{opening}\n\nOn this page: {line}\n\n{rest}"


def table(*rows: Iterable[str]) -> str:
    """Return a table of Markdown; the first row is its header."""
    head, *rest = [f"| {' | '.join(row)} |\n" for row in rows]
    return head + "|" + "---|" * (head.count("|") - 1) + "\n" + "".join(rest)


def code(words: Iterable[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def tables() -> Iterator[str]:
    """Yield the tables that follow from the classes of layers."""
    rows = [
        (f"`{name}`", number or "none", summary, code(options) or "none")
        for name, number, summary, options in kinds_with_options()
    ]
    yield table(("kind", "its number", "what it is, and its parameters", "options"), *rows)
    owners: dict[str, dict[str, type[Layer]]] = {"a layer": layers_by_kind(), "attention": {"": DecoderAttention}}
    for owner, layers in owners.items():
        options = options_with_meanings(layers)
        meanings = [(f"`{name}`", option.allowed.expected, meaning) for name, option, meaning in options]
        yield table((f"option of {owner}", "values", "meaning"), *meanings)
    classes: dict[str, list[str]] = {}
    for layer in layers_by_kind().values():
        group = (
            "recurrent cells"
            if issubclass(layer, Cell)
            else "around the cells"
            if issubclass(layer, Transform)
            else "others"
        )
        classes.setdefault(group, []).append(layer.__name__)
    yield table(("layers", "classes"), *((group, code(names)) for group, names in classes.items()))


def with_tables(text: str) -> str:
    """Return a document with the generated tables anew; they are found by their headers."""
    for each in tables():
        found = re.search(rf"^{re.escape(each.partition(chr(10))[0])}\n(?:\|.*\n)*", text, re.MULTILINE)
        text = text.replace(found[0], each) if found else text
    return text


def with_output(text: str, files: Path) -> str:
    """Return a document with the real output under each of its commands."""

    def console(block: re.Match[str]) -> str:
        if block["language"] != "console":
            return block[0]
        body = "".join(f"$ {each.command}\n{output_of(each.command, files)}" for each in commands(block["body"]))
        return f"```console\n{body}```"

    return BLOCK.sub(console, text)


FOLDERS = {
    "": "Known networks and classroom exercises",
    "several": "Models of several networks",
    "letters": "In the letters of courses",
    "textbook": "Further cells, as their papers have them",
    **{name: f"As {convention(name).title} counts" for name in CONVENTIONS if name != "textbook"},
}
"""The folders of specs/ that hold specs, each with its heading."""


def specs_page() -> str:
    """Return specs/README.md: a line for each spec, with its name, its parameters and its source."""
    opening = (
        "# Specs of known networks\n\n"
        "Each file is a spec with its `source` and the count that it is known to have. Copy one and change it.\n"
        "`rnncalc check specs` checks them all. `models/` has small models for [model files](../docs/models.md).\n"
    )
    parts = [opening]
    for folder, title in FOLDERS.items():
        paths = sorted((SPECS.parent / folder).glob("*.yaml"))
        parts += [f"\n## {title}\n\n| spec | network | parameters | source |\n|---|---|---:|---|\n"] * bool(paths)
        for path in paths:
            network = load_model(path)
            name = path.relative_to(SPECS.parent).as_posix()
            source = (network.source or "").replace("|", "\\|")
            parts.append(f"| [{name}]({name}) | {network.name} | {network.params:,} | {source} |\n")
    return with_contents("".join(parts))


def main() -> None:
    """Write anew what is generated."""
    os.chdir(ROOT)
    SPECS.write_text(specs_page(), encoding="utf-8")
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        kept = [name for block in blocks(text, "console") for name in written(block.body)]
        with tempfile.TemporaryDirectory() as folder:
            text = with_output(text, Path(folder))
            for name in kept:
                (ROOT / name).write_bytes(Path(folder, Path(name).name).read_bytes())
        if path in PAGES:
            text = with_tables(with_contents(text))
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
