"""A network compared with a file that is built by hand: which tensors match, and which changes would make them."""

from collections.abc import Sequence
from typing import Any

import pytest
from models.made import Shape, Shapes, cell, file, linear, module, tensor

from rnncalc.errors import RefusedError
from rnncalc.layers.attention import MultiHeadAttention
from rnncalc.layers.convolution import Conv1D
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.models.files.model import FileModule, ModelFile
from rnncalc.models.matching import Match, TensorCheck, TensorStatus, match, of_sequences
from rnncalc.models.read import read
from rnncalc.network.model import Member, Model
from rnncalc.network.network import Network


def held(layers: Sequence[Layer], *modules: FileModule, input: int = 4, **more: Any) -> Match:
    """Return a network of PyTorch compared with a file of these modules."""
    return match(Network(input=input, layers=layers, convention="pytorch", **more), file("pytorch", *modules))


FIRST = ("layers", 0)


def test_what_is_missing_and_what_is_more() -> None:
    """Each with the name and shape of the side that has it, and the layer's place where there is a layer."""
    shapes: dict[str, Shape] = {**cell(4, 4, 3, bias=False), "weight_hh_l0": (12, 9), "extra": (7,)}
    found = held([LSTM(3)], module("rnn", shapes), module("bn", {"weight": (5,)}))
    more = {**cell(4, 4, 3), "weight_hr_l0": (2, 3), "weight_hh_l0": (12, 2)}
    assert found.tensors == (
        TensorCheck(TensorStatus.MATCHED, "lstm_1", "weight_ih_l0", (12, 4), "rnn.weight_ih_l0", (12, 4), FIRST),
        TensorCheck(TensorStatus.SHAPE, "lstm_1", "weight_hh_l0", (12, 3), "rnn.weight_hh_l0", (12, 9), FIRST),
        TensorCheck(TensorStatus.MISSING, "lstm_1", "bias_ih_l0", (12,), None, None, FIRST),
        TensorCheck(TensorStatus.MISSING, "lstm_1", "bias_hh_l0", (12,), None, None, FIRST),
        TensorCheck(TensorStatus.UNEXPECTED, None, None, None, "rnn.extra", (7,), ()),
        TensorCheck(TensorStatus.UNEXPECTED, None, None, None, "bn.weight", (5,), ()),
    )
    assert not found.kept
    assert changes(found) == [("lstm_1", None)]
    own = held([LSTM(3)], module("rnn", more)).tensors[-1]
    assert own == TensorCheck(TensorStatus.UNEXPECTED, "lstm_1", None, None, "rnn.weight_hr_l0", (2, 3), FIRST)


@pytest.mark.parametrize(
    ("externals", "modules", "expected"),
    [
        ([External(8)], {"bn": 8}, [(TensorStatus.MATCHED, 8)]),
        ([External(8)], {"bn": 3, "ln": 5}, [(TensorStatus.MATCHED, 8)]),
        ([External(8)], {"bn": 9}, [(TensorStatus.SHAPE, 9)]),
        ([External(8)], {}, [(TensorStatus.MISSING, None)]),
        ([External(0)], {}, []),
        ([External(8, path="bn")], {"bn.a": 3, "bn.b": 5}, [(TensorStatus.MATCHED, 8)]),
        ([External(8, path="bn")], {"bn": 8, "ln": 5}, [(TensorStatus.MATCHED, 8), (TensorStatus.UNEXPECTED, 5)]),
        (
            [External(8, path="bn"), External(5)],
            {"ln": 5, "bn": 8},
            [(TensorStatus.MATCHED, 8), (TensorStatus.MATCHED, 5)],
        ),
        (
            [External(5), External(8, path="bn")],
            {"ln": 5, "bn": 8},
            [(TensorStatus.MATCHED, 8), (TensorStatus.MATCHED, 5)],
        ),
        ([External(8), External(5)], {"bn": 13}, [(TensorStatus.MATCHED, 8), (TensorStatus.MATCHED, 5)]),
        ([External(8), External(5)], {"bn": 15}, [(TensorStatus.MATCHED, 8), (TensorStatus.SHAPE, 7)]),
        ([External(8), External(5)], {"bn": 6}, [(TensorStatus.SHAPE, 6), (TensorStatus.MISSING, None)]),
        ([External(8), External(5), External(2)], {"bn": 15}, [(TensorStatus.MATCHED, size) for size in (8, 5, 2)]),
    ],
)
def test_what_is_counted_elsewhere_is_held_by_its_sum(
    externals: list[Layer], modules: dict[str, int], expected: list[tuple[TensorStatus, int | None]]
) -> None:
    """Of what is below its path, or without one of all that is left; the last has what is more, or too few."""
    of = [module(path, {"weight": (size,)}) for path, size in modules.items()]
    found = held([LSTM(3), *externals], module("rnn", cell(4, 4, 3)), *of).tensors[4:]
    assert [(each.status, each.stored_shape and each.stored_shape[0]) for each in found] == expected
    told = {each.layer: (each.tensor, each.shape, each.at) for each in found if each.layer}
    numbers = [(number, layer) for number, layer in enumerate(externals, 1) if layer.sizes(0)["N"]]
    assert told == {
        f"external_{number}": ("external", (layer.sizes(0)["N"],), ("layers", number)) for number, layer in numbers
    }


def changes(found: Match) -> list[tuple[Any, ...]]:
    """Return what differs: each layer with what the file has, the network's input there, and what only the file has."""
    assert not found.kept
    changed: list[tuple[Any, ...]] = []
    for each in found.differences:
        changed += [("input", *each.input)] if each.input else []
        if each.theirs != (each.ours,) * len(each.names):
            changed.append((each.names[0], *(each.theirs if each.theirs is not None else [None])))
    return [*changed, *(("", site.layer) for site in found.more)]


ATTENTION = {"in_proj_weight": (18, 6), "in_proj_bias": (18,), "out_proj.weight": (6, 6), "out_proj.bias": (6,)}


@pytest.mark.parametrize(
    ("layer", "shapes", "expected"),
    [
        (LSTM(3), cell(4, 4, 5), [LSTM(5)]),
        (LSTM(3), cell(3, 4, 3), [GRU(3)]),
        (LSTM(3, bidirectional=True, frozen=True), cell(3, 4, 3), [GRU(3, frozen=True)]),
        (LSTM(3), cell(4, 4, 3, bias=False), [LSTM(3, bias=False)]),
        (LSTM(3, bias=False), cell(4, 4, 3), [LSTM(3)]),
        (LSTM(3, projection=2), cell(4, 4, 3), [LSTM(3)]),
        (LSTM(3), cell(4, 6, 3), [("input", 4, 6)]),
        (LSTM(3, extra_inputs=1), cell(4, 6, 3), [("input", 4, 5)]),
        (LSTM(3), cell(4, 6, 5, bias=False), [("input", 4, 6), LSTM(5, bias=False)]),
        (
            LSTM(3, bidirectional=True, merge="sum", frozen=True, name="lstm_1"),
            cell(4, 4, 3),
            [LSTM(3, frozen=True, name="lstm_1")],
        ),
        (LSTM(3, repeat=3), cell(4, 4, 3), [LSTM(3)]),
        (LSTM(3, repeat=2), {**cell(4, 4, 3), **cell(4, 3, 5, number=1)}, [(LSTM(3), LSTM(5))]),
        (
            Conv1D(3, 2, stride=2, padding="same"),
            {"weight": (5, 4, 2), "bias": (5,)},
            [Conv1D(5, 2, stride=2, padding="same")],
        ),
        (Conv1D(6, 2, groups=2), {"weight": (8, 2, 2), "bias": (8,)}, [Conv1D(8, 2, groups=2)]),
        (MultiHeadAttention(2), ATTENTION, [("input", 4, 6)]),
        (MultiHeadAttention(4), ATTENTION, [("input", 4, 6), MultiHeadAttention(1)]),
    ],
)
def test_what_the_file_has_of_a_layer(layer: Layer, shapes: Shapes, expected: list[Any]) -> None:
    """With each option that shapes tell as the file has it, and the others as the spec has them."""
    name = f"{layer.kind}_1"
    several = [each if isinstance(each, tuple) else (each,) for each in expected]
    assert changes(held([layer], module("rnn", shapes))) == [
        each if each[0] == "input" else (name, *each) for each in several
    ]


@pytest.mark.parametrize("inputs", [6, 4])
def test_heads_that_a_file_has_are_checked(inputs: int) -> None:
    """They are a difference of their own if the tensors are the same, and a change of the layer in any case."""
    wrong = held([MultiHeadAttention(2)], module("look", ATTENTION, "", {"num_heads": 3}), input=inputs)
    heads = TensorCheck(TensorStatus.SHAPE, "multi_head_attention_1", "heads", (2,), None, (3,), FIRST)
    assert (heads in wrong.tensors) == (inputs == 6)
    change = ("multi_head_attention_1", MultiHeadAttention(3))
    assert changes(wrong) == [("input", 4, 6)] * (inputs == 4) + [change]
    assert held([MultiHeadAttention(2)], module("look", ATTENTION), input=6).kept


def test_a_width_is_told_once() -> None:
    """At the first layer, or where nothing before differs: what one outputs is what the next reads."""
    wider = module("a", cell(4, 9, 5)), module("b", cell(3, 5, 2)), module("c", linear(2, 4))
    assert changes(held([LSTM(3), GRU(2)], *wider, output=4)) == [("input", 4, 9), ("lstm_1", LSTM(5))]
    joined = module("a", cell(4, 4, 3)), module("b", cell(3, 5, 2)), module("c", cell(1, 2, 2))
    assert changes(held([LSTM(3), GRU(2), RNN(2)], *joined)) == [("gru_1", GRU(2, extra_inputs=2))]
    fewer = held([LSTM(3), GRU(2)], module("a", cell(4, 4, 3)), module("b", cell(3, 2, 2)))
    assert changes(fewer) == [("gru_1", None)]
    assert not fewer.explained


def test_an_output_of_another_size_stays_an_output() -> None:
    """In a file it is a dense layer; a spec writes it as it was written."""
    modules = module("rnn", cell(4, 4, 3)), module("fc", linear(3, 5))
    assert changes(held([LSTM(3)], *modules, output=2)) == [("output", Output(5))]
    active = held([LSTM(3)], *modules, output=Output(2, activation="softmax"))
    assert changes(active) == [("output", Output(5, activation="softmax"))]


def test_where_a_reset_gate_acts_is_told_by_the_biases_of_keras() -> None:
    """As a spec that says nothing has it, it acts after the product: two rows. Saying so is no difference."""
    kernels = {"kernel": (4, 9), "recurrent_kernel": (3, 9)}
    for bias, own, theirs in (((2, 9), False, None), ((9,), None, False)):
        network = Network(input=4, layers=[GRU(3, reset_after=own)], convention="keras")
        found = match(network, file("keras", module("rnn", {**kernels, "bias": bias})))
        assert changes(found) == [("gru_1", GRU(3, reset_after=theirs))]
    wider = Network(input=5, layers=[GRU(3, reset_after=True)], convention="keras")
    found = match(wider, file("keras", module("rnn", {**kernels, "bias": (2, 9)})))
    assert changes(found) == [("input", 5, 4)]


@pytest.mark.parametrize("sequences", [True, False])
def test_a_sequence_is_told_from_its_last_step(sequences: bool) -> None:
    """Where a model of Keras says which it returns, and how many steps it reads."""
    shapes = {"kernel": (4, 12), "recurrent_kernel": (3, 12), "bias": (12,)}
    lstm = module("rnn", shapes, "LSTM", {"return_sequences": sequences})._replace(steps=5)
    for topology, steps in (("many-to-many", 5), ("many-to-one", 7), (None, None)):
        network = Network(input=4, layers=[LSTM(3)], convention="keras", topology=topology, steps=steps)  # type: ignore[arg-type]
        told = ["topology"] * (sequences != (topology == "many-to-many")) + ["steps"] * (steps == 7)
        for stored, differing in ((file("keras", lstm), told), (file("keras", lstm._replace(settings={})), [])):
            comparison = match(network, stored)
            assert [check.stored for check in of_sequences(network, stored, comparison)] == differing


def test_the_sequences_and_calls_of_each_network_of_a_model_are_compared() -> None:
    """A tower that the model calls twice on five steps, and a head that reads both vectors."""
    shapes = {"kernel": (4, 12), "recurrent_kernel": (3, 12), "bias": (12,)}
    tower = module("rnn", shapes, "LSTM", {"return_sequences": False})._replace(steps=5)
    head = module("head", {"kernel": (6, 1), "bias": (1,)}, "Dense")._replace(inputs=6)
    stored = file("keras", tower, head, rows=((frozenset({"rnn"}), 2), (frozenset({"head"}), 1)))
    drafts = [(draft.network.topology, draft.network.steps, calls) for draft, calls in read(stored).networks.values()]
    assert drafts == [("many-to-one", 5, 2), ("one-to-one", None, 1)]
    for given, calls, differing in (
        ({"steps": 5}, 2, []),
        ({}, 2, []),
        ({"steps": 7}, 3, ["tower.calls", "tower.steps"]),
        ({"topology": "many-to-many"}, 1, ["tower.calls", "tower.topology"]),
    ):
        network = Network(input=4, layers=[LSTM(3)], convention="keras", **given)
        of_head = Member(Network(input=6, layers=[Dense(1)], convention="keras"))
        model = Model(networks={"tower": Member(network, calls), "head": of_head})
        assert [check.stored for check in of_sequences(model, stored, match(model, stored))] == differing


def test_a_layer_that_is_more_is_told() -> None:
    """Not one that is used once more; the tensors of no known layer are."""
    again = module("again", cell(4, 4, 3), shared_with="rnn.weight_ih_l0")
    more = again, module("bn", {"weight": (4,)}), module("fc", linear(3, 5))
    found = held([LSTM(3)], module("rnn", cell(4, 4, 3)), *more)
    assert changes(found) == [("", Dense(5))]
    assert [each.stored for each in found.tensors[4:]] == ["bn.weight", "fc.weight", "fc.bias"]
    assert found.explained == {5, 6}
    assert held([LSTM(3)], module("rnn", cell(4, 4, 3)), again).kept


def tied(words: int = 9) -> FileModule:
    shared = tensor("fc.weight", (words, 3), shared_with="emb.weight")
    return FileModule("fc", {"weight": shared, "bias": tensor("fc.bias", (words,))})


def test_a_shared_matrix_is_that_of_a_tied_output() -> None:
    """And of no other; nor is it one of another shape."""
    modules = module("emb", {"weight": (9, 3)}), module("rnn", cell(4, 3, 3)), tied()
    layers = [Embedding(3), LSTM(3)]
    assert held(layers, *modules, input=9, output=Output(9, tied=True)).kept
    apart = held(layers, *modules, input=9, output=9)
    assert apart.tensors[5].status is TensorStatus.SHARED
    assert changes(apart) == [("output", Output(9, tied=True))]
    alone = module("fc", linear(3, 9))  # of its own, in the shape of the table's
    untied = held(layers, *modules[:2], alone, input=9, output=Output(9, tied=True))
    assert [each.stored for each in untied.tensors if not each.kept] == ["fc.weight"]
    assert changes(untied) == [("output", Output(9))]
    other = held(layers, *modules[:2], tied(8), input=9, output=Output(9, tied=True))
    assert [each.status for each in other.tensors[5:]] == [TensorStatus.SHAPE, TensorStatus.UNEXPECTED]


def test_a_matrix_that_may_be_a_table_is_no_other_kind() -> None:
    """Its rows are words, whatever it is called; one with biases is none."""
    rnn = module("rnn", cell(4, 3, 3))
    unknown = held([Embedding(3), LSTM(3)], module("0", {"weight": (8, 3)}), rnn, input=9)
    assert (unknown.tensors[0].status, changes(unknown)) == (TensorStatus.SHAPE, [("input", 9, 8)])
    called = held([Embedding(3), LSTM(3)], module("emb", {"weight": (8, 3)}), rnn, input=9)
    assert changes(called) == [("input", 9, 8)]
    biased = held([Embedding(3), LSTM(3)], module("0", linear(3, 8)), rnn, input=9)
    assert changes(biased) == [("input", 9, 3), ("embedding_1", Dense(8))]


def test_what_is_not_held() -> None:
    """A file of too many modules."""

    def of(count: int) -> ModelFile:
        return file("pytorch", *(module(f"bn{number}", {"weight": (1,)}) for number in range(count)))

    external = Network(input=4, layers=[External(2_000)], convention="pytorch")
    assert match(external, of(2_000)).kept
    with pytest.raises(RefusedError, match=r"^a file of more than 2,000 modules is not compared with a spec$"):
        match(external, of(2_001))
