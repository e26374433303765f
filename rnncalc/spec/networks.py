"""The networks of a model, under `networks` of its spec: each in its place, or in a file of its own beside the spec.

Imported only for a spec that has them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rnncalc.bounds import MOST_NETWORKS
from rnncalc.errors import MORE_PROBLEMS, Path, Problem, SpecError
from rnncalc.layers.options import OPTIONS, Size
from rnncalc.network.budget import BY_NAME
from rnncalc.network.model import Member, Model
from rnncalc.network.validation import KEYS
from rnncalc.printable import escape
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, node_at, unknown_key, what, word_of
from rnncalc.spec.reader import TOP_KEYS, NetworkReader
from rnncalc.spec.values import NOTHING

MODEL_KEYS = ("name", "source", "convention", "notation", "sizes", "dtype", "networks", "expect", "budget", "training")
"""The keys of a spec with `networks`."""

SHARED = ("convention", "notation", "training", "rate", "dtype")
"""The keys that a network takes from its model if it lacks them, as it takes `sizes`; `rate` is a flag's alone."""

Document = tuple[str, Node, list[Problem]]
"""The name of a file in messages, its root, and what is wrong with its YAML."""


def read_model(
    root: Mapping,
    source: str,
    name: str,
    problems: Iterable[Problem],
    own_convention: str,
    read: Callable[[str], Document],
) -> Model:
    """Return the model that a tree describes. own_convention: the spec's, before a flag. read: reads a file beside it.

    Raises SpecError with all problems, those of each file in the order of their places.
    """
    reader = _ModelReader(root, source, own_convention, read)
    reader.problems += problems
    model = reader.model(name)
    if model is None or reader.problems or reader.elsewhere:
        here = reader.error().problems if reader.problems else ()
        raise SpecError((*dict.fromkeys((*here, *reader.elsewhere)),))
    return model


class _ModelReader(NetworkReader):
    """Reads a model; each network is read by a reader of its own.

    path: the file's. elsewhere: what is wrong with other files.
    """

    by_name = BY_NAME

    def __init__(self, root: Mapping, path: str, own_convention: str, document: Callable[[str], Document]) -> None:
        super().__init__(root, path)
        self.path, self.own_convention, self.document = path, own_convention, document
        self.elsewhere: list[Problem] = []

    def model(self, name: str) -> Model | None:
        """Return the model; None, with the problems noted, if it cannot be one."""
        rate = self.root.get("rate") if isinstance(self.root, Mapping) else None
        known = (*MODEL_KEYS, *(["rate"] if rate and isinstance(rate.mark, Flag) else []))
        nodes = dict(self.keys(self.root, (), known, _misplaced))
        named = ((key, nodes[key]) for key in ("name", "source", "convention", "rate") if key in nodes)
        values: dict[str, Any] = {"name": name} | self.values(named, (), KEYS)
        if notation := nodes.get("notation"):
            named_node = notation.get("name") if isinstance(notation, Mapping) else notation
            values["notation"] = self.value(named_node, ("notation",), KEYS["notation"], None) if named_node else "w"
        for key, read in {"expect": self.expect, "budget": self.budget, "training": self.training}.items():
            if key in nodes:
                values[key] = read(nodes[key], (key,))
        if "dtype" in nodes:
            self.value(nodes["dtype"], ("dtype",), OPTIONS["dtype"].allowed, None)
        if "sizes" in nodes:
            self.sizes = self.named_sizes(nodes["sizes"])
            self.sizes.compute()
        shared = {} if self.problems else {key: nodes[key] for key in SHARED if key in nodes}
        members = dict(self.members(nodes["networks"], shared))
        if self.sizes is not None:
            values["sizes"] = self.sizes.all()
        if None in members.values() or self.problems or self.elsewhere:
            return None
        try:
            kept = {key: value for key, value in values.items() if key in Model.fields}
            return Model({name: member for name, member in members.items() if member}, **kept)
        except SpecError as error:
            for problem in error.problems:
                node, path = node_at(self.root, problem.path)
                self.problem(node.mark, path, problem.message)
        return None

    def members(self, node: Node, shared: dict[str, Node]) -> Iterator[tuple[str, Member | None]]:
        """Yield the networks by name; None for one that cannot be read."""
        if isinstance(node, Mapping) and not 0 < len(node.items) <= MOST_NETWORKS:
            message = f"expected 1 to {MOST_NETWORKS} networks, got {len(node.items):,}"
            self.problem(node.mark, ("networks",), message)
            return
        for name, below, at in self.entries(node, ("networks",), "networks by name, such as critic: critic.yaml"):
            yield name, self.member(name, below, at, shared)

    def member(self, name: str, node: Node, at: Path, shared: dict[str, Node]) -> Member | None:
        """Return a network: one in its place, or of a file, `critic.yaml` or `{file: critic.yaml, calls: 2}`."""
        calls, file = 1, node
        root: Node = Mapping(node.mark)
        source, problems, inline = self.path, list[Problem](), False
        if isinstance(node, Mapping):
            if (below := node.get("calls")) is not None:
                calls = self.value(below, (*at, "calls"), Size(), 1)
            inline = (of_file := node.get("file")) is None
            if of_file is not None:
                file = of_file
                _ = [*self.keys(node, at, ("file", "calls"), _in_file)]
            root = Mapping(node.mark)
            root.items = [item for item in node.items if item[0].value != "calls"]
        if not inline and (not isinstance(file, Scalar) or (file.plain and file.value in NOTHING)):
            self.problem(file.mark, at, f"expected a network, or the name of its file, got {what(file)}")
            return None
        if isinstance(file, Scalar):
            try:
                source, root, problems = self.document(file.value)
                itself = os.path.exists(self.path) and os.path.samefile(source, self.path)
            except SpecError as error:
                self.elsewhere += error.problems
                return None
            except (OSError, ValueError) as error:  # ValueError: the name has a zero byte
                missing = not isinstance(error, OSError) or isinstance(error, FileNotFoundError)
                reason = "no such file" if missing else (getattr(error, "strerror", "") or str(error)).lower()
                self.problem(file.mark, at, f"'{escape(file.value)}': {reason}")
                return None
            if itself:
                self.problem(file.mark, at, f"'{escape(file.value)}' is this file itself; name the spec of one network")
                return None
        if isinstance(root, Mapping) and (within := root.get("networks")):
            mark, path = (within.mark, (*at, "networks")) if inline else (file.mark, at)
            self.problem(mark, path, "a network has no networks of its own; write these beside it")
            return None
        own_convention = self.own_convention
        if isinstance(root, Mapping) and (convention := root.get("convention")):
            own_convention = word_of(convention)
        completed, course = self._sharing(root, shared, inline=inline), shared.get("notation")
        reader = NetworkReader(completed, source, at=at if inline else (), above=self.sizes, course=course)
        reader.problems += problems
        try:
            network = reader.network(name)
            noted = reader.error().problems
        except SpecError as error:  # there are more than anybody reads
            network, noted = None, error.problems
        self.more |= MORE_PROBLEMS in noted
        (self.problems if inline else self.elsewhere).extend(each for each in noted if each is not MORE_PROBLEMS)
        if network is None:
            return None
        if inline and network.budget and network.budget.max_growth:
            mark = node_at(node, ("budget", "max_growth"))[0].mark
            message = "growth is that of the whole model; write it in the model's own budget"
            self.problem(mark, (*at, "budget", "max_growth"), message)
        return Member(network, calls, own_convention)

    def _sharing(self, root: Node, shared: dict[str, Node], *, inline: bool) -> Node:
        """Add to a network what it takes from its model; a value from a flag replaces the network's own.

        In another file, a shared value is at its start.
        """
        if not isinstance(root, Mapping):
            return root
        for key, node in shared.items():
            if root.get(key) is None or isinstance(node.mark, Flag):
                here = inline or not isinstance(node, Scalar) or isinstance(node.mark, Flag)
                root.put(key, node if here else Scalar(word_of(node), True, root.mark))
        sizes = root.get("sizes")
        if isinstance(sizes, Mapping) and self.sizes is not None:
            for place, (name, _) in enumerate(sizes.items):
                above = self.sizes.nodes.get(name.value)
                if above is not None and isinstance(above.mark, Flag):
                    sizes.items[place] = name, above
                    self.sizes.new.pop(name.value, None)
        return root


def _misplaced(key: str, known: tuple[str, ...], below: Node) -> str:
    """Return the message for a key that is not one of a model's."""
    if isinstance(below.mark, Flag):
        return f"each network of a model has its own; write {key}: {escape(word_of(below))} in it, under networks"
    if key in TOP_KEYS:
        return "belongs to one network; write it in each that has it, under networks"
    return unknown_key(key, known, below)


def _in_file(key: str, _: tuple[str, ...], __: Node) -> str:
    return f"a network of a file has file and calls alone; write {escape(key)} in that file"
