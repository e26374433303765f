"""What a command's help says beside its flags: the kinds of layer with their options, and examples.

Loaded when help is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from rnncalc.cli.flags import WordOption
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.layers.layer import Layer, Output
from rnncalc.layers.options import Choice, Option, Switch, Text


def write_words(formatter: click.HelpFormatter, parameters: Sequence[click.Parameter]) -> None:
    """Write the words of each flag that takes one of a few, unbroken."""
    flags = [parameter for parameter in parameters if isinstance(parameter, WordOption)]
    if flags:
        with formatter.section("Words"):
            for flag in flags:
                formatter.write(f"{'':{formatter.current_indent}}{flag.opts[-1]:<14}{', '.join(flag.words())}\n")


def write_layers(formatter: click.HelpFormatter) -> None:
    """Write what `--layer` and `--output` may say."""
    kinds = {name: kind(name) for name in KINDS}
    every: list[type[Layer]] = [*kinds.values(), Output]
    common = Layer.options()
    with formatter.section(f"Kinds of layer and their options, beside {', '.join(common)}"):
        rows = [(name, [option for option in of.options() if option not in common]) for name, of in kinds.items()]
        rows.append(("--output", [*Output.options()]))
        formatter.write_dl([(name, " ".join(options) or "none") for name, options in rows])
    with formatter.section("Options of a layer"):
        known: dict[str, Option] = {}
        for of in every:
            known |= {name: of.option(name) for name in of.options() if name not in known}
        formatter.write_dl([(_written(name, option), option.meaning) for name, option in known.items()])


def _written(name: str, option: Option) -> str:
    match option.allowed:
        case Switch():
            return f"{name}[=true|false]"
        case Choice(words=words):
            return f"{name}={'|'.join(words)}"
        case Text():
            return f"{name}={name.upper()}"
        case allowed:
            return f"{name}={'X' if allowed.schema.get('type') == 'number' else 'N'}"


def write_examples(formatter: click.HelpFormatter, examples: tuple[str, ...]) -> None:
    """Write the examples, each on a line of its own that can be copied."""
    with formatter.section("Examples" if len(examples) > 1 else "Example"):
        for example in examples:
            formatter.write(f"{'':{formatter.current_indent}}{example}\n")
