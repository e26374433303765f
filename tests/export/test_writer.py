"""How inputs flow through a program: the statements of each case are written out by hand, as PyTorch has them."""

import pytest
from export.programs import Written, classes, written

from rnncalc import GRU, LSTM, RNN, ConvLSTM, Dense, Embedding, External, FastGRNN, Layer, Network, Output, Part
from rnncalc.errors import RefusedError
from rnncalc.export import SPELLINGS, source
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.normalisation import BatchNorm, LayerNorm
from rnncalc.layers.reshaping import Flatten, LastStep, RepeatVector


def statements(network: Network) -> list[str]:
    """Return the arguments of a program's forward method, then its statements, comments left out."""
    of = source(network, "pytorch").split("    def forward(")[-1].split("\n\n\n")[0]
    head, _, body = of.partition(") -> torch.Tensor:\n")
    arguments = " ".join(head.replace(": torch.Tensor", "").replace(",\n", ", ").split()).strip(" ,")
    lines = (line.partition("# ")[0].strip() for line in body.split("\n"))
    return [arguments, *filter(None, lines)]


def net(*layers: Layer, **given: object) -> Network:
    return Network(input=4, layers=layers, **given)  # type: ignore[arg-type]


def halves(*, dense: bool) -> Network:
    encoder = Part(6, (Embedding(3), LSTM(4), LSTM(4), *((Dense(2),) if dense else ())), steps=5)
    decoder = Part(2, (LSTM(4), LSTM(4)), Output(3), steps=7)
    return Network(encoder=encoder, decoder=decoder)


STEP = "[:, step : step + 1]"
ZEROS = "zeros = x.new_zeros(len(x), steps - 1, 3)"
GROWN = "x = torch.cat([x.unsqueeze(1), zeros], dim=1)"

CASES = {
    "many-to-one ends at the last recurrent layer": (
        net(LSTM(3), GRU(5), output=2, steps=7),
        ["self, x", "x, _ = self.lstm_1(x)", "x, _ = self.gru_1(x)", "x = x[:, -1]", "return self.output(x)"],
    ),
    "without a recurrent layer at the last one": (
        net(Dense(3), Dense(2), steps=7),
        ["self, x", "x = self.dense_1(x)", "x = self.dense_2(x)", "return x[:, -1]"],
    ),
    "many-to-many goes on as it comes, its steps unknown": (
        net(RNN(3), output=2, topology="many-to-many"),
        ["self, x", "x, _ = self.rnn_1(x)", "return self.output(x)"],
    ),
    "one-to-many begins at the first recurrent layer, with zeros after the one vector": (
        net(Dense(3), RNN(5, extra_inputs=2), output=2, steps=7, topology="one-to-many"),
        [
            "self, x, rnn_1_extra, steps: int = 7",
            *("x = self.dense_1(x)", ZEROS, GROWN),
            *("x = torch.cat([x, rnn_1_extra], dim=-1)", "x, _ = self.rnn_1(x)", "return self.output(x)"),
        ],
    ),
    "without a recurrent layer at the first that is no table": (
        net(Embedding(3), Dense(5), steps=7, topology="one-to-many"),
        ["self, x, steps: int = 7", "x = self.embedding_1(x)", ZEROS, GROWN, "return self.dense_1(x)"],
    ),
    "where a table is all there is, zeros follow it": (
        net(Embedding(3), topology="one-to-many"),
        [
            *("self, x, steps: int", "x = self.embedding_1(x)", ZEROS),
            "return torch.cat([x.unsqueeze(1), zeros], dim=1)",
        ],
    ),
    "one-to-one is a sequence of one": (
        net(LSTM(3, extra_inputs=1), output=2, topology="one-to-one"),
        [
            *("self, x, lstm_1_extra", "x = x.unsqueeze(1)"),
            *("x = torch.cat([x, lstm_1_extra], dim=-1)", "x, _ = self.lstm_1(x)"),
            *("x = self.output(x)", "return x[:, -1]"),
        ],
    ),
    "features join before the sequence ends, at every step, and after it, once": (
        net(LSTM(3, extra_inputs=1), Dense(5, extra_inputs=2), steps=7),
        [
            "self, x, lstm_1_extra, dense_1_extra",
            *("x = torch.cat([x, lstm_1_extra], dim=-1)", "x, _ = self.lstm_1(x)", "x = x[:, -1]"),
            *("x = torch.cat([x, dense_1_extra], dim=-1)", "return self.dense_1(x)"),
        ],
    ),
    "fed back, every module is applied in the loop, the recurrent ones from where they were": (
        net(RNN(3, extra_inputs=2), Dense(5), output=4, steps=7, topology="one-to-many", feedback=True),
        [
            "self, x, rnn_1_extra, steps: int = 7",
            *("x = x.unsqueeze(1)", "rnn_1_end = None", "outputs = []", "for step in range(steps):"),
            *(f"x = torch.cat([x, rnn_1_extra{STEP}], dim=-1)", "x, rnn_1_end = self.rnn_1(x, rnn_1_end)"),
            *("x = self.dense_1(x)", "x = self.output(x)", "outputs.append(x)", "return torch.cat(outputs, dim=1)"),
        ],
    ),
    "fed back without features beside, without known steps, and from a learned state": (
        net(RNN(3, learned_state=True), output=4, topology="one-to-many", feedback=True),
        [
            *("self, x, steps: int", "x = x.unsqueeze(1)"),
            *("h_0 = self.rnn_1_h_0.expand(-1, len(x), -1).contiguous()", "rnn_1_end = h_0"),
            *("outputs = []", "for _ in range(steps):", "x, rnn_1_end = self.rnn_1(x, rnn_1_end)"),
            *("x = self.output(x)", "outputs.append(x)", "return torch.cat(outputs, dim=1)"),
        ],
    ),
    "a decoder starts from the encoder's states layer by layer; all else of the encoder is unread": (
        halves(dense=False),
        [
            *("self, source, target", "x = self.embedding_1(source)"),
            *("x, (lstm_1_h, lstm_1_c) = self.lstm_1(x)", "_, (lstm_2_h, lstm_2_c) = self.lstm_2(x)"),
            *("x, _ = self.lstm_3(target, (lstm_1_h, lstm_1_c))", "x, _ = self.lstm_4(x, (lstm_2_h, lstm_2_c))"),
            "return self.output(x)",
        ],
    ),
    "what follows the encoder's last recurrent layer reads it": (
        halves(dense=True),
        [
            *("self, source, target", "x = self.embedding_1(source)"),
            *("x, (lstm_1_h, lstm_1_c) = self.lstm_1(x)", "x, (lstm_2_h, lstm_2_c) = self.lstm_2(x)"),
            *("x = x[:, -1]", "x = self.dense_1(x)"),
            *("x, _ = self.lstm_3(target, (lstm_1_h, lstm_1_c))", "x, _ = self.lstm_4(x, (lstm_2_h, lstm_2_c))"),
            "return self.output(x)",
        ],
    ),
    "a vector starts both directions, each with its half, through dense layers": (
        net(LSTM(3, bidirectional=True, initial_state=7), topology="many-to-many"),
        [
            "self, x, lstm_1_start",
            *(f"{of}_0 = torch.stack(self.lstm_1_{of}_0(lstm_1_start).chunk(2, dim=-1))" for of in "hc"),
            *("x, _ = self.lstm_1(x, (h_0, c_0))", "return x"),
        ],
    ),
    "fed back, a layer starts from a vector once": (
        net(RNN(4, initial_state=7), topology="one-to-many", feedback=True),
        [
            *(
                "self, x, rnn_1_start, steps: int",
                "x = x.unsqueeze(1)",
                "h_0 = self.rnn_1_h_0(rnn_1_start).unsqueeze(0)",
            ),
            *("rnn_1_end = h_0", "outputs = []", "for _ in range(steps):", "x, rnn_1_end = self.rnn_1(x, rnn_1_end)"),
            *("outputs.append(x)", "return torch.cat(outputs, dim=1)"),
        ],
    ),
    "dense layers bridge an encoder and a decoder of another kind": (
        Network(encoder=Part(6, (GRU(4, bidirectional=True),)), decoder=Part(2, (LSTM(3, initial_state=8),))),
        [
            *("self, source, target", "_, gru_1_h = self.gru_1(source)"),
            *(f"{of}_0 = self.lstm_1_{of}_0(torch.cat([*gru_1_h], dim=-1)).unsqueeze(0)" for of in "hc"),
            *("x, _ = self.lstm_1(target, (h_0, c_0))", "return x"),
        ],
    ),
    "two directions are parted and joined before they merge": (
        net(GRU(3, bidirectional=True, merge="sum"), GRU(2, bidirectional=True), steps=7),
        [
            *("self, x", "x, _ = self.gru_1(x)", "forward, backward = x.chunk(2, dim=-1)", "x = forward + backward"),
            *("x, _ = self.gru_2(x)", "forward, backward = x.chunk(2, dim=-1)"),
            "return torch.cat([forward[:, -1], backward[:, 0]], dim=-1)",
        ],
    ),
    "layers around the cells, which have the features before the steps, end a sequence and begin another": (
        net(
            *(RNN(4), BatchNorm(), LastStep(), LayerNorm(), RepeatVector(8), Conv1D(5, 3, activation="relu")),
            *(Conv1D(3, 2, padding="same"), Pool1D(2, mode="average"), Flatten()),
            output=2,
            steps=9,
        ),
        [
            *("self, x", "x, _ = self.rnn_1(x)", "x = self.batch_norm_1(x.transpose(1, 2)).transpose(1, 2)"),
            *("x = x[:, -1]", "x = self.layer_norm_1(x)", "x = x.unsqueeze(1).expand(-1, 8, -1)"),
            "x = torch.relu(self.conv1d_1(x.transpose(1, 2)).transpose(1, 2))",
            "x = self.conv1d_2(nn.functional.pad(x.transpose(1, 2), (0, 1))).transpose(1, 2)",
            "x = nn.functional.avg_pool1d(x.transpose(1, 2), 2, 2).transpose(1, 2)",
            *("x = x.flatten(1)", "return self.output(x)"),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_statements_of_a_network(name: str) -> None:
    """Where a sequence begins and ends, what joins it, and what starts where."""
    network, expected = CASES[name]
    assert statements(network) == expected


LAYERS = (Embedding(3), RNN(4), BatchNorm(), Conv1D(6, 2, stride=3, padding="same"), RNN(3))
MADE = {
    "pytorch": [
        "self.embedding_1 = nn.Embedding(9, 3)  # 27 parameters",
        "self.rnn_1 = nn.RNN(3, 4, batch_first=True)  # 36 parameters",
        "self.batch_norm_1 = nn.BatchNorm1d(4)  # 8 parameters",
        "self.conv1d_1 = nn.Conv1d(4, 6, 2, stride=3)  # 54 parameters",
        "self.rnn_2 = nn.RNN(6, 3, batch_first=True)  # 33 parameters",
        "self.output = nn.Linear(3, 9)  # 9 parameters",
        "self.output.weight = self.embedding_1.weight  # tied",
    ],
    "keras": [
        'self.embedding_1 = layers.Embedding(9, 3, name="embedding_1")  # 27 parameters',
        'self.rnn_1 = layers.SimpleRNN(4, return_sequences=True, name="rnn_1")',
        'self.batch_norm_1 = layers.BatchNormalization(name="batch_norm_1")',
        'self.conv1d_1 = layers.Conv1D(6, 2, strides=3, padding="same", name="conv1d_1")',
        'self.rnn_2 = layers.SimpleRNN(3, name="rnn_2")  # 30 parameters',
        "self.output_layer_bias = self.add_weight(",
    ],
    "flax-linen": [
        "self.embedding_1 = nn.Embed(9, 3)  # 27 parameters",
        "self.rnn_1 = nn.RNN(nn.SimpleCell(4))  # 32 parameters",
        "self.batch_norm_1 = nn.BatchNorm()  # 8 parameters",
        'self.conv1d_1 = nn.Conv(6, (2,), padding="SAME", strides=3)  # 54 parameters',
        "self.rnn_2 = nn.RNN(nn.SimpleCell(3))  # 30 parameters",
        'self.output_bias = self.param("output_bias", nn.initializers.zeros, (9,))',
    ],
    "flax-nnx": [
        "self.embedding_1 = nnx.Embed(9, 3, rngs=rngs)  # 27 parameters",
        "self.rnn_1 = nnx.RNN(nnx.SimpleCell(3, 4, rngs=rngs))  # 32 parameters",
        "self.batch_norm_1 = nnx.BatchNorm(4, rngs=rngs)  # 8 parameters",
        'self.conv1d_1 = nnx.Conv(4, 6, (2,), padding="SAME", strides=3, rngs=rngs)',
        "self.rnn_2 = nnx.RNN(nnx.SimpleCell(6, 3, rngs=rngs))  # 30 parameters",
        "self.output_bias = nnx.Param(jnp.zeros((9,)))  # 9 parameters",
    ],
}


@pytest.mark.parametrize("target", SPELLINGS)
def test_the_modules_that_are_made(target: str) -> None:
    """Each with its parameters; those of long lines stand above them."""
    text = source(Network(input=9, layers=LAYERS, output=Output(9, tied=True), steps=9), target)
    lines = text.split("class Network(")[1].split("\n")
    assert [line.strip() for line in lines if line.startswith("        self.")] == MADE[target]


WEIGHTS = {
    "pytorch": [f"nn.Parameter(torch.empty({shape}))" for shape in ("units, inputs", "units, units", "units", "1")],
    "keras": [
        f'self.add_weight(({shape}), name="{name}")'
        for shape, name in (
            ("self.units, input_shape[-1]", "W_x"),
            ("self.units, self.units", "W_h"),
            ("self.units,", "b_z"),
            ("1,", "zeta"),
        )
    ],
    "flax-linen": [
        f'self.param("{name}", {of})'
        for name, of in (
            ("W_x", "matrix, (self.units, self.inputs)"),
            ("W_h", "matrix, (self.units, self.units)"),
            ("b_z", "vector, (self.units,)"),
            ("zeta", "vector, (1,)"),
        )
    ],
    "flax-nnx": [
        *(f"nnx.Param(matrix(rngs.params(), (units, {width})))" for width in ("inputs", "units")),
        *(f"nnx.Param(jnp.zeros(({width},)))" for width in ("units", "1")),
    ],
}


@pytest.mark.parametrize("target", SPELLINGS)
def test_the_weights_of_a_cell_that_a_framework_lacks(target: str) -> None:
    """A FastGRNN's two matrices, biases and trained numbers."""
    found = dict(
        line.strip().removeprefix("self.").split(" = ", 1)
        for line in source(net(FastGRNN(2)), target).split("class FastGRNNCell(")[1].split("\n\n\n")[0].split("\n")
        if line.startswith("        self.")
    )
    assert [found[name] for name in ("W_x", "W_h", "b_z", "zeta")] == WEIGHTS[target]


@pytest.mark.parametrize(
    ("giving", "taking", "line"),
    [
        (
            GRU(3, bidirectional=True),
            GRU(6),
            "gru_1_h = torch.cat([gru_1_h[0::2], gru_1_h[1::2]], dim=-1)  # joined",
        ),
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
    assert "        x = nn.max_pool(x, (2,), (2,))  # (batch, 2, 4)\n" in text


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
