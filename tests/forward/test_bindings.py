"""The forward pass under each convention, against the textbook's with the same weights packed as a framework has them.

The packing is written down here from the frameworks' documentation; tests/conformance compares it with the frameworks.
"""

from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, RNN, Cell, Dense, Embedding, Layer, Network
from rnncalc.conventions import CONVENTIONS
from rnncalc.questions.compare import compare_conventions
from rnncalc.questions.run import run

M, H, STEPS = 3, 2, 4
Rows = list[list[float]]
Tensors = dict[str, Any]

ORDERS = {
    "pytorch": {"rnn": "h", "gru": "rzn", "lstm": "ifgo"},
    "keras": {"rnn": "h", "gru": "zrn", "lstm": "ifgo"},
    "flax-nnx": {"rnn": "h", "gru": "rzn", "lstm": "ifgo"},
    "onnx": {"rnn": "h", "gru": "zrn", "lstm": "iofg"},
}


def drawn(layer: Cell, seed: int) -> Tensors:
    """Return the textbook's weights of one direction."""
    number = Random(seed).uniform
    letters = [gate.letter for gate in layer.gates(M)]
    width = getattr(layer, "projection", None) or H
    weights: Tensors = {f"W_x{g}": [[number(-1, 1) for _ in range(M)] for _ in range(H)] for g in letters}
    weights |= {f"W_h{g}": [[number(-1, 1) for _ in range(width)] for _ in range(H)] for g in letters}
    weights |= {f"b_{g}": [number(-1, 1) if layer.bias else 0.0 for _ in range(H)] for g in letters}
    if getattr(layer, "peepholes", False):
        weights |= {f"w_c{g}": [number(-1, 1) for _ in range(H)] for g in "ifo"}
    if getattr(layer, "projection", None):
        weights["W_hp"] = [[number(-1, 1) for _ in range(H)] for _ in range(width)]
    if layer.learned_state:
        weights |= {f"{state}_0": [number(-1, 1) for _ in range(H)] for state in layer.states}
    return weights


def transposed(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def packed(layer: Cell, of: Tensors, convention: str) -> Tensors:
    """Return one direction's weights in a framework's layout; a second bias vector is zero."""
    order = ORDERS.get(convention, {}).get(layer.kind, "")
    x, h, b = ([row for g in order for row in of[f"{name}{g}"]] for name in ("W_x", "W_h", "b_"))
    zeros = [0.0] * len(b)
    match convention:
        case "pytorch":
            tensors: Tensors = {"weight_ih_l0": x, "weight_hh_l0": h}
            if layer.bias:
                tensors |= {"bias_ih_l0": b, "bias_hh_l0": zeros}
            return tensors | ({"weight_hr_l0": of["W_hp"]} if "W_hp" in of else {})
        case "keras":
            tensors = {"kernel": transposed(x), "recurrent_kernel": transposed(h)}
            two = layer.kind == "gru" and getattr(layer, "reset_after", None) is not False
            return tensors | ({"bias": [b, zeros] if two else b} if layer.bias else {})
        case "flax-linen":
            return linen(layer, of)
        case "flax-nnx" if layer.kind == "lstm":
            tensors = {f"{'if_' if g == 'f' else 'i' + g}/kernel": transposed(of[f"W_x{g}"]) for g in "ifgo"}
            tensors |= {f"h{g}/kernel": transposed(of[f"W_h{g}"]) for g in "ifgo"}
            return tensors | {f"h{g}/bias": of[f"b_{g}"] for g in "ifgo"}
        case "flax-nnx":
            return {"dense_i/kernel": transposed(x), "dense_i/bias": b, "dense_h/kernel": transposed(h)}
        case _:
            tensors = {"W": x, "R": h} | ({"B": b + zeros} if layer.bias else {})
            if "w_ci" in of:
                tensors["P"] = of["w_ci"] + of["w_co"] + of["w_cf"]
            return tensors | {f"initial_{s}": [of[f"{s}_0"]] for s in layer.states if f"{s}_0" in of}


def linen(layer: Cell, of: Tensors) -> Tensors:
    if layer.kind == "rnn":
        return {"i/kernel": transposed(of["W_xh"]), "i/bias": of["b_h"], "h/kernel": transposed(of["W_hh"])}
    letters = [gate.letter for gate in layer.gates(M)]
    tensors: Tensors = {f"i{g}/kernel": transposed(of[f"W_x{g}"]) for g in letters}
    tensors |= {f"h{g}/kernel": transposed(of[f"W_h{g}"]) for g in letters}
    side = "h" if layer.kind == "lstm" else "i"
    tensors |= {f"{side}{g}/bias": of[f"b_{g}"] for g in letters}
    return tensors | ({"hn/bias": [0.0] * H} if layer.kind in ("gru", "mgu") else {})


def both(layer: Cell, ways: list[Tensors], convention: str) -> Tensors:
    """Return the directions' weights under the names of a bidirectional layer."""
    if convention == "onnx":
        return {name: [way[name] for way in ways] for name in ways[0]}
    if not layer.bidirectional:
        return ways[0]
    if convention == "pytorch":
        return ways[0] | {f"{name}_reverse": array for name, array in ways[1].items()}
    names = ("forward/", "backward/")
    return {f"{prefix}{name}": array for prefix, way in zip(names, ways, strict=True) for name, array in way.items()}


CASES: list[tuple[str, Cell]] = [
    *((convention, cell) for convention in ORDERS for cell in (RNN(H), GRU(H, reset_after=True), LSTM(H))),
    *(("flax-linen", cell) for cell in (RNN(H), GRU(H, reset_after=True), LSTM(H))),
    *((convention, LSTM(H, bidirectional=True)) for convention in (*ORDERS, "flax-linen")),
    *((convention, GRU(H, reset_after=False, bidirectional=True)) for convention in ("keras", "onnx")),
    *((convention, GRU(H, bias=False, reset_after=True)) for convention in ("pytorch", "keras", "onnx")),
    ("pytorch", LSTM(H, projection=1, bidirectional=True)),
    ("onnx", LSTM(H, peepholes=True, learned_state=True, bidirectional=True)),
    ("onnx", RNN(H, learned_state=True, activation="relu")),
]


@pytest.mark.parametrize(("convention", "layer"), CASES, ids=lambda value: str(value))
def test_the_same_weights_give_the_same_outputs(convention: str, layer: Cell) -> None:
    """Order, orientation, fusion and sides are only packing: the outputs are the textbook's to the last bits."""
    ways = [drawn(layer, seed) for seed in range(layer.directions)]
    inputs = [[Random(step).uniform(-1, 1) for _ in range(M)] for step in range(STEPS)]
    given_biases = {f"b_{gate.letter}" for gate in layer.gates(M)}
    plain = [{name: of for name, of in way.items() if layer.bias or name not in given_biases} for way in ways]
    weights = {"textbook": both(layer, plain, "textbook")}
    weights[convention] = both(layer, [packed(layer, way, convention) for way in ways], convention)
    outputs = {}
    for name, of in weights.items():
        net = Network(input=M, layers=(layer,), topology="many-to-many", steps=STEPS, convention=name)
        done = run(net, weights={f"{layer.kind}_1": of}, inputs={None: inputs})
        assert done.agrees
        outputs[name] = done.layers[0].output
    for ours, theirs in zip(outputs["textbook"], outputs[convention], strict=True):
        assert theirs == pytest.approx(ours, abs=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_dense_and_embedding_under_each_convention(convention: str) -> None:
    """Row 1 of the table through a dense layer: 2·3 + 1·4 + 5 and 2·6 + 1·7 + 8."""
    layers: tuple[Layer, ...] = (Embedding(2), Dense(2))
    net = Network(input=2, layers=layers, topology="one-to-one", convention=convention)
    looked_up, dense = net.stack
    (table,), (matrix, bias) = looked_up.tensors, dense.tensors
    kernel = [[3.0, 4.0], [6.0, 7.0]]
    weights: Tensors = {"embedding_1": {table.name: [[0.0, 0.0], [2.0, 1.0]]}}
    turned = matrix.axes[0].letter == "m"
    weights["dense_1"] = {matrix.name: transposed(kernel) if turned else kernel, bias.name: [5.0, 8.0]}
    done = run(net, weights=weights, inputs={None: [1]})
    assert done.layers[-1].output == [15.0, 27.0]


@given(st.one_of(network(steps=True), encoder_decoder()), st.sampled_from([*CONVENTIONS]))
def test_no_convention_disagrees_with_its_counts(spec: Spec, convention: str) -> None:
    """Shapes, weights read and multiplications hold under every convention that can express a network."""
    net = compare_conventions(network_of(spec)).networks[convention]
    assume(net is not None)
    assert net is not None
    assert run(net).agrees
