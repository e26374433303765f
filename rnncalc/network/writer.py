"""From a Network or a Model back to its spec, without default values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnncalc.conventions.formula import plain, substituted
from rnncalc.layers.layer import External, Layer
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.network.model import Described, Model


def spec_of(network: Described) -> dict[str, Any]:
    """Return what a spec file describes, in plain values, without `expect`, `budget` and `training`.

    What all networks of a model share is at its top.
    """
    if not isinstance(network, Network):
        return _of_model(network)
    spec = _changed(network, ("source", "convention", "topology", "feedback", "notation"))
    if network.symbols:
        spec["notation"] = {"name": network.notation or "w", "letters": {**network.symbols}}
    if network.sizes:
        sizes = network.sizes.items()
        spec["sizes"] = {name: None if str(size) == name else _value(size) for name, size in sizes}  # a letter
    if network.rate is not None:
        whole = network.rate == int(network.rate)
        spec["rate"] = int(network.rate) if whole else float(network.rate)
    if network.encoder and network.decoder:
        halves = {"encoder": network.encoder, "decoder": network.decoder}
        return {"name": network.name} | spec | {key: _part(half, half.steps) for key, half in halves.items()}
    part = network.parts[None]
    dtypes = {layer.dtype for layer in (*part.layers, part.output) if layer}
    if len(dtypes) == 1 and None not in dtypes:  # at its top, for all layers
        layers, output = (layer.replace(dtype=None) for layer in part.layers), part.output
        part = part._replace(layers=tuple(layers), output=output and output.replace(dtype=None))
        spec["dtype"] = dtypes.pop()
    return {"name": network.name} | spec | _part(part, network.steps)


def _of_model(model: Model) -> dict[str, Any]:
    specs = {name: spec_of(each.network) for name, each in model.networks.items()}
    first, *others = specs.values()
    common = {key: first[key] for key in ("convention", "notation", "source", "dtype") if key in first}
    top = {"name": model.name, **_changed(model, ("source",))}
    top |= {key: value for key, value in common.items() if all(spec.get(key) == value for spec in others)}
    return top | {
        "networks": {
            name: {key: value for key, value in specs[name].items() if key != "name" and top.get(key) != value}
            | ({"calls": each.calls} if each.calls > 1 else {})
            for name, each in model.networks.items()
        }
    }


def _part(part: Part, steps: int | None) -> dict[str, Any]:
    spec: dict[str, Any] = {"steps": _value(steps)} if steps else {}
    spec |= {"input": _value(part.input), "layers": [layer_spec(layer) for layer in part.layers]}
    if part.initial_states != "all":
        spec["initial_states"] = part.initial_states
    if part.attention:
        spec["attention"] = _changed(part.attention, part.attention.options())
    if part.output:
        options = _changed(part.output, part.output.options())
        units = _value(part.output.units)
        spec["output"] = {"units": units} | options if options else units
    return spec


def layer_spec(layer: Layer) -> dict[str, Any]:
    """Return a layer as a spec holds it, its kind first."""
    number = _value(getattr(layer, layer.number)) if layer.number else None
    if isinstance(layer, External) and layer.tensors:
        number = {name: [*map(_value, shape)] for name, shape in layer.tensors}
    return {layer.kind: number} | _changed(layer, layer.options())


def _changed(value: Frozen, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: _value(getattr(value, key)) for key in keys if getattr(value, key) != value.defaults.get(key, value)}


def _value(value: Any) -> Any:
    """Return a value as a spec has it: text of letters, a named size and several sizes, 8x8; pairs are keys."""
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return dict(value)
    if isinstance(value, tuple):
        return "x".join(map(str, value)) if len(value) > 1 else value[0]
    if expression := getattr(value, "expression", ""):
        return expression
    if has_letters(value):
        return plain(substituted(value, {}))
    return value
