"""States before the first step that come from a vector, or from an encoder, through dense layers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, fitting, network_of, started
from verified import backward

from rnncalc import GRU, LSTM, RNN, Dense, Network, count, run
from rnncalc.conventions import CONVENTIONS
from rnncalc.errors import SpecError
from rnncalc.network.flow import Final, InitialState, Input, Recur
from rnncalc.network.parts import Part

M, H, V, N = 5, 3, 7, 2


def test_one_dense_layer_a_state() -> None:
    """h·M + h for each state and direction; the layer's own count stays."""
    net = Network(input=M, layers=[LSTM(H, initial_state=V, bidirectional=True)], output=N, steps=4)
    assert net.params == 2 * 4 * H * (M + H + 1) + 2 * 2 * (H * V + H) + N * (2 * H + 1)
    assert [(placed.name, placed.params) for placed in net.stack[:2]] == [
        ("lstm_1_h_0", 2 * H * (V + 1)),
        ("lstm_1_c_0", 2 * H * (V + 1)),
    ]
    vector = next(place for place, move in enumerate(net.flow) if isinstance(move, Input) and move.extra_of)
    made = [place for place, move in enumerate(net.flow) if isinstance(move, InitialState)]
    (recurs,) = (move for move in net.flow if isinstance(move, Recur))
    assert [net.flow[place].reads for place in made] == [(vector,), (vector,)]
    assert recurs.reads[1:] == tuple(made)


def test_a_bridge_reads_the_final_states() -> None:
    """Of the same letter if there is one, else h: kinds, widths and directions may then differ."""
    encoder = Part(M, (GRU(6, bidirectional=True),), steps=4)
    decoder = Part(M, (LSTM(4, initial_state=12),), Dense(3), 5)  # type: ignore[arg-type]  # an output may be a dense layer
    with pytest.raises(SpecError, match="expected an Output"):
        Network(encoder=encoder, decoder=decoder)
    net = Network(encoder=encoder, decoder=decoder._replace(output=None))
    assert [move.state for move in net.flow if isinstance(move, Final)] == ["h", "h"]
    assert net.params == 2 * 3 * 6 * (M + 6 + 1) + 4 * 4 * (M + 4 + 1) + 2 * 4 * (12 + 1)
    message = r"decoder\.layers\[0\]\.initial_state: expected 12, the width of the encoder's final state, got 6"
    with pytest.raises(SpecError, match=message):
        Network(encoder=encoder, decoder=Part(M, (LSTM(4, initial_state=6),), steps=5))


@pytest.mark.broad
@given(spec=started(), chunk=st.integers(1, 4))
def test_counts_are_what_passes_do(spec: Spec, chunk: int) -> None:
    """Forward and backward, whole and in chunks: weights read, multiplications, saved activations, gradients."""
    net = network_of(spec)
    assert run(net).agrees
    few = net.params <= 200  # each finite difference takes two passes
    assert backward(net, chunk=fitting(chunk, net), verify=few).agrees
    assert count(net).params == sum(tensor.params for placed in net.stack for tensor in placed.tensors)


@pytest.mark.broad
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_has_it(convention: str) -> None:
    """As a dense module beside its own; with feedback it is applied once."""
    layers = (GRU(2, initial_state=3), LSTM(1, initial_state=3))
    net = Network(input=1, layers=layers, steps=3, topology="one-to-many", feedback=True, convention=convention)
    assert run(net).agrees
    assert backward(net).agrees


def test_a_state_that_is_made_is_that_of_its_layer() -> None:
    """Each of the two has a name of its own, and says whose it is; an encoder-decoder's too."""
    layers = [LSTM(4, initial_state=5, name="a"), GRU(3, initial_state=2)]
    assert [(placed.name, placed.starts) for placed in Network(input=3, layers=layers, steps=2).stack] == [
        ("a_h_0", ("a", "h")),
        ("a_c_0", ("a", "c")),
        ("a", None),
        ("gru_1_h_0", ("gru_1", "h")),
        ("gru_1", None),
    ]
    bridged = Network(encoder=Part(2, (RNN(4),)), decoder=Part(3, (RNN(5, initial_state=4),)))
    assert [placed.starts for placed in bridged.stack] == [None, ("rnn_2", "h"), None]
