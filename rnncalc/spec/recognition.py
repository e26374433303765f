"""Whether a file is meant to be a spec, told by its keys alone: a folder may hold YAML of any kind.

Knows the names of a spec's keys, and nothing of their values.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from rnncalc.errors import SpecError
from rnncalc.spec import Spec, parse_template
from rnncalc.spec.nodes import Flag, Mapping, Node
from rnncalc.spec.reader import TOP_KEYS

ESSENTIAL = {"input", "layers", "encoder", "decoder"}
"""No network is without one of these."""

_KEY = re.compile(r"""^["']?([A-Za-z_][\w.-]{0,80})["']?[ \t]*:(?=[ \t\r]|$)""", re.MULTILINE)
_FLOW = re.compile(r"""["']?(?P<key>[A-Za-z_][\w.-]{0,80})["']?\s*:|[\[\]{}]""")
_MOST_FLOW = 100_000


def parse_if_meant(data: bytes, source: str, **overrides: str | None) -> Spec | None:
    """Return what the bytes of a file describe, None where by its keys it is no spec.

    Raises SpecError with every problem of one that is meant to be a spec.
    """
    try:
        template = parse_template(data, source, **overrides)
    except SpecError:
        if is_meant(keys_in(data)):
            raise
        return None
    if not is_meant(keys_of(template.root)):
        return None
    return Spec(template.network(), template.root, source, template.own_convention)


def is_meant(keys: Collection[str]) -> bool:
    """Return whether keys at the top of a file are a spec's: an essential one, and half of them or more known.

    Half, because a spec with a misspelt key is to be told of it, and another program's settings may have `layers` too.
    """
    known = sum(key in TOP_KEYS for key in keys)
    return any(key in ESSENTIAL for key in keys) and 2 * known >= len(keys)


def keys_of(root: Node) -> tuple[str, ...]:
    """Return the keys at the top of a tree, without those that flags put there."""
    items = root.items if isinstance(root, Mapping) else ()
    return tuple(key.value for key, _ in items if not isinstance(key.mark, Flag))


def keys_in(data: bytes) -> tuple[str, ...]:
    """Return what looks like the keys at the top of a file that is no YAML."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    if not text.lstrip().startswith("{"):
        return tuple(_KEY.findall(text))
    keys, depth = [], 0
    for found in _FLOW.finditer(text, 0, _MOST_FLOW):
        if found["key"] and depth == 1:
            keys.append(found["key"])
        depth += (found[0] in ("{", "[")) - (found[0] in ("}", "]"))
    return tuple(keys)
