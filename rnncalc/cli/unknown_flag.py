"""Suggestions for unknown flags; loaded only if a call has one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import click

from rnncalc.cli.flags import GOES_WITH, WordOption, flag_of
from rnncalc.cli.output import call_text
from rnncalc.errors import DeclarationError
from rnncalc.expressions import read_number
from rnncalc.layers import KINDS, kind
from rnncalc.layers.layer import Layer, Output
from rnncalc.layers.options import Choice, Rate, Switch, Text, Trainable
from rnncalc.spec.aliases import IN_FLAGS, IN_LAYER, TYPED, elsewhere, instead_of, meanings, meant
from rnncalc.text import all_of, did_you_mean, escape


def unknown_flag_message(flag: str, context: click.Context, group: click.Group, typed: Sequence[str] = ()) -> str:
    """Return the message for a flag that the command does not have.

    group: all commands. typed: the words of the call; without them no whole call is shown.
    """
    if typed and (call := call_meant(flag, typed, context)):
        return f"No such option '{escape(flag)}'; write {call}"
    try:
        cure = _cure(flag, context.command, group, typed)
    except DeclarationError:  # an option of a cell that this call may not use
        cure = ""
    return f"No such option '{escape(flag)}'{cure or '.'}"


def call_meant(flag: str, typed: Sequence[str], context: click.Context) -> str:
    """Return the whole call with what was meant instead of a flag and its value; empty if that is not known.

    Other unknown flags of the call are replaced too.
    """
    takes = {name: not getattr(option, "is_flag", True) for option in context.command.params for name in option.opts}
    words = [*typed]
    while flag:
        if not (words := _replaced(flag, words, takes)):
            return ""
        flags = [word.partition("=")[0] for word in words if word.startswith("--")]
        flag = next((each for each in flags if each not in (*takes, "--")), "")
    names = [word.partition("=")[0] for word in words]
    if any(sum(names.count(name) for name in option.opts) > 1 for option in _single(context.command)):
        return ""  # it would be given twice
    return call_text([*context.command_path.split(), *words])


def _single(command: click.Command) -> list[click.Option]:
    """Return the flags of a command that may be given once."""
    return [option for option in command.params if isinstance(option, click.Option) and not option.multiple]


def _replaced(flag: str, typed: list[str], takes: Mapping[str, bool]) -> list[str]:
    """Return the words of a call with what was meant instead of a flag and its value; none if that is not known.

    takes: the flags of the command, and whether each takes a value.
    """
    place = next((place for place, word in enumerate(typed) if word.partition("=")[0] == flag), len(typed))
    value, after = "".join(typed[place : place + 1]).partition("=")[2], typed[place + 1 :]
    behind = value or "".join(after[:1])
    is_layer = ":" in behind and behind.partition(":")[0].lower() in KINDS
    field = "number" if read_number(behind) is not None else "typed" if is_layer else ""
    words, others = {field: behind}, [*typed[:place], *after[bool(field and not value) :]]
    layers = [number for number, word in enumerate(others) if number and others[number - 1] in ("-l", "--layer")]
    layer = others[layers[-1]] if layers else "lstm"
    words |= {"kind": layer} if layer.isidentifier() else {"layer": layer}
    key = flag.strip("-").replace("-", "_").lower()
    ours = [name for name in meanings(key) if f"--{name}" in takes]
    for row, names in TYPED.items():
        fields = {*re.findall(r"{(\w+)}", row)}
        written = row.format(**dict.fromkeys(fields, "") | words).split()
        known = all(word in takes for word in written if word[0] == "-")
        fits = known and fields <= {*words} and field in (*fields, "")
        if fits and not {*(ours or (key, *meanings(key)))}.isdisjoint(names.split()):
            if layers and not fields.isdisjoint(("kind", "layer")):
                others[layers[-1] - 1 : layers[-1] + 1] = written
            else:
                others[place:place] = written
            return others
    if flag.startswith("--") and len(ours) == 1 and field and takes[f"--{ours[0]}"]:
        return [*others[:place], f"--{ours[0]}", behind, *others[place:]]
    return []


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
    known = [option.opts[-1] for option in options]
    key = word.replace("-", "_")
    if command.name == "answer" and key == "exact":  # which it once had
        return "; write the number in full, as 1600 instead of 1.6k"
    if "--max-growth" in known and (cure := instead_of(key, in_flags=True)):
        return cure
    if matches := meant(key, [each.removeprefix("--").replace("-", "_") for each in known]):
        name, space, remark = matches[0].partition(" ")
        if any(flag_of(name) in option.opts and {*option.opts} & {*typed} for option in _single(command)):
            return f"; it means {flag_of(name)}, which is given"
        switches = {option.opts[-1] for option in options if option.is_flag}
        needed = next((f"{each} " for each in GOES_WITH.get(flag_of(name), ()) if switches >= {*each.split()}), "")
        return f"; write {needed}{flag_of(name)}{space}{remark}"
    misspelt = takers or flag.removesuffix("s") in known  # --layers 2 is ambiguous
    if "--layer" in known and not misspelt and (of_layer := _of_layer(key)):
        return f"; {of_layer}"
    flags = (*known, *(option.opts[-1] for option in group.params), "--help")
    bare = [each.removeprefix("--") for each in flags]  # with the dashes all flags would be similar
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
    name = next((each for each in (key, *meanings(key)) if any(_takes(layer, each) for layer in every)), "")
    if name in Output.options() and not any(_takes(layer, name) for layer in kinds):
        return f"write an option of the output layer after it, as in -o 5,{_example(name, Output)}"
    shown = next((layer for layer in kinds if _takes(layer, name)), None)
    if shown:
        return f"write an option of a layer after it, as in -l {_kind(shown)},{_example(name, shown)}"
    return elsewhere(key, IN_LAYER, IN_FLAGS | {"kind": "-l lstm", "value": "0.5"})


def _takes(layer: type[Layer], name: str) -> bool:
    """Return whether a kind has an option that can be written in flags."""
    return name in layer.options() and not isinstance(layer.option(name).allowed, Trainable)


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
