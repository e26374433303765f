"""Networks saved by Keras: `read`'s spec counts the same, `check` holds it, `run` gives the same numbers."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import jax
import keras
import numpy as np
import pytest
from conformance import with_keras
from conformance.drawing import networks
from conformance.saved import called, flow_of, hold, keep_promises, refused, runs_to, spec_of, written
from conformance.spread import held_by_all, in_parts
from hypothesis import strategies as st

from rnncalc import Network
from rnncalc.models.files import read
from rnncalc.models.files.model import TensorRole

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]


class Drawn(NamedTuple):
    """A network, and a number that the tensor to change is drawn from."""

    network: Network
    number: int


def has_names(network: Any) -> bool:
    """Return whether Keras 3 has names for the functions of all gates; it saves another's own name as its own."""
    gates = [getattr(placed.layer, "recurrent_activation", None) for placed in network.stack]
    return "hard_sigmoid_0.2" not in gates


DRAWN = st.builds(Drawn, networks("keras", running=True).filter(has_names), st.integers(0, 10**6))


@in_parts
def test_any_network(tmp_path_factory: pytest.TempPathFactory, part: int) -> None:
    """As .keras, .weights.h5 and the HDF5 of Keras 2, each also with one tensor changed; .keras with all settings."""
    held_by_all(part, DRAWN, lambda drawn: saved_and_read(drawn, tmp_path_factory.mktemp("keras")))


def saved_and_read(drawn: Drawn, folder: Path) -> None:
    """Hold a network in every format that Keras writes."""
    network, number = drawn
    flow = flow_of(network)
    paths = [folder / name for name in ("a.keras", "b.weights.h5", "c.h5")]
    with jax.enable_x64(False):
        model = with_keras.stack(network)
        model.save(paths[0])
        model.save_weights(paths[1])
        model.save(paths[2])
        states = [[each.value for each in of] for of in (model.trainable_variables, model.non_trainable_variables)]
        theirs = jax.jit(lambda x: model.stateless_call(*states, x)[0])(flow[None])
    for path in paths:
        hold(path, network.params)
        changed = path.with_name(f"changed-{path.name}")
        refused(spec_of(path), changed, *copied(path, changed, number))
    own = folder / "own.yaml"
    own.write_text(written(network))
    code, said = called("check", own, "--model", paths[0])
    assert code == 0, said
    if "external: 0" not in spec_of(paths[0]).read_text():
        runs_to(spec_of(paths[0]), paths[0], flow, np.asarray(theirs)[0], within=1e-3)


def copied(path: Path, to: Path, number: int) -> tuple[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Copy a file with one tensor in another shape, zeros; return its name and both shapes."""
    parameters = [tensor for tensor in read(str(path)).tensors if tensor.is_parameter]
    name, shape, *_ = parameters[number % len(parameters)]
    longer = shape[0] + 1, *shape[1:]
    if path.suffix != ".keras":
        to.write_bytes(with_array(path.read_bytes(), name, longer))
        return name, (shape, longer)
    with zipfile.ZipFile(path) as ours, zipfile.ZipFile(to, "w") as theirs:
        for part in ours.namelist():
            data = ours.read(part)
            theirs.writestr(part, with_array(data, name, longer) if part.endswith(".h5") else data)
    return name, (shape, longer)


def with_array(data: bytes, name: str, shape: tuple[int, ...]) -> bytes:
    """Return an HDF5 file with one array in its place that has another shape."""
    held = io.BytesIO(data)
    with h5py.File(held, "r+") as file:
        del file[name]
        file.create_dataset(name, data=np.zeros(shape, np.float32))
    return held.getvalue()


def test_frozen_layers_and_optimizers(tmp_path: Path) -> None:
    """`trainable: false` is frozen, so are moving averages, and an optimizer's states are as many again."""
    layers = [keras.Input((5, 3)), keras.layers.LSTM(2), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    model.fit(np.zeros((2, 5, 3)), np.zeros((2, 1)), verbose=0)
    model.save(tmp_path / "a.keras")
    text = hold(tmp_path / "a.keras", 4 * 2 * (3 + 2 + 1) + 8 + 3)
    assert "frozen: true" in text
    frozen = [tensor.name for tensor in read(str(tmp_path / "a.keras")).tensors if tensor.frozen]
    assert sum("batch_normalization" in name for name in frozen) == 2
    roles = [tensor.role for tensor in read(str(tmp_path / "a.keras")).tensors]
    assert roles.count(TensorRole.OPTIMIZER) >= 4


def test_wrapped_and_nested_layers(tmp_path: Path) -> None:
    """In the order of the configuration, wherever they are in it."""
    dense = keras.layers.TimeDistributed(keras.layers.Dense(4, activation="relu"))
    inner: Any = keras.Sequential([keras.layers.GRU(3, recurrent_activation="hard_sigmoid"), keras.layers.Dense(2)])
    model = keras.Sequential([keras.Input((5, 3)), dense, inner])
    model.save(tmp_path / "a.keras")
    text = hold(tmp_path / "a.keras", 4 * (3 + 1) + 3 * 3 * (4 + 3 + 2) + 2 * (3 + 1))
    assert heads(text) == ["dense", "gru", "output"]
    assert "recurrent_activation: hard_sigmoid\n" in text


@keras.saving.register_keras_serializable("mine")
class LinearCell(keras.layers.Layer):  # type: ignore[misc]
    """A cell that adds two products, under the names that Keras's own have."""

    state_size = output_size = 64

    def build(self, shape: Any) -> None:
        """Make both matrices."""
        self.kernel = self.add_weight(shape=(shape[-1], 64), name="kernel")
        self.recurrent_kernel = self.add_weight(shape=(64, 64), name="recurrent_kernel")

    def call(self, x: Any, states: Any, training: bool = False) -> Any:
        """Return the output, and the state after it."""
        del training
        h = x @ self.kernel + states[0] @ self.recurrent_kernel
        return h, [h]


@keras.saving.register_keras_serializable("mine")
class Wide(keras.layers.Dense):  # type: ignore[misc]
    """A dense layer by its tensors, that outputs something else."""

    def call(self, x: Any, training: bool = False) -> Any:
        """Return twice the output."""
        return 2 * super().call(x)


def test_what_no_spec_computes(tmp_path: Path) -> None:
    """Is not run, and the attribute is named; a class of one's own is no layer of Keras's, whatever its tensors are."""
    layers = keras.layers
    x = keras.Input((5, 32))
    shared, relu = layers.LSTM(32, return_sequences=True), layers.LSTM(64, activation="relu", go_backwards=True)
    reasons = {
        "calls": shared(shared(x)),
        "go_backwards": layers.LSTM(64, go_backwards=True)(x),
        "recurrent_activation": layers.GRU(64, recurrent_activation="relu")(x),
        "activation": layers.Dense(64, activation=layers.LeakyReLU())(x),
        "activations": layers.Bidirectional(layers.LSTM(64), backward_layer=relu)(x),
        "merge": layers.Bidirectional(layers.LSTM(64), merge_mode=None)(x),
        "epsilon": layers.LayerNormalization(epsilon=0.1)(x),
        "external_1": layers.RNN(LinearCell())(x),
        "external_1: ": layers.Bidirectional(layers.RNN(LinearCell()))(x),
        " external_1": Wide(64)(x),
    }
    path = tmp_path / "a.keras"
    for reason, y in reasons.items():
        model = keras.Model(x, y)
        model.save(path)
        text = hold(path, model.count_params())
        code, said = called("run", spec_of(path), "--weights", path)
        assert (code, f"{reason.strip(': ')}: " in said, "✓" in said) == (2, True, False), f"{reason}: {text}{said}"


@keras.saving.register_keras_serializable("mine")
class Summed(keras.layers.Dense):  # type: ignore[misc]
    """Weights over the steps, as of attention, that leave one vector."""

    def call(self, x: Any, training: bool = False) -> Any:
        """Return the sum of the steps."""
        return keras.ops.sum(super().call(x), axis=1)

    def compute_output_shape(self, shape: Any) -> tuple[int | None, ...]:
        """Return the shape of one vector."""
        return (shape[0], self.units)


@pytest.mark.parametrize("last", [False, True])
def test_a_layer_of_ones_own_that_ends_the_sequence(tmp_path: Path, last: bool) -> None:
    """The next layer's configuration says that it reads a vector; behind the last nothing says what is left."""
    layers = [keras.layers.LSTM(64, return_sequences=True), Summed(32), *[keras.layers.Dense(2)] * (not last)]
    model = keras.Sequential([keras.Input((5, 32)), *layers])
    assert model.output_shape == (None, 32 if last else 2)
    model.save(tmp_path / "a.keras")
    text = hold(tmp_path / "a.keras", model.count_params())
    assert ("topology: many-to-one" in text, "topology: many-to-many" in text) == (not last, False)


def test_a_cell_of_keras_in_a_layer(tmp_path: Path) -> None:
    """Has its settings in the configuration of the cell."""
    cell: Any = keras.layers.GRUCell(64, "relu", "hard_sigmoid", reset_after=False)
    model = keras.Sequential([keras.Input((5, 32)), keras.layers.RNN(cell), keras.layers.Dense(3)])
    model.save(tmp_path / "a.keras")
    hold(tmp_path / "a.keras", 3 * 64 * (32 + 64 + 1) + 3 * 65)
    flow = np.random.default_rng(1).normal(size=(5, 32)).astype(np.float32)
    runs_to(spec_of(tmp_path / "a.keras"), tmp_path / "a.keras", flow, np.asarray(model(flow[None]))[0])


def test_layers_around_the_cells(tmp_path: Path) -> None:
    """Convolutions and norms in every format; the configuration tells their options, and a run agrees."""
    layers = [
        keras.Input((20, 6)),
        keras.layers.Conv1D(8, 5, strides=2, padding="same", activation="relu", name="ear"),
        keras.layers.BatchNormalization(name="first"),
        keras.layers.ReLU(),
        keras.layers.Conv1D(8, 3, groups=2, use_bias=False),
        keras.layers.BatchNormalization(scale=False),
        keras.layers.LayerNormalization(),
        keras.layers.Activation("tanh"),
        keras.layers.GRU(4),
        keras.layers.Dense(3),
    ]
    for name, text in held_in_every_format(keras.Sequential(layers), tmp_path, between=(0.5, 1.5)):
        assert text.count("batch_norm:") == 2
        active = text.count("activation: tanh"), text.count("activation: relu")
        assert active == ((0, 0) if "weights" in name else (1, 2))
        assert ("stride: 2" in text) == ("weights" not in name)


@pytest.mark.parametrize("end", ["Flatten", "GlobalMaxPooling1D", "GlobalAveragePooling1D", "RepeatVector"])
def test_layers_without_weights(tmp_path: Path, end: str) -> None:
    """What pools, drops, ends a sequence or begins one is told by the configuration, and a run agrees."""
    layers = [
        keras.Input((20, 6)),
        keras.layers.Conv1D(8, 3),
        keras.layers.AveragePooling1D(3, 2),
        keras.layers.GRU(4, return_sequences=end != "RepeatVector"),
        keras.layers.Dropout(0.5),
        getattr(keras.layers, end)(*[5] * (end == "RepeatVector")),
        keras.layers.Dense(3),
    ]
    for name, text in held_in_every_format(keras.Sequential(layers), tmp_path, between=(-1, 1)):
        assert ("pool1d" in text, "external" in text) == ("weights" not in name, False)


def heads(text: str) -> list[str]:
    """Return the kinds of the layers of a draft, and `output`."""
    return [line.split(":")[0].strip(" -") for line in text.splitlines() if line.startswith(("  -", "output"))]


def test_layers_that_are_no_dense_layers(tmp_path: Path) -> None:
    """Means and variances of data, trained slopes and heads that share keys are external; stacked cells are layers."""
    flow: Any = keras.Input((10, 3))
    shared = keras.layers.GroupQueryAttention(4, 2, 1)
    x = shared(flow, flow)
    cells: Any = [keras.layers.LSTMCell(5), keras.layers.GRUCell(6)]
    for layer in (keras.layers.Normalization(), keras.layers.PReLU(shared_axes=[1]), keras.layers.RNN(cells)):
        x = layer(x)
    model = keras.Model(flow, keras.layers.Dense(3)(x))
    params = (
        3 * 8 + 8 + 2 * (3 * 4 + 4) + 8 * 3 + 3 + (3 + 3 + 1) + 3 + 4 * 5 * (3 + 5 + 1) + 3 * 6 * (5 + 6 + 2) + 3 * 7
    )
    for name in ("a.keras", "b.h5", "c.weights.h5"):
        (model.save_weights if "weights" in name else model.save)(tmp_path / name)
        text = hold(tmp_path / name, params)
        assert "weights" in name or heads(text) == [*["external"] * 3, "lstm", "gru", "output"], text


class Tokens(keras.Model):  # type: ignore[misc]
    """A model of one's own, which has no configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.cell, self.end = keras.layers.Embedding(30, 8), keras.layers.LSTM(6), keras.layers.Dense(4)

    def call(self, x: Any) -> Any:
        return self.end(self.cell(self.words(x)))


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    """A table is told by the name that Keras gives it, whatever attribute it is."""
    model = Tokens()
    model(np.zeros((1, 2), dtype=int))
    model.save(tmp_path / "a.keras")
    assert heads(hold(tmp_path / "a.keras", 30 * 8 + 4 * 6 * (8 + 6 + 1) + 4 * 7)) == ["embedding", "lstm", "output"]


@pytest.mark.parametrize(("mode", "bias"), [("int8", True), ("int8", False), ("int4", True)])
def test_quantised_layers(tmp_path: Path, mode: str, bias: bool) -> None:
    """The kernels and the table are named; neither they nor their scales and zero points are parameters."""
    layers = keras.layers.Embedding(50, 32), keras.layers.LSTM(64), keras.layers.Dense(15, use_bias=bias)
    model = keras.Sequential([keras.Input((10,)), *layers])
    model.quantize(mode)
    for name in ("a.keras", "b.h5", *["c.weights.h5"] * bias):
        (model.save_weights if "weights" in name else model.save)(tmp_path / name)
        text = hold(tmp_path / name, 4 * 64 * (32 + 64 + 1) + 15 * bias)
        assert f", {50 * 32 + 64 * 15:,} numbers in all" in text
        assert "without weights" not in text


def held_in_every_format(model: Any, folder: Path, *, between: tuple[float, float]) -> Iterator[tuple[str, str]]:
    """Yield each file of a model with random numbers, and its draft; it agrees with the file and runs as the model."""
    random = np.random.default_rng(0)
    with jax.enable_x64(False):
        for variable in model.variables:
            variable.assign(random.uniform(*between, variable.shape))
        flow = random.uniform(-1, 1, model.input_shape[1:]).astype(np.float32)
        theirs = np.asarray(model(flow[None], training=False))[0]
    for name in ("a.keras", "b.h5", "c.weights.h5"):
        path = folder / name
        (model.save_weights if "weights" in name else model.save)(path)
        yield name, hold(path, model.count_params(), sum(weight.numpy().size for weight in model.trainable_weights))
        code, said = called("check", spec_of(folder / "a.keras"), "--model", path)
        assert code == 0, said
        runs_to(spec_of(folder / "a.keras"), path, flow.reshape(len(flow), -1), theirs, within=1e-3)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("key", "value"), [(3, None), (4, 3)])
def test_attention(tmp_path: Path, key: int, value: int | None, bias: bool) -> None:
    """The shapes of its kernels show its heads; a file of weights is in no order, and its spec is another's."""
    flow = keras.Input((5, 6))
    cells = keras.layers.LSTM(8, return_sequences=True)(flow)
    look = keras.layers.MultiHeadAttention(2, key, value, use_bias=bias, name="look")
    read, _ = look(cells, cells, return_attention_scores=True)  # without, JAX wants values as wide as keys
    model = keras.Model(flow, keras.layers.Dense(3)(read))
    for name, text in held_in_every_format(model, tmp_path, between=(-1, 1)):
        sizes = f"key_size: {key}\n" + (f"    value_size: {value}\n" if value else "")
        assert "multi_head_attention: 2\n" in text
        assert sizes in text
        assert ("path: look" in text) or name == "c.weights.h5"


@pytest.mark.parametrize("space", [(6,), (5, 4)])
def test_convolutional_lstms(tmp_path: Path, space: tuple[int, ...]) -> None:
    """Lines and grids, over all steps and the last alone; the configuration tells the space, and a run agrees."""
    of: Any = keras.layers.ConvLSTM2D if len(space) == 2 else keras.layers.ConvLSTM1D
    layers = [
        keras.Input((3, *space, 2)),
        of(3, 3, padding="same", return_sequences=True, name="first"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.2),
        of(2, 2, padding="same", use_bias=False, activation="relu"),
        keras.layers.LayerNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dense(3),
    ]
    for name, text in held_in_every_format(keras.Sequential(layers), tmp_path, between=(0.1, 0.9)):
        assert (text.count("conv_lstm:"), text.count("external")) == (2, int("weights" in name))


def test_convolutional_lstms_behind_other_layers(tmp_path: Path) -> None:
    """A front end and a pooling of places are counted elsewhere; what no spec has is not read as if it had."""
    layers = [
        keras.Input((3, 8, 8, 1)),
        keras.layers.TimeDistributed(keras.layers.Conv2D(2, 3, padding="same")),
        keras.layers.ConvLSTM2D(2, 3, padding="same", return_sequences=True),
        keras.layers.MaxPooling3D((1, 2, 2)),
        keras.layers.ConvLSTM2D(2, 3, padding="same", return_sequences=True),
        keras.layers.ConvLSTM2D(2, 3, padding="valid", return_sequences=True),
        keras.layers.Conv3D(1, 3, padding="same"),
    ]
    with jax.enable_x64(False):
        model = keras.Sequential(layers)
        model.save(tmp_path / "a.keras")
        model.save(tmp_path / "b.h5")
    text = hold(tmp_path / "a.keras", model.count_params())
    kinds = [line.split(":")[0].strip(" -") for line in text.splitlines() if line.startswith("  - ")]
    assert kinds == ["external", "conv_lstm", "external", "conv_lstm", "external"]
    assert (text.count("space: 8x8"), text.count("space: 4x4")) == (1, 1)
    assert "its space is not in the file" in hold(tmp_path / "b.h5", model.count_params())


def kept(folder: Path, inputs: Any, outputs: Any, *, weights: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the spec of a model's file with a configuration, and whether it was run: then it agrees with the model."""
    random = np.random.default_rng(0)
    with jax.enable_x64(False):
        model = keras.Model(inputs, outputs)
        for variable in model.weights:
            variable.assign(random.uniform(0.01, 0.2, variable.shape))
        trainable = sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
        flow = random.uniform(-1, 1, [size or 5 for size in model.inputs[0].shape[1:]]).astype(np.float32)
        flat = flow.reshape(len(flow), -1)
        for name in ("a.keras", "b.h5"):
            model.save(folder / name)
            yield keep_promises(folder / name, model.count_params(), trainable, flat, lambda: model(flow[None]))
        if weights:
            model.save_weights(folder / "c.weights.h5")
            hold(folder / "c.weights.h5", model.count_params())


def test_the_end_of_a_direction(tmp_path: Path) -> None:
    """It is taken at the recurrent layer, whatever is between that and what repeats it."""
    layers = keras.layers
    gates = {"recurrent_activation": "hard_sigmoid"}  # which an older Keras had another function for
    for between in ([layers.Dropout(0.2)], [layers.LayerNormalization(), layers.Dense(64), layers.ReLU()]):
        x = y = keras.Input((5, 24))
        for layer in (layers.Bidirectional(layers.GRU(64, **gates)), *between, layers.RepeatVector(3), layers.LSTM(64)):
            y = layer(y)
        for text, ran in kept(tmp_path, x, y):
            assert ("recurrent_activation: hard_sigmoid\n" in text, ran) == (True, True), text


def test_steps_and_pools_behind_any_layer(tmp_path: Path) -> None:
    """The file has what each layer reads; steps that no spec can have are left out, and a pool stays."""
    layers = keras.layers
    conv = layers.Conv1D(64, 3)
    cases: list[tuple[tuple[int, ...], list[Any], int | None, str]] = [
        ((1, 64), [layers.Permute((2, 1))], 64, ""),
        ((20, 6), [conv, layers.UpSampling1D(2)], None, "conv1d"),
        ((20, 6), [layers.ZeroPadding1D(2), layers.Cropping1D((0, 3))], 21, ""),
        ((20, 6), [layers.Conv1DTranspose(64, 3)], 22, "external"),
        ((20, 6), [layers.SeparableConv1D(64, 3), layers.MaxPooling1D(2)], 18, "external pool1d"),
        ((12, 10, 3), [layers.Conv2D(8, 3), layers.Reshape((10, 64))], 10, "external"),
        ((20, 6), [layers.Normalization(), layers.MaxPooling1D(2)], 20, "external pool1d"),
        ((20, 6), [conv, layers.GroupNormalization(2), layers.MaxPooling1D(3)], 20, "conv1d external pool1d"),
        (
            (20, 6),
            [layers.RMSNormalization(), layers.GlobalMaxPooling1D(), layers.RepeatVector(3)],
            20,
            "external pool1d last repeat_vector",
        ),
        ((20, 6), [conv, layers.SpatialDropout1D(0.2), layers.MaxPooling1D(3)], 20, "conv1d pool1d"),
        (
            (20, 6),
            [conv, layers.MaxPooling1D(4, padding="same"), layers.AveragePooling1D(2, 1, padding="same")],
            20,
            "conv1d pool1d pool1d",
        ),
    ]
    for shape, before, steps, kinds in cases:
        x = y = keras.Input(shape)
        for layer in [*before, layers.LSTM(64), layers.Dense(3)]:
            y = layer(y)
        for text, ran in kept(tmp_path, x, y):
            said = re.search("^steps: ([0-9]+)$", text, re.MULTILINE)
            runs = kinds.startswith("conv1d pool1d")
            assert (said and int(said[1]), " ".join(heads(text)), ran) == (
                steps,
                f"{kinds} lstm output".strip(),
                runs,
            ), text


def test_models_that_are_no_row(tmp_path: Path) -> None:
    """What several layers read, or reads several, is said, or they are several networks, and none is run."""
    layers = keras.layers
    x, other = keras.Input((12, 6)), keras.Input((12, 3))
    cells = layers.LSTM(64, return_sequences=True, name="cells")
    deep = layers.Bidirectional(layers.RNN([layers.LSTMCell(48), layers.LSTMCell(32)], return_sequences=True))
    first = cells(x)
    state = layers.LSTM(64, return_state=True, name="begin")(x)
    cases: dict[str, tuple[Any, Any]] = {
        "several values: join:": (x, layers.Add(name="join")([first, layers.LSTM(64, return_sequences=True)(first)])),
        "read the outputs of these: cells:": (x, layers.Add()([first, layers.Dense(64)(first)])),
        "inputs of the model: 2, outputs: 1;": ([x, other], layers.Concatenate()([first, other])),
        "inputs of the model: 1, outputs: 2;": (x, [first, layers.Dense(2)(first)]),
        "several values: end:": (x, layers.LSTM(64, name="end")(first, initial_state=state[1:])),
        "no layer that is known here: bidirectional": (x, layers.Dense(4)(deep(x))),
    }
    for said, (inputs, outputs) in cases.items():
        for text, ran in kept(tmp_path, inputs, outputs):
            apart = "no spec says how they are joined" in text
            assert (apart or said.lower() in text.lower(), ran) == (True, False), f"{said}\n{text}"


def test_layers_within_others(tmp_path: Path) -> None:
    """A TimeDistributed has the activation of its layer, and models are known however deep they are, in each format."""
    layers = keras.layers
    x = keras.Input((20, 6))
    innermost = keras.Sequential([layers.GRU(48, return_sequences=True), layers.Dense(32, activation="relu")])
    inner = keras.Sequential([layers.LSTM(64, return_sequences=True), innermost])
    y = layers.TimeDistributed(layers.Dense(50, activation="relu"))(inner(x))
    for text, ran in kept(tmp_path, x, layers.Dense(4)(layers.GlobalAveragePooling1D()(y))):
        kinds = ["lstm", "gru", "dense", "dense", "pool1d", "last", "output"]
        assert (heads(text), text.count("activation: relu"), ran) == (kinds, 2, True), text
        assert "not in the file" not in text


def test_activations_that_are_layers(tmp_path: Path) -> None:
    """Belong to the dense layer before; masks and what a norm is followed by are none of a spec's."""
    layers = keras.layers
    x, free, words = keras.Input((20, 6)), keras.Input((None, 6)), keras.Input((None,))
    cells = layers.LSTM(64)(layers.ReLU()(layers.Dense(48)(x)))
    cases = {
        "activation: relu": (x, layers.Softmax()(layers.Dense(5)(cells)), True),
        "its window is all steps": (
            free,
            layers.GlobalMaxPooling1D()(layers.LSTM(64, return_sequences=True)(free)),
            False,
        ),
        "not in the spec: re_lu": (x, layers.ReLU(max_value=6)(layers.Dense(5)(cells)), False),
        "mask_zero": (words, layers.LSTM(64)(layers.Embedding(100, 32, mask_zero=True)(words)), False),
        "causal: true": (x, layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True), True),
    }
    for said, (inputs, outputs, runs) in cases.items():
        for text, ran in kept(tmp_path, inputs, outputs):
            assert (said in text, ran) == (True, runs), text


def test_a_model_in_several_files(tmp_path: Path) -> None:
    """Their index is the whole, and its outputs are Keras's; none of them is read as though it were."""
    model = keras.Sequential([keras.Input((5, 64)), keras.layers.Bidirectional(keras.layers.LSTM(128))])
    model.save_weights(tmp_path / "m.weights.json", max_shard_size=0.0004)
    index, paths = tmp_path / "m.weights.json", sorted(tmp_path.glob("*.h5"))
    assert len(paths) > 1
    for path in paths:
        code, said = called("read", path)
        assert (code, "name m.weights.json, their index" in said, said.count("\n")) == (2, True, 1), said
    hold(index, model.count_params())
    flow = np.random.default_rng(0).standard_normal((5, 64), np.float32)
    runs_to(spec_of(index), index, flow, np.array(model(flow[None]))[0], "--steps", "5")


def test_what_has_the_tensors_of_another_layer(tmp_path: Path) -> None:
    """A norm along the steps, of as many steps as features, and a kernel that is kept twice."""
    layers = keras.layers
    x = keras.Input((6, 6))
    twice = layers.SpectralNormalization(layers.Dense(64, name="once"))
    cases = {
        "no layer that is known here: along": layers.BatchNormalization(axis=1, name="along")(x),
        "no layer that is known here: across": layers.LayerNormalization(axis=1, name="across")(x),
        "no layer that is known here: turned": layers.EinsumDense("abc,bd->adc", (6, 6), name="turned")(x),
        "dense: 64": twice(x),
    }
    for said, y in cases.items():
        for text, ran in kept(tmp_path, x, layers.LSTM(64)(y), weights=True):
            assert (said in text, ran) == (True, False), text


def test_lora(tmp_path: Path) -> None:
    """Keras adds it to the kernel that it saves, and makes it again when it loads the file."""
    dense = keras.layers.Dense(96, name="added")
    model = keras.Sequential([keras.Input((5, 24)), keras.layers.LSTM(64), dense])
    dense.enable_lora(4)
    model.save(tmp_path / "a.keras")
    more = 4 * (64 + 96)
    text = hold(tmp_path / "a.keras", model.count_params() - more)
    assert f"Keras adds {more} trainable parameters (lora_rank) when it loads the file: added" in text
