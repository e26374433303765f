"""The shape of the house: who may import whom, and what a call pays for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "rnncalc"
MODULES = sorted(PACKAGE.rglob("*.py"))

ROOMS = (
    "errors",
    "text",
    "layers",
    "conventions",
    "network",
    "spec",
    "forward",
    "questions",
    "reports",
    "formats",
    "cli",
)
FLOW = {
    "layers": {"layers"},
    "conventions": {"layers", "conventions"},
    "network": {"layers", "conventions", "network"},
    "spec": {"layers", "conventions", "network", "spec"},
    "forward": {"layers", "conventions", "network", "forward"},
    "questions": {"layers", "conventions", "network", "forward", "questions"},
    "reports": {"layers", "conventions", "network", "forward", "questions", "reports"},
    "formats": {"reports", "formats", "questions"},
    "cli": {*ROOMS, "__init__"},
    "errors": set(),
    "text": set(),
    "__init__": {*ROOMS},
    "__main__": {"cli"},
}
MAY_IMPORT = {room: {*may, "errors", "text"} for room, may in FLOW.items()}
ONLY_IN = {"yaml": ("spec",), "rich": ("formats", "cli"), "click": ("cli",)}


def imports(path: Path) -> list[str]:
    """Return the modules that a source names in its imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_flow_one_way(path: Path) -> None:
    """spec → model → questions → reports, and yaml, rich and click each in one room."""
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imports(path):
        first, _, rest = name.partition(".")
        if first == "rnncalc":
            assert (rest.split(".")[0] or "__init__") in MAY_IMPORT[room], f"{room} must not import {name}"
        assert room in ONLY_IN.get(first, (room,)), f"{room} must not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_are_small_and_say_what_they_are_for(path: Path) -> None:
    """A docstring each, and about 50 to 200 lines."""
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    most = 600 if path.parent.name == "cli" else 300  # the flags of every command stand in cli.py, and nothing else
    assert len(text.splitlines()) <= most


def loaded_by(*args: str) -> set[str]:
    """Return the top-level modules that a call has loaded when it ends."""
    code = "import sys; from rnncalc.cli import call; call(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stderr.split()}


FLAGS = ("-i", "4", "-l", "rnn:3", "-o", "1")


def test_flags_and_json_pay_for_neither_yaml_nor_rich() -> None:
    """What a call does not use it does not import."""
    assert not {"yaml", "rich"} & loaded_by(*FLAGS, "-f", "json")


def test_the_test_of_the_light_import_can_fail() -> None:
    """The same look at a call that does use them finds them."""
    assert "rich" in loaded_by(*FLAGS)
    assert "yaml" in loaded_by("specs/lstm.yaml", "-f", "json")
