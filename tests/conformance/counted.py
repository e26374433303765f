"""Random networks that counters count, the exported programs of them, and what rnncalc says that a counter prints."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from rnncalc import GRU, LSTM, RNN, Dense, Embedding, Network
from rnncalc.layers.layer import Dropout, Layer
from rnncalc.programs import source
from rnncalc.questions.counters import counters

SIZES = st.integers(1, 9)

Counted = Callable[[Any, Any], int]
"""What a counter prints for a model and its input."""


@st.composite
def stacks(draw: st.DrawFn, framework: str) -> Network:
    """Draw a network with all that rules know, and some activations that most do not."""
    layers: list[Layer] = [Embedding(draw(SIZES))] if draw(st.integers(0, 4)) == 0 else []
    for kind in draw(st.lists(st.sampled_from([RNN, GRU, LSTM]), max_size=3)):
        options: dict[str, Any] = {"bidirectional": draw(st.booleans()), "repeat": draw(st.integers(1, 2))}
        options["bias"] = framework == "flax-linen" or draw(st.booleans())
        if kind is LSTM and framework == "pytorch" and draw(st.booleans()):
            options["projection"] = draw(st.integers(1, 3))
        if kind is RNN and framework == "pytorch":
            options["activation"] = draw(st.sampled_from(["tanh", "relu"]))
        layers.append(kind(draw(st.integers(4, 9)), **options))
        layers += [Dropout(0.5)] if draw(st.integers(0, 3)) == 0 else []
    last = draw(st.booleans()) and any(isinstance(layer, RNN | GRU | LSTM) for layer in layers)
    activation = draw(st.sampled_from(["linear", "linear", "linear", "relu", "softmax"]))
    output = Dense(draw(SIZES), bias=draw(st.booleans()), activation=activation)
    alone = draw(st.booleans())
    return Network(
        input=draw(st.integers(2, 9)),
        layers=layers if layers and alone else [*layers, output],
        steps=draw(st.integers(1, 9)),
        topology="many-to-one" if last else "many-to-many",
        convention=framework,
    )


def model_of(network: Network) -> Any:
    """Return the model that the exported program makes."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source(network, network.convention), "exported", "exec"), namespace)
    *_, of = (each for each in namespace.values() if isinstance(each, type))
    return of()


def shape_of(network: Network, batch: int) -> tuple[int, ...]:
    """Return the shape of a batch of inputs: of features, or of token numbers."""
    assert network.steps
    assert network.input
    tokens = isinstance(network.layers[0], Embedding)
    return (batch, network.steps) if tokens else (batch, network.steps, network.input)


def hold(printed: Mapping[tuple[str, ...], Counted], network: Network, batch: int, model: Any, inputs: Any) -> None:
    """Assert that each counter prints what rnncalc says, if that is known."""
    said: dict[tuple[str, ...], Any] = {}
    for each in counters(network, batch).printed:  # by its quantity too, if it has several
        said[each.name, each.version] = said[each.name, each.version, each.quantity] = each
    for counter, count in printed.items():
        if said[counter].value is not None:
            assert count(model, inputs) == said[counter].value, (counter, network, batch)


def hold_of_pytorch(printed: Mapping[tuple[str, ...], Counted], network: Network, batch: int) -> None:
    """Assert it of counters of PyTorch, each of a new model: some leave hooks in it."""
    import torch

    shape = shape_of(network, batch)
    x = torch.zeros(shape, dtype=torch.int64 if len(shape) < 3 else None)
    for counter, count in printed.items():
        hold({counter: count}, network, batch, model_of(network).eval(), x)


def of_onnx_tool(model: Any, x: Any) -> int:
    """Return what onnx-tool prints for a PyTorch model, whichever version is installed."""
    import onnx_tool  # here, as torch: other users of this module have neither
    import torch

    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "a.onnx")
        torch.onnx.export(model, (x,), path, dynamo=False, opset_version=17)
        read = onnx_tool.Model(path)
    read.graph.graph_reorder_nodes()
    read.graph.shape_infer(None)
    read.graph.profile()
    return int(read.graph.macs[0])
