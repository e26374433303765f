"""From the items of a list of layers to the layers.

The keys of a layer are the fields of its class and what they may be is `layers/options.py`: nothing about a kind of
layer is said here a second time. Only the classes of kinds that are used are asked for, and all of them when a word is
misspelt.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import Any

from rnncalc.bounds import MAX_LAYERS
from rnncalc.errors import Path
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.layers.layer import Embedding, Layer, Output
from rnncalc.layers.options import OPTIONS, Choice
from rnncalc.network.validation import too_many_layers
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, Sequence
from rnncalc.spec.reading import Reading, unknown_key, what, word_of
from rnncalc.spec.scalars import ways_to_write
from rnncalc.text import escape, one_of


def read_layers(reading: Reading, node: Node | None, path: Path, above: Node) -> tuple[Layer, ...]:
    """Return the layers under a node at a path; where there is no node, `above` is where it should be.

    A list that is too long is not read.
    """
    if node is None:
        such = "-l lstm:512" if isinstance(above.mark, Flag) else "lstm: 512"
        reading.missing(above, path, f"at least one layer, such as {such}")
        return (_stand_in(),)
    if not isinstance(node, Sequence) or not node.items:
        got = "none" if isinstance(node, Sequence) else what(node)
        reading.problem(node.mark, path, f"expected a list of layers, such as - lstm: 512, got {got}{_dash_cure(node)}")
        return (_stand_in(),)
    if len(node.items) > MAX_LAYERS:
        reading.problem(node.mark, path, too_many_layers(len(node.items)))
        return (_stand_in(),)
    return tuple(_layer(reading, item, (*path, place)) for place, item in enumerate(node.items))


def _layer(reading: Reading, node: Node, path: Path) -> Layer:
    """Return the layer that an item describes."""
    if not isinstance(node, Mapping):
        reading.problem(node.mark, path, f"expected a layer, such as lstm: 512, got {what(node)}{_word_cure(node)}")
        return _stand_in()
    kinds = [key.value for key, _ in node.items if key.value in KINDS]
    if not kinds:
        _tell_no_kind(reading, node, path)
        return _stand_in()
    name = next((one for one in kinds if one != "dropout"), kinds[0])
    others = [one for one in kinds if one != name]
    of, in_flags = kind(name), isinstance(node.mark, Flag)
    for word, below in node.items if others else ():
        if word.value in others:
            reading.problem(word.mark, (*path, word.value), _layer_of_its_own(word.value, below, in_flags))
    values: dict[str, Any] = {}
    known = (*_keys(of), *others) if others else _keys(of)  # type: ignore[arg-type]  # a class is hashable, and mypy asks its instances
    for key, below in reading.keys(node, path, known, partial(unknown_option, of, node)):
        if key in others:
            continue
        option = of.number if key == name else key
        value = reading.value(below, (*path, key), of.option(option).allowed, None)
        if value is not None:
            values[option] = value
    values.setdefault(of.number, 1)
    return of(**values)


@cache
def _keys(of: type[Layer]) -> tuple[str, ...]:
    """Return the keys that a layer of a kind may have, the kind's own first."""
    return of.kind, *of.options()


def _stand_in() -> Layer:
    """Return a harmless layer in place of one that cannot be read."""
    return kind("dropout")(rate=0.0)  # type: ignore[call-arg]


def _layer_of_its_own(kind: str, number: Node, in_flags: bool) -> str:
    """Return what to say of a second kind in one layer."""
    written = escape(number.value) if isinstance(number, Scalar) and number.value else "N"
    return f"is a layer of its own; write {f'-l {kind}:{written}' if in_flags else f'- {kind}: {written}'} for it"


def _tell_no_kind(reading: Reading, node: Mapping, path: Path) -> None:
    """Note what is wrong with a layer that has no kind that is known."""
    words = [key for key, _ in node.items if key.value not in OPTIONS]
    key = words[0] if words else None
    if key is None:
        reading.problem(node.mark, path, f"no kind of layer; add one of {one_of(tuple(KINDS))}")
        return
    if isinstance(key.mark, Flag) and isinstance(first := node.items[0][1], Scalar) and not first.value:
        reading.problem(key.mark, path, f"expected KIND:UNITS, such as lstm:512, got '{escape(key.value)}'")
        return
    cure = _kind_cure(node, key.value) or f"; the kinds are {one_of(tuple(KINDS))}"
    reading.problem(key.mark, (*path, escape(key.value)), f"unknown kind of layer{cure}")


def _word_cure(node: Node) -> str:
    """Return `; write lstm: 4` for `lstm 4` or `lstm:4`."""
    kind, mark, number = re.sub("[:= ]+", ":", node.value).partition(":") if isinstance(node, Scalar) else ("", "", "")
    return f"; write {kind}: {escape(number)}" if kind in KINDS and mark and number.isalnum() else ""


def _dash_cure(node: Node) -> str:
    """Return `; write - lstm: 4` for a layer without its dash, or without the space behind it."""
    first = node.items[0] if isinstance(node, Mapping) and node.items else None
    if first is None or (kind := first[0].value.removeprefix("-")) not in KINDS or not isinstance(first[1], Scalar):
        return ""
    space = ", with a space after the dash" if first[0].value != kind else ""
    return f"; write - {kind}: {escape(first[1].value)}{space}"


def _kind_cure(node: Mapping, key: str) -> str:
    """Return what to write in place of a key that is no kind of layer."""
    from rnncalc.spec.cures import kind_cure
    from rnncalc.spec.elsewhere import IN_FLAGS, IN_YAML

    in_flags = isinstance(node.mark, Flag)
    spelling = IN_FLAGS if in_flags else IN_YAML
    if key in ("type", "kind", "cell", "class", "layer") and isinstance(named := node.get(key), Scalar):
        size = next((below for name, below in node.items if name.value in ("units", "size", "hidden_size")), None)
        number = escape(size.value) if isinstance(size, Scalar) else "20"
        of = spelling["of"]
        return f"; write {escape(named.value)}{of}{number}, the kind and its number" if named.value else ""
    number = node.items[0][1].value if in_flags and isinstance(node.items[0][1], Scalar) else ""
    return kind_cure(key, tuple(KINDS), spelling | {"number": f":{escape(number)}"} if number else spelling)


def unknown_option(of: type[Layer], node: Node, key: str, known: tuple[str, ...], below: Node) -> str:
    """Return what to say of a key that a layer of a kind does not know: it may be an option of other kinds.

    node: the layer. below: what stands under the key.
    """
    from rnncalc.spec.cures import option_cure, space_cure
    from rnncalc.spec.elsewhere import IN_FLAGS, IN_YAML

    known = tuple(one for one in known if one == of.kind or one not in KINDS)
    if takers := [name for name in KINDS if key in kind(name).options()]:
        here = of.kind if of.kind in known else "output"
        return f"does not apply to {here}; it applies to {one_of(takers)}"
    in_flags = isinstance(node.mark, Flag)
    spelling = IN_FLAGS if in_flags else IN_YAML
    if cure := (_flag_cure(key, of, node) if in_flags else space_cure(key, known) or _within(key, of, below)) or (
        _word_of_option(key, of, spelling["is_"])
    ):
        return f"unknown key; {cure}"
    cure = option_cure(key, of.kind, known, spelling, word_of(below))
    return f"unknown key{cure}" if cure else unknown_key(key, known, below)


def _within(key: str, of: type[Layer], below: Node) -> str:
    """Return what to write for `output: {dense: 5}`, the kind of the one layer that has none."""
    is_output = issubclass(of, Output) and key in KINDS
    return f"write output: {escape(word_of(below)) or 'N'}, whose layer is dense" if is_output else ""


def _flag_cure(key: str, of: type[Layer], node: Node) -> str:
    """Return what to write for `dropout:0.5`, `bias:false` and `512` behind the number of a layer in flags."""
    name, colon, value = key.partition(":")
    if name in KINDS:
        return f"write -l {name}:{escape(value) or 'N'}, as a layer of its own"
    if colon and name in of.options():
        return f"write {name}={escape(value)}"
    return _second_number(key, of, node) if key[:1].isdecimal() else ""


def _second_number(key: str, of: type[Layer], node: Node) -> str:
    """Return what to write for `0,5`, `projection=1,000`, and for the size of a table and the two of a layer."""
    assert isinstance(node, Mapping)
    place = next(place for place, (word, _) in enumerate(node.items) if word.value == key)
    name, first = node.items[place - 1][0].value, word_of(node.items[place - 1][1])
    option = of.option(of.number) if place == 1 else of.known_option(name)
    if option and (meant := ways_to_write(f"{first},{key}", option.allowed)):
        behind_kind = "--output " if issubclass(of, Output) else f"-l {of.kind}:"
        return f"write {behind_kind if place == 1 else f'{name}='}{one_of(meant)}"
    if not key.isdecimal() or issubclass(of, Output):
        return ""
    if issubclass(of, Embedding) and place == 1:
        words, width = escape(first), escape(key)
        return f"for {words} words of {width} numbers each, write -i {words} -l {of.kind}:{width}"
    return f"a layer has one number; write -l {of.kind}:{escape(key)} for another"


def _word_of_option(word: str, of: type[Layer], is_: str) -> str:
    """Return `write activation=relu` for the word alone."""
    choices = {option: of.option(option).allowed for option in of.options()}
    found = [option for option, of in choices.items() if isinstance(of, Choice) and word.lower() in of.words]
    return f"write {found[0]}{is_}{escape(word.lower())}" if found else ""
