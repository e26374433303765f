"""Wrong counts worked out by hand, for each mistake of the table by its id: a network of any sizes, and the number."""

from collections.abc import Callable

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    SRU,
    BatchNorm,
    Conv1D,
    ConvLSTM,
    Dense,
    Embedding,
    External,
    FastGRNN,
    Flatten,
    Layer,
    MinGRU,
    MinLSTM,
    Network,
    Output,
    Part,
    Pool1D,
)
from rnncalc.layers.cell import Merge

Wrong = tuple[Network, int]
ByHand = Callable[[int, int, int, int], Wrong]
"""From m inputs, h units, k more units and n outputs."""


def over(m: int, *layers: Layer, n: int = 0, steps: int | None = None) -> Network:
    """Return a network of m inputs, some layers and, if there are n, as many outputs."""
    return Network(input=m, layers=layers, output=Output(n) if n else None, steps=steps)


def rnn(m: int, h: int) -> int:
    """Return one gate's parameters."""
    return h * m + h * h + h


def lstm(m: int, h: int) -> int:
    """Return four gates' parameters."""
    return 4 * rnn(m, h)


def out(h: int, n: int) -> int:
    """Return an output layer's parameters."""
    return n * h + n


def two_way(m: int, h: int, k: int, n: int, merge: Merge | None = None) -> Network:
    """Return a bidirectional LSTM, one more above it, and an output."""
    return over(m, LSTM(h, bidirectional=True, merge=merge), LSTM(k), n=n)


def projected(m: int, h: int, k: int, n: int) -> Network:
    """Return an LSTM of h + 1 units projected to h, one more above it, and an output."""
    return over(m, LSTM(h + 1, projection=h), LSTM(k), n=n)


def halves(m: int, h: int, k: int, n: int) -> Network:
    """Return an encoder that reads m features and a decoder that reads k and gives n."""
    return Network(encoder=Part(m, (LSTM(h),)), decoder=Part(k, (LSTM(h),), Output(n)))


WRONG: dict[str, ByHand] = {
    "kernel-of-one-step": lambda m, h, k, n: (over(m, Conv1D(h, 3), LSTM(k)), h * m + h + lstm(h, k)),
    "no-channels": lambda m, h, k, n: (over(m, Conv1D(h, 3), LSTM(k)), h * 3 + h + lstm(h, k)),
    "no-groups": lambda m, h, k, n: (over(2 * m, Conv1D(2 * h, 3, groups=2)), 2 * h * 2 * m * 3 + 2 * h),
    "bias-of-each-weight": lambda m, h, k, n: (over(m, Conv1D(h, 3)), 2 * h * m * 3),
    "no-bias-around": lambda m, h, k, n: (over(m, Conv1D(h, 3), LSTM(k)), h * m * 3 + lstm(h, k)),
    "steps-before-{layer}": lambda m, h, k, n: (
        over(m, Conv1D(h, 3), Pool1D(2), Flatten(), Dense(k), steps=12),
        h * m * 3 + h + k * (10 * h + 1),
    ),
    "not-flattened": lambda m, h, k, n: (
        over(m, Conv1D(h, 3), Pool1D(2), Flatten(), Dense(k), steps=12),
        h * m * 3 + h + k * (h + 1),
    ),
    "stored-counted": lambda m, h, k, n: (over(m, BatchNorm(), LSTM(h)), 4 * m + lstm(m, h)),
    "no-stored": lambda m, h, k, n: (
        over(m, BatchNorm(), LSTM(h)).replace(convention="keras"),
        2 * m + lstm(m, h),
    ),
    "no-biases": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * h * (m + h) + n * h),
    "no-hidden-biases": lambda m, h, k, n: (over(m, GRU(h), n=n), 3 * h * (m + h) + out(h, n)),
    "no-output-bias": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + n * h),
    "biases-counted": lambda m, h, k, n: (over(m, LSTM(h, bias=False)), lstm(m, h)),
    "no-output": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h)),
    "repeat-once": lambda m, h, k, n: (over(m, LSTM(h, repeat=3)), lstm(m, h)),
    "no-extra-inputs": lambda m, h, k, n: (over(m, LSTM(h, extra_inputs=k)), lstm(m, h)),
    "no-encoder": lambda m, h, k, n: (halves(m, h, k, n), lstm(k, h) + out(h, n)),
    "no-decoder": lambda m, h, k, n: (halves(m, h, k, n), lstm(m, h)),
    "encoder-input": lambda m, h, k, n: (halves(m, h, k, n), 2 * lstm(m, h) + out(h, n)),
    "full-recurrence": lambda m, h, k, n: (over(m, RNN(h, recurrence="diagonal")), rnn(m, h)),
    "no-embedding": lambda m, h, k, n: (over(m, Embedding(k), RNN(h), n=n), rnn(k, h) + out(h, n)),
    "one-direction": lambda m, h, k, n: (two_way(m, h, k, n), lstm(m, h) + lstm(2 * h, k) + out(k, n)),
    "one-direction-deeper": lambda m, h, k, n: (two_way(m, h, k, n), 2 * lstm(m, h) + lstm(h, k) + out(k, n)),
    "concat-for-merge": lambda m, h, k, n: (
        two_way(m, h, k, n, "sum"),
        2 * lstm(m, h) + lstm(2 * h, k) + out(k, n),
    ),
    "network-input-deeper": lambda m, h, k, n: (two_way(m, h, k, n), 2 * lstm(m, h) + lstm(m, k) + out(k, n)),
    "two-biases": lambda m, h, k, n: (over(m, GRU(h), n=n), 3 * h * (m + h + 2) + out(h, n)),
    "one-bias": lambda m, h, k, n: (
        Network(input=m, layers=(LSTM(h),), convention="pytorch"),
        lstm(m, h),
    ),
    "no-candidate": lambda m, h, k, n: (over(m, GRU(h), n=n), 2 * rnn(m, h) + out(h, n)),
    "embedding-output": lambda m, h, k, n: (
        over(m, Embedding(k), RNN(h), n=n, steps=m + 7),
        (m + 7) * k + rnn(k, h) + out(h, n),
    ),
    "only-recurrent": lambda m, h, k, n: (over(m, Embedding(k), RNN(h), n=n), rnn(k, h)),
    "padding-row": lambda m, h, k, n: (over(m, Embedding(k), RNN(h), n=n), m * k + k + rnn(k, h) + out(h, n)),
    "vocabulary-of-batch": lambda m, h, k, n: (
        over(m, Embedding(k), RNN(h), n=n, steps=7),
        10_007 * 7 * k + rnn(k, h) + out(h, n),
    ),
    "one-direction-in-{layer}": lambda m, h, k, n: (
        over(m, LSTM(h, bidirectional=True), LSTM(k, bidirectional=True), n=n),
        lstm(m, h) + 2 * lstm(h, k) + out(2 * k, n),
    ),
    "input-square": lambda m, h, k, n: (over(m, LSTM(h), n=n), m * m + out(h, n)),
    "gates-1": lambda m, h, k, n: (over(m, LSTM(h), n=n), rnn(m, h) + out(h, n)),
    "gates-2": lambda m, h, k, n: (over(m, LSTM(h), n=n), 2 * rnn(m, h) + out(h, n)),
    "gates-3": lambda m, h, k, n: (over(m, LSTM(h), n=n), 3 * rnn(m, h) + out(h, n)),
    "gates-4": lambda m, h, k, n: (over(m, GRU(h), n=n), 4 * rnn(m, h) + out(h, n)),
    "no-recurrent": lambda m, h, k, n: (over(m, GRU(h), n=n), 3 * h * (m + 1) + out(h, n)),
    "no-input": lambda m, h, k, n: (over(m, GRU(h), n=n), 3 * h * (h + 1) + out(h, n)),
    "diagonal": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * h * (m + 1 + 1) + out(h, n)),
    "as-dense": lambda m, h, k, n: (over(m, LSTM(h), n=n), h * (m + 1) + out(h, n)),
    "bias-of-inputs": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * (h * (m + h) + (m + h)) + out(h, n)),
    "one-bias-in-all": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * h * (m + h) + h + out(h, n)),
    "scalar-biases": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * (h * (m + h) + 1) + out(h, n)),
    "output-in-cell": lambda m, h, k, n: (over(m, RNN(h), n=n), rnn(m, h) + h * h + out(h, n)),
    "output-and-bias-in-cell": lambda m, h, k, n: (over(m, RNN(h), n=n), rnn(m, h) + h * h + h + out(h, n)),
    "times-steps": lambda m, h, k, n: (over(m, GRU(h), n=n, steps=7), 7 * 3 * rnn(m, h) + out(h, n)),
    "copy-a-step": lambda m, h, k, n: (over(m, GRU(h), n=n, steps=7), 7 * (3 * rnn(m, h) + out(h, n))),
    "output-times-steps": lambda m, h, k, n: (over(m, GRU(h), n=n, steps=7), 3 * rnn(m, h) + 7 * out(h, n)),
    "steps-as-features": lambda m, h, k, n: (over(m, GRU(h), n=n, steps=7), 3 * rnn(7 * m, h) + out(h, n)),
    "directions-twice": lambda m, h, k, n: (
        two_way(m, h, k, n),
        4 * lstm(m, h) + lstm(2 * h, k) + out(k, n),
    ),
    "no-projection": lambda m, h, k, n: (projected(m, h, k, n), lstm(m, h + 1) + lstm(h + 1, k) + out(k, n)),
    "units-for-projection": lambda m, h, k, n: (
        projected(m, h, k, n),
        4 * (h + 1) * (m + h + 1) + h * (h + 1) + lstm(h + 1, k) + out(k, n),
    ),
    "recurrent-of-units": lambda m, h, k, n: (
        projected(m, h, k, n),
        lstm(m, h + 1) + h * (h + 1) + lstm(h, k) + out(k, n),
    ),
    "no-projection-matrix": lambda m, h, k, n: (
        projected(m, h, k, n),
        4 * (h + 1) * (m + h + 1) + lstm(h, k) + out(k, n),
    ),
    "no-peepholes": lambda m, h, k, n: (over(m, LSTM(h, peepholes=True, learned_state=True)), lstm(m, h) + 2 * h),
    "absent-gate": lambda m, h, k, n: (over(m, LSTM(h, coupled=True), n=n), lstm(m, h) + out(h, n)),
    "no-kernel": lambda m, h, k, n: (over(m, ConvLSTM(h, kernel=3, space=(5, 7))), lstm(m, h)),
    "kernel-along-one-axis": lambda m, h, k, n: (
        over(m, ConvLSTM(h, kernel=3, space=(5, 7))),
        4 * h * (3 * m + 3 * h + 1),
    ),
    "flattened": lambda m, h, k, n: (over(m, ConvLSTM(h, kernel=3, space=(5,))), lstm(5 * m, 5 * h)),
    "no-gains": lambda m, h, k, n: (over(m, LSTM(h, layer_norm=True), n=n), lstm(m, h) + h + out(h, n)),
    "no-norm": lambda m, h, k, n: (over(m, LSTM(h, layer_norm=True), n=n), lstm(m, h) + out(h, n)),
    "no-norm-of-states": lambda m, h, k, n: (over(m, LSTM(h, layer_norm=True), n=n), lstm(m, h) + 4 * h + out(h, n)),
    "no-initial-state": lambda m, h, k, n: (over(m, LSTM(h, initial_state=k), n=n), lstm(m, h) + out(h, n)),
    "no-learned-state": lambda m, h, k, n: (over(m, LSTM(h, peepholes=True, learned_state=True)), lstm(m, h) + 3 * h),
    "tied-twice": lambda m, h, k, n: (
        Network(input=m, layers=(Embedding(h), RNN(h)), output=Output(m, tied=True)),
        m * h + rnn(h, h) + m * h + m,
    ),
    "dense-bias-twice": lambda m, h, k, n: (over(m, Dense(k), RNN(h)), k * (m + 2) + rnn(k, h)),
    "frozen-out": lambda m, h, k, n: (over(m, Dense(k, frozen=True), RNN(h)), rnn(k, h)),
    "no-external": lambda m, h, k, n: (over(m, External(1_234_567), RNN(h)), rnn(m, h)),
    "packed-width": lambda m, h, k, n: (over(m, GRU(h), n=n), 3 * h + out(h, n)),
    "no-second-direction": lambda m, h, k, n: (two_way(m, h, k, n), lstm(m, h) + lstm(h, k) + out(k, n)),
    "two-directions": lambda m, h, k, n: (over(m, LSTM(h), n=n), 2 * lstm(m, h) + out(h, n)),
    "two-directions-deeper": lambda m, h, k, n: (over(m, LSTM(h), n=n), 2 * lstm(m, h) + out(2 * h, n)),
    "times-{times}": lambda m, h, k, n: (over(m, GRU(h), n=n), 6 * 3 * rnn(m, h) + out(h, n)),
    "whole-times-{times}": lambda m, h, k, n: (over(m, GRU(h), n=n), 6 * (3 * rnn(m, h) + out(h, n))),
    "recurrent-times-steps": lambda m, h, k, n: (
        over(m, LSTM(h), n=n, steps=7),
        4 * h * (m + 7 * h + 1) + out(h, n),
    ),
    "recurrent-between-steps": lambda m, h, k, n: (
        over(m, LSTM(h), n=n, steps=7),
        4 * h * (m + 6 * h + 1) + out(h, n),
    ),
    "input-times-steps": lambda m, h, k, n: (
        over(m, Dense(k), LSTM(h), n=n, steps=7),
        k * (m + 1) + 4 * h * (7 * k + h + 1) + out(h, n),
    ),
    "output-of-all-steps": lambda m, h, k, n: (over(m, LSTM(h), n=n, steps=7), lstm(m, h) + out(7 * h, n)),
    "bias-of-input": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * (h * (m + h) + m) + out(h, n)),
    "scalar-output-bias": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + n * h + 1),
    "output-bias-of-inputs": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + n * h + h),
    "embedding-bias": lambda m, h, k, n: (over(m, Embedding(k), RNN(h), n=n), m * k + k + rnn(k, h) + out(h, n)),
    "projection-bias": lambda m, h, k, n: (
        projected(m, h, k, n),
        4 * (h + 1) * (m + h + 1) + h * (h + 1) + h + lstm(h, k) + out(k, n),
    ),
    "taken-as-tied": lambda m, h, k, n: (over(m, Embedding(k), RNN(h), n=n), m * k + rnn(k, h) + n),
    "state-counted": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + 2 * h + out(h, n)),
    "no-layer": lambda m, h, k, n: (over(m, LSTM(h), LSTM(k), n=n), lstm(m, k) + out(k, n)),
    "units": lambda m, h, k, n: (over(m, LSTM(h), LSTM(k), n=n), h + k + n),
    "own-width-deeper": lambda m, h, k, n: (over(m, LSTM(h), LSTM(k), n=n), lstm(m, h) + lstm(k, k) + out(k, n)),
    "state-beside-input": lambda m, h, k, n: (halves(m, h, k, n), lstm(m, h) + lstm(k + h, h) + out(h, n)),
    "swapped": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(h, m) + out(m, n)),
    "output-of-input": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + out(m, n)),
    "output-of-both-states": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + out(2 * h, n)),
    "deeper-of-both-states": lambda m, h, k, n: (
        over(m, LSTM(h), LSTM(k), n=n),
        lstm(m, h) + lstm(2 * h, k) + out(2 * k, n),
    ),
    "output-of-state-and-input": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + out(h + m, n)),
    "one-hot": lambda m, h, k, n: (over(m, Embedding(k), RNN(h), n=n), rnn(m, h) + out(h, n)),
    "no-gate": lambda m, h, k, n: (over(m, LSTM(h, peepholes=True), n=n), 3 * rnn(m, h) + 2 * h + out(h, n)),
    "matrices-of-one-gate": lambda m, h, k, n: (over(m, LSTM(h), n=n), h * (m + h) + 4 * h + out(h, n)),
    "input-of-one-gate": lambda m, h, k, n: (over(m, LSTM(h), n=n), h * m + 4 * h * (h + 1) + out(h, n)),
    "recurrent-of-one-gate": lambda m, h, k, n: (over(m, LSTM(h), n=n), h * h + 4 * h * (m + 1) + out(h, n)),
    "cell-state-in-gates": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m + h, h) + out(h, n)),
    "square": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * ((m + h) * (m + h) + h) + out(h, n)),
    "recurrent-of-output": lambda m, h, k, n: (over(m, RNN(h), n=n), h * (m + n + 1) + out(h, n)),
    "peepholes-counted": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + 3 * h + out(h, n)),
    "full-peepholes": lambda m, h, k, n: (over(m, LSTM(h, peepholes=True)), lstm(m, h) + 3 * h * h),
    "peephole-in-each-gate": lambda m, h, k, n: (over(m, LSTM(h, peepholes=True)), lstm(m, h) + 4 * h),
    "bias-in-each-gate": lambda m, h, k, n: (over(m, SRU(m + 1)), 4 * (m + 1) * m + 6 * (m + 1)),
    "other-gates-{count}": lambda m, h, k, n: (over(m, MinGRU(h), n=n), 4 * h * (m + 1) + out(h, n)),
    "one-plain-rnn": lambda m, h, k, n: (over(m, LSTM(h, repeat=2), n=n), h * m + h * h + n * h),
    "no-scalars": lambda m, h, k, n: (over(m, FastGRNN(h), n=n), h * (m + h) + 2 * h + out(h, n)),
    "recurrence-counted": lambda m, h, k, n: (over(m, MinLSTM(h), n=n), 3 * rnn(m, h) + out(h, n)),
    "shared-twice": lambda m, h, k, n: (over(m, FastGRNN(h), n=n), 2 * rnn(m, h) + 2 + out(h, n)),
    "only-state": lambda m, h, k, n: (over(m, LSTM(h, learned_state=True), n=n), lstm(m, h) + h + out(h, n)),
    "weights-times-steps": lambda m, h, k, n: (
        over(m, LSTM(h, peepholes=True), n=n, steps=7),
        4 * h * (7 * m + 7 * h + 1) + 7 * 3 * h + out(h, n),
    ),
    "only-layer": lambda m, h, k, n: (over(m, LSTM(h), LSTM(k), n=n), lstm(h, k)),
    "only-{matrices}": lambda m, h, k, n: (over(m, LSTM(h), n=n), h * h + out(h, n)),
    "recurrent-of-inputs": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * h * (m + m + 1) + out(h, n)),
    "recurrent-among-inputs": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * (h * (m + 1) + m * m) + out(h, n)),
    "input-of-units": lambda m, h, k, n: (over(m, LSTM(h), n=n), 4 * h * (h + h + 1) + out(h, n)),
    "steps-for-units": lambda m, h, k, n: (over(m, LSTM(h), n=n, steps=k + 41), lstm(m, k + 41) + out(k + 41, n)),
    "widths-added": lambda m, h, k, n: (over(m, LSTM(h), n=n), m + h + out(h, n)),
    "output-in-each-gate": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + 4 * out(h, n)),
    "output-as-cell": lambda m, h, k, n: (over(m, LSTM(h), n=n), lstm(m, h) + lstm(h, n)),
    "convention-{name}": lambda m, h, k, n: (over(m, GRU(h)), 3 * h * (m + h) + 4 * h),  # Flax linen's
    "output-width": lambda m, h, k, n: (over(m, RNN(h), n=n), rnn(m, h) + out(h, n + 100_003)),
}
