"""Where a sequence begins and ends in a pass: at a recurrent layer, and where there is none."""

from typing import Any

import pytest

from rnncalc import GRU, RNN, Dense, Dropout, Embedding, Layer, Network, Part, run


@pytest.mark.parametrize(
    ("layers", "topology", "shapes"),
    [
        ([Embedding(3), Dense(5)], "one-to-many", [(3,), (7, 5)]),
        ([Dense(3), Dense(5)], "one-to-many", [(7, 3), (7, 5)]),
        ([Embedding(3), Dense(5), GRU(2), RNN(2)], "one-to-many", [(3,), (5,), (7, 2), (7, 2)]),
        ([Dense(3), Dropout(0.5)], "many-to-one", [(7, 3), (3,)]),
        ([Dense(3), GRU(2), RNN(4), Dense(5), Dense(6)], "many-to-one", [(7, 3), (7, 2), (4,), (5,), (6,)]),
        ([Embedding(3), GRU(2), Dense(5)], "many-to-many", [(7, 3), (7, 2), (7, 5)]),
    ],
    ids=str,
)
def test_shapes_are_those_of_the_topology(layers: list[Layer], topology: Any, shapes: list[tuple[int, ...]]) -> None:
    """What leaves each layer, and the output layer, which turns nothing."""
    for output in (None, 2):
        done = run(Network(input=4, layers=layers, output=output, topology=topology, steps=7))
        last = [(*shapes[-1][:-1], 2)] if output else []
        assert [layer.shape for layer in done.layers] == [*shapes, *last]
        assert done.agrees


def test_zeros_follow_the_one_vector() -> None:
    """A table's row, or the input; a layer that adds 1 tells how many steps read nothing else."""
    weights = {"rnn_1": {"W_xh": [[2.0]], "W_hh": [[0.0]], "b_h": [1.0]}}
    network = Network(input=1, layers=[RNN(1, activation="linear")], topology="one-to-many", steps=3)
    assert run(network, weights=weights, inputs=[[5.0]]).outputs == [[11.0], [1.0], [1.0]]
    table = network.replace(input=2, layers=[Embedding(1), RNN(1, activation="linear")])
    done = run(table, weights=weights | {"embedding_1": {"E": [[7.0], [5.0]]}}, inputs=[1])
    assert done.outputs == [[11.0], [1.0], [1.0]]


@pytest.mark.parametrize(("output", "shapes"), [(None, [(7, 3)]), (2, [(3,), (7, 2)])])
def test_an_embedding_alone_looks_up_one_token(output: int | None, shapes: list[tuple[int, ...]]) -> None:
    """One-to-many: zeros follow what it outputs, which is a sequence only if nothing else reads it."""
    done = run(Network(input=4, layers=[Embedding(3)], output=output, steps=7, topology="one-to-many"))
    assert done.agrees
    assert [layer.shape for layer in done.layers] == shapes
    assert done.layers[0].to_read == 3


BOTH_WAYS = {
    "rnn_1": {
        "forward/W_xh": [[1.0]],
        "forward/W_hh": [[1.0]],
        "forward/b_h": [0.0],
        "backward/W_xh": [[10.0]],
        "backward/W_hh": [[1.0]],
        "backward/b_h": [0.0],
    }
}


@pytest.mark.parametrize(
    ("merge", "every", "last"),
    [
        ("sum", [[61.0], [53.0], [36.0]], [66.0]),
        ("mul", [[60.0], [150.0], [180.0]], [360.0]),
        ("ave", [[30.5], [26.5], [18.0]], [33.0]),
        ("concat", [[1.0, 60.0], [3.0, 50.0], [6.0, 30.0]], [6.0, 60.0]),
        (None, [[1.0, 60.0], [3.0, 50.0], [6.0, 30.0]], [6.0, 60.0]),
    ],
)
def test_two_directions_are_merged_step_by_step_or_at_their_ends(merge: Any, every: Any, last: list[float]) -> None:
    """Sums of 1, 2 and 3 from the left, and of 10, 20 and 30 from the right, which ends at the first step."""
    layer = RNN(1, activation="linear", bidirectional=True, merge=merge)
    network = Network(input=1, layers=[layer], steps=3, topology="many-to-many")
    given: dict[str, Any] = {"weights": BOTH_WAYS, "inputs": [[1.0], [2.0], [3.0]]}
    assert run(network, **given).outputs == every
    (ends,) = run(network.replace(topology="many-to-one"), **given).layers
    assert (ends.output, ends.shape, ends.agrees) == (last, (len(last),), True)


def test_each_output_is_the_next_input() -> None:
    """2·5 = 10, then 2·10 + 10 = 30, then 2·30 + 30 = 90; with a number beside, 1 at each step, which counts 3."""
    weights: dict[str, Any] = {"rnn_1": {"W_xh": [[2.0]], "W_hh": [[1.0]], "b_h": [0.0]}}
    network = Network(input=1, layers=[RNN(1, activation="linear")], topology="one-to-many", steps=3, feedback=True)
    done = run(network, weights=weights, inputs=[[5.0]])
    assert done.outputs == [[10.0], [30.0], [90.0]]
    assert done.agrees
    above = network.replace(layers=(*network.layers, Dense(1, bias=False)))
    halved = run(above, weights=weights | {"dense_1": {"W": [[0.5]]}}, inputs=[[5.0]])
    assert [layer.output for layer in halved.layers] == [[[10.0], [20.0], [40.0]], [[5.0], [10.0], [20.0]]]


def test_a_decoder_starts_where_the_encoder_ends() -> None:
    """1 + 2 + 3 = 6 from the left and 60 from the right, side by side; then each adds what it reads."""
    summed: dict[str, Any] = {"W_xh": [[1.0], [10.0]], "W_hh": [[1.0, 0.0], [0.0, 1.0]], "b_h": [0.0, 0.0]}
    layer = RNN(1, activation="linear", bidirectional=True)
    network = Network(encoder=Part(1, (layer,), steps=3), decoder=Part(1, (RNN(2, activation="linear"),), steps=2))
    inputs = {"encoder": [[1.0], [2.0], [3.0]], "decoder": [[7.0], [8.0]]}
    done = run(network, weights={**BOTH_WAYS, "rnn_2": summed}, inputs=inputs)
    assert done.layers[-1].output == [[13.0, 130.0], [21.0, 210.0]]
