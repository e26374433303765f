"""Where a sequence begins and ends in a pass: at a recurrent layer, and where there is none."""

from typing import Any

import pytest

from rnncalc import GRU, RNN, Dense, Dropout, Embedding, Layer, Network, run


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
