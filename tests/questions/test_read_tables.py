"""`read`: what shares the matrix of a table, and which matrix may be one."""

from pathlib import Path

import pytest
from conftest import Call
from modelfiles.made import safetensors
from questions.models.made import Shape, Shapes, cell, linear, module, tensor
from questions.read_back import ACTIVE, NORM, RNN, TABLE, doubts, drafted, layers, of

from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.modelfiles import read
from rnncalc.modelfiles.model import Module
from rnncalc.questions.models.site import Doubt
from rnncalc.questions.read import Doubted, Drafted


def tied(bias: int = 0, *, shape: Shape = (20, 4), leaf: str = "weight", path: str = "fc") -> Module:
    """Return a module whose matrix is the table's, and so many biases of its own."""
    own = {"bias": tensor(f"{path}.bias", (bias,))} if bias else {}
    return Module(path, {leaf: tensor(f"{path}.weight", shape, shared_with="emb.weight"), **own})


@pytest.mark.parametrize("bias", [20, 0])
@pytest.mark.parametrize("more", [[], [tied(path="copy")], [module("copy", NORM, shared_with="bn")]])
def test_an_output_whose_matrix_is_the_tables(bias: int, more: list[Module]) -> None:
    """Is tied, of as many units as there are words; its biases alone are counted, and what is used once more is not."""
    found = of(module("emb", TABLE), RNN, tied(bias), *more)
    assert layers(found) == [Embedding(4, path="emb"), LSTM(4, path="rnn"), found.network.output]
    assert found.network.output == Output(20, bias=bias > 0, tied=True, path="fc")
    assert doubts(found) == [(), (), (ACTIVE,)]
    assert found.network.params == 20 * 4 + 4 * 4 * (4 + 4 + 2) + bias


def test_a_tied_output_of_another_width() -> None:
    """It reads the table's columns, whatever stands before it; its own check passes."""
    found = of(module("emb", TABLE), module("rnn", cell(4, 4, 6)), tied(20))
    assert layers(found)[2:] == [External(0, outputs=4), Output(20, tied=True, path="fc")]
    behind = of(module("emb", TABLE), RNN, module("bn", NORM), tied(20))
    assert layers(behind)[2:] == [External(8, path="bn"), Output(20, tied=True, path="fc")]


@pytest.mark.parametrize(
    "modules",
    [
        [module("emb", TABLE), tied(20), RNN],
        [RNN, tied(20)],
        [RNN, module("emb", TABLE), tied(20)],
        [module("emb", TABLE), RNN, tied(10, shape=(10, 8))],
        [module("emb", TABLE), RNN, tied(4, shape=(4, 20))],
        [module("emb", TABLE), RNN, tied(20, shape=(80,))],
        [module("emb", TABLE), RNN, tied(20, leaf="alpha")],
        [module("other", TABLE), RNN, tied(20)],
    ],
)
def test_a_shared_matrix_that_is_no_tied_output(modules: list[Module]) -> None:
    """Not at the end, of no table, of other shape or name: what is its own is counted, and not known."""
    found = of(*modules)
    own = modules[[each.path for each in modules].index("fc")].tensors["bias"].params
    (unknown,) = [each for each in found.layers if isinstance(each.layer, External)]
    assert isinstance(unknown.layer, External)
    assert unknown.layer.params == own + (80 if modules[1].path == "emb" else 0)


def test_a_layer_that_is_used_twice_is_counted_once() -> None:
    """Its second use has no parameters of its own, and is no layer."""
    again = module("again", cell(4, 4, 4), shared_with="rnn")
    assert layers(of(RNN, again, module("fc", linear(4, 5)))) == [LSTM(4, path="rnn"), Output(5, path="fc")]
    assert layers(of(RNN, again)) == [LSTM(4, path="rnn")]


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
    found = of(module("0", {"weight": shapes}), again, module("bn", NORM), module("rnn", behind), end)
    assert layers(found)[0] == first
    table = isinstance(first, Embedding)
    rows, columns = shapes
    may_be = Doubted(Doubt.TABLE, (), (rows,))
    assert (found.network.input, doubts(found)[0]) == ((20, ()) if table else (columns, (ACTIVE, may_be)))


def test_a_matrix_further_back_is_no_table() -> None:
    """A spec has one in front alone; one with biases is none either."""
    behind = [module("1", {"weight": (20, 4)}), module("rnn", cell(3, 4, 2))]
    assert layers(of(module("0", cell(4, 3, 4)), *behind))[1] == Dense(20, bias=False, path="1")
    assert layers(of(module("bn", NORM), *behind))[1] == Dense(20, bias=False, path="1")
    biased = module("0", {"weight": (20, 4), "bias": (20,)})
    assert layers(of(biased, behind[1]))[0] == Dense(20, path="0")


def test_how_many_words_a_matrix_may_be_a_table_of(tmp_path: Path, call: Call) -> None:
    """As many as it has rows: 3 behind an RNN of 10 units, that hands on its columns."""
    rnn = {f"rnn.{leaf}": shape for leaf, shape in cell(1, 4, 10).items()}
    path = safetensors(tmp_path / "model.safetensors", {"head.weight": (3, 10), **rnn})
    assert "# a matrix without a bias: a dense layer, or a table of 3 words\n" in call("read", path).out


SORTED = {"encoder.weight": (100, 16), **{f"rnn.{leaf}": shape for leaf, shape in cell(4, 16, 16).items()}}
"""A language model whose table is called an encoder, as PyTorch's example has it; the LSTM has 4·16·(16 + 16 + 2)."""

OF_WORDS = Doubted(Doubt.TABLE, (), (100,))


@pytest.mark.parametrize(
    ("more", "output", "params"),
    [
        (
            {"decoder.bias": (100,)},  # safetensors leaves out what is shared
            Drafted(Output(100, tied=True, path="decoder"), (Doubted(Doubt.TIED), ACTIVE)),
            100,
        ),
        (
            {"decoder.bias": (100,), "decoder.weight": (100, 16)},
            Drafted(Output(100, path="decoder"), (ACTIVE,)),
            100 * 16 + 100,
        ),
    ],
)
def test_a_table_that_is_called_an_encoder(
    more: dict[str, Shape], output: Drafted, params: int, tmp_path: Path, call: Call
) -> None:
    """In a file that sorts its tensors too; that it may be a dense layer stays said, and the spec passes its check."""
    path, spec = safetensors(tmp_path / "model.safetensors", {**more, **SORTED}), tmp_path / "spec.yaml"
    found = drafted(read(str(path)))
    table = Drafted(Embedding(16, path="encoder"), (OF_WORDS,))
    assert found.layers == (table, Drafted(LSTM(16, path="rnn")), output)
    assert (found.network.input, found.network.params) == (100, 100 * 16 + 4 * 16 * (16 + 16 + 2) + params)
    spec.write_text(call("read", path, "-f", "yaml").out)
    assert call("check", spec, "--model", path).code == 0


@pytest.mark.parametrize(
    ("kept", "left", "bias"),
    [
        ("decoder", "encoder", 100),  # of the names of a matrix, safetensors keeps the first
        ("decoder", "emb", 100),
        ("decoder", "emb", 0),
        ("decoder", "encoder", 0),
        ("emb", "fc", 100),
        ("emb", "fc", 0),
    ],
)
def test_a_table_that_safetensors_save_model_left_out(
    kept: str, left: str, bias: int, tmp_path: Path, call: Call
) -> None:
    """The embedding stands in front and owns the matrix, the output is tied to it, and the spec passes its check."""
    shapes = {f"rnn.{leaf}": shape for leaf, shape in cell(4, 16, 16).items()} | {f"{kept}.weight": (100, 16)}
    table, output = ("emb", "fc") if kept == "emb" else (left, kept)
    shapes |= {f"{output}.bias": (bias,)} if bias else {}
    path, spec = tmp_path / "model.safetensors", tmp_path / "spec.yaml"
    safetensors(path, shapes, metadata={f"{left}.weight": f"{kept}.weight"})
    found = drafted(read(str(path)))
    assert layers(found)[:2] == [Embedding(16, path=table), LSTM(16, path="rnn")]
    assert found.network.output == Output(100, tied=True, bias=bias > 0, path=output)
    assert (found.network.input, found.network.params) == (100, 100 * 16 + 4 * 16 * (16 + 16 + 2) + bias)
    spec.write_text(call("read", path, "-f", "yaml").out)
    assert call("check", spec, "--model", path).code == 0


@pytest.mark.parametrize(
    "modules",
    [
        [module("encoder", {"weight": (16, 100)}), module("rnn", cell(4, 16, 16))],  # its rows are read
        [module("encoder", {"weight": (16, 16)}), module("rnn", cell(4, 16, 16))],  # both are
        [module("encoder", {"weight": (100, 16), "bias": (100,)}), module("rnn", cell(4, 16, 16))],
        [module("a", {"weight": (100, 16)}), module("rnn", cell(4, 16, 16))],
        [module("encoder", {"weight": (100, 16)}), module("emb", {"weight": (50, 16)}), module("rnn", cell(4, 16, 16))],
        [module("enc", {"weight": (99, 16)}), module("tok", {"weight": (98, 16)}), module("rnn", cell(4, 16, 16))],
    ],
)
def test_an_encoder_that_is_no_table(modules: list[Module]) -> None:
    """Where widths or names tell otherwise, or two would do."""
    found = of(*modules, ordered=False)
    assert not any(isinstance(layer, Embedding) and layer.path != "emb" for layer in layers(found))


@pytest.mark.parametrize(("path", "words"), [("decoder", 99), ("scale", 100)])
def test_a_lone_bias_that_is_no_output(path: str, words: int) -> None:
    """Of another length, or another name, it is counted, and not known."""
    found = of(module("emb", {"weight": (100, 16)}), module("rnn", cell(4, 16, 16)), module(path, {"bias": (words,)}))
    assert layers(found)[2] == External(words, path=path)
