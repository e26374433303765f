"""Random networks with layers around the cells: convolutions, normalisation, sequences that end and begin again."""

from collections.abc import Iterator
from random import Random
from typing import Any

from rnncalc.errors import SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.layer import Layer, Transform
from rnncalc.network.network import Network

AROUND = tuple(name for name in KINDS if issubclass(kind(name), Transform))
CELLS = ("rnn", "gru", "lstm")


def networks(seed: int, number: int, convention: str) -> Iterator[Network]:
    """Yield so many networks under a convention, each with a layer around the cells."""
    random = Random(f"{seed} {convention}")
    while number:
        layers = [_layer(random, convention) for _ in range(random.randint(1, 5))]
        if random.random() < 0.15:
            positions = random.choice([None, 7, 9])
            layers.insert(0, kind("embedding")(units=random.randint(1, 4), positions=positions))  # type: ignore[call-arg]
        if not any(isinstance(layer, Transform) for layer in layers):
            continue
        try:
            network = Network(
                input=random.randint(1, 4),
                layers=layers,
                output=random.choice([None, 1, 2]),
                steps=random.randint(1, 7),
                topology=random.choice(["many-to-one", "many-to-one", "many-to-many", "one-to-many"]),
                convention=convention,
            )
        except SpecError:  # most often a sequence has ended, or has too few steps
            continue
        number -= 1
        yield network


def _layer(random: Random, convention: str) -> Layer:
    name = random.choice([*AROUND, *AROUND, *CELLS, "dense", "dropout"])
    given: dict[str, Any] = {"frozen": random.random() < 0.15}

    def sometimes(option: str, *values: Any) -> None:
        given[option] = random.choice(values)

    if name == "conv1d":
        sometimes("groups", 1, 1, 2)
        given |= {"filters": given["groups"] * random.randint(1, 3), "kernel": random.randint(1, 3)}
        sometimes("stride", 1, 1, 2, 3)
        sometimes("dilation", 1, 1, 2)
        sometimes("padding", "valid", "same", "causal")
        sometimes("bias", True, True, False)
        sometimes("activation", "linear", "tanh", "relu", "gelu", "sigmoid")
    elif name == "pool1d":
        given["window"] = random.randint(1, 3)
        sometimes("stride", None, None, 1, 2, 3)
        sometimes("mode", "max", "average")
        given["padding"] = "same" if convention != "pytorch" and given["stride"] in (1, 3) else "valid"
    elif name == "attention":
        sometimes("score", "additive", "additive", "linear", "steps")
        if given.get("score", "additive") == "additive":
            given["units"] = random.randint(1, 3)
            sometimes("score_bias", False, False, True)
        of_steps = given.get("score") == "linear"
        sometimes("bias", True, True, False, *["steps"] * of_steps)
    elif name == "multi_head_attention":
        given["heads"] = random.randint(1, 3)
        sometimes("key_size", None, *([] if convention == "pytorch" else [1, 2, 3]))
        sometimes("value_size", None, *([1, 2, 3] if convention in ("textbook", "keras") else []))
        sometimes("bias", True, True, False)
        sometimes("causal", False, True)
    elif name == "transformer":
        given |= {"heads": random.randint(1, 2), "feed_forward": random.randint(1, 4)}
        sometimes("norm", "last", "first")
        sometimes("bias", True, True, False)
        sometimes("activation", "relu", "gelu")
        sometimes("causal", False, True)
    elif name == "layer_norm":
        sometimes("bias", True, True, False)
        sometimes("activation", "linear", "linear", "relu", "gelu")
    elif name == "batch_norm":
        sometimes("scale", True, True, False)
        sometimes("center", True, True, False)
        sometimes("activation", "linear", "linear", "relu", "tanh")
    elif name == "repeat_vector":
        given["times"] = random.randint(1, 4)
    elif name in CELLS:
        given["units"] = random.randint(1, 3)
        sometimes("bidirectional", False, False, True)
        if given["bidirectional"] and convention != "onnx":
            sometimes("merge", "concat", "sum", "mul", "ave")
    elif name == "dense":
        given["units"] = random.randint(1, 4)
        sometimes("activation", "linear", "tanh")
    elif name == "dropout":
        given["rate"] = 0.5
    return kind(name)(**given)
