"""How inputs flow through a program: the modules it makes, and whole programs that are written out by hand."""

import pytest
from case_files import ROOT, cases
from programs.programs import Written, classes, written

from rnncalc import GRU, LSTM, RNN, ConvLSTM, Dropout, Embedding, External, Layer, Network, Output, Part
from rnncalc.errors import RefusedError
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.normalisation import BatchNorm, LayerNorm
from rnncalc.programs import SPELLINGS, source


def net(*layers: Layer, **given: object) -> Network:
    return Network(input=4, layers=layers, **given)  # type: ignore[arg-type]


LAYERS = (
    *(Embedding(3), RNN(4), BatchNorm(scale=False, center=False, name="b"), LayerNorm(bias=False, name="l")),
    *(Conv1D(6, 2, stride=3, padding="same"), RNN(3)),
)
(MADE,) = cases("programs/modules.yaml")


@pytest.mark.parametrize("target", SPELLINGS)
def test_the_modules_that_are_made(target: str) -> None:
    """Each with its parameters; those of long lines are above them."""
    text = source(Network(input=9, layers=LAYERS, output=Output(9, tied=True), steps=9), target)
    lines = text.split("class Network(")[1].split("\n")
    assert [line.strip() for line in lines if line.startswith("        self.")] == MADE[target]


@pytest.mark.parametrize(
    ("giving", "taking", "line"),
    [
        (GRU(3, bidirectional=True), GRU(6), "gru_1_h = torch.cat([gru_1_h[0::2], gru_1_h[1::2]], dim=-1)  # joined"),
        (
            GRU(6),
            GRU(3, bidirectional=True),
            "gru_1_h = torch.stack(gru_1_h.chunk(2, dim=-1), dim=1).flatten(0, 1)  # parted",
        ),
    ],
)
def test_states_of_two_directions_become_those_of_one(giving: GRU, taking: GRU, line: str) -> None:
    """Or the reverse, in PyTorch, where a state has the directions in front."""
    text = source(Network(encoder=Part(2, (giving,)), decoder=Part(2, (taking,))), "pytorch")
    code, _, note = line.partition("  # ")
    assert f"        {line}\n" in text or f"        # {note}\n        {code}\n" in text


def test_a_program_of_functions_alone_makes_nothing() -> None:
    """Where a method must have a body it is empty."""
    text = source(net(Pool1D(2), steps=4), "flax-linen")
    assert "    def setup(self) -> None:\n        pass\n" in text
    assert "        return nn.max_pool(x, (2,), (2,))  # (batch, 2, 4)\n" in text


def test_features_beside_the_one_step_of_a_one_to_one_network_have_a_step_too() -> None:
    """They join a sequence."""
    text = source(net(LSTM(3, extra_inputs=2), topology="one-to-one"), "pytorch")
    assert "    Reads x (batch, 4), lstm_1_extra (batch, 1, 2); gives (batch, 3).\n" in text


def test_shapes_stand_behind_the_statements() -> None:
    """Of a recurrent layer that is not merged, in Flax too."""
    text = source(net(GRU(3), RNN(2), steps=5, topology="many-to-many"), "flax-linen")
    assert "        x = self.gru_1(x)  # (batch, 5, 3)\n        return self.rnn_1(x)  # (batch, 5, 2)\n" in text


def test_a_padding_that_depends_on_the_steps_needs_them() -> None:
    """With a stride, where the framework does not pad itself."""
    with pytest.raises(RefusedError) as refused:
        source(net(Conv1D(3, 3, padding="same", stride=2, name="c")), "pytorch")
    assert str(refused.value) == "c: how it is padded depends on the number of steps; give steps"
    assert "padding=" in source(net(Conv1D(3, 3, padding="same", stride=2, name="c")), "keras")


GRID = ConvLSTM(4, space=(8, 8))


@pytest.mark.parametrize(
    ("network", "reshapes"),
    [
        (Network(input=192, layers=(External(100), GRID), steps=3), ["ops.reshape(x, (-1, 3, 8, 8, 3))"]),
        (
            Network(input=192, layers=(External(100), GRID), topology="many-to-many"),
            ["ops.reshape(x, (-1, x.shape[1], 8, 8, 3))"],
        ),
        (
            Network(input=3, layers=(GRID, External(9, outputs=64), GRID), topology="one-to-many"),
            [f"ops.reshape(x, (-1, x.shape[1], {step}))" for step in ("256", "8, 8, 1")],
        ),
        (Network(input=192, layers=(External(100), GRID), topology="one-to-one"), ["ops.reshape(x, (-1, 1, 8, 8, 3))"]),
        (
            Network(encoder=Part(192, (External(100), GRID), steps=3), decoder=Part(3, (GRID,), steps=2)),
            ["ops.reshape(x, (-1, 3, 8, 8, 3))"],
        ),
        (Network(input=3, layers=(GRID, External(9), GRID), steps=3), []),
    ],
)
def test_places_become_axes_and_axes_one_width(network: Network, reshapes: list[str]) -> None:
    """Before a layer whose steps have places, if its input has none; and before a part that joins the places."""
    lines = source(network, "keras").split("\n")
    assert [line.partition(" = ")[2] for line in lines if "reshape(" in line] == reshapes


def test_the_cure_names_frameworks_whose_spelling_has_the_cell() -> None:
    """A convention that has its tensors is not enough to write a program."""
    with pytest.raises(RefusedError, match=r"conv_lstm cannot be exported to pytorch; export to keras$"):
        source(Network(input=3, layers=(GRID,), steps=3), "pytorch")


@pytest.mark.parametrize("program", [*written()], ids=lambda program: f"{program.target}: {program.name}")
def test_a_program_is_the_one_by_hand(program: Written) -> None:
    """Its constants and classes; the frameworks run the same ones in `conformance/test_export_programs.py`."""
    assert classes(program.network, program.target) == program.lines


PROGRAM = (ROOT / "tests" / "programs" / "whole_program.txt").read_text(encoding="utf-8")


def test_a_whole_program() -> None:
    """Its titles, notes, shapes and frozen modules, and where they are, down to the function that prints."""
    about = "A model of the letters of a text, in a lecture with a title that is long enough to be broken"
    layers = [Embedding(16, frozen=True), Dropout(0.5), RNN(16, name="the cell", frozen=True)]
    network = Network(
        name="Char model",
        source=about,
        convention="pytorch",
        input=65,
        layers=layers,
        output=Output(65, tied=True, frozen=True, activation="softmax"),
        steps=20,
        topology="many-to-many",
    )
    assert source(network, "pytorch").split("\n\n\ndef main")[0] + "\n" == PROGRAM
    keras = source(network, "keras")
    assert "Source:" not in keras  # other numbers are counted there
    assert '    model(ops.zeros((1, 20), "int32"))\n' in keras


def test_a_cell_says_its_options_and_what_it_projects() -> None:
    """In the docstring of its class; the sentence is not broken before its last word."""
    cell = LSTM(3, projection=2, peepholes=True)
    text = source(net(LayerNorm(bias=False), cell, topology="one-to-one"), "flax-linen")
    assert (
        '    """A step of LSTM with peepholes=True and a projection, in the textbook\'s letters.\n    """\n\n' in text
    )
    assert "        self.layer_norm_1 = nn.LayerNorm(use_bias=False)  # 4 parameters\n" in text
    assert "        x = self.lstm_1(x)  # (batch, 1, 2)\n        return x[:, -1]  # (batch, 2)\n" in text
    assert "    variables = model.init(jax.random.key(0), jnp.zeros((1, 4)))\n" in text
