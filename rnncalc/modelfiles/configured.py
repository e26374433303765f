"""What the configuration of a Keras model says of its layers: their order, settings, and what is not trained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rnncalc.modelfiles.model import BadFileError

MOST_BYTES = 8_000_000
MOST_DEPTH = 20
MOST_SETTING = 100
"""Longer words are no settings that a layer of a spec has."""


class ConfiguredLayer(NamedTuple):
    """A layer: the name of its class, its settings that are plain words and numbers, and whether it is trained."""

    kind: str
    settings: Mapping[str, Any]
    frozen: bool


class Configured(NamedTuple):
    """The layers by their names in their order; steps, inputs: what the network reads, where it says so."""

    layers: Mapping[str, ConfiguredLayer]
    steps: int | None = None
    inputs: int | None = None


def parsed(text: bytes | str) -> Mapping[str, Any]:
    """Return a configuration from JSON. Raises BadFileError where it is none."""
    if len(text) > MOST_BYTES:
        raise BadFileError(f"has a configuration of {len(text):,} bytes; at most {MOST_BYTES:,} are read")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise BadFileError("has a configuration that is no JSON") from None
    if not isinstance(found, dict):
        raise BadFileError("has a configuration that is no JSON object")
    return found


def configured(config: Any) -> Configured:
    """Return what a configuration says; nothing where there is none."""
    if config is None:
        return Configured({})
    top = parsed(config) if isinstance(config, str | bytes) else config
    layers: dict[str, ConfiguredLayer] = {}
    shapes: list[Any] = []
    for kind, settings, frozen in _layers(top, frozen=False, depth=0):
        name = settings.get("name")
        if kind == "InputLayer":
            shapes.append(settings.get("batch_shape", settings.get("batch_input_shape")))
        elif isinstance(name, str):
            layers.setdefault(name, ConfiguredLayer(kind, _plain(settings), frozen))
    kinds = {layer.kind for layer in layers.values()}
    shape = shapes[0] if len(shapes) == 1 and isinstance(shapes[0], list) else []
    sizes = [size if type(size) is int and 0 < size <= 10**12 else None for size in shape[1:]]
    if len(sizes) == 2:
        return Configured(layers, *sizes)
    return Configured(layers, sizes[0] if len(sizes) == 1 and "Embedding" in kinds else None)


def _layers(node: Any, *, frozen: bool, depth: int) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield the class, the settings and whether it is frozen of each layer; those within models in their places."""
    config = node.get("config") if isinstance(node, dict) else None
    if not isinstance(config, dict) or depth > MOST_DEPTH:
        return
    frozen = frozen or config.get("trainable") is False
    below = config.get("layers")
    if isinstance(below, list):
        for each in below:
            yield from _layers(each, frozen=frozen, depth=depth + 1)
        return
    inner = config.get("layer")  # of one that wraps another
    within = inner.get("config") if isinstance(inner, dict) else None
    if isinstance(within, dict) and node.get("class_name") != "Bidirectional":  # TimeDistributed, which is its layer
        yield from _layers(inner, frozen=frozen, depth=depth + 1)
        return
    yield str(node.get("class_name")), {**(within or {}), **config} if isinstance(within, dict) else config, frozen


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in settings.items()
        if isinstance(value, bool | int | None) or (isinstance(value, str) and len(value) <= MOST_SETTING)
    }
