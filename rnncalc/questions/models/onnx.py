"""Which layers the operators of an ONNX file may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rnncalc.layers.kinds import kind
from rnncalc.layers.layer import Dense, Embedding
from rnncalc.modelfiles.model import FileTensor, Module
from rnncalc.questions.models.site import Doubt, Guess

KINDS = {"RNN": "rnn", "GRU": "gru", "LSTM": "lstm"}
ACTIVATIONS = {"tanh": "tanh", "relu": "relu", "sigmoid": "sigmoid", "affine": "linear"}


def guesses(module: Module) -> Iterator[tuple[int, Mapping[str, FileTensor], tuple[Guess, ...]]]:
    """Yield the one layer that an operator is."""
    yield 0, module.tensors, tuple(_guesses(module))


def _guesses(module: Module) -> Iterator[Guess]:
    shapes = {name: tensor.shape for name, tensor in module.tensors.items()}
    if module.kind in KINDS and len(shapes.get("W", ())) == 3 and len(shapes.get("R", ())) == 3:
        (ways, _, inputs), (_, _, units) = shapes["W"], shapes["R"]
        options: dict[str, Any] = {
            "bidirectional": ways == 2,
            "bias": "B" in shapes,
            "learned_state": "initial_h" in shapes,
        }
        if module.kind == "LSTM":
            options["peepholes"] = "P" in shapes
        if module.kind == "GRU" and module.settings.get("linear_before_reset") == [1]:
            options["reset_after"] = True
        activation, doubts = _activation(module)
        if _otherwise(module):
            doubts = (*doubts, Doubt.OTHERWISE)
        made: Any = kind(KINDS[module.kind])
        yield Guess(made(units=units, activation=activation, **options), inputs, doubts)
    elif module.kind == "Gather" and len(shapes.get("data", ())) == 2:
        words, width = shapes["data"]
        yield Guess(Embedding(width), words)
    elif module.kind in ("Gemm", "MatMul") and len(shapes.get("B", ())) == 2:
        inputs, units = shapes["B"]
        yield Guess(Dense(units, bias="C" in shapes), inputs, (Doubt.ACTIVATION,))


def _otherwise(module: Module) -> bool:
    """Return whether an operator computes what no layer of a spec does, in as many weights."""
    said = module.settings
    given = [str(word).lower() for word in words] if isinstance(words := said.get("activations"), list) else []
    size = {"RNN": 1, "GRU": 2, "LSTM": 3}[module.kind]
    ways = [given[start : start + size] for start in range(0, len(given), size)]
    usual = all(of[0] == "sigmoid" and len({*of[1:]}) == 1 for of in ways) if size > 1 else True
    coupled = said.get("input_forget", [0]) != [0]  # PyTorch's newer exporter says so too where it is not
    otherwise = coupled or said.get("clip") is not None or said.get("direction") == ["reverse"]
    return otherwise or not usual or len({*map(tuple, ways)}) > 1


def _activation(module: Module) -> tuple[str, tuple[Doubt, ...]]:
    """Return the activation of a cell: the one after those of its gates; by default tanh."""
    given = module.settings.get("activations")
    place = 0 if module.kind == "RNN" else 1
    if not isinstance(given, list):
        return "tanh", ()
    word = ACTIVATIONS.get(str(given[place]).lower() if len(given) > place else "")
    return (word, ()) if word else ("tanh", (Doubt.ACTIVATION,))
