"""What a program consists of: whose tensors each module has, and what is one module."""

import pytest

from rnncalc import GRU, LSTM, MGU, RNN, SRU, Cell, Dense, Embedding, FastGRNN, Network, Output, Part
from rnncalc.programs.program import Module, program_of


def modules(*layers: Cell, target: str = "pytorch", stacks: bool = True) -> tuple[Module, ...]:
    return program_of(Network(input=8, layers=layers), target, stacks=stacks).modules


@pytest.mark.parametrize(
    ("layer", "target", "params"),
    [
        (LSTM(16), "pytorch", 1_664),  # measured, as in the table of conventions
        (LSTM(16), "keras", 1_600),
        (GRU(16), "keras", 1_248),
        (GRU(16), "flax-linen", 1_216),
        (MGU(16), "flax-linen", 816),
        (LSTM(16, learned_state=True), "pytorch", 1_664 + 2 * 16),
        (RNN(16, bidirectional=True, learned_state=True), "pytorch", 2 * (416 + 16)),
        (LSTM(16, bidirectional=True, merge="sum"), "pytorch", 3_328),
    ],
    ids=str,
)
def test_what_a_framework_has_is_its_own_module(layer: Cell, target: str, params: int) -> None:
    """With the framework's tensors; starting states are learned, and directions merged, around it."""
    (module,) = modules(layer, target=target)
    assert module.cell is None
    assert module.params == params


@pytest.mark.parametrize(
    ("layer", "target", "params"),
    [
        (MGU(16), "pytorch", 2 * 16 * (8 + 16 + 1)),
        (GRU(16, reset_after=False), "pytorch", 3 * 16 * (8 + 16 + 1)),
        (RNN(16, recurrence="diagonal"), "keras", 16 * (8 + 1 + 1)),
        (LSTM(16, peepholes=True), "flax-nnx", 4 * 16 * (8 + 16 + 1) + 3 * 16),
        (LSTM(16, bias=False, projection=4), "keras", 4 * 16 * (8 + 4) + 16 * 4),
        (RNN(16, bias=False), "flax-linen", 16 * (8 + 16)),
        (FastGRNN(16), "keras", 16 * (8 + 16) + 2 * 16 + 2),
        (SRU(8, bidirectional=True), "pytorch", 2 * (4 * 8 * 8 + 4 * 8)),
        (SRU(4, bidirectional=True), "pytorch", 2 * (3 * 4 * 8 + 4 * 4)),
    ],
    ids=str,
)
def test_what_it_lacks_is_a_module_of_the_textbooks_tensors(layer: Cell, target: str, params: int) -> None:
    """One matrix a gate, one bias a gate, worked out by hand."""
    (module,) = modules(layer, target=target)
    assert module.cell is not None
    assert module.params == params == Network(input=8, layers=(layer,)).params


def test_a_network_of_a_frameworks_own_layers_counts_as_under_its_convention() -> None:
    """The total of the program is that of `count`, frozen parameters apart."""
    layers = [Embedding(8, frozen=True), LSTM(16, bidirectional=True, repeat=2), GRU(4)]
    net = Network(input=100, layers=layers, output=3)
    for target in ("pytorch", "keras"):
        program, counted = program_of(net, target), net.replace(convention=target)
        assert (program.params, program.trainable) == (counted.params, counted.trainable)


def test_a_repeated_layer_is_one_module_where_one_can_be_several() -> None:
    """PyTorch's num_layers; not where directions are merged between them, nor where features join."""
    assert [len(module.places) for module in modules(LSTM(8, repeat=3), LSTM(8))] == [3, 1]
    assert len(modules(LSTM(8, repeat=3), stacks=False)) == 3
    for merge, number in (("concat", 1), ("sum", 3)):
        assert len(modules(LSTM(8, repeat=3, bidirectional=True, merge=merge))) == number  # type: ignore[arg-type]  # a word
    assert len(modules(LSTM(8, repeat=3, bidirectional=True, merge="sum"))) == 3
    assert len(modules(LSTM(8, repeat=3, extra_inputs=1))) == 3
    assert len(modules(MGU(8, repeat=3))) == 3


@pytest.mark.parametrize(("taking", "number"), [((LSTM(4, repeat=2),), 1), ((LSTM(4), LSTM(4)), 2)], ids=str)
def test_halves_stack_alike(taking: tuple[Cell, ...], number: int) -> None:
    """The final states of a module start a module of as many layers, else each layer is its own."""
    encoder, decoder = Part(3, (LSTM(4, repeat=2),)), Part(5, taking, Output(2))
    program = program_of(Network(encoder=encoder, decoder=decoder), "pytorch", stacks=True)
    started = [module.start.name for module in program.modules if module.start]
    assert started == ["lstm_1", "lstm_2"][:number]


@pytest.mark.broad
def test_what_a_framework_stacks_is_one_module() -> None:
    """However many layers it is; elsewhere each is one."""
    assert len(modules(RNN(8, repeat=1_000))) == 1
    assert len(modules(RNN(8, repeat=1_000), target="keras", stacks=False)) == 1_000


def test_a_layer_that_is_called_output_is_a_layer() -> None:
    """Without an output layer the sequence ends at the last layer, whatever its name, as the stack has it."""
    net = Network(input=2, layers=[Dense(4), Dense(3, name="output")], steps=5, topology="many-to-one")
    first, last = program_of(net, "pytorch").modules
    assert (first.shape, last.shape) == ((5, 4), (5, 3))
    assert [placed.output_shape for placed in net.stack] == [(5, 4), (3,)]


def test_a_cell_of_its_own_is_one_direction_from_zeros() -> None:
    """Directions and learned states are written around it, whatever it is called, however often it is there."""
    options = {"bidirectional": True, "merge": "sum", "learned_state": True, "frozen": True, "name": "a"}
    layer = MGU(3, recurrence="diagonal", **options)  # type: ignore[arg-type]
    (module,) = modules(layer)
    cell = module.cell
    assert cell is not None
    assert (cell.name, cell.options, cell.states, cell.output) == (
        "MGU",
        (("recurrence", "diagonal"),),
        (("h", "h"),),
        "h",
    )
    assert [(tensor.name, len(tensor.axes)) for tensor in cell.weights] == [
        ("W_xf", 2),
        ("W_xn", 2),
        ("W_hf", 1),
        ("W_hn", 1),
        ("b_f", 1),
        ("b_n", 1),
    ]
    assert module.params == 2 * (2 * 3 * (8 + 1 + 1) + 3)
