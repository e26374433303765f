"""Networks saved by TensorFlow's own Keras, which is Keras 2 and writes `.keras` since 2.12, read and run."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tf_keras as keras
from conformance.saved import hold, keep_promises

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]

LAYERS = keras.layers
NAMES = ("a.keras", "b.h5")


def kept(model: Any, folder: Path, *, fit: bool = False) -> dict[str, tuple[str, bool]]:
    """Return the spec of each file of a model, and whether it was run: then it agrees with the model."""
    random = np.random.default_rng(0)
    if fit:
        model.compile("adam", "mse", metrics=["mae"])
        model.fit(np.zeros((2, *model.input_shape[1:])), np.zeros((2, *model.output_shape[1:])), verbose=0)
    model.set_weights([random.uniform(0.01, 0.2, weight.shape) for weight in model.get_weights()])
    shape = tuple(size or 5 for size in model.input_shape[1:])
    tokens = isinstance(model.layers[0], LAYERS.Embedding) or isinstance(model.layers[1], LAYERS.Embedding)
    flow = random.integers(9, size=shape) if tokens else random.uniform(-1, 1, shape).astype(np.float32)
    trainable = sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
    files = {}
    for name in NAMES:
        model.save(folder / name)
        files[name] = keep_promises(
            folder / name, model.count_params(), trainable, flow, lambda: model(flow[None], training=False).numpy()
        )
    model.save_weights(folder / "c.weights.h5")
    hold(folder / "c.weights.h5", model.count_params())
    return files


def heads(text: str) -> list[str]:
    """Return the kinds of the layers of a draft, and `output`."""
    return [line.split(":")[0].strip(" -") for line in text.splitlines() if line.startswith(("  - ", "output"))]


def test_a_row_of_layers(tmp_path: Path) -> None:
    """Its order and activations are in the file; what a trained model has of its metrics is no parameter."""
    layers = [
        LAYERS.Input((40, 24)),
        LAYERS.Conv1D(96, 5, activation="relu"),
        LAYERS.BatchNormalization(),
        LAYERS.MaxPooling1D(2),
        LAYERS.LSTM(128, return_sequences=True, activation="relu"),
        LAYERS.Dropout(0.2),
        LAYERS.Bidirectional(LAYERS.GRU(64), merge_mode="sum"),
        LAYERS.Dense(96, activation="sigmoid"),
        LAYERS.Dense(10, activation="softmax"),
    ]
    files = kept(keras.Sequential(layers), tmp_path, fit=True)
    kinds = ["conv1d", "batch_norm", "pool1d", "lstm", "dropout", "gru", "dense", "output"]
    for name in NAMES:
        text, ran = files[name]
        assert (heads(text), text.count("activation: relu"), ran) == (kinds, 2, True), text


def test_wrapped_and_nested_layers(tmp_path: Path) -> None:
    """A TimeDistributed has the activation of its layer, and what has no weights stays; so in models within models."""
    x = keras.Input((40, 24))
    inner = keras.Sequential(
        [LAYERS.LSTM(64, return_sequences=True), keras.Sequential([LAYERS.GRU(48), LAYERS.Dense(32)])]
    )
    steps = LAYERS.TimeDistributed(LAYERS.Dense(50, activation="relu"))(LAYERS.LSTM(128, return_sequences=True)(x))
    again = LAYERS.LSTM(32, return_sequences=True)(LAYERS.RepeatVector(7)(LAYERS.LSTM(64)(x)))
    outputs = {
        "lstm dense pool1d last output": LAYERS.GlobalMaxPooling1D()(steps),
        "lstm last repeat_vector lstm dropout output": LAYERS.Dropout(0.5)(again),
        "lstm gru dense output": inner(x),
    }
    for kinds, y in outputs.items():
        files = kept(keras.Model(x, LAYERS.Dense(10)(y)), tmp_path)
        for name in NAMES:
            assert (heads(files[name][0]), files[name][1]) == (kinds.split(), True), files[name][0]


def test_words(tmp_path: Path) -> None:
    """A table, cells in a list, and norms."""
    cells = [LAYERS.LSTMCell(64), LAYERS.GRUCell(48, recurrent_activation="hard_sigmoid")]
    layers = [LAYERS.Input((None,)), LAYERS.Embedding(1000, 64), LAYERS.RNN(cells), LAYERS.LayerNormalization()]
    files = kept(keras.Sequential([*layers, LAYERS.Dense(5)]), tmp_path)
    for name in NAMES:
        text, ran = files[name]
        assert (heads(text), ran) == (["embedding", "lstm", "gru", "layer_norm", "output"], True), text
        assert "recurrent_activation: hard_sigmoid_0.2\n" in text


@pytest.mark.parametrize("kind", ["CuDNNLSTM", "CuDNNGRU"])
def test_layers_for_cudnn(tmp_path: Path, kind: str) -> None:
    """Have two biases for each gate, as no other layer of Keras has; they are known by their class."""
    made = getattr(import_module(f"tf_keras.src.layers.rnn.{kind.lower().replace('dnn', 'dnn_')}"), kind)
    x = keras.Input((20, 24))
    model = keras.Model(x, LAYERS.Dense(3)(made(64)(x)))
    gates = {"CuDNNLSTM": 4, "CuDNNGRU": 3}[kind]
    model.save(tmp_path / "b.h5")
    text = hold(tmp_path / "b.h5", gates * 64 * (24 + 64 + 2) + 3 * 65)
    assert (heads(text), "for cuDNN, with two biases for each gate" in text) == (["external", "output"], True), text
