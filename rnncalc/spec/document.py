"""From the bytes of a YAML file to a tree of nodes; YAML's surprises are refused.

PyYAML's parser (libyaml's where it is built in) gives the events; the tree is built here rather than by PyYAML's
composer because that recurses in C, expands aliases without bound, keeps the last of two equal keys and guesses types.
Knows nothing of the meaning of a spec.
"""

from __future__ import annotations

import re
from typing import Any

from rnncalc.bounds import MAX_ALIASED, MAX_BYTES, MAX_DEPTH, MAX_NODES, MOST_PROBLEMS
from rnncalc.errors import MORE_PROBLEMS, Problem, SpecError
from rnncalc.printable import escape, escape_path
from rnncalc.spec.nodes import Mapping, Node, Scalar, Sequence

_LONE_QUESTION = re.compile(r"(: +)\?(?= *(?:$|[,}\]]| #))", re.MULTILINE)
_STAND_IN = "\ue03f"
"""YAML reads the `?` of `lstm: ?` as the start of a long key, so a private character replaces it for the parser."""

Place = tuple[int, int]
"""A line and a column, both counted from 1."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ue03f\ufffe\uffff]")
"""What YAML allows nowhere, and the stand-in. What is allowed would take 3 ms to compile."""


def read_document(data: bytes, source: str) -> tuple[Node, list[Problem]]:
    """Return the tree of a YAML document, and the problems that did not stop the reading.

    Raises SpecError at the first that does: bytes that are not UTF-8, YAML that does not parse, a cycle.
    """
    source = escape_path(source)
    if not (data[:8].isascii() and min(data[:8], default=9) >= 9):  # else plain text, as in nearly every spec
        from rnncalc.models.files import HEAD, recognised
        from rnncalc.models.files.foreign import refusal

        if foreign := refusal(source, data[:HEAD]):
            raise _error(source, None, foreign)
        if model := recognised(data[:HEAD]):
            named = "a model file is named, not read from standard input"
            cure = named if source == "stdin" else "rnncalc read prints the spec of the model"
            raise _error(source, None, f"this is {model}, and not a spec; {cure}")
    if len(data) > MAX_BYTES:
        raise _error(source, None, f"a spec has at most {MAX_BYTES:,} bytes, this has more")
    text = _LONE_QUESTION.sub(rf"\1{_STAND_IN}", _decode(data, source))
    import yaml

    builder = _Builder(source)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        root = builder.build(loader, yaml)
    except yaml.MarkedYAMLError as error:
        from rnncalc.spec.not_yaml import probable_mistake

        place = _place(error.problem_mark or error.context_mark)
        message = ", ".join(escape(str(part)) for part in (error.problem, error.context) if part)
        if mistake := probable_mistake(error, text.replace(_STAND_IN, "?")):
            (line, column), message = mistake
            place = line + 1, column + 1
        raise _error(source, place, f"not valid YAML: {message}") from None
    finally:
        loader.dispose()
    return root, builder.problems


def _decode(data: bytes, source: str) -> str:
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        raise _error(source, (1, 1), "the file is UTF-32; save it as UTF-8")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _error(source, (1, 1), "the file is UTF-16; save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")  # the mark that some editors put first
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        bad = data[error.start]
        raise _error(
            source, _end(data[: error.start].decode()), f"byte 0x{bad:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    if character := _FORBIDDEN.search(text):
        name = character[0].encode("unicode_escape").decode()
        raise _error(source, _end(text[: character.start()]), f"the character {name} may not be in YAML; remove it")
    return text


def _end(before: str) -> Place:
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _place(mark: Any) -> Place | None:
    return (mark.line + 1, mark.column + 1) if mark else None


def _error(source: str, place: Place | None, message: str) -> SpecError:
    line, column = place or (None, None)
    return SpecError((Problem((), message, source, line, column),))


class _Builder:
    """Builds one document's tree from the parser's events, without recursion."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.open: list[Mapping | Sequence] = []
        self.anchors: dict[str, Node] = {}
        self.sizes: dict[int, int] = {}  # the number of nodes that aliases expand to
        self.aliased = 0

    def build(self, loader: Any, yaml: Any) -> Node:
        """Return the tree. One loop does it all, because a long file runs through it a million times."""
        root: Node | None = None
        within: Mapping | Sequence | None = None
        key: Scalar | None = None  # the key in the innermost mapping that has no value yet
        nodes = 0
        get, stand_in, end, scalar = loader.get_event, _STAND_IN, yaml.StreamEndEvent, yaml.ScalarEvent
        mapping, sequence, alias = yaml.MappingStartEvent, yaml.SequenceStartEvent, yaml.AliasEvent
        while (kind := type(event := get())) is not end:
            if kind is scalar:
                node: Node = Scalar(event.value.replace(stand_in, "?"), not event.style, event.start_mark)
            elif kind is mapping:
                node = Mapping(event.start_mark)
            elif kind is sequence:
                node = Sequence(event.start_mark)
            elif kind is alias:
                node = self._resolve(event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.open.pop()
                within = self.open[-1] if self.open else None
                continue
            elif kind is yaml.DocumentStartEvent and root is not None:
                raise self._error(event, "a second document starts here; a spec is one document, so split the file")
            else:
                continue
            nodes += 1
            if nodes > MAX_NODES:
                raise self._error(event, f"a spec has at most {MAX_NODES:,} words and lists, this has more")
            if kind is not alias and (event.tag is not None or event.anchor is not None):
                self._decorate(node, event)
            if within is None:
                root = node
            elif isinstance(within, Sequence):
                within.items.append(node)
            elif key is not None:
                within.items.append((key, node))
                key = None
            elif isinstance(node, Scalar):
                key = node
            else:
                raise self._error(event, "a key must be one word; remove these brackets")
            if kind is mapping or kind is sequence:
                assert not isinstance(node, Scalar)
                if len(self.open) == MAX_DEPTH:
                    raise self._error(event, f"nested deeper than {MAX_DEPTH} levels; no spec is")
                self.open.append(node)
                within = node
        if root is None:
            raise _error(self.source, (1, 1), "the file is empty")
        return root

    def _error(self, event: Any, message: str) -> SpecError:
        return _error(self.source, _place(event.start_mark), message)

    def _decorate(self, node: Node, event: Any) -> None:
        """Refuse a node's tag, and keep the node for the aliases of its anchor."""
        if event.tag is not None:
            if len(self.problems) == MOST_PROBLEMS:
                raise SpecError((*self.problems, MORE_PROBLEMS))
            tag = escape(event.tag.replace("tag:yaml.org,2002:", "!!"))
            place = _place(event.start_mark) or (None, None)
            self.problems.append(Problem((), f"the tag {tag} is not read; remove it", self.source, *place))
        if event.anchor is not None:
            self.anchors[event.anchor] = node

    def _resolve(self, event: Any) -> Node:
        node = self.anchors.get(event.anchor)
        name = escape(f"*{event.anchor}")
        if node is None:
            raise self._error(
                event,
                f"the alias {name} has no anchor &{name[1:]} before it; write a text that starts with * in quotes",
            )
        if any(node is one for one in self.open):
            raise self._error(event, f"the alias {name} is inside the part that it repeats; write the part out")
        self.aliased += self._size(node)
        if self.aliased > MAX_ALIASED:
            raise self._error(event, f"the aliases of this file stand for more than {MAX_ALIASED:,} nodes; use fewer")
        return node

    def _size(self, node: Node) -> int:
        """Return how many nodes an alias expands to. Aliased nodes within it are measured already."""
        if isinstance(node, Scalar):
            return 1
        if id(node) not in self.sizes:
            below = node.items if isinstance(node, Sequence) else [part for item in node.items for part in item]
            self.sizes[id(node)] = 1 + sum(map(self._size, below))
        return self.sizes[id(node)]
