"""The nodes of a step, written out."""

import re
from pathlib import Path

import pytest

import rnncalc
from rnncalc import Cell, ConvLSTM, Dense
from rnncalc.conventions import convention
from rnncalc.step.trace import trace


def noted(layer: Cell | Dense, inputs: int, name: str) -> list[str]:
    """Return a line for each node: its operation and operands, its width, its letter, and which weights it is."""
    return [
        " ".join(
            [
                node.operation,
                *map(str, node.operands),
                *filter(None, [node.width, node.letter]),
                *([f"{node.weights.role} {node.weights.letter}{node.weights.vector}"] if node.weights else []),
                *(["×".join(node.axes)] if len(node.axes) > 1 else []),
            ]
        )
        for node in trace(layer, inputs, convention(name)).nodes
    ]


NAMES = {name: getattr(rnncalc, name) for name in rnncalc.__all__}
NODES = Path(__file__).with_name("nodes.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]


@pytest.mark.parametrize("block", NODES, ids=lambda block: block.splitlines()[0])
def test_the_nodes_of_a_step(block: str) -> None:
    """In the order in which they are computed; each gate has its letter."""
    title, *lines = block.splitlines()
    ((layer, inputs, name),) = re.findall(r"(.*) on (\d+), ([\w-]+)", title)
    assert [line.strip() for line in noted(eval(layer, NAMES), int(inputs), name)] == lines


def test_the_first_nodes_of_a_convolution() -> None:
    """A kernel has its axes behind those of the filters and the features; its bias is added at every place."""
    assert noted(ConvLSTM(2, space=(4, 5)), 80, "keras")[:8] == [
        *("input w x", "state s h", "state s c"),
        *("weights input ix h×m×k×k", "convolve 3 0 s", "weights h bias i", "everywhere 4 5 s"),
        "weights recurrent ih h×h×k×k",
    ]
