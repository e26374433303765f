"""The documents are true: commands print what they show, code runs, links lead somewhere, and nothing is left out."""

import ast
import doctest
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import documents
import pytest
import yaml
from conftest import Call, file_at
from documents import BLOCK, DOCUMENTS, PAGES, ROOT, Block, Shown, anchors, blocks, commands, links, prose, slug
from examples import formats

import rnncalc
from rnncalc.cli.commands import COMMANDS, cli

TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in DOCUMENTS}
CHANGELOG = ROOT / "CHANGELOG.md"
SHOWN = [
    pytest.param(shown, id=f"{name}:{shown.command}")
    for name, text in TEXTS.items()
    for block in blocks(text, "console")
    for shown in commands(block.body)
]


@pytest.mark.parametrize("shown", SHOWN)
def test_a_command_prints_what_its_document_shows(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Into a pipe; and what it writes into docs/ is the file that is there."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert documents.output_of(shown.command, tmp_path) == shown.output
    for name in documents.written(f"$ {shown.command}\n"):
        assert (tmp_path / Path(name).name).read_bytes() == (ROOT / name).read_bytes()


def test_the_command_itself_prints_it_too() -> None:
    """What holds in this process holds for the installed program."""
    first = commands(blocks(TEXTS["README.md"], "console")[0].body)[0]
    words = [sys.executable, "-m", *first.command.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout == first.output


def test_every_block_is_one_that_is_tested() -> None:
    """What is shown as a command, as Python or as YAML; the rest are lines for a shell, or output."""
    for name, text in TEXTS.items():
        for block in blocks(text):
            assert block.language in {"console", "python", "yaml", "sh", "", "{toctree}"}, (name, block.line)
            if block.language == "console":
                assert commands(block.body), (name, block.line)
                assert block.body.startswith("$ "), (name, block.line)


SESSIONS = [name for name, text in TEXTS.items() if any(">>>" in block.body for block in blocks(text, "python"))]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_python_session_is_real(name: str) -> None:
    """The examples of a page run one after another, as a reader types them."""
    results = doctest.testfile(str(ROOT / name), module_relative=False)
    assert results.attempted > 3
    assert results.failed == 0


def scripts() -> Iterator[Any]:
    """Yield each Python block that is no session, with the block behind it."""
    for name, text in TEXTS.items():
        found = blocks(text)
        for block, behind in itertools.pairwise([*found, Block("", "", 0)]):
            if block.language == "python" and ">>>" not in block.body:
                yield pytest.param(block, behind, id=f"{name}:{block.line}")


@pytest.mark.parametrize(("script", "behind"), [*scripts()])
def test_a_python_script_runs(script: Block, behind: Block) -> None:
    """It prints what the block behind it has, if it prints anything; a test that it defines passes."""
    tests = [each.name for each in ast.parse(script.body).body if isinstance(each, ast.FunctionDef)]
    lines = [script.body, *(f"{test}()" for test in tests if test.startswith("test_"))]
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in ("", behind.body)


YAMLS = [pytest.param(block.body, id=f"{name}:{block.line}") for name in TEXTS for block in blocks(TEXTS[name], "yaml")]


@pytest.mark.parametrize("text", YAMLS)
def test_yaml_is_yaml_and_a_spec_keeps_what_it_says(text: str, tmp_path: Path, call: Call) -> None:
    """A spec's own `expect` and `budget` included, and a forward pass confirms its count."""
    read = yaml.safe_load(text)
    if "layers" not in read:
        return
    path = file_at(tmp_path / "spec.yaml", text)
    checked = call("check", path)
    assert checked.code == 0, checked.out
    assert call("run", path, "--max-multiply-adds", "1M").code in (0, 2)  # 2: too long a pass for a test
    assert ("expect" in read) == ("1 passed" in checked.out)


@pytest.mark.parametrize("path", [*DOCUMENTS, CHANGELOG], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    """To a file that is there, and to a heading in it."""
    for link in links(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_named_are_there(name: str) -> None:
    """In a command or in code."""
    for path in re.findall(r"(?<![\w/.-])(?:specs|tests|rnncalc|docs)/[\w/.-]+\w", TEXTS[name]):
        assert Path(ROOT, path).exists(), path


def test_links_and_anchors_are_found() -> None:
    """As GitHub and the site make them: without marks, a second one numbered; nothing of it in blocks."""
    assert slug("What `reset_after` is, in C++?") == "what-reset_after-is-in-c"
    assert slug("See [the spec](spec.md)") == "see-the-spec"
    text = "# A b\n\n[a](x.md#y) ![b](c.svg) [`d`](#e)\n\n```sh\n# no [heading](z)\n```\n\n## A b\n"
    assert links(text) == ["x.md#y", "c.svg", "#e"]
    assert anchors(text) == ["a-b", "a-b-1"]


def test_what_is_generated_is_up_to_date() -> None:
    """`python tests/documents.py` would change nothing: the lines of contents, the tables, and the list of specs."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert documents.with_tables(documents.with_contents(text)) == text, path
    assert all(table in "".join(TEXTS.values()) for table in documents.tables())
    assert documents.specs_page() == documents.SPECS.read_text(encoding="utf-8")


def test_every_spec_is_in_the_list() -> None:
    """A line for each, whatever folder it is in."""
    text = documents.SPECS.read_text(encoding="utf-8")
    for path in documents.SPECS.parent.rglob("*.yaml"):
        assert f"]({path.relative_to(documents.SPECS.parent).as_posix()})" in text


def test_the_front_page_is_short() -> None:
    """Whoever opens it reads it: 250 lines at most, its five examples with it."""
    text = TEXTS["README.md"]
    assert len(text.splitlines()) <= 250
    assert len(blocks(text, "console")) == 5


ROWS = dict(re.findall(r"^\| \[`rnncalc (\w+)`\]\(docs/([\w-]+\.md)", TEXTS["README.md"], re.MULTILINE))
"""The commands in the README's table, each with its page."""


def test_the_front_page_lists_every_command() -> None:
    """Each with a link to its page, and no other; and every page is in the contents of the site."""
    assert {*ROWS} == {*COMMANDS}
    listed = re.findall(r"^(\w+)$", "\n".join(block.body for block in blocks(TEXTS["docs/index.md"])), re.MULTILINE)
    assert sorted(["index", *listed]) == sorted(path.stem for path in [*PAGES, *(ROOT / "docs").glob("*.ipynb")])


def command(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command
    return command


def undocumented(of: click.Command, text: str) -> list[str]:
    """Return the flags of a command that a text does not name."""
    options = [option for option in of.get_params(click.Context(of)) if isinstance(option, click.Option)]
    flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
    return [flag for flag in flags if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    """On the page of its command, among the flags that describe a network, or among the formats."""
    pages = (f"docs/{ROWS[name]}", "docs/count.md", "docs/formats.md", "docs/start.md")
    assert undocumented(command(name), "".join(TEXTS[page] for page in pages)) == []


def test_the_flags_of_the_program_are_documented() -> None:
    """Those of rnncalc itself too."""
    assert undocumented(cli, TEXTS["docs/start.md"]) == []


def test_the_test_of_the_options_can_fail() -> None:
    """A flag that is part of a longer one is not thereby documented."""
    text = "--help " + TEXTS["docs/check.md"].replace("--strict", "--stricter")
    assert "--strict" in undocumented(command("check"), text)
    assert undocumented(click.Command("x", params=[click.Option(["--max"])]), text) == ["--max"]


def keys(schema: Any) -> set[str]:
    """Return the keys that a JSON Schema has, at every level."""
    if isinstance(schema, list):
        return {key for each in schema for key in keys(each)}
    if not isinstance(schema, dict):
        return set()
    own = {*schema["properties"]} if isinstance(schema.get("properties"), dict) else set()
    return own | {key for each in schema.values() for key in keys(each)}


def test_every_key_of_a_spec_is_documented(call: Call) -> None:
    """Kinds and options of layers too: in a span of code, on a page of the spec, of budgets or of a training step."""
    text = prose("".join(TEXTS[f"docs/{page}.md"] for page in ("spec", "around", "attention", "check", "training")))
    spans = " ".join(re.findall(r"`([^`]+)`", text))
    found = keys(json.loads(call("schema").out))
    assert {"lstm", "merge", "max_params", "chunk", "encoder"} <= found
    assert {key for key in found if not re.search(rf"\b{key}\b", spans)} == set()


def test_every_public_name_is_on_the_page_of_python() -> None:
    """Kinds of layers and functions."""
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    names = [name for name in dir(rnncalc) if not name.startswith("__")]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_the_formats_of_every_command_are_documented() -> None:
    """A row for each command that has a choice, the default first."""
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\w+` ?)+)\|$", TEXTS["docs/formats.md"], re.MULTILINE)
    listed = {name: re.findall(r"\w+", words) for name, words in rows}
    declared = {name: formats(name) for name in COMMANDS if formats(name)}
    assert {name: sorted(words) for name, words in listed.items()} == {
        name: sorted(words) for name, words in declared.items()
    }
    for name, (first, *_) in listed.items():
        options = [each for each in command(name).params if isinstance(each, click.Option) and "--format" in each.opts]
        assert options[0].default == first, name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_starts_as_the_list_of_commands_says(name: str, call: Call) -> None:
    """The list is a table of its own, so that the help need not import every command; the two say the same."""
    assert call(name, "--help").out.splitlines()[2] == f"  {COMMANDS[name][1]}"
    assert re.search(rf"^  {name}\*? +{re.escape(COMMANDS[name][1])}$", call("--help").out, re.MULTILINE)


def test_blocks_are_found() -> None:
    """Each with its language and its line; commands with their output; a block that is not closed is none."""
    text = "a\n```console\n$ x y\n1\n2\n$ z\n```\n```yaml\na: 1\n```\n```\nopen"
    assert [block.language for block in blocks(text)] == ["console", "yaml"]
    assert blocks(text, "yaml") == [Block("yaml", "a: 1\n", 8)]
    assert commands(blocks(text, "console")[0].body) == [Shown("x y", "1\n2\n"), Shown("z", "")]
    assert len(BLOCK.findall(text)) == 2


def test_only_known_programs_are_shown(tmp_path: Path) -> None:
    """A document's command that cannot be run is an error, not a gap."""
    with pytest.raises(ValueError, match="not curl"):
        documents.output_of("curl x", tmp_path)
    assert documents.output_of("rnncalc -V; echo $?", tmp_path).endswith("\n0\n")
    assert documents.output_of("rnncalc schema > s.json", tmp_path) == ""
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
