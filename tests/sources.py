"""What is written in a Python source, gone through once for all tests of names, words and imports."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "rnncalc"
MODULES = sorted(PACKAGE.rglob("*.py"))


class Source(NamedTuple):
    """The parts of a source, wherever in it they are.

    statements: strings that are statements, docstrings among them. variables: names that are assigned to, arguments and
    fields. imports: each module with what is imported from it, nothing if it is itself. attributes: `name.attribute`.
    """

    docstring: str | None
    classes: list[str]
    functions: list[str]
    variables: list[str]
    attributes: set[tuple[str, str]]
    imports: list[tuple[str, tuple[str, ...]]]
    statements: list[str]
    strings: list[str]
    comments: list[str]


@cache
def source(text: str) -> Source:
    """Return the parts of a source."""
    tree = ast.parse(text)
    comments = re.findall("#.*", text)  # and strings that have this sign, which is quicker to find
    parts = Source(ast.get_docstring(tree), [], [], [], set(), [], [], [], comments)
    statements = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(string))):
                statements.add(id(node.value))
                parts.statements.append(string)
            case ast.Constant(value=str(string)) if id(node) not in statements:
                parts.strings.append(string)
            case ast.ClassDef(name=name):
                parts.classes.append(name)
            case ast.FunctionDef(name=name):
                parts.functions.append(name)
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                parts.variables.append(name.strip("_"))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                parts.attributes.add((name, attribute))
            case ast.Import(names=names):
                parts.imports.extend((alias.name, ()) for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                parts.imports.append((module, tuple(alias.name for alias in names)))
    return parts


@cache
def sources() -> dict[Path, Source]:
    """Return the modules of the package."""
    return {path: source(path.read_text("utf-8")) for path in MODULES}
