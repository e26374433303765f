"""What the larger counters print is what `count --counters` says: the real ones, on random networks and batches."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from typing import Any

import lightning
import numpy as np
import pytest
import tensorflow as tf
from conformance.counted import Counted, hold, hold_of_pytorch, model_of, of_onnx_tool, shape_of, stacks
from deepspeed.profiling.flops_profiler import get_model_profile
from hypothesis import given, settings
from hypothesis import strategies as st
from lightning.pytorch.utilities.model_summary import ModelSummary
from tensorflow.compat.v1.profiler import ProfileOptionBuilder
from tensorflow.compat.v1.profiler import profile as profile_graph
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from rnncalc import Network

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]

BATCHES = st.integers(1, 3)


def of_thop(model: Any, x: Any) -> int:
    from thop import profile  # which warns as it is imported

    return int(profile(model, (x,), verbose=False)[0])


def of_calflops(place: int) -> Counted:
    """Return one of the two numbers of calflops, which imports transformers and does not name it as needed."""

    def count(model: Any, x: Any) -> int:
        if "transformers" not in sys.modules:
            sys.modules["transformers"] = stand_in = module_from_spec(ModuleSpec("transformers", None))
            vars(stand_in)["AutoTokenizer"] = None
        from calflops import calculate_flops

        options = {"print_results": False, "print_detailed": False, "output_as_string": False}
        return int(calculate_flops(model, args=[x], **options)[place])

    return count


def of_deepspeed(place: int) -> Counted:
    options = {"print_profile": False, "detailed": False, "as_string": False, "warm_up": 0}
    return lambda model, x: int(get_model_profile(model, args=[x], **options)[place])


def of_lightning(model: Any, x: Any) -> int:
    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model, self.example_input_array = model, x

        def forward(self, x: Any) -> Any:
            return self.model(x)

    return int(ModelSummary(Module()).total_flops)


OF_PYTORCH: dict[tuple[str, ...], Counted] = {
    ("THOP", "0.1.1"): of_thop,
    ("DeepSpeed", "0.19.8", "FLOPs"): of_deepspeed(0),
    ("DeepSpeed", "0.19.8", "MACs"): of_deepspeed(1),
    ("calflops", "0.3.2", "FLOPs"): of_calflops(0),
    ("calflops", "0.3.2", "MACs"): of_calflops(1),
    ("Lightning", "2.6.6"): of_lightning,
    ("onnx-tool", "0.8.0"): of_onnx_tool,
}


@given(stacks("pytorch"), BATCHES)
@settings(max_examples=100, deadline=None)
def test_counters_of_pytorch(network: Network, batch: int) -> None:
    with redirect_stdout(io.StringIO()):  # DeepSpeed's notes
        hold_of_pytorch(OF_PYTORCH, network, batch)


def of_tensorflow(*, frozen: bool) -> Counted:
    def count(model: Any, x: Any) -> int:
        function = tf.function(model).get_concrete_function(tf.TensorSpec(x.shape, x.dtype))
        graph = (convert_variables_to_constants_v2(function) if frozen else function).graph
        options = ProfileOptionBuilder.float_operation()
        options["output"] = "none"
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return int(
                profile_graph(
                    graph=graph, run_meta=tf.compat.v1.RunMetadata(), cmd="op", options=options
                ).total_float_ops
            )

    return count


@given(stacks("keras"), BATCHES)
@settings(max_examples=30, deadline=None)
def test_counters_of_keras(network: Network, batch: int) -> None:
    shape = shape_of(network, batch)
    x = np.zeros(shape, "int32" if len(shape) < 3 else "float32")
    model = model_of(network)
    model(x)
    of_keras: dict[tuple[str, ...], Counted] = {
        ("TensorFlow profiler", "2.20.0"): of_tensorflow(frozen=False),
        ("TensorFlow, frozen", "2.20.0"): of_tensorflow(frozen=True),
    }
    hold(of_keras, network, batch, model, x)
