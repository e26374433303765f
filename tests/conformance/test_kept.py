"""What PyTorch keeps for a backward pass, in bytes, is what `count --training` says: on random networks."""

from typing import Any

import pytest
import torch
from conformance import with_torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import GRU, LSTM, RNN, Dense, Embedding, Network, training
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dropout, Layer
from rnncalc.questions.kept import kept

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning"),
]

UNITS = st.one_of(st.integers(1, 40), st.sampled_from([63, 64, 65, 128, 256]))


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Draw a stack of recurrent layers, with an embedding, dropout and dense layers around them."""
    layers: list[Layer] = [Embedding(draw(UNITS))] if draw(st.integers(0, 5)) == 0 else []
    for kind in draw(st.lists(st.sampled_from([LSTM, LSTM, GRU, RNN]), min_size=1, max_size=3)):
        options: dict[str, Any] = {"bidirectional": draw(st.booleans()), "repeat": draw(st.sampled_from([1, 1, 2]))}
        units = draw(UNITS)
        if kind is LSTM and units > 1 and draw(st.integers(0, 4)) == 0:
            options["projection"] = draw(st.integers(1, units - 1))
        if kind is RNN:
            options["activation"] = draw(st.sampled_from(["tanh", "relu"]))
        layers += [Dropout(0.5)] if draw(st.integers(0, 4)) == 0 else []
        layers.append(kind(units, bias=draw(st.booleans()), **options))
    layers += [Dropout(0.5)] if draw(st.integers(0, 4)) == 0 else []
    return Network(
        input=draw(UNITS),
        layers=[*layers, *([Dense(5, bias=draw(st.booleans()))] if draw(st.booleans()) else [])],
        steps=draw(st.integers(1, 30)),
        topology=draw(st.sampled_from(["many-to-one", "many-to-many"])),
        convention="pytorch",
    )


def bytes_kept(network: Network, batch: int, dtype: torch.dtype) -> int:
    """Return the bytes of the storages that autograd saves, parameters left out; the steps are before the batch."""
    firsts = [placed for placed in network.stack if not placed.copy]
    made = [with_torch.module(placed.layer, placed.inputs, layers=placed.layer.repeat).to(dtype) for placed in firsts]
    own = {parameter.untyped_storage().data_ptr() for module in made for parameter in module.parameters()}
    storages: dict[int, Any] = {}  # held, so that none is freed and its place taken again

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    if isinstance(network.layers[0], Embedding):
        flow = torch.zeros(network.steps, batch, dtype=torch.int64)
    else:
        flow = torch.randn(network.steps, batch, network.input, dtype=dtype)
    last = [placed for placed in firsts if isinstance(placed.layer, Cell)][-1]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        for placed, module in zip(firsts, made, strict=True):
            flow = module(flow)
            flow = flow[0] if isinstance(placed.layer, Cell) else flow
            if placed is last and network.topology == "many-to-one":
                half = flow.shape[-1] // 2
                both = torch.cat([flow[-1, :, :half], flow[0, :, half:]], -1) if placed.layer.directions > 1 else None
                flow = flow[-1] if both is None else both
    return sum(storage.nbytes() for storage in storages.values())


@settings(max_examples=200, deadline=None)
@given(networks(), st.integers(1, 6), st.sampled_from(["float32", "float32", "float64"]))
def test_bytes_are_what_autograd_saves(network: Network, batch: int, dtype: str) -> None:
    keeps = kept(training(network, batch=batch, dtype=dtype))
    assert keeps is not None
    assert keeps.bytes == bytes_kept(network, batch, getattr(torch, dtype)), (network, batch, dtype)
