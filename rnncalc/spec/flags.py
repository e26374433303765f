"""From flags to the tree that a spec file would give, so that both give the same messages."""

from __future__ import annotations

from typing import Any

from rnncalc.errors import Problem, SpecError
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.layers.layer import Embedding, Layer, Output
from rnncalc.layers.options import Allowed, Switch
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, Sequence, word_of
from rnncalc.spec.values import read, ways_to_write
from rnncalc.text import escape, one_of


def tree(
    *,
    input: str | None = None,
    layers: tuple[str, ...] = (),
    output: str | None = None,
    **others: str | None,
) -> Mapping:
    """Return the tree of a network in flags; `others` are the plain keys steps, topology and convention."""
    root = Mapping(Flag(""))  # there is no flag for the whole network
    if input is not None:
        root.put("input", Scalar(input, True, Flag("--input")))
    if layers:
        stack = Sequence(Flag("--layer"))
        stack.items = [_layer(text, Flag(f"--layer {number}", number)) for number, text in enumerate(layers, 1)]
        root.put("layers", stack)
    if output is not None:
        root.put("output", _output(output))
    override(root, others)
    return root


def override(root: Node, values: dict[str, str | None]) -> None:
    """Replace values of a tree by those from flags; steps, in an encoder-decoder, in both halves."""
    if not isinstance(root, Mapping):
        return
    halves = [half for key in ("encoder", "decoder") if isinstance(half := root.get(key), Mapping)]
    for key, value in values.items():
        if value is not None:
            for mapping in halves if halves and key == "steps" else [root]:
                mapping.put(key, Scalar(value, True, Flag(f"--{key}")))


def read_value(flag: str, text: str, allowed: Allowed) -> Any:
    """Return the value of a flag, read as a spec would be."""
    try:
        return read(text, allowed, flag=flag)
    except ValueError as error:
        raise SpecError((Problem((), str(error), flag),)) from None


def _layer(text: str, mark: Flag) -> Mapping:
    """Read `lstm:512,bidirectional,projection=128`."""
    first, *options = text.split(",")
    name, _, number = map(str.strip, first.partition(":"))
    return _with_options(name, number, options, kind(name) if name in KINDS else Layer, mark)


def _output(text: str) -> Node:
    """Read `5` or `5,bias=false`."""
    first, *options = text.split(",")
    mark = Flag("--output")
    return (
        _with_options("units", first.strip(), options, Output, mark) if options else Scalar(first.strip(), True, mark)
    )


def _with_options(name: str, number: str, options: list[str], of: type[Layer], mark: Flag) -> Mapping:
    words = [(name, number)]
    for option in options:
        key, equals, value = map(str.strip, option.partition("="))
        known = of.known_option(key)
        switched_on = known is not None and isinstance(known.allowed, Switch) and not equals
        words.append((key, "true" if switched_on else value))
    mapping = Mapping(mark)
    mapping.items = [(Scalar(key, True, mark), Scalar(word, True, mark)) for key, word in words]
    return mapping


def misread(key: str, of: type[Layer], layer: Node) -> str:
    """Return the cure for `dropout:0.5`, `bias:false` and `512`, written as options of a layer."""
    name, colon, value = key.partition(":")
    if name in KINDS:
        return f"write -l {name}:{escape(value) or 'N'}, as a layer of its own"
    if colon and name in of.options():
        return f"write {name}={escape(value)}"
    return _second_number(key, of, layer) if key[:1].isdecimal() else ""


def _second_number(key: str, of: type[Layer], layer: Node) -> str:
    """Return the cure for `0,5`, `projection=1,000`, and for two sizes of one layer."""
    assert isinstance(layer, Mapping)
    place = next(place for place, (word, _) in enumerate(layer.items) if word.value == key)
    name, first = layer.items[place - 1][0].value, word_of(layer.items[place - 1][1])
    option = of.option(of.number) if place == 1 else of.known_option(name)
    if option and (ways := ways_to_write(f"{first},{key}", option.allowed)):
        behind_kind = "-o " if issubclass(of, Output) else f"-l {of.kind}:"
        return f"write {behind_kind if place == 1 else f'{name}='}{one_of(ways)}"
    if not key.isdecimal() or issubclass(of, Output):
        return ""
    if issubclass(of, Embedding) and place == 1:
        words, width = escape(first), escape(key)
        return f"for {words} words of {width} numbers each, write -i {words} -l {of.kind}:{width}"
    return f"a layer has one number; write -l {of.kind}:{escape(key)} for another"
