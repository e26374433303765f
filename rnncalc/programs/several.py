"""The program of a model: the classes of its networks, and one that has a module of each.

Imported only for a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rnncalc.errors import RefusedError
from rnncalc.network.model import Model
from rnncalc.programs.code import broken, class_name, docstring_text, stem_of, with_comment
from rnncalc.programs.writer import Writer
from rnncalc.words import all_of, plural


def program_of_model(model: Model, writers: Mapping[str, Writer]) -> str:
    """Return a program with a module of modules; writers: of the networks by name."""
    spelled = next(iter(writers.values()))
    blocks: dict[str, str] = {}  # each class and function by its name; equal ones of two networks are one
    identifiers: dict[str, str] = {}
    making, constants = [], []
    for name, writer in writers.items():
        stem = stem_of(name, "network", "network", writer.reserved)
        alike = [each for each in identifiers.values() if each.startswith(stem)]
        identifiers[name] = identifier = f"{stem}_{len(alike) + 1}" if stem in alike else stem
        if any(argument.shape is None and argument.default is None for argument in writer.arguments()):
            raise RefusedError(f"{name}: its number of steps would be an argument; give it steps")
        code = writer.blocks()
        for place, block in enumerate(code):
            block_name = defined(block)
            if blocks.get(block_name, block) != block:
                other = class_name(f"{name} {block_name}", blocks)
                code = [re.sub(rf"\b{block_name}\b", other, each) for each in code]
            blocks[defined(code[place])] = code[place]
        calls = model.networks[name].calls
        often = f", called {calls:,} times in a pass" if calls > 1 else ""
        making_it = f"self.{identifier} = {defined(code[-1])}({writer.made_with})"
        making.append(with_comment(making_it, f"{plural(writer.program.params, 'parameter')}{often}"))
        constants += [re.sub(r"^(?=\w+ =)", f"{identifier.upper()}_", line) for line in writer.constants()]
    params = sum(writer.program.params for writer in writers.values())
    several = f"tuple[{spelled.array}, ...]" if spelled.array else ""
    arguments = [f"{each}: {several}" if several else each for each in identifiers.values()]
    read_in_order = all_of([*identifiers.values()])
    about = [
        f"{docstring_text(model.name)}: {plural(params, 'parameter')}.",
        f"Reads the inputs of each network in a tuple, {read_in_order}; gives the output of each.",
    ]
    name = class_name(model.name, blocks)
    head = spelled.head(about, making, arguments, f" -> {several}" if several else "")
    outputs = ", ".join(f"self.{each}(*{each})" for each in identifiers.values())
    returned = broken(f"        return ({outputs}{',' * (len(writers) == 1)})")
    read = ([each for each in writer.arguments() if each.shape is not None] for writer in writers.values())
    samples = ([each.sample(*spelled.samples) for each in arrays] for arrays in read)
    sample = ", ".join(f"({', '.join(arrays)}{',' * (len(arrays) == 1)})" for arrays in samples)
    main = spelled.main_of(name, sample, params)
    return spelled.joined(constants, (*blocks.values(), f"class {name}{head}\n" + "\n".join(returned), main))


def defined(block: str) -> str:
    """Return the name that a block of code defines."""
    match = re.search(r"^(?:class|def) (\w+)", block, re.MULTILINE)
    assert match
    return match[1]
