"""Programs as files that are run, their names beside those of the frameworks' modules, and cells of strangers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import pytest
import torch
from conformance import test_export_flax, test_export_keras, test_export_pytorch
from conformance.programs import case_of
from flax import linen, nnx
from layers.test_new_cell import Gaze, Pair, Twin
from layers.test_new_layer import CausalSkip, GatedUnit, HalvesPool
from programs.programs import Written, classes, written

from rnncalc import (
    GRU,
    LSTM,
    MGU,
    SRU,
    DecoderAttention,
    Dense,
    Dropout,
    Embedding,
    External,
    FastGRNN,
    Layer,
    Network,
    Output,
    Part,
)
from rnncalc.layers import KINDS
from rnncalc.layers.attention import Attention, Transformer
from rnncalc.layers.cell import Cell
from rnncalc.programs import SPELLINGS, source, spelling
from rnncalc.programs.code import RESERVED
from rnncalc.programs.program import program_of
from rnncalc.step.operations import OPERATIONS

pytestmark = pytest.mark.conformance

HOLD: dict[str, Any] = {
    "pytorch": test_export_pytorch.hold,
    "keras": test_export_keras.hold,
    "flax-linen": lambda case: test_export_flax.hold(case, test_export_flax.linen),
    "flax-nnx": lambda case: test_export_flax.hold(case, test_export_flax.nnx_),
}


def everything(target: str) -> Iterator[Network]:
    """Yield networks that between them have every part that a program can have."""
    layers: list[Layer] = [
        Embedding(6, frozen=True),
        LSTM(5, bidirectional=True, merge="ave", extra_inputs=2, learned_state=True),
        MGU(5, bidirectional=True, name="class"),
        Dropout(0.5),
        GRU(5, repeat=2),
        External({"in.w": (2, 3), "scope": (1,)}, trainable={"scope": False}),
        FastGRNN(6),
        SRU(6),
    ]
    yield Network(input=9, layers=layers, output=Output(9, tied=True, activation="softmax"), name='The "whole"')
    yield Network(input=4, layers=[Dense(3), LSTM(5)], topology="one-to-many", output=2)
    sizes: dict[str, Any] = {"key_size": 3, "value_size": 5} if target == "keras" else {}
    attention = DecoderAttention(heads=2, **sizes)
    encoder = Part(3, (GRU(4, bidirectional=True),))
    yield Network(encoder=encoder, decoder=Part(5, (GRU(8),), Output(2), attention=attention))


AS_MAIN = """
import runpy, sys
for path in sys.argv[1:]:
    print(end="\\f")
    runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.parametrize("target", SPELLINGS)
def test_a_program_runs_as_it_is_and_prints_its_parameters(target: str, tmp_path: Path) -> None:
    """Each prints its tensors and, last, the total, and no warning; one process runs them, as `python FILE` would."""
    nets = [*everything(target)]
    paths = [tmp_path / f"{number}.py" for number in range(len(nets))]
    for net, path in zip(nets, paths, strict=True):
        path.write_text(source(net, target), encoding="utf-8")
    words = [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", AS_MAIN, *map(str, paths)]
    env = {name: value for name, value in os.environ.items() if name != "JAX_ENABLE_X64"}
    env["KERAS_BACKEND"] = "torch"  # on JAX, Keras 3.15 fails if values and keys differ in width
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    for net, out in zip(nets, done.stdout.split("\f")[1:], strict=True):
        *lines, total = out.splitlines()
        params = program_of(net, target, stacks=spelling(target).stacks).params
        assert total.split() == ["total", f"{params:,}"]
        assert sum(int(line.split()[-1].replace(",", "")) for line in lines) == params


def test_no_identifier_is_a_name_that_a_module_has_already() -> None:
    """What the frameworks' modules have themselves is reserved, in small letters as identifiers are."""

    class Keras(keras.Model):  # type: ignore[misc]
        pass

    class Linen(linen.Module):  # type: ignore[misc]
        pass

    for module in (torch.nn.Module(), Keras(), Linen(), nnx.Module()):
        public = {name.lower() for name in dir(module) if not name.startswith("_")}
        assert public - RESERVED - {"output"} == set()
        assert "output" not in public or isinstance(module, keras.Model)


@pytest.fixture
def _strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    for cell in (Gaze, Pair, Twin):
        monkeypatch.setitem(KINDS, cell.kind, cell)


@pytest.mark.usefixtures("_strangers")
@pytest.mark.parametrize("cell", [Gaze, Pair, Twin])
@pytest.mark.parametrize("target", SPELLINGS)
def test_a_cell_of_strangers_is_written_from_its_step(target: str, cell: type[Cell]) -> None:
    """Gates that read other things, two states that are not an LSTM's, a matrix that gates share."""
    layer = cell(units=3, bidirectional=True, learned_state=True)
    net = Network(input=4, layers=(layer, cell(units=2)), output=2, steps=4)
    HOLD[target](case_of(program_of(net, target, stacks=spelling(target).stacks), net, seed=1))


@pytest.mark.parametrize("steps", [2, 5])
@pytest.mark.parametrize("target", SPELLINGS)
def test_a_layer_that_a_framework_lacks_is_written_from_its_nodes(
    target: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's own, a transformer without and with a mask, and what ends a sequence; a frozen one has one class."""
    for layer in (GatedUnit, CausalSkip, HalvesPool):
        monkeypatch.setitem(KINDS, layer.kind, layer)
    causal = Transformer(2, feed_forward=3, causal=True, norm="first", activation="gelu")
    layers: list[Layer] = [GatedUnit(4), CausalSkip(3), CausalSkip(3, frozen=True), Transformer(2, feed_forward=5)]
    for last in (HalvesPool(), Attention(3, score_bias=True)):
        net = Network(input=3, layers=[*layers, causal, last], output=2, steps=steps)
        case = case_of(program_of(net, target, stacks=spelling(target).stacks), net, seed=1)
        assert case.source.count("class CausalSkipLayer") == 1
        HOLD[target](case)


@pytest.mark.parametrize(("inputs", "topology"), [(3, "many-to-many"), (6, "many-to-one")])
@pytest.mark.parametrize("target", SPELLINGS)
def test_both_directions_of_an_sru_each_take_their_half(target: str, inputs: int, topology: Any) -> None:
    """As wide as both together, the input is itself the skip; as wide as one, it is not."""
    layers = (SRU(3, bidirectional=True, learned_state=True), SRU(3, bidirectional=True, merge="sum"), SRU(3))
    net = Network(input=inputs, layers=layers, output=2, steps=4, topology=topology)
    HOLD[target](case_of(program_of(net, target, stacks=spelling(target).stacks), net, seed=1))


WRONG = [
    ("pytorch", "torch.sigmoid(x", "torch.tanh(x"),
    ("pytorch", "1 - f", "f"),
    ("pytorch", "forward + backward", "forward - backward"),
    ("keras", 'merge_mode="sum"', 'merge_mode="mul"'),
    ("keras", "ops.sigmoid(", "ops.tanh("),
    ("flax-linen", "reverse=True, keep_order=True", "reverse=True"),
    ("flax-nnx", "nnx.tanh(", "nnx.relu("),
]


@pytest.mark.parametrize(("target", "right", "wrong"), WRONG)
def test_the_comparison_can_fail(target: str, right: str, wrong: str) -> None:
    """One word of a program that is another makes other numbers."""
    layers = (GRU(3, bidirectional=True, merge="sum", reset_after=None), MGU(3, activation="tanh", bias=False))
    net = Network(input=4, layers=layers, output=2, steps=4)
    case = case_of(program_of(net, target, stacks=spelling(target).stacks), net, seed=1)
    HOLD[target](case)
    assert right in case.source
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        HOLD[target](case._replace(source=case.source.replace(right, wrong)))


@pytest.mark.parametrize(
    "program",
    [each for each in written() if not any(isinstance(placed.layer, External) for placed in each.network.stack)],
    ids=lambda program: f"{program.target}: {program.name}",
)
def test_a_program_by_hand_gives_the_numbers_of_the_pass(program: Written) -> None:
    """Those of `programs/programs.txt`; `programs/test_writer.py` compares every line of them."""
    net, target = program.network, program.target
    known = net.with_parts({name: part._replace(steps=part.steps or 3) for name, part in net.parts.items()})
    assert classes(net, target) == program.lines
    HOLD[target](case_of(program_of(net, target, stacks=spelling(target).stacks), known, seed=1))


@pytest.mark.parametrize("target", SPELLINGS)
def test_every_activation_is_a_function_of_its_library(target: str) -> None:
    """Under the name by which a program calls it."""
    modules: dict[str, Any] = {}
    exec("\n".join(spelling(target).imports), modules)
    for name, row in OPERATIONS.items():
        if row.activations and row.program:
            function, *_ = spelling(target).functions.get(name) or (f"{spelling(target).library}.{row.program}",)
            assert "." not in function or callable(eval(function, modules)), name  # else the program defines it
