"""Which site is which layer: what the layers ask of a file, how far what is there is from it, and which is meant."""

from collections.abc import Sequence
from typing import Any

import pytest
from questions.models.made import Shapes, cell, file, linear, module, site, stacked, tensor

from rnncalc.errors import SpecError
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dropout, Embedding, External, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.modelfiles.model import FileModule
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.questions.models.pairing import SpecLayer, below, distance, kind_of, paired, wanted_of
from rnncalc.questions.models.sites import sites_of


def wanted(*layers: Layer, input: int = 4, output: Output | None = None) -> list[SpecLayer]:
    return wanted_of(Network(input=input, layers=layers, output=output, convention="pytorch"))


def test_each_copy_asks_for_its_own() -> None:
    """Under the names of a layer by itself, and beside them those that it has in the network; in their places."""
    two, other = wanted(LSTM(3, repeat=2), GRU(2, name="last"))[:2], wanted(LSTM(3), GRU(2, name="last"))[1]
    assert [each.name for each in two] == ["lstm_1", "lstm_2"]
    assert [dict(each.shapes) for each in two] == [cell(4, 4, 3), cell(4, 3, 3)]
    assert two[1].names["weight_ih_l0"] == "weight_ih_l1"
    assert two[0].names["weight_ih_l0"] == "weight_ih_l0"
    assert [each.at for each in (*two, other)] == [("layers", 0), ("layers", 0), ("layers", 1)]
    assert (other.name, other.layer, dict(other.shared)) == ("last", GRU(2, name="last"), {})


def test_what_has_no_tensors_asks_for_none() -> None:
    """It is left out, but for what is counted elsewhere."""
    found = wanted(Dropout(0.5), External(7), LSTM(3), Dropout(0.5))
    assert [each.name for each in found] == ["external_1", "lstm_1"]
    outside = found[0]
    assert (dict(outside.shapes), dict(outside.names), dict(outside.shared)) == ({}, {}, {})
    assert outside.at == ("layers", 1)


def test_a_tied_output_asks_for_its_biases() -> None:
    """Its matrix is another's; it may be there, and is not asked for."""
    output = wanted(Embedding(3), LSTM(3), input=9, output=Output(9, tied=True))[-1]
    assert (dict(output.shapes), dict(output.shared)) == ({"bias": (9,)}, {"weight": (9, 3)})
    assert output.at == ("output",)


def test_the_layers_of_two_parts_stand_in_theirs() -> None:
    """The output in the decoder's."""
    part = Part(3, (LSTM(2),))
    found = wanted_of(Network(encoder=part, decoder=part._replace(output=Output(4)), convention="pytorch"))
    assert [each.at for each in found] == [("encoder", "layers", 0), ("decoder", "layers", 0), ("decoder", "output")]


def test_what_a_layer_can_be_taken_for() -> None:
    """A table, a cell, or anything else; each is none of the others."""
    table, lstm, gru, output = wanted(Embedding(3), LSTM(3), GRU(3), input=9, output=Output(2))
    assert lstm.kind == gru.kind == kind_of(LSTM(9))
    assert output.kind == kind_of(None) == kind_of(External(3))
    assert table.kind == kind_of(Embedding(9))
    assert len({lstm.kind, output.kind, table.kind}) == 3


@pytest.mark.parametrize(
    ("shapes", "far"),
    [
        (cell(4, 4, 3), 0),
        (cell(4, 9, 3), 1 / 8),  # four names, three of them in its shape: 1 - (3 + 4) / 8
        (cell(4, 9, 9), 1 / 2),
        (cell(4, 4, 3, bias=False), 1 / 2),  # two of four names
        ({**cell(4, 4, 3), **cell(4, 4, 3, mark="_reverse")}, 1 / 2),  # four of eight
        ({"weight_ih_l0": (12, 4)}, 3 / 4),
        ({"weight_ih_l0": (9, 9)}, 7 / 8),
        (linear(4, 12), None),
        ({**cell(4, 4, 3), "bias_ih_l0": (2, 12)}, 1 / 8),
        ({"weight_ih_l0": (12,), "bias_ih_l0": (12,)}, None),
        ({"weight_ih_l0": (12, 4, 1), "bias_ih_l0": (12,)}, None),
    ],
)
def test_how_far_tensors_are_from_a_layer(shapes: Shapes, far: float | None) -> None:
    """Half by their names and half by their shapes; without a name or a matrix in common, none."""
    assert distance(wanted(LSTM(3))[0], site("pytorch", module("rnn", shapes))) == far


def test_what_is_shared_is_no_distance() -> None:
    """Whether or not it is there, in whatever shape."""
    output = wanted(Embedding(3), LSTM(3), input=9, output=Output(9, tied=True))[-1]
    for shapes in ({"bias": (9,)}, {"bias": (9,), "weight": (9, 3)}, {"bias": (9,), "weight": (27,)}):
        assert distance(output, site("pytorch", module("fc", shapes))) == 0


Paths = dict[str, tuple[str, int]]


def pairs(layers: Sequence[Layer], *modules: FileModule, input: int = 4, ordered: bool = True, **more: Any) -> Paths:
    """Return for each layer's name the path and number of the site it is paired with."""
    wanted = wanted_of(Network(input=input, layers=layers, convention="pytorch", **more))
    found = paired(wanted, sites_of(file("pytorch", *modules)), ordered=ordered)
    assert len({id(site) for site in found.values()}) == len(found)
    return {wanted[place].name: (site.path, site.number) for place, site in sorted(found.items())}


def modules(**of: Shapes) -> list[FileModule]:
    """Return modules of these paths; `__` stands for a point."""
    return [module(path.replace("__", "."), shapes) for path, shapes in of.items()]


SAME = {"a": cell(4, 4, 4), "b": cell(4, 4, 4)}


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("b", {"a": SAME["a"], "b": SAME["b"]}),
        ("b", {"module.a": SAME["a"], "module.b": SAME["b"]}),
        ("b", {"module/a": SAME["a"], "module/b": SAME["b"]}),
        ("b", {"b.b": SAME["a"], "b": SAME["b"]}),
        ("x.b", {"x.b": SAME["a"], "y.b": SAME["b"]}),
        ("b", {"a": SAME["a"], "b": cell(4, 9, 4)}),
        ("b", {"a": SAME["a"], "b": cell(3, 4, 4)}),
    ],
)
@pytest.mark.parametrize("key", ["path", "name"])
def test_a_path_or_a_name_says_which(key: str, path: str, there: dict[str, Shapes]) -> None:
    """As it is, or behind what wrappers put before it; though another fits better, and this one has other widths."""
    layer = LSTM(4).replace(**{key: path})
    name = layer.name or "lstm_1"
    (meant,) = [each for each in there if each == path] or [each for each in there if each.endswith(path)]
    assert pairs([layer], *(module(each, shapes) for each, shapes in there.items())) == {name: (meant, 0)}


def test_the_rest_of_a_path_is_whole_parts() -> None:
    """`b` is not the end of `ab`; with nothing there a layer with a path has no site, one with a name any that fits."""
    there = modules(ab=SAME["a"])
    assert pairs([LSTM(4, path="b")], *there) == {}
    assert pairs([LSTM(4, name="b")], *there) == {"b": ("ab", 0)}


def test_a_path_that_is_several_is_an_error() -> None:
    """At the layer that says it, with what it may be; a name that is several says nothing, and shapes do."""
    there = modules(x__b=cell(4, 4, 5), y__b=cell(4, 5, 4))
    with pytest.raises(SpecError) as caught:
        pairs([LSTM(5), LSTM(4, path="b")], *there)
    (problem,) = caught.value.problems
    assert problem.path == ("layers", 1)
    assert "'x.b' or 'y.b'" in problem.message
    assert pairs([LSTM(5), LSTM(4, name="b")], *there) == {"lstm_1": ("x.b", 0), "b": ("y.b", 0)}


def test_a_path_of_another_layer_altogether() -> None:
    """A matrix is no cell, nor the reverse: neither is paired, and what is after it is."""
    there = modules(fc=linear(4, 4), rnn=cell(4, 4, 4))
    assert pairs([LSTM(4, path="fc")], *there) == {}
    assert pairs([LSTM(4, name="fc")], *there) == {"fc": ("rnn", 0)}
    assert pairs([LSTM(4, path="gone"), LSTM(4)], *there) == {"lstm_2": ("rnn", 0)}
    assert pairs([External(7, path="rnn"), LSTM(4)], *there) == {"lstm_1": ("rnn", 0)}


def test_a_path_of_stacked_layers_is_taken_in_turn() -> None:
    """By copies of a layer, and by layers with one path; the second finds the second, whatever the first found."""
    there = modules(a=stacked(4, 5, 5, 5), rnn=stacked(4, 5, 5, 5))
    in_turn = {"lstm_1": ("rnn", 0), "lstm_2": ("rnn", 1), "lstm_3": ("rnn", 2)}
    assert pairs([LSTM(5, path="rnn", repeat=3)], *there) == in_turn
    assert pairs([LSTM(5, path="rnn")] * 3, *there) == in_turn
    torn = modules(rnn={"weight_ih_l0": (20,), **cell(4, 5, 5, number=1)})
    assert pairs([LSTM(5, path="rnn", repeat=2)], *torn) == {"lstm_2": ("rnn", 1)}
    assert pairs([LSTM(5, name="rnn")], *there) == {"rnn": ("rnn", 0)}


def test_a_cell_and_a_matrix_at_one_path() -> None:
    """A module that is a cell and holds more: each is found there, and is none of the other's copies."""
    there = module("both", {**linear(5, 3), **stacked(4, 5, 5)})
    found = pairs([LSTM(5, path="both", repeat=2)], there, output=Output(3, path="both"))
    assert found == {"lstm_1": ("both", 0), "lstm_2": ("both", 1), "output": ("both", 0)}


def test_shapes_say_which_wherever_it_stands() -> None:
    """Tensor by tensor; a table is none of the matrices that have its shape, if one is told to be a table."""
    there = modules(out=linear(6, 3), b=cell(3, 5, 6), a=cell(4, 4, 5))
    found = pairs([LSTM(5), GRU(6)], *there, output=3)
    assert found == {"lstm_1": ("a", 0), "gru_1": ("b", 0), "output": ("out", 0)}
    tables = modules(fc={"weight": (9, 4)}, emb={"weight": (9, 4)}, rnn=cell(4, 4, 4))
    (both,) = [pairs([Embedding(4), LSTM(4)], *tables, input=9, output=Output(9, bias=False))]
    assert both == {"embedding_1": ("emb", 0), "lstm_1": ("rnn", 0), "output": ("fc", 0)}
    called = modules(rnn=cell(4, 4, 4), first={"weight": (9, 4)})
    assert pairs([Embedding(4), LSTM(4)], *called, input=9) == {"embedding_1": ("first", 0), "lstm_1": ("rnn", 0)}


def test_a_table_is_told_from_a_matrix_behind_what_fits_in_part() -> None:
    """In a decoder, whose encoder has another width in the file."""
    there = modules(enc=cell(4, 7, 4), fc={"weight": (9, 4)}, emb={"weight": (9, 4)}, dec=cell(4, 4, 4))
    decoder = Part(9, (Embedding(4), LSTM(4)), Output(9, bias=False))
    network = Network(encoder=Part(5, (LSTM(4),)), decoder=decoder, convention="pytorch")
    found = paired(wanted_of(network), sites_of(file("pytorch", *there)), ordered=True)
    assert [found[place].path for place in range(4)] == ["enc", "emb", "dec", "fc"]


def test_layers_that_are_alike_stand_as_the_file_does() -> None:
    """Where it keeps the order in which they were defined, or where their names differ by numbers alone."""
    two = [LSTM(4), LSTM(4)]
    kept = {"lstm_1": ("z", 0), "lstm_2": ("a", 0)}
    assert pairs(two, *modules(z=SAME["a"], a=SAME["b"])) == kept
    numbered = modules(rnn10=SAME["a"], rnn2=SAME["b"])
    assert pairs(two, *numbered, ordered=False) == {"lstm_1": ("rnn10", 0), "lstm_2": ("rnn2", 0)}
    one = module("rnn", stacked(4, 4, 4, 4))
    assert pairs(two, one, ordered=False) == {"lstm_1": ("rnn", 0), "lstm_2": ("rnn", 1)}
    assert pairs([LSTM(4, repeat=3)], *modules(z=SAME["a"])) == {"lstm_1": ("z", 0)}


@pytest.mark.parametrize(
    ("layers", "there", "ordered", "said", "more"),
    [
        ([LSTM(4)], SAME, True, "'a' or 'b'", (2, 1)),
        ([LSTM(4), LSTM(4)], SAME, False, "'a' or 'b'", ()),
        ([GRU(4), LSTM(4), LSTM(4)], {**SAME, "c": SAME["a"]}, True, "'a', 'b' or 'c'", (3, 2)),
        ([LSTM(4)], {"": SAME["a"], "b": SAME["b"]}, True, "'the file itself' or 'b'", (2, 1)),
        ([LSTM(4, repeat=2)], {"a": stacked(4, 4, 4), "b": stacked(4, 4, 4)}, True, "'a' or 'b'", (4, 2)),
    ],
)
def test_a_layer_that_may_be_several_is_an_error(
    layers: list[Layer], there: dict[str, Shapes], ordered: bool, said: str, more: tuple[int, ...]
) -> None:
    """At the first of them; nothing is guessed. It says so if a path alone does not make the two agree."""
    with pytest.raises(SpecError) as caught:
        pairs(layers, *(module(path, shapes) for path, shapes in there.items()), ordered=ordered)
    (problem,) = caught.value.problems
    assert problem.path == ("layers", [layer.kind for layer in layers].index("lstm"))
    end = "; the file has {} such layers, and the spec {}".format(*more) if more else ""
    assert problem.message == f"may be {said} of the file; give its path{end}"


def test_a_repeat_that_may_be_several_modules_is_written_layer_by_layer() -> None:
    """One path would not say where all of its layers are."""
    with pytest.raises(SpecError) as caught:
        pairs([LSTM(4, repeat=2)], *modules(a=SAME["a"], b=SAME["b"]), ordered=False)
    (problem,) = caught.value.problems
    assert problem.message == "may be 'a' or 'b' of the file; write each layer of the repeat alone, with its path"


def test_what_is_used_once_more_is_not_meant() -> None:
    """Of two modules with the same numbers the first has them, and there is nothing to choose."""
    there = module("z", SAME["a"]), module("a", SAME["a"], shared_with="z")
    assert pairs([LSTM(4)], *there) == {"lstm_1": ("z", 0)}
    assert pairs([LSTM(4), LSTM(4)], *there) == {"lstm_1": ("z", 0), "lstm_2": ("a", 0)}


def test_one_is_told_where_the_sorted_file_has_one() -> None:
    """There is nothing to choose."""
    assert pairs([LSTM(4), GRU(4)], *modules(b=cell(3, 4, 4), a=SAME["a"]), ordered=False) == {
        "lstm_1": ("a", 0),
        "gru_1": ("b", 0),
    }


def test_what_fits_in_part_is_paired_in_its_order() -> None:
    """With the least difference in all; what is more on either side has none, of two alike the first is taken."""
    there = modules(a=cell(4, 4, 5), b=cell(4, 5, 6), c=cell(4, 6, 7))
    assert pairs([LSTM(5), LSTM(8), LSTM(7)], *there, input=9) == {
        "lstm_1": ("a", 0),
        "lstm_2": ("b", 0),
        "lstm_3": ("c", 0),
    }
    assert pairs([LSTM(8)], *modules(a=cell(4, 4, 5), b=cell(4, 4, 6))) == {"lstm_1": ("a", 0)}
    assert pairs([LSTM(8)], *modules(fc=linear(4, 8), a=cell(4, 9, 9))) == {"lstm_1": ("a", 0)}
    assert pairs([LSTM(8)], *modules(a=cell(4, 9, 9), fc=linear(4, 8))) == {"lstm_1": ("a", 0)}
    fewer = pairs([LSTM(7), LSTM(9), LSTM(6)], *modules(a=cell(4, 8, 7), b=cell(4, 5, 9)), input=5)
    assert fewer == {"lstm_1": ("a", 0), "lstm_2": ("b", 0)}
    near = modules(a=cell(4, 9, 9, bias=False), b=cell(4, 4, 8, bias=False), c=cell(4, 3, 3, bias=False))
    assert pairs([LSTM(8)], *near) == {"lstm_1": ("b", 0)}


def test_a_matrix_that_is_tied_is_not_asked_for() -> None:
    """An output of biases alone is the one that holds them, whether or not its module has the matrix as well."""
    layers, tied = [Embedding(4), LSTM(4)], Output(9, tied=True)
    table, rnn = module("emb", {"weight": (9, 4)}), module("rnn", cell(4, 4, 4))
    for shapes in ({"bias": (9,)}, {"weight": (9, 4), "bias": (9,)}):
        found = pairs(layers, table, rnn, module("fc", shapes), input=9, output=tied)
        assert found == {"embedding_1": ("emb", 0), "lstm_1": ("rnn", 0), "output": ("fc", 0)}


def test_what_shares_the_tables_matrix_is_found_wherever_it_stands() -> None:
    """Before a cell that fits in part too; an output that is tied in the file alone, and has nothing of its own."""
    shared = tensor("fc.weight", (9, 4), shared_with="emb.weight")
    for own, output in (({"bias": tensor("fc.bias", (9,))}, Output(9, tied=True)), ({}, Output(9, bias=False))):
        there = (
            module("emb", {"weight": (9, 4)}),
            FileModule("fc", {"weight": shared, **own}),
            module("a", cell(4, 7, 4)),
        )
        found = pairs([Embedding(4), LSTM(4)], *there, input=9, output=output)
        assert found == {"embedding_1": ("emb", 0), "lstm_1": ("a", 0), "output": ("fc", 0)}


@pytest.mark.parametrize(("count", "meant"), [(400, 1), (401, 0)])
def test_many_that_fit_in_part_are_paired_as_they_stand(count: int, meant: int) -> None:
    """Of more than four hundred, on either side, not each is compared with each: the first may be the first."""
    others = [module(f"fc{number}", linear(1, 1)) for number in range(count - 2)]
    sites = [module("rnn0", cell(4, 9, 9)), module("rnn1", cell(4, 9, 2)), *others]
    assert pairs([LSTM(2)], *sites, input=1) == {"lstm_1": (f"rnn{meant}", 0)}
    near = module("a", cell(4, 3, 2, bias=False))
    assert pairs([LSTM(3), LSTM(2, repeat=count - 1)], near, input=2) == {f"lstm_{meant + 1}": ("a", 0)}
    assert pairs([LSTM(2, repeat=401)], module("fc", linear(1, 1)), module("a", cell(4, 1, 1)), input=2) == {
        "lstm_2": ("a", 0)
    }


@pytest.mark.parametrize(
    ("at", "path", "is_below"),
    [
        ("enc", "enc", True),
        ("enc.rnn", "enc", True),
        ("enc/rnn", "enc", True),
        ("module.enc.rnn", "enc", True),
        ("module/enc", "enc", True),
        ("encoder", "enc", False),
        ("benc", "enc", False),
        ("e.c", "e.c", True),
        ("exc", "e.c", False),
    ],
)
def test_what_is_below_a_path(at: str, path: str, is_below: bool) -> None:
    """Whole parts of a path, as they are written, whatever wrappers put before them."""
    (found,) = sites_of(file("pytorch", module(at, linear(2, 3))))
    assert below(found, path) is is_below
