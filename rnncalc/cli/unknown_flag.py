"""Suggestions for unknown flags; loaded only if a call has one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from rnncalc.cli.flags import GOES_WITH, WordOption, flag_of
from rnncalc.cli.typed import call_meant, single
from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.layer import Layer, Output
from rnncalc.layers.options import Choice, Rate, Switch, Text, Trainable
from rnncalc.network.budget import BUDGET_KEYS, GROWING
from rnncalc.printable import escape
from rnncalc.spec.aliases import IN_FLAGS, our_words, remedy, spelled
from rnncalc.words import all_of, did_you_mean


def unknown_flag_message(flag: str, context: click.Context, group: click.Group) -> str:
    """Return the message for a flag that the command does not have. group: all commands."""
    if call := call_meant(context):
        return f"No such option '{escape(flag)}'; {call}"
    try:
        cure = _cure(flag, context.command, group, context.obj or ())
    except DeclarationError:  # an option of a cell that this call may not use
        cure = ""
    return f"No such option '{escape(flag)}'{cure or '.'}"


def _cure(flag: str, command: click.Command, group: click.Group, typed: Sequence[str]) -> str:
    """Return the suggestion: another spelling, a similar flag, an option of a layer, or another command."""
    word = flag.removeprefix("--").replace("_", "-")
    context, spelling = click.Context(group), flag if word == flag else f"--{word}"
    others = {name: group.get_command(context, name) for name in group.list_commands(context) if name != command.name}
    takers = [name for name, other in others.items() if other and any(spelling in each.opts for each in other.params)]
    used_by = f"; it is a flag of rnncalc {all_of(takers)}" if takers else ""
    if word == flag or not word:
        swapped = flag[:2].swapcase()
        return f"; write {swapped}" if any(swapped in each.opts for each in command.params) else used_by
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in options:
        if isinstance(option, WordOption) and word in option.words():
            return f"; write {option.opts[-1]} {word}"
    flags = [option.opts[-1] for option in options]
    key = word.replace("-", "_")
    if key == "budget":
        return "; a budget is --params of rnncalc solve, with a size ?, and --max-params of rnncalc check"
    if "--limit" in flags:
        quantity = re.sub("max_|_?growth_?", "", key)
        growth = f"write --max-growth {quantity}=5%" if "growth" in key and quantity in GROWING else ""
        limit = f"write --limit {key}=N" if key in BUDGET_KEYS else ""
        if cure := remedy(key, "budget", {}) or growth or limit:
            return f"; {cure}"
    if matches := spelled(key, [each.removeprefix("--").replace("-", "_") for each in flags]):
        name, space, remark = matches[0].partition(" ")
        if any(flag_of(name) in option.opts and {*option.opts} & {*typed} for option in single(command)):
            return f"; it means {flag_of(name)}, which is given"
        switches = {option.opts[-1] for option in options if option.is_flag}
        needed = next((f"{each} " for each in GOES_WITH.get(flag_of(name), ()) if switches >= {*each.split()}), "")
        return f"; write {needed}{flag_of(name)}{space}{remark}"
    misspelt = takers or flag.removesuffix("s") in flags  # --layers 2 is ambiguous
    if "--layer" in flags and not misspelt and (of_layer := _of_layer(key)):
        return f"; {of_layer}"
    every = (*flags, *(option.opts[-1] for option in group.params), "--help")
    bare = [each.removeprefix("--") for each in every]  # with the dashes all flags would be similar
    near = did_you_mean(word, bare).replace("mean '", "mean '--")
    return f"{used_by}{near.replace('; ', ', or ')}" if takers else near


def _of_layer(key: str) -> str:
    """Return the right way to write a layer, its number or its option that was typed as a flag."""
    if key in KINDS:
        return f"a layer is written -l {_kind(kind(key))}"
    kinds: list[type[Layer]] = [kind(each) for each in ("lstm", *KINDS)]  # show the first kind that fits
    for layer in kinds:
        if layer.number == key:
            return f"write the {key} behind a layer's kind, as in -l {_kind(layer)}"
    every: list[type[Layer]] = [*kinds, Output]
    name = next((each for each in (key, *our_words(key)) if any(_takes(layer, each) for layer in every)), "")
    if name in Output.options() and not any(_takes(layer, name) for layer in kinds):
        before = "-i 5 -l embedding:20 " if name == "tied" else ""
        return f"write an option of the output layer after it, as in {before}-o 5,{_example(name, Output)}"
    takers = [layer for layer in kinds if _takes(layer, name) and {*layer.needed()} <= {name}]
    shown = next((each for each in takers if each.needed() or "space" not in each.fields), None)
    if shown:
        needed = "bidirectional," if name == "merge" else ""
        return f"write an option of a layer after it, as in -l {_kind(shown)},{needed}{_example(name, shown)}"
    return remedy(key, "layer", IN_FLAGS | {"kind": "-l lstm", "value": "0.5"})


def _takes(layer: type[Layer], name: str) -> bool:
    """Return whether a kind has an option that can be written in flags; one of a single word is of two halves."""
    if name not in layer.options():
        return False
    allowed = layer.option(name).allowed
    return not isinstance(allowed, Trainable) and not (isinstance(allowed, Choice) and len(allowed.words) == 1)


def _kind(layer: type[Layer]) -> str:
    """Return the value of -l for a layer, with a number if its kind takes one."""
    if not layer.number:
        return layer.kind
    return f"{layer.kind}:{'0.5' if isinstance(layer.option(layer.number).allowed, Rate) else '20'}"


def _example(name: str, layer: type[Layer]) -> str:
    """Return an option with a value that is not its default."""
    default = layer.defaults.get(name)
    match layer.option(name).allowed:
        case Switch():
            return f"{name}=false" if default else name
        case Choice(words=words):
            others = [word for word in words if word != default]
            return f"{name}={others[default is None]}"  # the first is the default then
        case Text():
            return f"{name}=NAME"
        case _:
            return f"{name}=N"
