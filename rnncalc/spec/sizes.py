"""The sizes that a spec names, `sizes: {D: 64, E: 2*D}`, and expressions of them wherever a spec takes a size."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rnncalc.bounds import MOST_SIZES
from rnncalc.errors import CallError
from rnncalc.expressions import evaluate
from rnncalc.layers.options import EXPRESSION, SIZE, Size, Sizes
from rnncalc.letters import LETTER, has_letters
from rnncalc.network.named_sizes import letters_in, named_size
from rnncalc.network.validation import layer_names
from rnncalc.printable import escape
from rnncalc.spec import nodes
from rnncalc.spec.nodes import Flag, Node, Scalar, what
from rnncalc.spec.values import NOTHING, read
from rnncalc.words import did_you_mean, one_of

if TYPE_CHECKING:
    from rnncalc.errors import Path
    from rnncalc.network.network import Network
    from rnncalc.spec.nodes import TreeReader


class NamedSizes(Mapping[str, Any]):
    """The value of each name under `sizes`, a number or a polynomial; what is wrong is noted by the spec's reader.

    A value is computed when it is first used, because an expression may have names that come later. above: the sizes of
    the model that a network is part of; its own win.
    """

    def __init__(self, reader: TreeReader, node: Node, above: NamedSizes | None = None) -> None:
        self.reader = reader
        self.above: Mapping[str, Any] = {} if above is None else above
        self.nodes: dict[str, Node] = {}
        self.known: dict[str, Any] = {}
        self.wrong: set[str] = set() if above is None else {*above.wrong}
        self.open: list[str] = []  # the names whose values are being computed
        self.new: dict[str, Flag] = {}  # names that only `--set` has, until one is used
        if isinstance(node, nodes.Mapping) and len(node.items) > MOST_SIZES:
            message = f"expected at most {MOST_SIZES} names, got {len(node.items):,}; write numbers for some sizes"
            reader.problem(node.mark, ("sizes",), message)
            return
        keys = {key.value: key for key, _ in node.items} if isinstance(node, nodes.Mapping) else {}
        for name, below, at in reader.entries(node, ("sizes",), "names of sizes, such as D: 64"):
            mark = keys[name].mark
            if isinstance(mark, Flag):
                self.new[name] = mark
            elif not re.fullmatch(LETTER, name):
                reader.problem(mark, at, "expected a letter, with an index at most, such as D or d_model")
                continue
            self.nodes[name] = below

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.above), **self.nodes})

    def __len__(self) -> int:
        return len({*self.above, *self.nodes})

    def __getitem__(self, name: str) -> Any:
        """Return the value of a name. Raises CallError for one that is made of itself."""
        if name not in self.nodes:
            return self.above[name]
        node = self.nodes[name]
        self.new.pop(name, None)
        if name in self.open:
            circle = " → ".join([*self.open[self.open.index(name) :], name])
            raise CallError(f"{circle} is a circle; give one of these sizes a number")
        if name not in self.known:
            self.open.append(name)
            number = len(self.reader.problems)
            path: Path = ("sizes", name)
            if not isinstance(node, Scalar):
                message = f"expected a number, or an expression of sizes, got {what(node)}"
                self.reader.problem(node.mark, path, message)
                self.known[name] = 1
            elif node.plain and node.value in NOTHING:  # a letter without a number
                self.known[name] = read(name, SIZE)
            else:
                self.known[name] = self.reader.value(node, path, SIZE, 1)
            if len(self.reader.problems) > number:
                self.wrong.add(name)
            self.open.pop()
        return self.known[name]

    def size(self, text: str, allowed: Size | Sizes) -> Any:
        """Return the value of a name or an expression; None for a number, and for any other word.

        Raises ValueError for an expression without a value, or with one that is not allowed.
        """
        alone = re.fullmatch(LETTER, text)
        if not (text in self or self.open if alone else re.fullmatch(EXPRESSION, text)):
            return None
        names = {*re.findall(LETTER, text)}
        try:
            size: Any = evaluate(text, ChainMap(self, {} if self.open else letters_in(text)))  # type: ignore[arg-type]  # which is only read
        except ValueError:
            if self.wrong.isdisjoint(names):
                raise
        if not self.wrong.isdisjoint(names):  # what is wrong with a value that it is made of is noted already
            self.wrong.update(self.open[-1:])
            return (1,) if isinstance(allowed, Sizes) else 1
        if has_letters(size) and not getattr(allowed, "letters", False):
            raise ValueError(f"expected {allowed.expected}, got '{escape(text)}', which has letters")
        size = named_size(size, text) if names else size
        size = (size,) if isinstance(allowed, Sizes) else size
        if problem := allowed.problem(size):
            raise ValueError(f"{problem} from {escape(text)}")
        return size

    def compute(self) -> None:
        """Compute the values of all names but those that only `--set` has."""
        for name in [name for name in self.nodes if name not in self.new]:
            self[name]

    def all(self) -> dict[str, Any]:
        """Return all values, each after those that it is made of; note names that only `--set` has."""
        for name, mark in {**self.new}.items():
            names = [each for each in self if each not in self.new]
            near = did_you_mean(name, names) or (f"; its sizes are {one_of(names)}" if names else "; it names no size")
            self.reader.problem(mark, ("sizes", escape(name)), f"the spec has no such size{near}")
        return {**(self.above.known if isinstance(self.above, NamedSizes) else {}), **self.known}

    def clashes(self, network: Network) -> Iterator[tuple[Path, str]]:
        """Yield the layers in whose formula a letter of their own is that of another size, with the reason."""
        if "T" in self and any(part.steps is None for part in network.parts.values()):
            yield ("sizes", "T"), "T is the letter of the steps here; give their number, or the size another name"
        paths = {name: path for path, name, _ in layer_names(network.parts)}
        for placed in network.stack if self else ():
            for name, size in placed.sizes.items():
                shown = str(placed.names.get(name, name)) == name and name in placed.layout.letters
                if shown and self.get(name, size) != size:
                    message = f"the letter {name} is {size} in its formula, and {self[name]} among the sizes"
                    yield (*paths[placed.name], placed.kind), f"{message}; give one of them another name"
