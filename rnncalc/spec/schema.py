"""The JSON Schema of a spec, for editors, made from the declarations that the reader uses.

The reader checks what a schema cannot say: most options that go together, and which widths must fit.
"""

from __future__ import annotations

import json
from typing import Any

from rnncalc.bounds import MOST_NETWORKS, MOST_SIZES
from rnncalc.layers import KINDS, kind
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Layer
from rnncalc.layers.options import OPTIONS, SIZE, WRITTEN_LETTER, Option, Schema, Size
from rnncalc.letters import OWN_LETTER
from rnncalc.network.budget import BUDGET_KEYS, BY_NAME, GROWING, LAYER_LIMIT
from rnncalc.network.model import NETWORK_NAME
from rnncalc.network.parts import Expect
from rnncalc.network.training import UPDATE_KEYS
from rnncalc.network.validation import KEYS, PART_VALUES
from rnncalc.spec.networks import MODEL_KEYS
from rnncalc.spec.reader import COUNT, GROUP_KEYS, OUTPUT_KEYS, PART_KEYS, TOP_KEYS

GROWTH = "The most that a number may grow since the baseline: 5%, or {params: 5%, state: 32}."
SIZES = "Sizes by name, {D: 64, E: 2*D}; a name without a value stays a letter."
DIALECT = "https://json-schema.org/draft/2020-12/schema"

_WHOLE = ("input", "layers", "output", "steps", "topology", "feedback")
"""The keys of a network that is not an encoder-decoder."""


def text() -> str:
    """Return the schema as JSON."""
    return json.dumps(schema(), indent=2, ensure_ascii=False)


def schema() -> Schema:
    """Return the schema of a spec."""
    alone: Schema = {"enum": [name for name in KINDS if not kind(name).needs_number()]}
    group = _keys({"repeat": _described(OPTIONS["repeat"]), "layers": _ref("layers")}, *GROUP_KEYS)
    layers = {"type": "array", "minItems": 1, "items": {"oneOf": [alone, group, *(_ref(name) for name in KINDS)]}}
    plain = {key: allowed.schema for key, allowed in KEYS.items()}
    part = plain | {"layers": _ref("layers"), "output": _ref("output")}
    written = {"type": "string", "pattern": f"^(?:{OWN_LETTER})$"}
    text = "A course's letters by the symbols of the notation, {h: a, W_xh: W_F}; ^l is the number of the layer."
    letters = {"type": "object", "additionalProperties": written, "description": text}
    values: Schema = {"anyOf": [*SIZE.schema["anyOf"], {"type": "null"}]}
    half = part | {key: allowed.schema for key, allowed in PART_VALUES.items()}
    half |= {"attention": _layer({}, DecoderAttention)}
    names = {"propertyNames": {"pattern": f"^{WRITTEN_LETTER}$"}, "maxProperties": MOST_SIZES}
    top = {
        **part,
        "notation": {"anyOf": [part["notation"], _keys({"name": part["notation"], "letters": letters})]},
        "sizes": {"type": "object", "additionalProperties": values, **names, "description": SIZES},
        "encoder": _ref("part"),
        "decoder": _ref("part"),
        "dtype": _described(OPTIONS["dtype"]),
        "expect": {"anyOf": [COUNT.schema, _expect()]},
        "budget": _budget(),
        "training": _keys({key: _described(option) for key, option in UPDATE_KEYS.items()}),
        **_numbers(),
    }
    output = _keys({key: _described(OPTIONS[key]) for key in OUTPUT_KEYS}, "units")
    of_decoder = dict.fromkeys(("attention", "output", "initial_states"), False)
    encoder = {"properties": {**of_decoder, "input": KEYS["input"].schema}}
    halves = {"required": ["encoder", "decoder"], "properties": {**dict.fromkeys(_WHOLE, False), "encoder": encoder}}
    network = {key: top[key] for key in TOP_KEYS}
    rules = {
        "if": {"anyOf": [{"required": ["encoder"]}, {"required": ["decoder"]}]},
        "then": halves,
        "else": {"required": ["input", "layers"]},
    }
    calls = {"calls": {**Size().schema, "description": "How often one pass of the model applies this network."}}
    of_file = _keys({"file": {"type": "string"}, **calls}, "file")
    networks = {
        "type": "object",
        "description": "The networks of a model, by name: each a network, or the name of its file.",
        "propertyNames": {"pattern": f"^{NETWORK_NAME}$"},
        "minProperties": 1,
        "maxProperties": MOST_NETWORKS,
        "additionalProperties": {"anyOf": [{"type": "string"}, of_file, _ref("network")]},
    }
    return {
        "$schema": DIALECT,
        "title": "A recurrent network, as rnncalc counts it",
        **_keys({**network, "networks": networks}),
        "if": {"required": ["networks"]},
        "then": {"properties": {key: key in MODEL_KEYS for key in network}},
        "else": rules,
        "$defs": {
            "layers": layers,
            "network": {**_keys({**network, **calls}), **rules},
            "part": _keys({key: half[key] for key in PART_KEYS}, "input", "layers"),
            "output": {"anyOf": [OPTIONS["units"].allowed.schema, output]},
            **{name: _kind(name, kind(name)) for name in KINDS},
        },
    }


def _numbers() -> Schema:
    """Return the schema of a network's own numbers; their nesting depends on the network."""
    numbers = {"type": "array", "items": {"type": ["number", "array"]}}
    states = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": numbers}}
    return {
        "weights": {"type": "object", "description": "For a run: {LAYER: {TENSOR: nested lists}}."},
        "inputs": {"type": ["array", "object"], "description": "For a run: a vector per step, or a token number."},
        "targets": {
            **numbers,
            "type": ["array", "integer"],
            "description": "For the loss of a run, in the shape of the output; or class numbers from 0.",
        },
        "start": {**states, "description": "For a run: the states before the first step, {LAYER: {h: [...]}}."},
    }


def _expect() -> Schema:
    shape = {"type": "array", "minItems": 1, "items": Size().schema}
    tensors = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": shape}}
    text = "The shapes of tensors, by the names of their layer and their own."
    others = {
        "layers": {"type": "array", "items": COUNT.schema},
        "tensors": {**tensors, "description": text},
        "networks": {"type": "object", "additionalProperties": COUNT.schema},
    }
    return _keys({key: others.get(key, COUNT.schema) for key in Expect.fields})


def _budget() -> Schema:
    keys = {key: {**entry.allowed.schema, "description": entry.meaning} for key, entry in BUDGET_KEYS.items()}
    percent = {"type": "string", "pattern": r"^([0-9]+|[0-9]*\.[0-9]+)%$"}
    growths = {quantity: {"anyOf": [*allowed.schema["anyOf"], percent]} for quantity, allowed in GROWING.items()}
    growth = {"anyOf": [growths["params"], _keys(growths)], "description": GROWTH}
    limits = {"type": "object", "additionalProperties": LAYER_LIMIT.allowed.schema}
    by_name = {
        key: {**limits, "description": f"The most parameters of each of these {key}, by name."} for key in BY_NAME
    }
    return _keys({**keys, "max_growth": growth, **by_name})


def _kind(name: str, layer: type[Layer]) -> Schema:
    null: Schema = {"type": "null"}
    allowed = layer.option(layer.number).allowed.schema if layer.number else null
    if layer.number and not layer.needs_number():
        allowed = {"anyOf": [*allowed["anyOf"], null]}
    return _layer({name: {**allowed, "description": layer.summary()}}, layer)


def _layer(number: Schema, layer: type[Layer]) -> Schema:
    """Return the schema of a layer. number: that of the number after its kind, if it has one."""
    options = {name: _described(layer.option(name)) for name in layer.options()}
    conditions = {
        option: {"required": [other]} if together else {"properties": {other: False}}
        for option, (other, together) in layer.conditions.items()
    }
    keys = _keys(number | options, *number, *layer.needed())
    return keys | ({"dependentSchemas": conditions} if conditions else {})


def _described(option: Option) -> Schema:
    return {**option.allowed.schema, "description": option.meaning}


def _keys(properties: dict[str, Any], *required: str) -> Schema:
    keys: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return keys | ({"required": [*required]} if required else {})


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
