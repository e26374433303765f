"""Every convention is compared with the second witness: a forward pass whose weights are bound by hand.

What the property below does not see:
- text instead of a tuple of one text, a word instead of a Side: the type checker does;
- the axes of an h × h matrix in the other order: no number and no sentence differs;
- `only` or `projects_down` that allow or refuse another value than the framework does, and a habit of a cell whose
  options leave it open: the frameworks (tests/conformance), test_conventions.py and the results worked by hand in
  tests/forward/test_orders.py do;
- other axes of a module's output, whether it merges its directions or returns its last step alone: the frameworks
  do (tests/conformance/test_returned_shapes.py);
- another epsilon of a normalisation: the frameworks do (tests/conformance/test_around.py);
- steps behind the features, or before them: tests/questions/returned_shapes.txt does, worked by hand.

No test at all sees the axes of an h × h matrix, and `merges` of a framework whose outputs keep the directions apart.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from cells import OPTIONS, cell

from rnncalc import Cell, DecoderAttention, Dense, Embedding, Network, Output, Part, run
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.formula import value
from rnncalc.conventions.layout import Layout, layout, sides_of_biases
from rnncalc.conventions.rules import Array, CellArrays, Convention, Side, TransformArrays, restricted
from rnncalc.conventions.tensor import Role
from rnncalc.errors import DeclarationError, RefusedError
from rnncalc.forward.arrays import Arrays, filled
from rnncalc.forward.bindings import binding
from rnncalc.layers import KINDS, kind
from rnncalc.layers.attention import Attention
from rnncalc.layers.cell import Habits
from rnncalc.layers.layer import CROSS, Layer
from rnncalc.layers.options import Choice, Switch
from rnncalc.step.nodes import Node
from rnncalc.step.trace import trace

M, H = 5, 3
LIMITS = ("only", "projects_down", "order")
"""The parts of a row that say what a layer may be, and an order that may be the textbook's."""


def layers_of(name: str, row: Convention) -> Iterator[Layer]:
    """Yield a layer of a kind with each option alone, in one direction and in two, if the convention can express it."""
    of: Any = kind(name)
    if issubclass(of, Cell):
        plain: Layer = cell(name, H)
        values = {option: OPTIONS[option] for option in plain.fields if option in OPTIONS}
    else:
        number = M if of.number == "heads" else 4  # heads divide the input's width
        plain = of(*(number for option in (of.number,) if option), **dict.fromkeys(of.needed(), 2))
        of_no_array = ("name", "path", "dtype")
        allowed = {option: of.option(option).allowed for option in of.options() if option not in of_no_array}
        words = {option: tuple(each.words) for option, each in allowed.items() if isinstance(each, Choice)}
        values = words | {option: (True, False) for option, each in allowed.items() if isinstance(each, Switch)}
    ways = ({}, {"bidirectional": True}) if isinstance(plain, Cell) else ({},)
    for way in ways:
        for options in ({}, *({option: each} for option in values for each in values[option])):
            layer = plain.replace(**options, **way)
            apart = layer.values().get("tied")  # to a table of another layer
            if not apart and not any(layer.option_problems()) and not any(row.cannot(layer)):
                yield layer
    if issubclass(of, Attention):
        yield from (of(score="linear"), of(score="linear", bias=False), of(score="linear", bias="steps"))
        yield from (of(score="steps"), of(score="steps", bias=False))


IN_A_DECODER = ("rnn", "gru", "lstm", "mgu")


def attentions(name: str, row: Convention) -> Iterator[DecoderAttention]:
    """Yield a decoder's attention with each score or with heads, with its biases and without."""
    if name != DecoderAttention.kind:
        sizes: list[dict[str, Any]] = [{}, {"key_size": 3}, {"key_size": 3, "value_size": 2}]
        for options in [{"bias": bias, **each} for bias in (True, False) for each in sizes]:
            layer = DecoderAttention(heads=3, key_width=1 + (name == CROSS[0]), **options)
            if not any(row.cannot(layer)):
                yield layer
        return
    for bias in (True, False):
        yield DecoderAttention(score="additive", units=4, bias=bias)
        yield DecoderAttention(score="concat", units=4, bias=bias)
        for past in ("cumulative", "both"):
            layer = DecoderAttention(score="location", units=4, filters=2, kernel=5, past=past, bias=bias)
            if not any(row.cannot(layer)):
                yield layer
    yield from (DecoderAttention(score="general"), DecoderAttention(score="dot"))


def check(row: Convention) -> None:
    """Fail if a convention of the list is half right."""
    assert convention(row.name) is row
    assert row.title
    assert row.note
    assert row.why
    assert row.untrained
    if row.returns:
        for axes, needed, others in (("sequence", "BW", "T"), ("axes", "BW", "TD"), ("state_axes", "BW", "DLT")):
            letters = [*getattr(row.returns, axes)]
            assert Counter(needed) <= Counter(letters) <= Counter(needed + others), axes
        assert row.returns.state.format("h") != row.returns.state, "a name for each state"
    kinds = [name for name in KINDS if (row.arrays(name) if issubclass(kind(name), Cell) else name in row.transforms)]
    if isinstance(row.cells, CellArrays):
        check_cells(row, row.cells, kinds)
    else:
        assert {*row.cells} | {*row.transforms} - {DecoderAttention.kind, "output", *CROSS} == {*kinds}
        for name, arrays in row.cells.items():
            check_cells(row, arrays, [name])
    for name, transform in row.transforms.items():
        attending = name in (DecoderAttention.kind, *CROSS)
        layers = [*(attentions(name, row) if attending else layers_of(name.replace("output", "dense"), row))]
        roles = {role for layer in layers for role, _ in layer.arrays}
        assert {*transform.buffers} <= roles <= {*transform.names}, f"{name}: the roles of its arrays"
        for layer in layers:
            if not isinstance(layer, DecoderAttention) or any(map(row.arrays, IN_A_DECODER)):
                agree(row, layer)
    agree(row, Embedding(4), Dense(3), Output(2))
    agree(row, Embedding(4), Output(M, tied=True))
    plain = row.replace(renamed={})
    names = {tensor.name for layer in cells_of(row, kinds) for tensor in layout(layer, M, plain).tensors}
    assert {*row.renamed} <= names, "renamed: no tensor is called so"


def cells_of(row: Convention, kinds: list[str]) -> list[Cell]:
    return [layer for name in kinds for layer in layers_of(name, row) if isinstance(layer, Cell)]


def check_cells(row: Convention, arrays: CellArrays, kinds: list[str]) -> None:
    """Fail if the arrays of these kinds of cells are half right."""
    for option, values in arrays.only.items():
        allowed = [known.allowed for name in kinds if (known := kind(name).known_option(option))]
        assert allowed, f"{option}: no layer has this option"
        assert isinstance(values, tuple), f"{option}: not a tuple of values"
        assert not any(allowed[0].problem(each) for each in values if each is not None), f"{option}: not such values"
    layers = cells_of(row, kinds)
    orders = [tensor.gates for layer in layers for tensor in agree(row, layer).tensors if len(tensor.gates) > 1]
    gates = {gate.letter for layer in layers for gate in layer.gates(M)}
    assert len({*arrays.order}) == len(arrays.order), "a gate is in the order twice"
    assert {*arrays.order} <= gates, "the order has a letter that no gate has"
    assert orders or not arrays.order, "no tensor holds several gates in that order"
    for layer in layers:
        check_sides(row, arrays, layer)
        for option, values in arrays.only.items():
            if values[0] is None and len(values) == 2 and option in layer.fields:
                same = layer.replace(**{option: values[1]})
                assert trace(layer, M, row).nodes == trace(same, M, row).nodes, f"{option}: not what the habit says"
    for part, default in CellArrays.defaults.items():
        if part not in LIMITS and getattr(arrays, part) != default:
            less = arrays.replace(**{part: default})
            without = row.replace(cells=less if isinstance(row.cells, CellArrays) else {**row.cells, kinds[0]: less})
            assert any(laid_out(row, layer) != laid_out(without, layer) for layer in layers), f"{part}: unused"


def check_sides(row: Convention, arrays: CellArrays, layer: Cell) -> None:
    """Fail if a gate's bias is beside the input where the binding has it beside the past, or the other way round."""
    tensors = [tensor.sized(layer.sizes(M)) for tensor in layout(layer, M, row).tensors]
    numbers = {tensor.name: filled(tensor, float(tensor.role is Role.RECURRENT_BIAS), float) for tensor in tensors}
    bound = binding(row.name).cell(Arrays(numbers, tensors), layer, M, False)
    if arrays.joins and not layer.bidirectional:
        (name,) = (tensor.name for tensor in tensors if tensor.role is Role.KERNEL)
        by_row: Any = {**numbers, name: [[float(place)] * len(line) for place, line in enumerate(numbers[name])]}
        joined: Any = binding(row.name).cell(Arrays(by_row, tensors), layer, M, False)
        firsts = [joined.product(arrays.order[0], vector).rows[0][0] for vector in arrays.joins]
        assert firsts == sorted(firsts), "joins: another order"
    for letter, side in sides_of_biases(layer, layer.gates(M), arrays).items():
        sides = [Side.INPUT, Side.RECURRENT] if side is Side.BOTH else [side]
        bound_sides = [each for each in (Side.INPUT, Side.RECURRENT) if bound.bias(letter, each.value) is not None]
        assert bound_sides == sides, f"{letter}: the side of its bias"
        if bias := bound.bias(letter, "input"):
            assert not any(bias.numbers), f"{letter}: the name of its bias"


def laid_out(row: Convention, layer: Cell) -> tuple[Layout, Sequence[Node]] | None:
    """Return the tensors and the step of a layer, None if a part of the convention is missing."""
    try:
        return layout(layer, M, row), trace(layer, M, row).nodes
    except AssertionError:
        return None


def agree(row: Convention, *layers: Layer) -> Layout:
    """Fail if a pass disagrees with the tensors of a network; return those of its first layer."""
    network = Network(input=M, layers=layers, convention=row.name, steps=4) if layers[0].kind in KINDS else None
    if network is None:  # a decoder's attention
        cells = [cell(name, H) for name in IN_A_DECODER if row.arrays(name)]
        (attention,) = layers
        assert isinstance(attention, DecoderAttention)
        both = attention.key_width > attention.query_width
        encoder = Part(M, (cells[0].replace(bidirectional=both),), steps=4)
        decoder = Part(M, (cells[0].replace(initial_state=2 * H) if both else cells[0],), steps=3)
        network = Network(encoder=encoder, decoder=decoder._replace(attention=attention), convention=row.name)
    for placed in network.stack:
        names = [tensor.name for tensor in placed.tensors]
        assert len({*names}) == len(names), "two tensors have one name"
        assert value(placed.layout.params, placed.sizes) == placed.params == sum(each.params for each in placed.tensors)
    done = run(network)
    assert done.agrees, [layer.reason for layer in done.layers]
    return network.stack[0].layout


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_convention_agrees_with_the_second_witness(name: str) -> None:
    """Every kind of layer that it has, with every option alone."""
    check(convention(name))
    assert CONVENTIONS[name] is convention(name)


def row_with(of: str, **parts: Any) -> Convention:
    return convention(of).replace(**parts)


def cell_with(name: str, of: str, **parts: Any) -> Convention:
    """Return a convention with other parts in one kind of cell, or in all of them."""
    row = convention(name)
    if isinstance(row.cells, CellArrays):
        return row.replace(cells=row.cells.replace(**parts))
    return row.replace(cells={of: row.cells[of].replace(**parts)}, renamed=row.renamed if of == "lstm" else {})


KERAS, RETURNS = convention("keras"), convention("keras").returns
assert isinstance(KERAS.cells, dict)
assert RETURNS
BIASES = Array("bias_ih_l{copy}{direction}", "gates"), Array("bias_hh_l{copy}{direction}", "gates")
LSTM, NORM, DENSE = KERAS.cells["lstm"], KERAS.transforms["batch_norm"], KERAS.transforms["dense"]

HALF_RIGHT = {
    "no matrix of the input": cell_with("keras", "gru", input=None),
    "no recurrent matrix": cell_with("keras", "lstm", recurrent=None),
    "no bias": cell_with("keras", "lstm", bias=None),
    "no bias on both sides": cell_with("onnx", "gru", both_biases=None),
    "no recurrent bias": cell_with("pytorch", "rnn", recurrent_bias=None),
    "no peepholes": cell_with("onnx", "lstm", peephole=None),
    "no projection": cell_with("pytorch", "lstm", projection=None),
    "no learned state": cell_with("onnx", "rnn", state=None),
    "no gain": cell_with("textbook", "", gain=None),
    "no trained number": cell_with("textbook", "", scalar=None),
    "no cells in the list of kinds": row_with("keras", cells={"lstn": LSTM}),
    "a kind that no binding has": row_with("keras", cells={"mgu": LSTM.replace(order="fn")}),
    "an unused peephole": cell_with("keras", "lstm", peephole=Array("P", "gates")),
    "an unused projection": cell_with("keras", "lstm", projection=Array("P", "p h")),
    "an unused recurrent bias": cell_with("keras", "lstm", recurrent_bias=Array("c", "gates")),
    "an unused bias of both sides": cell_with("keras", "lstm", both_biases=Array("c", "2 gates")),
    "an unused side of a gate": cell_with("pytorch", "gru", sides={"q": Side.BOTH}),
    "an order that lacks a gate": cell_with("keras", "lstm", order="ifg"),
    "an order with a gate twice": cell_with("keras", "lstm", order="ifgof"),
    "an order with a gate of no such cell": cell_with("pytorch", "gru", order="rznq"),
    "an order of other gates": cell_with("keras", "lstm", order="ifog"),
    "an unused order": cell_with("flax-linen", "gru", order="zrn"),
    "a bias on the other side": cell_with("keras", "lstm", side=Side.RECURRENT),
    "a bias of both sides beside the input": cell_with(
        "flax-nnx", "lstm", side=Side.INPUT, bias=Array("h{gate}/bias", "h"), recurrent_bias=None
    ),
    "a second bias": cell_with("keras", "lstm", side=Side.BOTH, recurrent_bias=Array("c", "gates")),
    "one bias, and the framework has two": cell_with("pytorch", "lstm", side=Side.INPUT, recurrent_bias=None),
    "one bias, whatever resets": cell_with("keras", "gru", side_before=None),
    "a transposed matrix of the input": cell_with("keras", "lstm", input=Array("kernel", "gates m")),
    "a transposed recurrent matrix": cell_with(
        "pytorch", "lstm", recurrent=Array("weight_hh_l{copy}{direction}", "reads gates")
    ),
    "a transposed projection": cell_with("textbook", "", projection=Array("W_h{gate}", "h p")),
    "a matrix without a width": cell_with("keras", "lstm", recurrent=Array("recurrent_kernel", "gates")),
    "a matrix with a width too many": cell_with("keras", "lstm", bias=Array("bias", "gates m")),
    "gates told apart twice": cell_with("keras", "lstm", input=Array("kernel{gate}", "m gates")),
    "gates not told apart": cell_with("keras", "lstm", input=Array("kernel", "m h")),
    "gates with one name": cell_with("flax-linen", "lstm", recurrent=Array("h/kernel", "reads h")),
    "biases of both sides in one row": cell_with("keras", "gru", both_biases=Array("bias", "gates")),
    "a number with a width": cell_with("textbook", "", scalar=Array("{gate}", "h")),
    "another name": cell_with("pytorch", "gru", input=Array("weight_ih", "gates m")),
    "nothing that it lacks": cell_with("keras", "lstm", only={}),
    "an option that is misspelt": cell_with("keras", "lstm", only=restricted(reset_afer=(None, True))),
    "an option that is misspelt and not left out": cell_with("pytorch", "lstm", only=restricted("projektion")),
    "a value that is misspelt": cell_with("keras", "lstm", only=restricted(activation=("tahn",))),
    "a value that is no tuple": cell_with("keras", "lstm", only={**LSTM.only, "activation": "tanh"}),
    "a habit of another cell": cell_with("keras", "lstm", habits=Habits(reset_after=True)),
    "a habit that its options deny": cell_with("pytorch", "gru", habits=Habits()),
    "another function than it says": cell_with("haiku", "rnn", usual={}),
    "an update gate that it says keeps": cell_with("haiku", "gru", usual={"update_gate": "keeps"}),
    "a default of an option that is never open": cell_with("keras", "lstm", usual={"activation": "relu"}),
    "one matrix that reads in another order": cell_with("haiku", "lstm", joins=("h", "x")),
    "products that are not joined": cell_with("haiku", "lstm", joins=()),
    "marks of directions that are the convention's": cell_with(
        "paddle", "lstm", projection=Array("{copy}.cell{direction}.weight_ho", "h p")
    ),
    "directions along an axis and in names": cell_with("keras", "rnn", input=Array("k", "directions m gates")),
    "a state of one direction": cell_with("onnx", "rnn", state=Array("initial_{read}", "1 reads")),
    "directions in no name": cell_with("pytorch", "rnn", bias=Array("bias_ih_l{copy}", "gates")),
    "axes in another order": cell_with("keras", "gru", both_biases=Array("bias", "gates 2")),
    "directions nowhere": row_with("keras", directions=None),
    "directions with one mark": row_with("keras", directions=("", "")),
    "biases with each other's names": cell_with("pytorch", "gru", bias=BIASES[1], recurrent_bias=BIASES[0]),
    "no title": row_with("keras", title=""),
    "no word for what is not trained": row_with("keras", untrained=""),
    "the name of another": row_with("keras", name="onnx"),
    "an embedding with a column for each token": row_with(
        "keras", transforms={**KERAS.transforms, "embedding": KERAS.transforms["embedding"].replace(order=(1, 0))}
    ),
    "a transposed dense layer": row_with("keras", transforms={**KERAS.transforms, "dense": DENSE.replace(order=())}),
    "an output's bias for each input": row_with(
        "keras", transforms={**KERAS.transforms, "output": DENSE.replace(axes={"bias": "m"})}
    ),
    "a dense layer with one name": row_with(
        "keras", transforms={**KERAS.transforms, "dense": DENSE.replace(names={"kernel": "kernel", "bias": "kernel"})}
    ),
    "a new name of no tensor": row_with("keras", renamed={"kernal": "k"}),
    "a transform of no kind": row_with("keras", transforms={**KERAS.transforms, "layer_nor": NORM}),
    "a transform without a bias": row_with("keras", transforms={"layer_norm": TransformArrays({"scale": "gamma"})}),
    "a kernel with other axes": row_with(
        "keras", transforms={"conv1d": KERAS.transforms["conv1d"].replace(order=(0, 1, 2))}
    ),
    "a stored mean that is misspelt": row_with("keras", transforms={"batch_norm": NORM.replace(buffers=("mean",))}),
    "an axis twice": row_with("keras", returns=RETURNS.replace(axes="BTT")),
    "one name for all states": row_with("keras", returns=RETURNS.replace(state="state")),
}


@pytest.mark.broad
@pytest.mark.parametrize("case", HALF_RIGHT)
def test_a_half_right_convention_fails(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has one part that is missing, unused or wrong."""
    row = HALF_RIGHT[case]
    monkeypatch.setitem(CONVENTIONS, "keras" if case == "the name of another" else row.name, row)
    with pytest.raises((AssertionError, DeclarationError, RefusedError, LookupError, ArithmeticError, ValueError)):
        check(row)


@pytest.mark.broad
@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name != "textbook"])
def test_the_cells_that_half_right_ones_start_from_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone, as in most of the table."""
    cells = convention(name).cells
    assert isinstance(cells, dict)
    for of in cells:
        with monkeypatch.context() as patch:
            patch.setitem(CONVENTIONS, name, cell_with(name, of))
            check(convention(name))
