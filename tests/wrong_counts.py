"""Wrong counts worked out by hand, for each mistake of the table by its id: a network of any sizes, and the number.

A line of `wrong_counts.txt` is `ID: NETWORK | COUNT`, of m inputs, h units, k more units and n outputs.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rnncalc import *  # noqa: F403  # what the expressions of the file may name
from rnncalc import GRU, LSTM, DecoderAttention, Layer, Network, Output, Part
from rnncalc.layers.cell import Merge
from rnncalc.polynomial import letter  # noqa: F401  # likewise

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


def attending(m: int, h: int, k: int, n: int, **options: Any) -> Network:
    """Return a bidirectional encoder of h units, and a decoder of k more whose attention has 5."""
    attention = DecoderAttention(units=5, **{"bias": False, **options})
    decoder = Part(n, (GRU(k, initial_state=2 * h),), Output(n), 7, attention)
    return Network(encoder=Part(m, (GRU(h, bidirectional=True),), steps=6), decoder=decoder)


def around_attention(m: int, h: int, k: int, n: int) -> int:
    """Return the parameters of all else in it: the encoder, the bridge, the decoder's GRU and its output."""
    return 2 * 3 * rnn(m, h) + out(2 * h, k) + 3 * rnn(n + 2 * h, k) + out(k, n)


WRONG: dict[str, ByHand] = {}
for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
    mistake, _, case = line.partition(": ")
    WRONG[mistake] = eval(f"lambda m, h, k, n: ({case.replace(' | ', ', ')}\n)")
