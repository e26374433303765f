"""Networks of Keras on TensorFlow that tf2onnx writes to ONNX: what is read, counted and run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
import tf2onnx
from conformance.saved import called, hold, runs_to, spec_of

from rnncalc.models.files import read

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]

LAYERS = keras.layers
TWO = LAYERS.Bidirectional


def exported(folder: Path, model: Any, *, trained: bool = True) -> Path:
    """Write a model whose weights are as training leaves them, no two arrays alike, or new ones."""
    random, path = np.random.default_rng(0), folder / "a.onnx"
    if trained:
        model.set_weights(
            [random.uniform(0.1, 0.4, weight.shape) - 0.2 * (weight.ndim > 1) for weight in model.get_weights()]
        )
    signature = [tf.TensorSpec((None, *model.input_shape[1:]), tf.float32)]
    tf2onnx.convert.from_function(tf.function(lambda x: model(x)), signature, opset=15, output_path=str(path))
    return path


def row(*layers: Any, steps: int = 10, inputs: int = 40) -> Any:
    return keras.Sequential([keras.Input((steps, inputs)), *layers])


def agrees(path: Path, model: Any) -> None:
    """Assert that a run of the draft gives what ONNX Runtime gives."""
    flow = np.random.default_rng(1).uniform(-1, 1, (1, *model.input_shape[1:])).astype(np.float32)
    session = onnxruntime.InferenceSession(str(path))
    theirs = session.run(None, {session.get_inputs()[0].name: flow})[0][0]
    topology = "many-to-many" if theirs.ndim == 2 else "many-to-one"
    runs_to(spec_of(path), path, flow[0], theirs, "--topology", topology)


@pytest.mark.parametrize(
    ("layers", "second", "words"),
    [
        ([LAYERS.LSTM(128, return_sequences=True), LAYERS.LSTM(64, return_sequences=True), LAYERS.Dense(5)], 768, []),
        ([TWO(LAYERS.LSTM(64, return_sequences=True)), TWO(LAYERS.LSTM(64)), LAYERS.Dense(5)], 1024, []),
        ([TWO(LAYERS.LSTM(64, return_sequences=True), merge_mode="sum"), LAYERS.Dense(5)], 512, ["merge: sum"]),
        ([TWO(LAYERS.LSTM(64, return_sequences=True), merge_mode="mul"), LAYERS.Dense(5)], 512, ["merge: mul"]),
        ([TWO(LAYERS.LSTM(64), merge_mode="ave"), LAYERS.Dense(5, "tanh")], 512, ["merge: ave", "activation: tanh"]),
        ([LAYERS.Conv1D(32, 5, padding="causal", activation="relu"), LAYERS.LSTM(64)], 256, ["padding: causal"]),
        ([LAYERS.Conv1D(32, 5, padding="same"), LAYERS.BatchNormalization(), LAYERS.LSTM(64)], 256, ["batch_norm"]),
    ],
)
def test_a_row_of_layers(tmp_path: Path, layers: Sequence[Any], second: int, words: Sequence[str]) -> None:
    """What is trained and the second biases of an operator are counted, and a run agrees."""
    model = row(*layers)
    path = exported(tmp_path, model)
    text = hold(path, sum(int(np.prod(weight.shape)) for weight in model.trainable_weights) + second)
    assert "external" not in text
    assert all(word in text for word in words)
    agrees(path, model)


def test_a_layer_norm_is_external(tmp_path: Path) -> None:
    """It is several operators: counted, and not run; its epsilon is none of ONNX's default anyway."""
    model = row(LAYERS.LayerNormalization(), LAYERS.LSTM(64))
    path = exported(tmp_path, model)
    assert "external" in hold(path, model.count_params() + 256)
    assert called("run", spec_of(path), "--weights", path, "--steps", 10)[0] == 2


def test_new_layers_share_their_biases(tmp_path: Path) -> None:
    """They are equal, and the dense layer's are zeros: the file has neither twice, and the draft has both."""
    model = row(LAYERS.LSTM(64, return_sequences=True), LAYERS.LSTM(64, return_sequences=True), LAYERS.Dense(5))
    path = exported(tmp_path, model, trained=False)
    text = hold(path, model.count_params() + 2 * 256)
    assert read(str(path)).params == model.count_params() - 5  # one B has as many numbers as both biases of Keras
    assert "60,224 numbers for the 60,741 parameters" in text
    agrees(path, model)


@pytest.mark.parametrize("bias", [False, True])
def test_a_bias_of_zeros_may_be_none(tmp_path: Path, bias: bool) -> None:
    """The operator has one without Keras's, and a spec with it or without passes."""
    model = row(LAYERS.LSTM(64, use_bias=False, return_sequences=True), LAYERS.Dense(5, use_bias=False))
    path = exported(tmp_path, model)
    assert "use_bias=False" in called("read", path)[1]
    spec = spec_of(path)
    has = str(bias).lower()
    spec.write_text(
        f"convention: onnx\ninput: 40\nlayers: [{{lstm: 64, bias: {has}}}]\noutput: {{units: 5, bias: {has}}}\n"
    )
    code, said = called("check", spec, "--model", path)
    assert (code, "use_bias=False" in said, "no bias is stored" in said.lower()) == (0, not bias, bias), said
    agrees(path, model)


@pytest.mark.parametrize("layer", [LAYERS.GRU, LAYERS.SimpleRNN])
def test_a_loop_is_counted(tmp_path: Path, layer: Any) -> None:
    """With the weights that it reads, which are outside of it, in both directions."""
    model = row(TWO(layer(64, return_sequences=True)), LAYERS.Dense(5))
    text = hold(exported(tmp_path, model), model.count_params())
    assert "weights of loops are counted" in text


def test_attention_is_dense_layers_that_are_not_run(tmp_path: Path) -> None:
    """Its biases have an axis for heads."""
    flow = keras.Input((10, 64))
    attention = LAYERS.MultiHeadAttention(4, 16)(flow, flow)
    model = keras.Model(flow, LAYERS.Dense(5)(LAYERS.LSTM(64, return_sequences=True)(attention)))
    path = exported(tmp_path, model)
    text = hold(path, model.count_params() + 256)
    assert "external" not in text
    assert text.count("bias: false") == 0
    assert called("run", spec_of(path), "--weights", path, "--steps", 10)[0] == 2
