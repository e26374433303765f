"""Networks that TensorFlow converts to TensorFlow Lite: the draft counts them, a run gives the interpreter's output."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from conformance.saved import called, external_params, hold, runs_to, spec_of

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]

LAYERS = keras.layers


def converted(path: Path, *layers: Any, steps: int = 10, optimised: bool = False) -> tuple[Any, np.ndarray[Any, Any]]:
    """Write a model of layers that reads batches of one, and return it with a sequence to read."""
    random = np.random.default_rng(0)
    tokens = isinstance(layers[0], LAYERS.Embedding)
    model = keras.Sequential([LAYERS.Input((steps,) if tokens else (steps, 8), batch_size=1), *layers])
    model.set_weights([random.uniform(-0.3, 0.3, weight.shape) for weight in model.get_weights()])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT] if optimised else []
    path.write_bytes(converter.convert())
    converter.optimizations, converter.target_spec.supported_types = [tf.lite.Optimize.DEFAULT], [tf.float16]
    path.with_name("half.tflite").write_bytes(converter.convert())
    flow = random.integers(9, size=steps) if tokens else random.standard_normal((steps, 8)).astype(np.float32)
    return model, flow


def interpreted(path: Path, flow: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what TensorFlow's interpreter computes."""
    interpreter = tf.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    (given,), (wanted,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.set_tensor(given["index"], flow[None].astype(given["dtype"]))
    interpreter.invoke()
    return np.asarray(interpreter.get_tensor(wanted["index"])[0])


@pytest.mark.parametrize("number", range(4))
def test_a_network(tmp_path: Path, number: int) -> None:
    """Its LSTMs are one operator each, with an array for each gate."""
    layers = [
        [LAYERS.LSTM(16)],
        [LAYERS.LSTM(128, return_sequences=True), LAYERS.LSTM(12), LAYERS.Dense(5, activation="relu")],
        [LAYERS.Embedding(20, 8), LAYERS.LSTM(16, return_sequences=True), LAYERS.Dense(4, activation="softmax")],
        [LAYERS.LSTM(16), LAYERS.Dense(12, activation="sigmoid"), LAYERS.Dense(2, activation="softmax")],
    ][number]
    path = tmp_path / "a.tflite"
    model, flow = converted(path, *layers)
    text = hold(path, model.count_params())
    assert external_params(path) == 0, text
    spec, theirs = spec_of(path), interpreted(path, flow)
    spec.write_text(f"{text}topology: {'many-to-many' if theirs.ndim == 2 else 'many-to-one'}\n")
    runs_to(spec, path, flow, theirs)
    half = path.with_name("half.tflite")  # in which the zeros of the states are stored
    text, spec = hold(half, model.count_params()), spec_of(half)
    assert ("dtype: float16" in text, "steps: 10\n" in text) == (True, True), text
    spec.write_text(f"{text}topology: {'many-to-many' if theirs.ndim == 2 else 'many-to-one'}\n")
    runs_to(spec, half, flow, interpreted(half, flow))


def test_what_is_clipped(tmp_path: Path) -> None:
    """The operator clips its cell state at 10, which no more than ten steps reach."""
    converted(tmp_path / "a.tflite", LAYERS.LSTM(16), steps=11)
    text = hold(tmp_path / "a.tflite", 1600)
    assert "(clip): a run differs" in text


@pytest.mark.parametrize("layer", [LAYERS.GRU(16), LAYERS.LSTM(16, use_bias=False)])
def test_what_is_a_loop(tmp_path: Path, layer: Any) -> None:
    """A GRU's steps are, and those of an LSTM without biases; their arrays are counted."""
    model, _ = converted(tmp_path / "a.tflite", layer, LAYERS.Dense(5))
    text = hold(tmp_path / "a.tflite", model.count_params())
    assert external_params(tmp_path / "a.tflite") == layer.count_params()
    assert "loop" in text


def test_quantised(tmp_path: Path) -> None:
    """Weights of one byte each are named, and no parameters of a type that is trained."""
    converted(tmp_path / "a.tflite", LAYERS.LSTM(128), LAYERS.Dense(128), optimised=True)
    code, text = called("read", tmp_path / "a.tflite")
    assert (code, "quantised" in text) == (0, True), text
