"""What counters print is what `count --counters` says: the real ones, on random networks and batches."""

from typing import Any

import jax
import pytest
import torch
import torchinfo
from conformance.counted import Counted, hold, hold_of_pytorch, model_of, of_onnx_tool, shape_of, stacks
from flax.linen import summary
from hypothesis import given, settings
from hypothesis import strategies as st
from ptflops import get_model_complexity_info
from thop import profile
from torch.utils.flop_counter import FlopCounterMode
from torchprofile import profile_macs

from rnncalc import Network

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

BATCHES = st.integers(1, 3)


def of_ptflops(backend: str) -> Counted:
    options: Any = {"as_strings": False, "print_per_layer_stat": False, "verbose": False, "backend": backend}
    return lambda model, x: get_model_complexity_info(model, (1,), input_constructor=lambda _: {"x": x}, **options)[0]


def of_flop_counter(model: Any, x: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        model(x)
    return int(counter.get_total_flops())


def of_fvcore(model: Any, x: Any) -> int:
    from fvcore.nn import FlopCountAnalysis  # which warns as it is imported

    counter = FlopCountAnalysis(model, x)
    return int(counter.unsupported_ops_warnings(False).uncalled_modules_warnings(False).total())


def of_profiler(model: Any, x: Any) -> int:
    with torch.profiler.profile(with_flops=True) as profiled:
        model(x)
    return sum(event.flops for event in profiled.key_averages())


OF_PYTORCH: dict[tuple[str, ...], Counted] = {
    ("torchinfo", "1.8.0"): lambda model, x: torchinfo.summary(model, input_data=x, verbose=0).total_mult_adds,
    ("ultralytics-thop", "2.2.3"): lambda model, x: int(profile(model, (x,), verbose=False)[0]),
    ("ptflops", "0.7.5"): of_ptflops("pytorch"),
    ("ptflops (aten)", "0.7.5"): of_ptflops("aten"),
    ("fvcore", "0.1.5"): of_fvcore,
    ("torchprofile", "0.1.0"): profile_macs,
    ("FlopCounterMode", "2.13.0"): of_flop_counter,
    ("torch.profiler", "2.13.0"): of_profiler,
    ("onnx-tool", "1.0.1"): of_onnx_tool,
}


@given(stacks("pytorch"), BATCHES)
@settings(max_examples=40, deadline=None)
def test_counters_of_pytorch(network: Network, batch: int) -> None:
    hold_of_pytorch(OF_PYTORCH, network, batch)


def of_tabulate(model: Any, x: Any) -> int:
    table = summary._get_module_table(model, depth=0, show_repeated=False, compute_flops=True, compute_vjp_flops=False)
    return int(table({"params": jax.random.key(0)}, x)[0].flops)


def of_xla(model: Any, x: Any) -> int:
    variables = jax.eval_shape(model.init, jax.random.key(0), x)
    return int(jax.jit(model.apply).lower(variables, x).cost_analysis()["flops"])


@given(stacks("flax-linen"), BATCHES)
@settings(max_examples=12, deadline=None)
def test_counters_of_flax(network: Network, batch: int) -> None:
    shape = shape_of(network, batch)
    x = jax.numpy.zeros(shape, "int32" if len(shape) < 3 else "float32")
    of_flax: dict[tuple[str, ...], Counted] = {
        ("Flax tabulate", "0.12.8"): of_tabulate,
        ("XLA cost_analysis", "0.10.2"): of_xla,
    }
    hold(of_flax, network, batch, model_of(network), x)


class OfLSTM(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """A module that calls its input x, as ptflops is told to here."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 16, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.lstm(x)


def test_what_the_page_says_beside_the_table() -> None:
    """docs/counters.md: an LSTM in float64, which oneDNN does not run, and attention."""
    assert of_flop_counter(torch.nn.LSTM(8, 16).double(), torch.zeros(10, 1, 8, dtype=torch.float64)) == 30_720
    layer, words = torch.nn.MultiheadAttention(512, 8, batch_first=True), torch.zeros(1, 10, 512)
    assert profile(layer, (words, words, words), verbose=False)[0] == 10_590_480
    assert torchinfo.summary(layer, input_data=(words, words, words), verbose=0).total_mult_adds == 0
    single, batched = torch.zeros(10, 8), torch.zeros(1, 10, 8)
    for counter, times in (("torchinfo", 16), ("ptflops", 8), ("ultralytics-thop", 1), ("torchprofile", 1)):
        (count,) = (each for (name, *_), each in OF_PYTORCH.items() if name == counter)
        lstm = OfLSTM()
        assert count(lstm, single) == times * count(lstm, batched), counter
    lstm, gru, cell = torch.nn.LSTM(8, 16), torch.nn.GRU(8, 16), torch.nn.LSTMCell(8, 16)
    for module, name, params, twice in (
        (lstm, "weight_hh_l0", 1_664 + 64, 1_024 + 64),
        (gru, "weight_hh_l0", 1_248 + 48, 768 + 48),
        (cell, "weight_hh", 1_664 + 64, 0),
    ):
        weighted: Any = torch.nn.utils.parametrizations.weight_norm(module, name)
        x = torch.zeros(1, 8) if module is cell else batched
        assert torchinfo.summary(weighted, input_data=x, verbose=0).total_params == params
        assert torchinfo.summary(weighted, tuple(x.shape), verbose=0).total_params == params + twice
