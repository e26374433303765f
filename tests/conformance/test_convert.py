"""Weights of one framework, converted and loaded in another, give the same numbers there."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from itertools import product
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from conformance.drawing import kinds_of, numbers
from conformance.frameworks import FRAMEWORKS
from conformance.test_jax_and_mlx import PACKAGES
from flax import nnx
from flax.traverse_util import unflatten_dict
from safetensors.numpy import load_file

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    BatchNorm,
    Conv1D,
    Dense,
    Layer,
    MultiHeadAttention,
    Network,
    Output,
    SpecError,
    convert,
    export,
    read,
    run,
)
from rnncalc.cli import call
from rnncalc.conventions import CONVENTIONS, lacks
from rnncalc.conventions import convention as row
from rnncalc.conventions.tensor import STORED, Role, Tensor
from rnncalc.formats.yaml import weights_text
from rnncalc.layers.cell import Cell
from rnncalc.models.convert import Conversion
from rnncalc.network.stack import Placed
from rnncalc.network.writer import spec_of
from rnncalc.questions.convert import Converted
from rnncalc.reports.convert import steps

pytestmark = pytest.mark.conformance

Apply = Callable[[Placed, dict[str, Any], Any], Any]
"""What loads the arrays of a layer into its framework, and returns its outputs for an input."""


def by_framework(name: str, place: Placed, weights: dict[str, Any], x: Any) -> Any:
    return FRAMEWORKS[name].apply(place, weights, x, final=False)


def by_package(name: str, place: Placed, weights: dict[str, Any], x: Any) -> Any:
    build, _ = PACKAGES[name]
    return build(place.layer, place.inputs).run(weights, x)


APPLIES: dict[str, Apply] = {name: partial(by_framework, name) for name in FRAMEWORKS}
APPLIES |= {name: partial(by_package, name) for name in PACKAGES}
PAIRS = [(one, other) for one in APPLIES for other in APPLIES if one != other]
CELLS: tuple[Layer, ...] = (RNN(3), GRU(4), LSTM(3, bidirectional=True), LSTM(2, bias=False))
WITHIN = 1e-5


def drawn(network: Network, *, zeros: bool) -> tuple[dict[str, Any], Any]:
    """Return random weights and inputs; zeros: of biases that have no place in some frameworks."""
    weights, inputs = numbers(network, 0)
    for placed in network.stack if zeros else ():
        for tensor in placed.tensors:
            array = np.array(weights[placed.name][tensor.name])
            for part in tensor.blocks:
                if part.role is Role.RECURRENT_BIAS:
                    start = [axis.size(placed.sizes) for axis in part.starts]
                    array[tuple(slice(at, at + placed.sizes["h"]) for at in start)] = 0
            weights[placed.name][tensor.name] = array.tolist()
    return weights, inputs


def converted(layer: Layer, one: str, other: str) -> tuple[Converted, dict[str, Any], Any] | None:
    """Return a layer of a framework as another has it, with its weights and inputs; None if it is refused."""
    network = Network(input=2, layers=[layer], steps=3, topology="many-to-many", convention=one)
    for zeros in (False, True):
        weights, inputs = drawn(network, zeros=zeros)
        try:
            return convert(network, other, weights=weights), weights, inputs
        except SpecError:
            continue
    return None


def same(one: str, other: str, layer: Layer) -> None:
    """Compare a layer in two frameworks, unless one resets a GRU before the product and the other after it."""
    if {one, other} & PACKAGES.keys() and isinstance(layer, LSTM):
        layer = layer.replace(bidirectional=False)  # which users of these put together from two
    if {one, other} - {name for name in APPLIES if layer.kind in kinds_of(name)}:
        return
    if any(lacks(layer, one)):  # a layer without biases
        return
    done = converted(layer, one, other)
    if done is None:  # Haiku's RNN has relu alone
        differs = row(one).habits("gru").reset_after != row(other).habits("gru").reset_after
        assert (layer.kind, differs) == ("gru", True) or (layer.kind, other) == ("rnn", "haiku")
        return
    result, weights, inputs = done
    (ours,), (theirs,) = result.source.stack, result.target.stack
    assert result.arrays
    x = np.array(inputs)
    first = APPLIES[one](ours, weights[ours.name], x)
    second = APPLIES[other](theirs, result.arrays[theirs.name], x)
    np.testing.assert_allclose(second, first, rtol=WITHIN, atol=WITHIN, err_msg=str(layer))


SAMPLED = [(*pair, CELLS[(place + place // len(CELLS)) % len(CELLS)]) for place, pair in enumerate(PAIRS)][::2]


@pytest.mark.parametrize(("one", "other", "layer"), SAMPLED)
def test_the_other_framework_gives_what_the_first_does(one: str, other: str, layer: Layer) -> None:
    """Of every other pair one kind of cell; test_world_convert.py has all of both."""
    same(one, other, layer)


def built(network: Network, to: str) -> Any:
    """Return the class of the program that `export` writes."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(export(network, to), "exported", "exec"), namespace)
    *_, made = (each for each in namespace.values() if isinstance(each, type))
    return made


def of_pytorch(network: Network, path: str, x: Any) -> Any:
    model = built(network, "pytorch")()
    model.load_state_dict({name: torch.tensor(array) for name, array in load_file(path).items()}, strict=False)
    return model.eval()(torch.tensor(x)).detach().numpy()


def of_keras(network: Network, path: str, x: Any, again: str = "") -> Any:
    """again: where Keras saves the weights that it has loaded."""
    with jax.enable_x64(False):
        model = built(network, "keras")()
        model(x)
        model.load_weights(path)
        if again:
            model.save_weights(again)
        return np.asarray(model(x))


def of_linen(network: Network, path: str, x: Any) -> Any:
    flat = load_file(path)
    stored = {name: flat.pop(name) for name in [*flat] if name.endswith(("/mean", "/var"))}
    variables = {"params": unflatten_dict(flat, sep="/"), "batch_stats": unflatten_dict(stored, sep="/")}
    return np.asarray(jax.jit(built(network, "flax-linen")().apply)(variables, x))


def of_nnx(network: Network, path: str, x: Any) -> Any:
    arrays = load_file(path)
    model = built(network, "flax-nnx")(rngs=nnx.Rngs(0))
    model.eval()
    flat = nnx.to_flat_state(nnx.state(model, (nnx.Param, nnx.BatchStat)))
    assert {"/".join(map(str, name)) for name, _ in flat} == {*arrays}
    nnx.update(model, nnx.from_flat_state([(name, jnp.asarray(arrays["/".join(map(str, name))])) for name, _ in flat]))
    return np.asarray(model(x))


PROGRAMS = {
    "pytorch": (of_pytorch, ".safetensors"),
    "keras": (of_keras, ".weights.h5"),
    "flax-linen": (of_linen, ".safetensors"),
    "flax-nnx": (of_nnx, ".safetensors"),
}
AROUND: tuple[Layer, ...] = (Conv1D(4, kernel=2), MultiHeadAttention(2), Dense(3))


@pytest.mark.parametrize("to", PROGRAMS)
def test_the_file_that_is_written_is_read_by_the_frameworks_own_call(to: str, tmp_path: Path) -> None:
    """By the program of `export`; recurrent layers, stacked and in two directions, and others around."""
    layers = (*AROUND, BatchNorm(), GRU(3, repeat=2, reset_after=True), LSTM(3, bidirectional=True))
    one = "pytorch" if to == "keras" else "textbook"
    network = Network(input=3, layers=layers, output=Output(2), steps=4, convention=one)
    load, suffix = PROGRAMS[to]
    path, x, outputs = saved(network, to, tmp_path, suffix)
    target = convert(network, to).target
    np.testing.assert_allclose(load(target, path, x)[0], outputs, rtol=WITHIN, atol=WITHIN)
    draft = read(path).draft
    assert draft
    assert draft.network.params == target.params


def saved(network: Network, to: str, folder: Path, suffix: str) -> tuple[str, Any, Any]:
    """Return the file that the command writes of a network with random weights, an input and the outputs."""
    weights, inputs = numbers(network, 0)
    for placed in network.stack:
        for tensor in placed.buffers:
            weights[placed.name][tensor.name] = np.linspace(0.5, 1, tensor.params).tolist()
    files = {name: str(folder / name) for name in ("spec.json", "weights.yaml", "recipe.json", f"arrays{suffix}")}
    Path(files["weights.yaml"]).write_text(weights_text(weights.items()), "utf-8")
    Path(files["spec.json"]).write_text(json.dumps(spec_of(network)), "utf-8")
    words = ["convert", files["spec.json"], "--to", to, "--weights", files["weights.yaml"]]
    assert call([*words, "--save-weights", files[f"arrays{suffix}"], "--out", files["recipe.json"]]) == 0
    assert json.loads(Path(files["recipe.json"]).read_text())["largest_difference"] < WITHIN
    outputs = run(network, weights=weights, inputs=inputs).outputs
    return files[f"arrays{suffix}"], np.array([inputs], np.float32), outputs


# Frameworks without a program of `export`: the lines of docs/convert.md


def of_mlx(path: str, x: Any) -> Any:
    import mlx.core as mx
    from mlx import nn

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.gru_1, self.lstm_1, self.output = nn.GRU(2, 3), nn.LSTM(3, 4), nn.Linear(4, 2)

        def __call__(self, x: Any) -> Any:
            h, _ = self.lstm_1(self.gru_1(x))
            return self.output(h[:, -1])

    model = Model()
    arrays = mx.load(path)
    model.load_weights([(name.replace("/", "."), array) for name, array in arrays.items()])
    return np.array(model(mx.array(x)))


def of_equinox(path: str, x: Any) -> Any:
    import equinox as eqx

    class Model(eqx.Module):  # type: ignore[misc]
        gru_1: Any
        lstm_1: Any
        output: Any

    class Both(eqx.Module):  # type: ignore[misc]
        forward: Any
        backward: Any

    key = jax.random.key(0)
    both = Both(eqx.nn.LSTMCell(3, 4, key=key), eqx.nn.LSTMCell(3, 4, key=key))
    model: Any = Model(eqx.nn.GRUCell(2, 3, key=key), both, eqx.nn.Linear(8, 2, key=key))
    arrays = np.load(path)
    paths = [name.split("/") for name in arrays]
    values = [jnp.asarray(arrays[name]) for name in arrays]
    model = eqx.tree_at(lambda model: [reduce(getattr, path, model) for path in paths], model, values)

    def outputs(x: Any) -> Any:
        h, sequence = jnp.zeros(3), []
        for step in x:
            h = model.gru_1(step, h)
            sequence.append(h)
        states = [(jnp.zeros(4), jnp.zeros(4))] * 2
        for one, other in zip(sequence, sequence[::-1], strict=True):
            states = [model.lstm_1.forward(one, states[0]), model.lstm_1.backward(other, states[1])]
        return model.output(jnp.concatenate([states[0][0], states[1][0]]))

    return jax.jit(outputs)(x[0])[None]


def of_haiku(path: str, x: Any) -> Any:
    import haiku as hk

    def forward(x: Any) -> Any:
        for core in (hk.GRU(3, name="gru_1"), hk.LSTM(4, name="lstm_1")):
            x, _ = hk.dynamic_unroll(core, x, core.initial_state(1), time_major=False)
        return hk.Linear(2, name="output")(x[:, -1])

    params: dict[str, dict[str, Any]] = {}
    for name, array in np.load(path).items():
        module, _, leaf = name.rpartition("/")
        params.setdefault(module, {})[leaf] = array
    return np.asarray(jax.jit(hk.transform(forward).apply)(params, None, x))


@pytest.mark.parametrize(
    ("load", "one", "to", "suffix"),
    [
        (of_mlx, "pytorch", "mlx", ".safetensors"),
        (of_equinox, "keras", "equinox", ".npz"),
        (of_haiku, "textbook", "haiku", ".npz"),
    ],
)
def test_the_lines_of_the_document_put_the_arrays_in(load: Any, one: str, to: str, suffix: str, tmp_path: Path) -> None:
    """Of a GRU, an LSTM and a linear layer."""
    network = Network(
        input=2, layers=[GRU(3), LSTM(4, bidirectional=to == "equinox")], output=2, steps=4, convention=one
    )
    path, x, outputs = saved(network, to, tmp_path, suffix)
    np.testing.assert_allclose(load(path, x)[0], outputs, rtol=WITHIN, atol=WITHIN)


@pytest.mark.filterwarnings("ignore")  # of PyTorch's older exporter to ONNX, which takes a second
def test_real_files_of_three_frameworks(tmp_path: Path) -> None:
    """PyTorch's tagger; as ONNX by PyTorch's exporter, that in Keras; and Keras's own file of it in PyTorch again."""
    tokens = np.array([[1, 5, 2, 11]])
    files = {
        name: str(tmp_path / name)
        for name in ("a.safetensors", "a.onnx", "a.weights.h5", "b.weights.h5", "b.safetensors")
    }

    def model(path: str, to: str, name: str) -> tuple[Network, Any]:
        """Return the network of a file, and the file of its arrays in another framework."""
        words = ["convert", path, "--to", to, "-T", "4", "--topology", "many-to-many"]
        assert call([*words, "--save-weights", files[name], "--out", str(tmp_path / "recipe.md")]) == 0
        network = convert(read(path), to).target
        return network.replace(topology="many-to-many", steps=4), files[name]

    network, arrays = model("specs/models/tagger.pt", "pytorch", "a.safetensors")
    first = of_pytorch(network, arrays, tokens)
    made = built(network, "pytorch")()
    made.load_state_dict({name: torch.tensor(array) for name, array in load_file(arrays).items()})
    torch.onnx.export(made.eval(), torch.tensor(tokens), files["a.onnx"], dynamo=False)
    network, arrays = model(files["a.onnx"], "keras", "a.weights.h5")
    np.testing.assert_allclose(
        of_keras(network, arrays, tokens, files["b.weights.h5"]), first, rtol=WITHIN, atol=WITHIN
    )
    network, arrays = model(files["b.weights.h5"], "pytorch", "b.safetensors")
    np.testing.assert_allclose(of_pytorch(network, arrays, tokens), first, rtol=WITHIN, atol=WITHIN)


# The recipe, followed by hand

WHICH = r"(?:blocks? (?P<blocks>.+?))?(?: of )?(?:row (?P<row>\d))?(?: of )?(?:the (?P<half>first|second) half)?"
WHICH += r"(?:(?:^| of )the rows of (?P<vector>\w))?"


class Hand:
    """An array that is worked on: the letters of its blocks, their height, and the axis along which they lie.

    rows: whether its first axis places blocks. width: of the rows that multiply x.
    """

    def __init__(self, tensor: Tensor, value: Any, placed: Placed) -> None:
        along = tensor.blocks[0].along
        self.value = value
        self.letters = [*dict.fromkeys(block.letter for block in tensor.blocks)]
        self.axis = along.index(0) - len(along) if 0 in along else -1
        self.rows = along[0] is None and tensor.shape[0] > 1
        self.width = placed.sizes.get("m", 0)
        cell = isinstance(placed.layer, Cell)
        self.height = placed.sizes["h"] if cell else tensor.shape[self.axis] // len(self.letters)

    def places(self, which: str) -> list[Any]:
        """Return the index of each block that words such as `blocks r z of row 0` mean; of all for no words."""
        words = re.fullmatch(WHICH, which)
        assert words, which
        halves = range(max(1, self.value.shape[self.axis] // (len(self.letters) * self.height)))
        rows = range(len(self.value)) if self.rows else [None]
        places = []
        for at, half, letter in product(
            [int(words["row"])] if words["row"] else rows,
            [int(words["half"] == "second")] if words["half"] else halves,
            words["blocks"].split() if words["blocks"] else self.letters,
        ):
            start = (half * len(self.letters) + self.letters.index(letter)) * self.height
            index: list[Any] = [slice(None)] * self.value.ndim
            index[self.axis] = slice(start, start + self.height)
            if at is not None:
                index[0] = slice(at, at + 1)
            if words["vector"]:
                index[0] = slice(self.width) if words["vector"] == "x" else slice(self.width, None)
            places.append(tuple(index))
        return places

    def keep(self, which: str) -> None:
        """Keep the blocks that words mean, in their order."""
        words = re.fullmatch(WHICH, which)
        assert words, which
        self.value = np.concatenate([self.value[place] for place in self.places(which)], self.axis)
        self.letters = words["blocks"].split() if words["blocks"] else self.letters
        if words["row"]:
            self.value, self.rows = self.value[0], False

    def add(self, other: "Hand") -> None:
        """Add to each block that has its letter in another array what is there."""
        for letter in other.letters:
            place, there = self.places(f"block {letter}"), other.places(f"block {letter}")
            self.value[place[0]] += other.value[there[0]].reshape(self.value[place[0]].shape)


def followed(conversion: Conversion, weights: dict[str, Any]) -> Any:
    """Return an array of the target, made with NumPy as the words of its recipe say."""
    target, placed, words = conversion.tensor, conversion.placed, steps(conversion)
    ones = "with an axis of 1 in front" in words
    whole = Hand(target, np.zeros(target.shape[1:] if ones else target.shape), placed)
    hands = {each.name: Hand(each, np.array(weights[each.name]), placed) for each in conversion.sources}
    names = "|".join(map(re.escape, hands))
    primary = [*dict.fromkeys(each.sources[0].tensor.name for each in conversion.fillings if each.sources)]
    first = hands[primary[0]] if primary else whole
    for word in words:
        several = [hands[name] for name in primary]
        if word in ("unchanged", "zeros"):
            continue
        if word == "with an axis of 1 in front":
            first.value = first.value[None]
        elif word == "without the axis of 1":
            for hand in several:
                hand.value = hand.value.squeeze(0)
        elif found := re.fullmatch(r"reshaped to (.*)", word):
            for hand in several:
                hand.value = hand.value.reshape([*map(int, found[1].split(" × "))])
        elif found := re.fullmatch(r"transposed(?: to axes (.*))?", word):
            for hand in several:
                axes = [*map(int, found[1].split())] if found[1] else [1, 0]
                hand.value = hand.value.transpose(axes)
                hand.axis = axes.index(hand.axis % len(axes)) - len(axes)
        elif word == "rows joined one after the other":
            for hand in several:
                hand.value, hand.rows = hand.value.reshape(-1), False
        elif word == "halves stacked":
            first.value, first.rows = np.stack(np.split(first.value, 2, -1)), True
        elif found := re.fullmatch(r"blocks (.*) reordered to (.*)", word):
            for hand in several:
                if hand.letters == found[1].split():
                    halves = ["first", "second"][: hand.value.shape[hand.axis] // (len(hand.letters) * hand.height)]
                    rows = [f" of row {row}" for row in range(len(hand.value))] if hand.rows else [""]
                    order = [f"blocks {found[2]}{row} of the {half} half" for row in rows for half in halves]
                    parts = [
                        np.concatenate([hand.value[each] for each in hand.places(one)], hand.axis) for one in order
                    ]
                    hand.value = np.concatenate(parts, 0 if hand.rows else hand.axis)
                    hand.letters = found[2].split()
        elif word.startswith("joined") or word == "stacked":
            values = [hand.value for hand in several]
            groups = whole.value.shape[0] if "stacked" in word else 1
            for how, axis in (("side by side", -1), ("one below the other", -2), ("one after the other", -1)):
                if how in word:
                    wide = len(values) // 2 if how == "side by side" and "below" in word else len(values) // groups
                    values = [np.concatenate(values[at : at + wide], axis) for at in range(0, len(values), wide)]
            first = whole
            first.value = np.stack(values) if "stacked" in word else values[0]
        elif found := re.fullmatch(rf"(?:(.*) of )?({names}) added|the two biases added", word):
            (tensor,) = (each for each in conversion.sources if each.name == (found[2] or [*hands][1]))
            other = Hand(tensor, np.array(weights[tensor.name]), placed)
            if found[1]:
                other.keep(found[1])
            first.add(other)
        elif found := re.fullmatch(f"({names}) as (.*)", word):
            for place, block in zip(whole.places(found[2]), hands[found[1]].places(""), strict=True):
                whole.value[place] = hands[found[1]].value[block]
            first = whole
        elif found := re.fullmatch(r"zeros for (.*)", word):
            if first is not whole:
                rest = [place for place in whole.places("") if place not in whole.places(found[1])]
                for place, block in zip(rest, first.places(""), strict=True):
                    whole.value[place] = first.value[block]
            first = whole
        elif found := re.fullmatch(r"(blocks? .*?)? ?(?:(negated)|multiplied by (.*))", word):
            for place in first.places(found[1] or ""):
                first.value[place] *= -1 if found[2] else float(Fraction(found[3]))
        elif found := re.fullmatch(r"([\d.]+) (added|subtracted)(?: (?:to|from) (.*))?", word):
            for place in first.places(found[3] or ""):
                first.value[place] += float(found[1]) * (1 if found[2] == "added" else -1)
        elif found := re.fullmatch(f"(.*) of ({names})", word):
            hands[found[2]].keep(found[1])
        else:
            first.keep(word)
    return first.value


LAYERS: tuple[Layer, ...] = (
    *CELLS,
    GRU(3, bidirectional=True, reset_after=True),
    GRU(2, reset_after=False, update_gate="replaces"),
    LSTM(3, recurrent_activation="hard_sigmoid_0.2"),
    LSTM(3, projection=2),
    Conv1D(3, kernel=2),
    MultiHeadAttention(2),
    BatchNorm(),
)


@pytest.mark.parametrize("one", CONVENTIONS)
def test_the_recipe_can_be_followed_by_hand(one: str) -> None:
    """Its words alone, with NumPy, make the arrays that are written."""
    for layer, other in product(LAYERS, CONVENTIONS):
        try:
            network = Network(input=4, layers=[layer], convention=one)
            zeros = any(each.zeros for each in convert(network, other).conversions)
        except SpecError:
            continue
        weights, _ = drawn(network, zeros=zeros)
        for placed in network.stack:
            stored = [each for each in placed.stored if each.role in STORED]
            weights[placed.name] |= {each.name: [0.5] * each.params for each in stored}
        done = convert(network, other, weights=weights, most_multiply_adds=0)  # without passes
        assert done.arrays
        for each in done.conversions:
            array = done.arrays[each.placed.name][each.tensor.name]
            by_hand = followed(each, weights[each.placed.name])
            np.testing.assert_allclose(
                by_hand, array, 1e-6, 1e-6, err_msg=f"{layer} {other} {each.tensor.name} {steps(each)}"
            )
