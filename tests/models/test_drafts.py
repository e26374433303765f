"""`read`: the network that the modules of a file can be, what the file does not tell of it, and what shares a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from case_files import cases
from conftest import Call, written
from hypothesis import given
from hypothesis import strategies as st
from models.files.made import safetensors
from models.made import Shape, Shapes, cell, file, linear, module, shapes_of, stacked, tensor
from strategies import network_of

from rnncalc.layers.convolution import Conv1D
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.normalisation import BatchNorm
from rnncalc.models.chain import in_chain, orders
from rnncalc.models.files import read as read_file
from rnncalc.models.files.model import FileModule, ModelFile, Remark, TensorRole
from rnncalc.models.read import Draft, read
from rnncalc.models.sites import Doubt, Site, sites_of
from rnncalc.reports.read import ReadReport
from rnncalc.spec import parse

TABLE = {"weight": (20, 4)}
NORM = {"weight": (4,), "bias": (4,)}
RNN = module("rnn", cell(4, 4, 4))
ACTIVE = Remark(Doubt.ACTIVATION)
USUAL = {"padding": "same", "strides": 1, "dilation_rate": 1, "data_format": "channels_last", "activation": "relu"}


def drafted(file: ModelFile, left_out: Sequence[str] = ()) -> Draft:
    """Return the draft of a file, which counts what the file holds, layer by layer what the network has.

    Written as a spec and read again it has the same layers.

    left_out: the layers without weights that it lacks.
    """
    reading = read(file)
    remarks = [each for each in reading.file.remarks if each.kind in (Doubt.LEFT_OUT, Doubt.NOT_IN_SPEC)]
    assert [name for each in remarks for name in each.names] == [*left_out]
    draft = reading.draft
    assert draft is not None
    network = draft.network
    again = parse(written(ReadReport(reading), "yaml").encode(), "draft").network
    assert again.parts == network.parts
    assert network.params == file.params
    assert network.convention == file.framework
    output = [network.output] if network.output else []
    assert [*draft.layers] == [*network.layers, *output]
    assert len(draft.doubts) == len(draft.layers)
    return draft


def draft_of(*modules: FileModule, **more: Any) -> Draft:
    return drafted(file("pytorch", *modules, **more))


def layers(draft: Draft) -> list[Layer]:
    return [*draft.layers]


def doubts(draft: Draft) -> list[tuple[Remark, ...]]:
    return [*draft.doubts]


def file_of(case: dict[str, Any]) -> ModelFile:
    """Return the file of a case."""
    modules = []
    for path, shapes in case["modules"].items():
        settings = case.get("settings", {}).get(path, {})
        if "space" in settings:
            settings = {**USUAL, **settings, "space": (*settings["space"],)}
        modules.append(module(path, shapes_of(shapes), case.get("classes", {}).get(path, ""), settings))
    return file(case.get("framework", "pytorch"), *modules, **case.get("file", {}))


@pytest.mark.parametrize("case", cases("models/drafts.yaml"), ids=lambda case: str(case["spec"]))
def test_a_file_is_drafted(case: dict[str, Any]) -> None:
    """As the spec that was expected, with the doubts about each of its layers."""
    draft = drafted(file_of(case), case.get("left_out", ()))
    expected = network_of(case["spec"])
    assert (draft.network.parts, draft.network.topology) == (expected.parts, expected.topology)
    assert draft.unknown_input == case.get("unknown_input", False)
    written = [[" ".join(map(str, (each.kind.name, *each.names, *each.numbers))) for each in of] for of in draft.doubts]
    assert written == case.get("doubts", [[]] * len(draft.layers))


def test_an_output_keeps_what_is_known_of_it() -> None:
    """Its activation, its biases or none, and that it is frozen."""
    fc = module("fc", {"kernel": (3, 5)}, "Dense", {"activation": "softmax"}, frozen=True)
    draft = drafted(file("keras", module("a", {"kernel": (4, 3)}), fc))
    assert draft.network.output == Output(5, bias=False, activation="softmax", frozen=True, path="fc")
    assert doubts(draft)[1] == ()


def test_what_is_frozen() -> None:
    """All of a layer, or some of its tensors, which are named; nothing where the file does not tell."""
    assert layers(draft_of(module("a", cell(4, 3, 2), frozen=True))) == [LSTM(2, path="a", frozen=True)]
    assert layers(draft_of(module("a", cell(4, 3, 2), frozen=False))) == [LSTM(2, path="a")]
    part = {leaf: tensor(f"a.{leaf}", shape, frozen="ih" in leaf) for leaf, shape in cell(4, 3, 2).items()}
    draft = draft_of(FileModule("a", part))
    assert layers(draft) == [LSTM(2, path="a")]
    assert doubts(draft) == [(Remark(Doubt.PARTLY_FROZEN, ("weight_ih_l0", "bias_ih_l0")),)]
    of_two = {leaf: tensor(f"a.{leaf}", shape, frozen=leaf == "bias_hh_l1") for leaf, shape in stacked(4, 4, 4).items()}
    repeated = draft_of(FileModule("a", of_two))
    assert layers(repeated) == [LSTM(4, path="a", repeat=2)]
    assert doubts(repeated) == [(Remark(Doubt.PARTLY_FROZEN, ("bias_hh_l0",)),)]


def whole(file: ModelFile) -> None:
    """Hold that a file is drafted as one part."""
    draft = drafted(file)
    assert (layers(draft), doubts(draft)) == ([External(file.params)], [(Remark(Doubt.MODULES),)])
    assert (draft.network.input, draft.unknown_input) == (1, True)


def test_what_cannot_be_told_apart_is_one_part() -> None:
    """Tensors of no module, more modules than are gone through, widths or paths that no spec can have."""
    known = file("pytorch", RNN)
    whole(known._replace(tensors=(*known.tensors, tensor("alone", (7,)))))
    whole(known._replace(modules=()))
    many = [module(f"bn{number}", {"weight": (1,)}) for number in range(2_001)]
    whole(file("pytorch", *many))
    most = draft_of(*many[1:])
    assert layers(most) == [External(2_000)]
    assert [len(doubt.names) for doubt in most.doubts[0]] == [2_000]


def test_a_file_of_no_parameters_or_too_many_has_no_draft() -> None:
    """A spec holds 10^12 at most."""
    assert read(file("pytorch")).draft is None
    buffer = tensor("bn.mean", (4,))._replace(role=TensorRole.BUFFER)
    held = file("pytorch")._replace(tensors=(buffer,))
    assert read(held) == (held, None, {})
    assert layers(draft_of(module("scale", {"weight": (1,)}))) == [External({"weight": (1,)}, path="scale")]
    assert read(file("pytorch", module("big", {"weight": (10**12, 1, 1)}))).draft is not None
    assert read(file("pytorch", module("big", {"weight": (10**12 + 1, 1, 1)}))).draft is None


@pytest.mark.parametrize(
    ("path", "said"),
    [("rnn", "rnn"), ("", None), (" ", None), ("a\nb", None), ("x" * 200, "x" * 200), ("x" * 201, None)],
)
def test_a_path_that_a_spec_can_say(path: str, said: str | None) -> None:
    """Printable and of 200 characters at most; a layer without one is found by its shapes."""
    assert layers(draft_of(module(path, cell(4, 3, 2)))) == [LSTM(2, path=said)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/b/model.tar.gz", "model"),
        ("model", "model"),
        (".pt", "model"),
        ("a/ .pt", "model"),
        ("a\n\x1bb.pt", "ab"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_network_is_called_what_its_file_is(path: str, name: str) -> None:
    """Without folders, suffixes and what cannot be printed."""
    assert drafted(file("pytorch", RNN)._replace(path=path)).network.name == name


def ordered(modules: dict[str, Shapes]) -> list[tuple[str, int]]:
    """Return the paths and numbers of sites in their order, those of the file sorted by the names of its modules."""
    sites = sites_of(file("pytorch", *(module(path, modules[path]) for path in sorted(modules))))
    found = in_chain(sites)
    assert sorted(map(id, found)) == sorted(map(id, sites))
    return [(site.path, site.number) for site in found]


@given(st.data())
def test_a_chain_of_widths_is_found_under_any_names(data: st.DataObject) -> None:
    """Where each width is read once, the order of the names does not matter."""
    widths = data.draw(st.lists(st.integers(1, 50), min_size=3, max_size=6, unique=True))
    paths = data.draw(st.permutations(["a", "b", "c", "d", "e"]))[: len(widths) - 1]
    chain = zip(paths, widths, widths[1:], strict=False)
    modules: dict[str, Shapes] = {path: cell(4, inputs, units) for path, inputs, units in chain}
    assert ordered(modules) == [(path, 0) for path in paths]


@pytest.mark.parametrize(
    ("modules", "paths"),
    [
        ({"decoder_rnn": cell(4, 6, 4), "encoder_rnn": cell(4, 3, 6)}, ["encoder_rnn", "decoder_rnn"]),
        ({"a": cell(4, 3, 3), "b": cell(4, 3, 3)}, ["a", "b"]),  # each reads what the other outputs
        ({"a": cell(4, 5, 6), "b": cell(4, 3, 4)}, ["a", "b"]),  # neither does
        ({"a": cell(4, 4, 4), "word_emb": TABLE}, ["word_emb", "a"]),
        ({"fc": linear(6, 6), "rnn": cell(4, 3, 6)}, ["rnn", "fc"]),
        ({"a": cell(4, 6, 6), "fc": linear(6, 6), "z": cell(4, 6, 6)}, ["a", "z", "fc"]),
        ({"a": cell(4, 3, 6), "model.head": linear(6, 4), "z": cell(4, 5, 5)}, ["a", "z", "model.head"]),
        ({"a": cell(4, 3, 6), "headroom": linear(6, 4), "z": cell(4, 5, 5)}, ["a", "headroom", "z"]),
        ({"a": cell(4, 3, 6), "fc1": linear(5, 2), "fc2": linear(6, 5)}, ["a", "fc2", "fc1"]),
        ({"a": cell(4, 9, 2), "b": cell(4, 3, 6), "c": linear(6, 9)}, ["b", "c", "a"]),
        ({"a": cell(4, 3, 6), "b": cell(4, 7, 7), "c": cell(4, 6, 7)}, ["a", "c", "b"]),
        ({"a": cell(4, 3, 6), "b": cell(4, 5, 2), "c": cell(4, 6, 9)}, ["a", "c", "b"]),
        ({"a": cell(4, 9, 4), "word_emb": TABLE}, ["word_emb", "a"]),
        ({"fc": NORM, "z": cell(4, 3, 4)}, ["z", "fc"]),
        ({"a": NORM, "b": cell(4, 6, 4), "c": cell(4, 3, 6)}, ["c", "b", "a"]),
        ({"a": cell(4, 3, 6), "b": NORM, "c": cell(4, 6, 2)}, ["a", "c", "b"]),
        ({"a": NORM, "b": NORM}, ["a", "b"]),
        (
            {"a": NORM, "b": linear(4, 4), "emb": TABLE, "fc": linear(4, 4), "z": cell(4, 4, 4)},
            ["emb", "z", "a", "b", "fc"],
        ),
    ],
)
def test_each_reads_what_the_one_before_outputs(modules: dict[str, Shapes], paths: list[str]) -> None:
    """Tables first, outputs last, and the names where widths leave a choice, or fit nowhere."""
    assert ordered(modules) == [(path, 0) for path in paths]


def test_layers_of_a_module_stay_together() -> None:
    """Though another reads the same width, or the module's own next one another."""
    same = {"a": cell(4, 6, 6), "b": stacked(3, 6, 6, 6)}
    assert ordered(same) == [("b", 0), ("b", 1), ("b", 2), ("a", 0)]
    torn: dict[str, Shapes] = {"a": {**cell(4, 3, 6), **cell(4, 8, 5, number=1)}, "b": cell(4, 6, 8)}
    assert ordered(torn) == [("a", 0), ("a", 1), ("b", 0)]


def test_an_order_in_which_all_widths_fit() -> None:
    """Is found behind a choice that ends nowhere; those of a class stay in the order of their numbers."""

    def sites(widths: dict[str, tuple[int, int]]) -> Sequence[Site]:
        modules = []
        for path, (inputs, units) in widths.items():
            cells = {"kernel": (inputs, 4 * units), "recurrent_kernel": (units, 4 * units), "bias": (4 * units,)}
            modules.append(module(path, cells if "lstm" in path else {"kernel": (inputs, units), "bias": (units,)}))
        return sites_of(file("keras", *modules, ordered=False))

    one = sites({"dense": (128, 96), "dense_1": (96, 4), "lstm": (64, 128), "lstm_1": (128, 128)})
    assert [site.path for site in in_chain(one)] == ["lstm", "lstm_1", "dense", "dense_1"]
    assert [orders(each)[1] for each in (one, sites({"dense": (64, 64), "lstm": (64, 64)}))] == [False, True]


def test_a_guess_of_an_order_is_said_in_every_format() -> None:
    """The two layers of a module stay together, before the norm whose name is first."""
    norm, stack = module("a", {"weight": (4,), "bias": (4,)}), module("z", stacked(4, 4, 4))
    every = [read(file("pytorch", module("emb", TABLE), *each, ordered=False)) for each in ([norm, stack], [stack])]
    assert [[remark.kind for remark in each.file.remarks] for each in every] == [[Doubt.ORDER], []]


def test_what_may_be_a_table_is_in_front_of_a_stack() -> None:
    """Its columns are what the layers behind read; as a dense layer it would be last."""
    assert ordered({"a": {"weight": (20, 4)}, "b": stacked(4, 4, 4)}) == [("a", 0), ("b", 0), ("b", 1)]


def test_no_layer_stands_before_the_one_it_is_stacked_on() -> None:
    """Even where that one is none that is known: it is a layer of the same module."""
    broken = {**cell(4, 9, 3), **cell(4, 3, 3, number=1), "bias_hh_l0": (1,)}
    assert ordered({"a": broken, "b": cell(4, 3, 7)}) == [("a", 0), ("a", 1), ("b", 0)]


def tied(bias: int = 0, *, shape: Shape = (20, 4), leaf: str = "weight", path: str = "fc") -> FileModule:
    """Return a module whose matrix is the table's, and so many biases of its own."""
    own = {"bias": tensor(f"{path}.bias", (bias,))} if bias else {}
    return FileModule(path, {leaf: tensor(f"{path}.weight", shape, shared_with="emb.weight"), **own})


@pytest.mark.parametrize("bias", [20, 0])
@pytest.mark.parametrize("more", [[], [tied(path="copy")], [module("copy", NORM, shared_with="bn")]])
def test_an_output_whose_matrix_is_the_tables(bias: int, more: list[FileModule]) -> None:
    """Is tied, of as many units as there are words; its biases alone are counted, and what is used once more is not."""
    draft = draft_of(module("emb", TABLE), RNN, tied(bias), *more)
    assert layers(draft) == [Embedding(4, path="emb"), LSTM(4, path="rnn"), draft.network.output]
    assert draft.network.output == Output(20, bias=bias > 0, tied=True, path="fc")
    assert doubts(draft) == [(), (), (ACTIVE,)]
    assert draft.network.params == 20 * 4 + 4 * 4 * (4 + 4 + 2) + bias


def test_a_tied_output_of_another_width() -> None:
    """It reads the table's columns, whatever is before it; its own check passes."""
    draft = draft_of(module("emb", TABLE), module("rnn", cell(4, 4, 6)), tied(20))
    assert layers(draft)[2:] == [External(0, outputs=4), Output(20, tied=True, path="fc")]
    behind = draft_of(module("emb", TABLE), RNN, module("bn", NORM), tied(20))
    assert layers(behind)[2:] == [External(NORM, path="bn"), Output(20, tied=True, path="fc")]


@pytest.mark.parametrize(
    "modules",
    [
        [module("emb", TABLE), tied(20), RNN],
        [RNN, tied(20)],
        [module("emb", TABLE), RNN, tied(10, shape=(10, 8))],
        [module("emb", TABLE), RNN, tied(4, shape=(4, 20))],
        [module("emb", TABLE), RNN, tied(20, shape=(80,))],
        [module("emb", TABLE), RNN, tied(20, leaf="alpha")],
        [module("other", TABLE), RNN, tied(20)],
    ],
)
def test_a_shared_matrix_that_is_no_tied_output(modules: list[FileModule]) -> None:
    """Not at the end, of no table, of other shape or name: what is its own is counted, and not known."""
    draft = draft_of(*modules)
    own = modules[[each.path for each in modules].index("fc")].tensors["bias"].params
    (unknown,) = [each for each in draft.layers if isinstance(each, External)]
    assert unknown.params == own + (80 if modules[1].path == "emb" else 0)


def test_a_layer_that_is_used_twice_is_counted_once() -> None:
    """Its second use has no parameters of its own, and is no layer."""
    again = module("again", cell(4, 4, 4), shared_with="rnn")
    assert layers(draft_of(RNN, again, module("fc", linear(4, 5)))) == [LSTM(4, path="rnn"), Output(5, path="fc")]
    assert layers(draft_of(RNN, again)) == [LSTM(4, path="rnn")]


@pytest.mark.parametrize(
    ("shapes", "behind", "first"),
    [
        ((20, 3), cell(4, 3, 2), Embedding(3, path="0")),
        ((20, 3), cell(4, 20, 2), Dense(20, bias=False, path="0")),
        ((3, 3), cell(4, 3, 2), Dense(3, bias=False, path="0")),
        ((20, 3), cell(4, 5, 2), Dense(20, bias=False, path="0")),
        ((20, 3), {}, Dense(20, bias=False, path="0")),
    ],
)
def test_a_matrix_in_front_may_be_a_table(shapes: Shape, behind: Shapes, first: Layer) -> None:
    """Where the next layer that is known, and is no other's, reads its columns and not its rows."""
    again = module("again", cell(4, 5, 2), shared_with="rnn")
    end = module("fc", linear(2, 5))
    rnn = [module("rnn", behind)] if behind else []
    draft = draft_of(module("0", {"weight": shapes}), again, module("bn", NORM), *rnn, end)
    assert layers(draft)[0] == first
    table = isinstance(first, Embedding)
    rows, columns = shapes
    may_be = Remark(Doubt.TABLE, (), (rows,))
    assert (draft.network.input, doubts(draft)[0]) == ((20, ()) if table else (columns, (ACTIVE, may_be)))


def test_how_many_words_a_matrix_may_be_a_table_of(tmp_path: Path, call: Call) -> None:
    """As many as it has rows: 3 behind an RNN of 10 units, that outputs its columns."""
    rnn = {f"rnn.{leaf}": shape for leaf, shape in cell(1, 4, 10).items()}
    path = safetensors(tmp_path / "model.safetensors", {"head.weight": (3, 10), **rnn})
    assert "# a matrix without a bias: a dense layer, or a table for a vocabulary of 3\n" in call("read", path).out


def test_what_was_left_out_without_a_word(tmp_path: Path, call: Call) -> None:
    """A bias of as many numbers as one matrix has rows is of a head tied to it; `save_pretrained` stores no alias."""
    shapes = {f"rnn.{leaf}": shape for leaf, shape in cell(4, 16, 16).items()}
    shapes |= {"encoder.weight": (100, 16), "decoder.bias": (100,)}
    path = safetensors(tmp_path / "model.safetensors", shapes)
    draft = drafted(read_file(str(path)))
    assert layers(draft) == [
        Embedding(16, path="encoder"),
        LSTM(16, path="rnn"),
        Output(100, tied=True, path="decoder"),
    ]
    said = "# Not in the file, so taken as tied to a matrix of as many rows: decoder.weight (encoder.weight)."
    assert said in call("read", path).out


STATISTICS = {"running_mean": tensor("mean", (4,)), "running_var": tensor("variance", (4,))}
BATCH_NORM = module("norm", NORM)._replace(buffers=STATISTICS)


@pytest.mark.parametrize("ordered", [True, False])
def test_layers_around_the_cells_in_their_order(ordered: bool) -> None:
    """A norm follows a layer of its width, in a file that sorts its tensors too; a depthwise convolution has groups."""
    modules = [
        module("b_conv", {"weight": (4, 3, 5)}),
        BATCH_NORM,
        module("c_depth", {"weight": (4, 1, 3)}),
        module("z_norm", NORM),
        module("a_rnn", cell(3, 4, 2)),
    ]
    draft = draft_of(*(modules if ordered else sorted(modules)), ordered=ordered)
    assert [layer.kind for layer in draft.layers] == ["conv1d", "batch_norm", "conv1d", "layer_norm", "gru"]
    assert draft.layers[2] == Conv1D(filters=4, kernel=3, groups=4, bias=False, path="c_depth")
    assert (draft.network.input, draft.network.params) == (3, 60 + 8 + 12 + 8 + 48)


def test_a_norm_of_another_width_has_no_extra_inputs() -> None:
    """It is after an external part that outputs its width."""
    draft = draft_of(module("a", cell(4, 3, 2)), BATCH_NORM)
    assert layers(draft) == [LSTM(2, path="a"), External(0, outputs=4), BatchNorm(path="norm")]


def test_statistics_are_no_frozen_part() -> None:
    """They are counted by Keras, never trained, and say nothing of the rest."""
    moving = {name: tensor(name, (4,), frozen=True) for name in ("moving_mean", "moving_variance")}
    for frozen in (False, True):
        trained = {name: tensor(name, (4,), frozen=frozen) for name in ("gamma", "beta")}
        draft = drafted(file("keras", FileModule("bn", {**trained, **moving}, "", {"epsilon": 1e-3})))
        assert layers(draft) == [BatchNorm(path="bn", frozen=frozen)]
        assert doubts(draft) == [()]


def test_modules_whose_layers_do_not_follow_are_networks() -> None:
    """An actor and a critic, each an LSTM of 8 on 3 numbers; a dense layer that reads more alone is in one row."""
    names = ("actor", "critic")
    modules = [
        module(f"agent.{name}.{path}", shapes)
        for name, outputs in zip(names, (2, 1), strict=True)
        for path, shapes in (("rnn", cell(4, 3, 8)), ("fc", linear(8, outputs)))
    ]
    reading = read(file("pytorch", *modules))
    assert {name: (draft.network.params, calls) for name, (draft, calls) in reading.networks.items()} == {
        "agent_actor": (4 * 8 * (3 + 8 + 2) + 2 * 9, 1),
        "agent_critic": (4 * 8 * (3 + 8 + 2) + 9, 1),
    }
    again = parse(written(ReadReport(reading), "yaml").encode(), "draft").described
    assert again.params == reading.file.params
    assert not read(file("pytorch", module("a.rnn", cell(4, 3, 8)), module("b", linear(9, 2)))).networks


def test_heads_behind_one_body_are_networks() -> None:
    """Dense layers at the end that read one width, 8; not a row behind another width, 9 → 8 → 8."""
    body = module("gru", cell(3, 3, 8))
    reading = read(file("pytorch", body, module("pi", linear(8, 2)), module("vf", linear(8, 1))))
    assert {name: (draft.network.params, calls) for name, (draft, calls) in reading.networks.items()} == {
        "gru": (3 * 8 * (3 + 8 + 2), 1),
        "pi": (2 * 9, 1),
        "vf": (9, 1),
    }
    row = (module("a", linear(9, 8)), module("b", linear(8, 8)), module("c", linear(8, 8)))
    assert not read(file("pytorch", body, *row)).networks
