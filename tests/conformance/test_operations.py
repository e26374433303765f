"""The multiply-adds of `count --operations` against what PyTorch counts of its own modules.

PyTorch counts matrix products. On the CPU it takes a recurrent layer as one operation of oneDNN, which it counts as
nothing; without oneDNN the layer is made of matrix products.
"""

import warnings

import pytest
import torch
from conformance import with_torch
from conformance.drawing import networks
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from rnncalc import Embedding, Network
from rnncalc.layers.cell import Cell
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.shapes import ModuleShapes, shapes

pytestmark = pytest.mark.conformance

EXAMPLES = 40
"""Random networks, each of up to a dozen layers."""


def counted(of: ModuleShapes) -> int:
    """Return the multiply-adds that PyTorch counts of a module for an input of the shape that it reads."""
    layer = of.places[0].layer
    inner = layer.replace(merge=None) if isinstance(layer, Cell) else layer
    made = with_torch.module(inner, of.places[0].inputs, layers=len(of.places)).eval()
    if isinstance(layer, Cell):
        made.batch_first = True
    x = torch.zeros(tuple(of.input.values()), dtype=torch.int64 if isinstance(layer, Embedding) else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on what oneDNN could do elsewhere
        with torch.backends.mkldnn.flags(enabled=False), torch.no_grad(), FlopCounterMode(display=False) as counter:
            made(x)
    flops = counter.get_total_flops()
    assert flops % 2 == 0
    return int(flops) // 2


@given(data=st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_matrix_products_are_those_that_pytorch_counts(data: st.DataObject) -> None:
    """Of every module, directions, stacks and projections among them, over a batch."""
    network: Network = data.draw(networks("pytorch"))
    batch = data.draw(st.integers(1, 4))
    layers = dict(zip([placed.name for placed in network.stack], pass_operations(network, batch).layers, strict=True))
    for of in shapes(network, batch).modules:
        ours = [layers[placed.name] for placed in of.places]
        assert sum(each.multiply_adds for each in ours if each) == counted(of), of
