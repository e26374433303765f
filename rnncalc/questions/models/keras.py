"""Which layers the modules of a Keras file may be: by their configuration, and without one by their shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rnncalc.layers.kinds import kind
from rnncalc.layers.layer import Dense, Embedding, Layer
from rnncalc.layers.options import OPTIONS
from rnncalc.modelfiles.model import FileTensor, Module
from rnncalc.questions.models.site import BY_GATES, Doubt, Guess

_MERGES = ("sum", "mul", "ave")


def guesses(module: Module) -> Iterator[tuple[int, Mapping[str, FileTensor], tuple[Guess, ...]]]:
    """Yield the one layer that a module is."""
    yield 0, module.tensors, tuple(_guesses(module))


def _guesses(module: Module) -> Iterator[Guess]:
    tensors, settings = module.tensors, module.settings
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    ways = any(name.startswith("backward/") for name in shapes)
    mark = "forward/" if ways else ""
    kernel = shapes.get(f"{mark}kernel", shapes.get("embeddings", ()))
    recurrent = shapes.get(f"{mark}recurrent_kernel")
    if len(kernel) != 2:
        return
    inputs, columns = kernel
    if "embeddings" in shapes:
        yield Guess(Embedding(columns), inputs)
    elif recurrent is None:
        layer, doubts = _active(Dense(columns, bias="bias" in shapes), settings)
        yield Guess(layer, inputs, doubts)
    elif len(recurrent) == 2 and (name := _kind(*recurrent)):
        bias = shapes.get(f"{mark}bias")
        options: dict[str, Any] = {"bidirectional": ways, "bias": bias is not None}
        if ways and settings.get("merge_mode") in _MERGES:
            options["merge"] = settings["merge_mode"]
        if name == "gru" and (len(bias) == 1 if bias else settings.get("reset_after") is False):
            options["reset_after"] = False
        made: Any = kind(name)
        layer, doubts = _active(made(units=recurrent[0], **options), settings)
        if settings.get("recurrent_activation", "sigmoid") != "sigmoid" or settings.get("go_backwards") is True:
            doubts = (*doubts, Doubt.OTHERWISE)
        yield Guess(layer, inputs, doubts)


def _kind(units: int, columns: int) -> str | None:
    return BY_GATES.get(columns // units) if units else None


def _active(layer: Layer, settings: Mapping[str, Any]) -> tuple[Layer, tuple[Doubt, ...]]:
    """Return a layer with its activation, and a doubt where that is not told, or none that a spec has."""
    activation = settings.get("activation")
    if activation is not None and OPTIONS["activation"].allowed.problem(activation) is None:
        return layer.replace(activation=activation), ()
    return layer, (Doubt.ACTIVATION,)
