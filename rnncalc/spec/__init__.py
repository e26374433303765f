"""From a spec file or flags to a Network; every problem is collected with its place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from collections.abc import Mapping as MappingOf
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rnncalc.bounds import MAX_BYTES, MAX_TEXT, MOST_IN_BRACKETS
from rnncalc.errors import CallError, Path, Problem, SpecError
from rnncalc.files import open_input
from rnncalc.layers import KINDS, kind
from rnncalc.layers.layer import Layer, Output
from rnncalc.layers.options import Allowed, Switch
from rnncalc.letters import LETTER, with_index
from rnncalc.network.network import Network
from rnncalc.printable import escape, escape_path
from rnncalc.records import Frozen
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, Sequence, node_at, scalars, word_of
from rnncalc.spec.reader import TOP_KEYS, read_network
from rnncalc.spec.values import read as read_word
from rnncalc.words import did_you_mean, not_among, one_of

if TYPE_CHECKING:
    from rnncalc.network.data import Data
    from rnncalc.network.model import Described, Model

OVERRIDES = ("steps", "topology", "convention", "notation", "feedback", "rate", "sizes")
"""The keys of a spec that flags and callers may override."""

File = tuple[bytes, str]
"""The bytes of a file, and its name in messages."""

Reads = Callable[[str], File]
"""Returns the file of a name that a spec has."""

Override = str | tuple[str, ...] | None
"""The value of such a key as a word; of sizes words such as `D=64`, which replace single ones."""


def load(
    path: str | os.PathLike[str], *, sizes: MappingOf[str, int | str] | None = None, **overrides: str | int | None
) -> Network:
    """Return the network that a spec file describes; its own weights, inputs and targets are what `load_data` returns.

    sizes: other values for some of the file's named sizes, {"D": 64}.
    `overrides` replace the file's own steps, topology, convention, notation, feedback or rate, as in a spec.
    Raises SpecError with every problem of the file, CallError for other overrides, or OSError when it cannot be read.
    """
    described = _spec(path, sizes, overrides).described
    if not isinstance(described, Network):
        raise CallError(f"{escape_path(os.fspath(path))}: a model of several networks; load_model reads it")
    return described


def load_model(
    path: str | os.PathLike[str], *, sizes: MappingOf[str, int | str] | None = None, **overrides: str | int | None
) -> Model:
    """Return the model of several networks that a spec file describes, of a network alone that of one.

    The arguments and errors are those of `load`.
    """
    from rnncalc.network.model import Member, Model

    described = _spec(path, sizes, overrides).described
    if isinstance(described, Model):
        return described
    return Model({"network": Member(described)}, name=described.name, source=described.source)


def load_data(
    path: str | os.PathLike[str], *, sizes: MappingOf[str, int | str] | None = None, **overrides: str | int | None
) -> Data:
    """Return the weights, inputs, start and targets of a spec file, each None where it has none.

    `run` and `backward` take them by these names. Raises what `load` raises.
    """
    return parse_data(_spec(path, sizes, overrides))


def _spec(
    path: str | os.PathLike[str], sizes: MappingOf[str, int | str] | None, overrides: dict[str, str | int | None]
) -> Spec:
    if not isinstance(path, str | os.PathLike):
        raise CallError(f"path: expected the path of a spec file, got a {type(path).__name__}")
    if wrong := not_among([*overrides], OVERRIDES):
        raise CallError(f"load: {wrong}")
    source = os.fspath(path)
    words: dict[str, Override] = {key: None if value is None else str(value) for key, value in overrides.items()}
    if not isinstance(sizes, MappingOf | None):
        raise CallError(f"sizes: expected a mapping such as {{'D': 64}}, got a {type(sizes).__name__}")
    if sizes is not None:
        words["sizes"] = tuple(f"{name}={size}" for name, size in sizes.items())
    data = contents(source)
    try:
        return parse(data, source, **words)
    except SpecError as error:  # these are not flags
        named = (
            problem._replace(source=problem.source.removeprefix("--").replace("set", "sizes"))
            for problem in error.problems
        )
        raise SpecError(tuple(named)) from None


USUAL_BYTES = 16_384
"""Most specs are no longer; memory for the largest allowed file is requested only for longer ones."""


def contents(path: str, most: int = MAX_BYTES, *, pipes: bool = True) -> bytes:
    """Return the bytes of a file, at most one more than the limit."""
    with open_input(path, pipes=pipes) as file:
        data = file.read(USUAL_BYTES) or b""  # None if reading would wait, as for /proc/kmsg
        return data if len(data) < USUAL_BYTES else data + file.read(most + 1 - USUAL_BYTES)


class Spec(Frozen):
    """A spec as read; its sizes written `?` may have any value.

    own_convention: the spec's own convention or the default, even if a flag overrides it; empty without a spec.
    above: of a network of a model, the model's spec and the network's name.
    reads: how a file beside it is read, None as a file of this system.
    """

    root: Node
    source: str
    name: str
    problems: tuple[Problem, ...] = ()
    own_convention: str = Network.convention
    above: tuple[Spec, str] | None = None
    reads: Reads | None = None

    @cached_property
    def described(self) -> Described:
        """The network or the model, none of its sizes open. Raises SpecError with every problem there is."""
        if not (isinstance(self.root, Mapping) and self.several):
            return self.sized(None)
        from rnncalc.spec.document import read_document
        from rnncalc.spec.networks import read_model  # imported only for a model

        def read(file: str) -> tuple[str, Node, list[Problem]]:
            data, source = self.beside(file)
            return source, *read_document(data, source)

        return read_model(self.root, self.source, self.name, self.problems, self.own_convention, read)

    def beside(self, file: str) -> File:
        """Return the file of a name that the spec has. Raises OSError or ValueError if it cannot be read."""
        if self.reads:
            return self.reads(file)
        path = os.path.join(os.path.dirname(self.source), file)
        return contents(path, pipes=False), path

    @property
    def several(self) -> bool:
        """Whether it describes a model of several networks."""
        return isinstance(self.root, Mapping) and self.root.get("networks") is not None

    @property
    def network(self) -> Network:
        """The one network. Raises SpecError with every problem there is, or if there are several networks."""
        described = self.described
        return described if isinstance(described, Network) else self.sized(None)

    def sized(self, unknown: int | None) -> Network:
        """Return the network with `unknown` for every `?`. Raises SpecError with every problem there is."""
        if self.several:
            line, column = self.place(("networks",)) or (None, None)
            below = node_at(self.root, ("networks",))[0]
            files = {key.value: _file_of(node) for key, node in (below.items if isinstance(below, Mapping) else ())}
            paths = [os.path.join(os.path.dirname(self.source), file) for file in files.values() if file]
            cures = [f"give {one_of(named)}"] if (named := [*dict.fromkeys(map(escape_path, paths))]) else []
            if inline := [escape(name) for name, file in files.items() if not file]:
                cures.append(f"write {one_of(inline)} in a file of its own, and give that")
            message = f"a model of several networks, and this takes one; {', or '.join(cures)}"
            raise SpecError((Problem(("networks",), message, escape_path(self.source), line, column),))
        return read_network(self.root, self.source, self.name, self.problems, unknown)

    def of_network(self, name: str) -> Spec:
        """Return the spec of a network of a model, with the place of its numbers. Raises CallError for another name."""
        described, networks = self.described, self.described.networks
        if name not in networks:
            message = not_among((name,), (*networks,)) if networks else "one network is described; remove it"
            raise CallError(f"--only: {message}")
        (node, _), source = node_at(self.root, ("networks", name)), self.source
        if file := _file_of(node):
            data, source = self.beside(file)
            node = spec_in_file(data, source).root
        spec = Spec(node, source, self.name, (), networks[name].own_convention or "", (self, name))
        spec.__dict__["described"] = networks[name].network.replace(name=f"{described.name}: {name}"[:MAX_TEXT])
        return spec

    def each(self, only: str | None = None) -> list[Spec]:
        """Return the spec of each network, or that of one by its name. Raises CallError for another name."""
        names = self.described.networks if only is None else [only]
        return [*map(self.of_network, names)] or [self]

    def checked(self) -> Spec:
        """Return the spec if it is one of a network or a model. Raises SpecError with every problem there is."""
        _ = self.described
        return self

    def place(self, path: Path) -> tuple[int, int] | None:
        """Return the line and column of the value at a path; None if there is none, or for a flag."""
        mark = node_at(self.root, path)[0].mark
        return None if isinstance(mark, Flag) else (mark.line + 1, mark.column + 1)

    @property
    def marked(self) -> bool:
        """Whether any size is written `?`."""
        return any(scalar.value == "?" for scalar in scalars(self.root))

    def misspelt(self) -> Iterator[Problem]:
        """Yield the letters of the network that may be misspelt names of its sizes, each where it is first."""
        if not (isinstance(self.root, Mapping) and self.root.get("sizes")) or self.marked:
            return
        names = [*(self.described.sizes or ())]
        for letter in self.described.letters:
            if letter not in names and (near := did_you_mean(letter, names)):
                written = (each for each in scalars(self.root) if letter in re.findall(LETTER, with_index(each.value)))
                if (node := next(written, None)) is None:  # it is in another file
                    continue
                mark = (node.mark.line + 1, node.mark.column + 1) if not isinstance(node.mark, Flag) else ()
                yield Problem((), f"{letter} is a letter without a number{near}", escape_path(self.source), *mark)


def _file_of(node: Node) -> str:
    """Return the name of the file that a network of a model is in; empty if it is in its place."""
    return word_of((isinstance(node, Mapping) and node.get("file")) or node)


def parse(data: bytes, source: str, **overrides: Override) -> Spec:
    """Return the spec in these bytes; `source` is its name in messages, and the network's default name.

    Raises SpecError with every problem there is.
    """
    return spec_in_file(data, source, **overrides).checked()


def spec_in_file(data: bytes, source: str, reads: Reads | None = None, /, **overrides: Override) -> Spec:
    """Return the spec in these bytes with sizes written `?` left open. Raises SpecError if they are not YAML."""
    from rnncalc.spec.document import read_document  # imports yaml, which flags do not need

    root, problems = read_document(data, source)
    convention = root.get("convention") if isinstance(root, Mapping) else None
    override(root, overrides)
    stem = os.path.splitext(os.path.basename(source))[0]
    name = stem.encode("utf-8", "replace").decode()[:MAX_TEXT]  # the name of a file may have bytes that are not text
    own_convention = convention.value if isinstance(convention, Scalar) else Network.convention
    return Spec(root, source, name, tuple(problems), own_convention, reads=reads)


def parse_if_meant(data: bytes, source: str, reads: Reads | None = None, /, **overrides: Override) -> Spec | None:
    """Return the spec in the bytes of a file, None if its keys are not those of a spec: a folder may hold any YAML.

    Raises SpecError with every problem of a file that is meant to be a spec.
    """
    try:
        spec = spec_in_file(data, source, reads, **overrides)
    except SpecError:
        if is_meant(keys_in(data)):
            raise
        return None
    items = spec.root.items if isinstance(spec.root, Mapping) else ()
    keys = [key.value for key, _ in items if not isinstance(key.mark, Flag)]
    return spec.checked() if is_meant(keys) else None


def is_meant(keys: Collection[str]) -> bool:
    """Return whether the top keys of a file are those of a spec: one that every network has, and half or more known.

    Half, because misspelt keys are to be reported, while another program's settings may have `layers` too. A file of
    Docker Compose has `networks`, and `services`.
    """
    count = len([key for key in keys if key in TOP_KEYS or key == "networks"])
    needed = {"input", "layers", "encoder", "decoder", *(() if "services" in keys else ("networks",))}
    return not needed.isdisjoint(keys) and 2 * count >= len(keys)


def keys_in(data: bytes) -> tuple[str, ...]:
    """Return what looks like the top keys of a file that is not valid YAML."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    if not text.lstrip().startswith("{"):
        return tuple(re.findall(r"""(?m)^["']?([A-Za-z_][\w.-]{0,80})["']?[ \t]*:(?=[ \t\r]|$)""", text))
    keys, depth = [], 0
    for match in re.finditer(r"""["']?(?P<key>[A-Za-z_][\w.-]{0,80})["']?\s*:|[\[\]{}]""", text[:MOST_IN_BRACKETS]):
        if match["key"] and depth == 1:
            keys.append(match["key"])
        depth += (match[0] in ("{", "[")) - (match[0] in ("}", "]"))
    return tuple(keys)


def spec_in_flags(input: str | None, layers: tuple[str, ...], output: str | None, **others: Override) -> Spec:
    """Return the spec in flags, with sizes written `?` left open: the tree that a file would give, and its messages.

    `others` are the plain keys: steps, topology, convention and those of OVERRIDES.
    """
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
    return Spec(root, "", "network", own_convention="")


def parse_data(
    spec: Spec,
    weights: File | None = None,
    inputs: File | None = None,
    start: File | None = None,
    targets: File | None = None,
) -> Data:
    """Return the numbers for a run: from the files given for them, else from the spec.

    Raises SpecError if they do not fit the network.
    """
    from rnncalc.network.data import Data, with_steps_of
    from rnncalc.spec.data import READERS, DataReader
    from rnncalc.spec.document import read_document

    files = {"weights": weights, "inputs": inputs, "start": start, "targets": targets}
    data: dict[str, Any] = {}
    wrong: list[Problem] = []
    network = spec.network
    for key, read in READERS.items():
        path: Path = ()
        if file := files[key]:
            root, problems = read_document(*file)
            if problems:
                raise SpecError(tuple(problems))
            node, source = root, file[1]
        elif isinstance(spec.root, Mapping) and (below := spec.root.get(key)):
            node, source, path = below, spec.source, (key,)
        else:
            continue
        reading = DataReader(node, source)
        data[key] = read(reading, node, path, network)
        network = with_steps_of(network, data.get("inputs"))
        wrong += reading.error().problems
    if wrong:
        raise SpecError(tuple(wrong))
    return Data(**data)


def override(root: Node, values: dict[str, Any]) -> None:
    """Replace values of a tree by those from flags; steps, in an encoder-decoder, in both halves; sizes by name.

    values: by key; of letters a file.
    """
    if not isinstance(root, Mapping):
        return
    if isinstance(sizes := root.get("sizes"), Mapping):
        for name, _ in sizes.items:
            name.value = with_index(name.value)
    halves = [half for key in ("encoder", "decoder") if isinstance(half := root.get(key), Mapping)]
    if file := values.pop("letters", None):
        data, source = file
        root.put("notation", _notation(data, source, root.get("notation"), values.pop("notation", None)))
    for key, value in values.items():
        if isinstance(value, tuple):
            _set(root, value)
        elif value is not None:
            for mapping in halves if halves and key == "steps" else [root]:
                mapping.put(key, Scalar(value, True, Flag(f"--{key}")))


def _notation(data: bytes, source: str, before: Node | None, name: str | None) -> Mapping:
    """Return the notation of a file with a course's letters: that of a spec, or the letters alone.

    Its nodes have their places as flags. before: that of the network. name: what replaces the file's.
    """
    from rnncalc.spec.document import read_document

    root, problems = read_document(data, source)
    below = (root.get("notation") if isinstance(root, Mapping) else None) or root
    letters = below.get("letters") or below if isinstance(below, Mapping) else None
    is_spec = below is root and isinstance(root, Mapping) and is_meant([key.value for key, _ in root.items])
    if problems or is_spec or not (isinstance(letters, Mapping) and isinstance(below, Mapping)):
        message = "expected letters by symbol, {h: a, W_xh: W_ax}, or notation: {name, letters} as in a spec"
        raise SpecError(tuple(problems) or (Problem((), message, escape_path(source)),))
    mapping, placed = Mapping(Flag("--letters")), Mapping(Flag("--letters"))
    for key, value in (*below.items, *letters.items):
        if not isinstance(value.mark, Flag):
            key.mark = value.mark = Flag(f"{escape_path(source)}:{value.mark.line + 1}:{value.mark.column + 1}")
    before = before.get("name") if isinstance(before, Mapping) else before
    if named := Scalar(name, True, Flag("--notation")) if name else below.get("name") or before:
        mapping.put("name", named)
    placed.items = letters.items
    mapping.put("letters", placed)
    return mapping


def _set(root: Mapping, words: tuple[str, ...]) -> None:
    """Replace the values of named sizes, from words such as `D=64`; a name with two of them is there twice then."""
    mark = Flag("--set")
    sizes = root.get("sizes")
    if words and sizes is None:
        sizes = Mapping(mark)
        root.put("sizes", sizes)
    for name, _, word in (with_index(each).partition("=") for each in words):
        if isinstance(sizes, Mapping):
            value = Scalar(word, True, mark)
            if name in {key.value for key, below in sizes.items if below.mark is not mark}:
                sizes.items = [(key, value if key.value == name else below) for key, below in sizes.items]
            else:
                sizes.items.append((Scalar(name, True, mark), value))


def read_value(flag: str, text: str, allowed: Allowed) -> Any:
    """Return the value of a flag, read as a spec would be."""
    try:
        return read_word(text, allowed, flag=flag)
    except ValueError as error:
        raise SpecError((Problem((), str(error), flag),)) from None


def _layer(text: str, mark: Flag) -> Mapping:
    """Read `lstm:512,bidirectional,projection=128`."""
    first, *options = text.split(",")
    name, _, number = map(str.strip, first.partition(":"))
    name = name.lower() if name.lower() in KINDS else name
    return _with_options(name, number, options, kind(name) if name in KINDS else Layer, mark)


def _output(text: str) -> Node:
    """Read `5` or `5,bias=false`."""
    first, *options = text.split(",")
    mark = Flag("--output")
    units = first.strip()
    return _with_options("units", units, options, Output, mark) if options else Scalar(units, True, mark)


def _with_options(name: str, number: str, options: list[str], layer: type[Layer], mark: Flag) -> Mapping:
    words = [(name, number)]
    for option in options:
        key, equals, value = map(str.strip, option.partition("="))
        known = layer.known_option(key)
        switched_on = known is not None and isinstance(known.allowed, Switch) and not equals
        words.append((key, "true" if switched_on else value))
    mapping = Mapping(mark)
    mapping.items = [(Scalar(key, True, mark), Scalar(word, True, mark)) for key, word in words]
    return mapping
