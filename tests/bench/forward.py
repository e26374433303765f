"""Times a pass of an LSTM against its bare products, and its pass back; `run.py` starts it in a fresh environment."""

import sys
from operator import mul
from random import random
from statistics import median
from time import perf_counter

from rnncalc import LSTM, Network
from rnncalc.forward.arrays import PassData, floats
from rnncalc.forward.backward_pass import BackwardPass
from rnncalc.forward.network_pass import Pass

if sys.version_info >= (3, 12):
    from math import sumprod

    def bare(rows: list[list[float]], x: list[float]) -> list[float]:
        return [sumprod(row, x) for row in rows]

else:

    def bare(rows: list[list[float]], x: list[float]) -> list[float]:
        return [sum(map(mul, row, x)) for row in rows]


def seconds_of_pass(units: int, steps: int) -> float:
    """Return the time of a pass, without making its weights."""
    network = Network(input=units, layers=(LSTM(units),), steps=steps)
    (placed,) = network.stack
    weights = {placed.name: PassData().weights_of(placed)}
    inputs = [[random() for _ in range(units)] for _ in range(steps)]
    forward = Pass(network, floats, weights=weights, inputs={None: inputs})
    began = perf_counter()
    (layer,) = forward.run()
    took = perf_counter() - began
    assert layer.agrees
    return took


def seconds_of_products(units: int, steps: int) -> float:
    """Return the time of the eight products of each step, and nothing else."""
    matrices = [[[random() for _ in range(units)] for _ in range(units)] for _ in range(8)]
    x = [random() for _ in range(units)]
    began = perf_counter()
    for _ in range(steps):
        for rows in matrices:
            bare(rows, x)
    return perf_counter() - began


def backward_against_forward(units: int, steps: int) -> float:
    """Return the time of a pass back through an LSTM, against that of its own pass forward."""
    network = Network(input=units, layers=(LSTM(units),), steps=steps)
    (placed,) = network.stack
    weights = {placed.name: PassData().weights_of(placed)}
    began = perf_counter()
    recording = BackwardPass(network, weights)
    ended = perf_counter()
    recording.backward([(recording.outputs[-1], [1.0] * units)])
    return (perf_counter() - ended) / (ended - began)


def main() -> None:
    pairs = [(seconds_of_pass(256, 10), seconds_of_products(256, 10)) for _ in range(7)]
    whole, bare_time = (median(times) for times in zip(*pairs, strict=True))
    longer = median(seconds_of_pass(256, 40) for _ in range(3)) / whole / 4
    wider = median(seconds_of_pass(512, 10) for _ in range(3)) / whole / 4
    back = median(backward_against_forward(64, 50) for _ in range(7))
    print(whole / bare_time, longer, wider, back)


main()
