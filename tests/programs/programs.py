"""Programs without their layout, and those that are written by hand in `programs.txt`."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rnncalc import Network
from rnncalc.programs import source, spelling
from rnncalc.spec import parse


class Written(NamedTuple):
    """A program by hand: what is shown with it, its network, its target, and its statements."""

    name: str
    network: Network
    target: str
    lines: list[str]


def written() -> Iterator[Written]:
    """Yield the programs that are written by hand."""
    for section in Path("tests/programs/programs.txt").read_text(encoding="utf-8").split("== ")[1:]:
        spec, *programs = section.split("-- ")
        name, _, spec = spec.partition("\n")
        network = parse(spec.encode(), "spec").network
        for program in programs:
            target, *lines = program.rstrip().split("\n")
            yield Written(name, network, target, lines)


def classes(network: Network, target: str) -> list[str]:
    """Return the statements of a program's constants and classes, each on a line of its own, without comments.

    Left out are the classes that the spelling has as they are.
    """
    of = spelling(target)
    whole = {each.name for each in ast.parse(of.runner + of.external).body if isinstance(each, ast.ClassDef)}
    found: list[str] = []
    for node in ast.parse(source(network, target)).body:
        if isinstance(node, ast.Assign):
            found.append(ast.unparse(node))
        if isinstance(node, ast.ClassDef) and node.name not in whole:
            found.append(f"class {node.name}({ast.unparse(node.bases[0])}):")
            for part in node.body[1:]:  # behind its docstring
                if isinstance(part, ast.FunctionDef):
                    found += [f"    {line}" for each in part.decorator_list for line in [f"@{ast.unparse(each)}"]]
                    found.append(f"    def {part.name}({ast.unparse(part.args)}):")
                    found += [f"        {line}" for each in part.body for line in ast.unparse(each).split("\n")]
                else:
                    found.append(f"    {ast.unparse(part)}")
    return found
