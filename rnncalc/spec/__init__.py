"""From a spec file or flags to a Network, every problem gathered with its place."""

import os
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from rnncalc.bounds import MAX_BYTES, MAX_TEXT, MOST_IN_BRACKETS
from rnncalc.errors import CallError, Path, Problem, SpecError
from rnncalc.files import open_input
from rnncalc.layers.frozen import Frozen
from rnncalc.network.network import Network
from rnncalc.spec.flags import override, tree
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, has_word, mark_at
from rnncalc.spec.reader import TOP_KEYS, read_network
from rnncalc.text import not_among

if TYPE_CHECKING:
    from rnncalc.network.data import Data

OVERRIDES = ("steps", "topology", "convention", "notation", "feedback", "rate")
"""The keys of a spec that others may replace."""


class Spec(Frozen):
    """A network and what it was read from.

    own_convention: what the spec itself says, or the default, also where a flag stands in its place; empty where there
        are flags alone.
    """

    network: Network
    root: Node
    source: str
    own_convention: str = ""

    def place(self, path: Path) -> tuple[int, int] | None:
        """Return the line and the column of what stands at a path; None for nothing, and for a flag."""
        mark = mark_at(self.root, path)
        return None if isinstance(mark, Flag) else (mark.line + 1, mark.column + 1)


def load(path: str | os.PathLike[str], **overrides: str | int | None) -> Network:
    """Return the network that a spec file describes; its own weights, inputs and targets are what `load_data` returns.

    `overrides` replace the file's own steps, topology, convention, notation, feedback or rate, as in a spec.
    Raises SpecError with every problem of the file, CallError for other overrides, or OSError when it cannot be read.
    """
    return _spec(path, overrides).network


def load_data(path: str | os.PathLike[str], **overrides: str | int | None) -> "Data":
    """Return the weights, inputs, start and targets of a spec file, each None where it has none.

    `run` and `backward` take them by these names. Raises what `load` raises.
    """
    return parse_data(_spec(path, overrides))


def _spec(path: str | os.PathLike[str], overrides: dict[str, str | int | None]) -> Spec:
    if not isinstance(path, str | os.PathLike):
        raise CallError(f"path: expected the path of a spec file, got a {type(path).__name__}")
    if wrong := not_among([*overrides], OVERRIDES):
        raise CallError(f"load: {wrong}")
    source = os.fspath(path)
    words = {key: None if value is None else str(value) for key, value in overrides.items()}
    data = contents(source)
    try:
        return parse(data, source, **words)
    except SpecError as error:  # here they are no flags
        named = (problem._replace(source=problem.source.removeprefix("--")) for problem in error.problems)
        raise SpecError(tuple(named)) from None


USUAL_BYTES = 16_384
"""Most specs are no longer: memory for all that a file may have is asked for where there is more."""


def contents(path: str, most: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file, no more than it takes to know that there are too many."""
    with open_input(path, pipes=True) as file:
        data = file.read(USUAL_BYTES) or b""  # None: /proc/kmsg, which would have us wait
        return data if len(data) < USUAL_BYTES else data + file.read(most + 1 - USUAL_BYTES)


class Template(Frozen):
    """A spec as read, not yet a network: its sizes written `?` may have any value."""

    root: Node
    source: str
    name: str
    problems: tuple[Problem, ...] = ()
    own_convention: str = Network.convention

    def spec(self) -> Spec:
        """Return the spec, none of its sizes open. Raises SpecError with every problem there is."""
        return Spec(self.network(), self.root, self.source, self.own_convention)

    def network(self, unknown: int | None = None) -> Network:
        """Return the network in which every `?` is `unknown`. Raises SpecError with every problem there is."""
        return read_network(self.root, self.source, self.name, self.problems, unknown)

    @property
    def marked(self) -> bool:
        """Whether a size is written `?`."""
        return has_word(self.root, "?")


def parse(data: bytes, source: str, **overrides: str | None) -> Spec:
    """Return what the bytes of a spec describe; `source` names them in problems, and names the network by default.

    Raises SpecError with every problem there is.
    """
    return parse_template(data, source, **overrides).spec()


def parse_template(data: bytes, source: str, **overrides: str | None) -> Template:
    """Return what the bytes of a spec say, sizes written `?` left open. Raises SpecError where they are no YAML."""
    from rnncalc.spec.document import read_document  # yaml comes with it, and flags do without

    root, problems = read_document(data, source)
    own = root.get("convention") if isinstance(root, Mapping) else None
    override(root, overrides)
    stem = os.path.splitext(os.path.basename(source))[0]
    name = stem.encode("utf-8", "replace").decode()[:MAX_TEXT]  # a file's name may hold bytes that are no text
    own_convention = own.value if isinstance(own, Scalar) else Network.convention
    return Template(root, source, name, tuple(problems), own_convention)


ESSENTIAL = {"input", "layers", "encoder", "decoder"}
"""No network is without one of these."""


def parse_if_meant(data: bytes, source: str, **overrides: str | None) -> Spec | None:
    """Return what the bytes of a file describe, None if by its keys it is no spec: a folder may hold YAML of any kind.

    Raises SpecError with every problem of one that is meant to be a spec.
    """
    try:
        template = parse_template(data, source, **overrides)
    except SpecError:
        if is_meant(keys_in(data)):
            raise
        return None
    items = template.root.items if isinstance(template.root, Mapping) else ()
    own = [key.value for key, _ in items if not isinstance(key.mark, Flag)]
    return template.spec() if is_meant(own) else None


def is_meant(keys: Collection[str]) -> bool:
    """Return whether keys at the top of a file are a spec's: an essential one, and half of them or more known.

    Half, because a spec with a misspelt key is to be told of it, and another program's settings may have `layers` too.
    """
    known = sum(key in TOP_KEYS for key in keys)
    return any(key in ESSENTIAL for key in keys) and 2 * known >= len(keys)


def keys_in(data: bytes) -> tuple[str, ...]:
    """Return what looks like the keys at the top of a file that is no YAML."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    if not text.lstrip().startswith("{"):
        return tuple(re.findall(r"""(?m)^["']?([A-Za-z_][\w.-]{0,80})["']?[ \t]*:(?=[ \t\r]|$)""", text))
    keys, depth = [], 0
    for found in re.finditer(r"""["']?(?P<key>[A-Za-z_][\w.-]{0,80})["']?\s*:|[\[\]{}]""", text[:MOST_IN_BRACKETS]):
        if found["key"] and depth == 1:
            keys.append(found["key"])
        depth += (found[0] in ("{", "[")) - (found[0] in ("}", "]"))
    return tuple(keys)


def flags_template(input: str | None, layers: tuple[str, ...], output: str | None, **others: str | None) -> Template:
    """Return what flags say, each as typed, sizes written `?` left open."""
    root = tree(input=input, layers=layers, output=output, **others)
    return Template(root, "", "network", own_convention="")


def from_flags(input: str | None, layers: tuple[str, ...], output: str | None, **others: str | None) -> Spec:
    """Return what flags describe, each as typed. Raises SpecError with every problem, located by its flag."""
    return flags_template(input, layers, output, **others).spec()


File = tuple[bytes, str]
"""The bytes of a file, and how problems name it."""


def parse_data(
    spec: Spec,
    weights: File | None = None,
    inputs: File | None = None,
    start: File | None = None,
    targets: File | None = None,
) -> "Data":
    """Return the numbers for a run: from files of their own, else from the spec.

    Raises SpecError where they do not fit the network.
    """
    from rnncalc.network.data import Data, with_steps_of
    from rnncalc.spec.data import READERS, DataReader
    from rnncalc.spec.document import read_document

    files = {"weights": weights, "inputs": inputs, "start": start, "targets": targets}
    found: dict[str, Any] = {}
    wrong: list[Problem] = []
    network = spec.network
    for key, read in READERS.items():
        path: Path = ()
        if file := files[key]:
            root, problems = read_document(*file)
            if problems:
                raise SpecError(tuple(problems))
            node, source = root, file[1]
        elif isinstance(spec.root, Mapping) and (own := spec.root.get(key)):
            node, source, path = own, spec.source, (key,)
        else:
            continue
        reading = DataReader(node, source)
        found[key] = read(reading, node, path, network)
        network = with_steps_of(network, found.get("inputs"))
        wrong += reading.error().problems
    if wrong:
        raise SpecError(tuple(wrong))
    return Data(**found)
