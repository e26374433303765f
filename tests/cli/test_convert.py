"""`convert` writes files whole or not at all, and says in one line why it does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rnncalc import GRU, LSTM, Network, convert, read, run
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.rules import Array
from rnncalc.formats.yaml import weights_text
from rnncalc.forward.arrays import PassData

Call = Callable[..., Any]
TAGGER = "specs/models/tagger.pt"
GRU_4 = ("-i", "2", "-l", "gru:4", "-c", "pytorch")


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """Return a file with the weights of GRU_4."""
    network = Network(input=2, layers=[GRU(4)], convention="pytorch")
    path = tmp_path / "weights.yaml"
    path.write_text(weights_text(PassData(0).weights_of_all(network).items()), "utf-8")
    return str(path)


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
def test_what_is_written_is_read_again(suffix: str, call: Call, tmp_path: Path) -> None:
    """As the same model."""
    path = tmp_path / f"flax{suffix}"
    path.write_text("a file that is written over", "utf-8")
    done = call("convert", TAGGER, "--to", "flax-linen", "--save-weights", str(path), "-f", "json")
    assert done.code == 0
    assert json.loads(done.out)["largest_difference"] < 1e-6
    if suffix == ".safetensors":
        draft = read(path).draft
        assert draft
        assert draft.network.convention == "flax-linen"
        assert isinstance(draft.network.layers[1], LSTM)
        assert draft.network.layers[1].bidirectional
    back = call("convert", str(path), "--to", "pytorch", "-f", "csv") if suffix == ".safetensors" else done
    assert back.code == 0


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("to", ["textbook", "mlx", "equinox", "haiku", "paddle"])
def test_the_convention_is_read_from_the_file(to: str, suffix: str, call: Call, tmp_path: Path) -> None:
    """A square matrix does not tell which way round it is, nor do names that PaddlePaddle shares with PyTorch."""
    network = Network(input=2, layers=[LSTM(4, bidirectional=True), LSTM(3)], output=3, steps=3, convention="pytorch")
    weights, path, file = PassData(0).weights_of_all(network), tmp_path / "weights.yaml", tmp_path / f"arrays{suffix}"
    path.write_text(weights_text(weights.items()), "utf-8")
    flags = ("-i", "2", "-l", "lstm:4,bidirectional", "-l", "lstm:3", "-o", "3", "-T", "3")
    assert call("convert", *flags, "-c", "pytorch", "--weights", path, "--to", to, "--save-weights", file).code == 0
    draft = read(file).draft
    assert draft
    assert draft.network.convention == to
    assert draft.network.params == convert(network, to).target.params
    back = json.loads(call("run", *flags, "-c", to, "--weights", file, "-f", "json").out)["reports"][0]
    outputs = run(network, weights=weights).outputs
    assert back["outputs"] == pytest.approx(outputs)
    assert "make the convention" in call("run", *flags, "-c", "pytorch", "--weights", file).err


@pytest.mark.parametrize("to", ["textbook", "mlx", "paddle"])
def test_stored_means_are_read_from_the_file(to: str, call: Call, tmp_path: Path) -> None:
    """Whether a convention counts them as parameters or keeps them apart."""
    flags, path, file = (
        ("-i", "2", "-l", "batch_norm", "-l", "rnn:3", "-T", "2"),
        tmp_path / "w.yaml",
        tmp_path / "a.npz",
    )
    assert call("run", *flags, "--save-weights", path).code == 0
    assert call("convert", *flags, "--weights", path, "--to", to, "--save-weights", file).code == 0
    assert call("run", *flags, "-c", to, "--weights", file).code == 0


def test_other_outputs_are_not_written(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a convention that has a square matrix the wrong way round, which the binding by hand has not."""
    linen = convention("flax-linen")
    arrays = linen.arrays("lstm")
    assert arrays
    turned = arrays.replace(recurrent=Array("h{gate}/kernel", "h reads"))
    monkeypatch.setitem(CONVENTIONS, "flax-linen", linen.replace(cells={"lstm": turned}))
    path = tmp_path / "flax.npz"
    path.write_text("kept", "utf-8")
    done = call("convert", TAGGER, "--to", "flax-linen", "--save-weights", str(path))
    assert done.code == 1
    assert "✗ Two passes on the same random inputs, 5 steps: the largest difference is 0." in done.out
    assert path.read_text("utf-8") == "kept"


def test_each_block_of_a_narrow_table_names_its_layer(screen: Callable[..., str]) -> None:
    """Where the five columns are not side by side."""
    lines = screen(80, "convert", TAGGER, "--to", "keras").splitlines()
    assert [line for line in lines if line.startswith("lstm_2")] == [
        f"lstm_2  {way}/{name}" for way in ("forward", "backward") for name in ("kernel", "recurrent_kernel", "bias")
    ]


MISUSES = {
    "no framework": ("TAGGER", "--to: missing; give textbook, "),
    "unknown": ("TAGGER --to karas", "--to: expected textbook, "),
    "a convention of its own": (
        "TAGGER -c keras --to keras",
        "--convention: the file has the tensors of pytorch; leave this flag out\n",
    ),
    "suffix": ("TAGGER --to keras --save-weights a.bin", "expected the suffix .safetensors, .npz or .weights.h5; "),
    "of Keras": ("TAGGER --to pytorch --save-weights a.weights.h5", "no call of pytorch loads a file .weights.h5; "),
    "not of Keras": ("TAGGER --to keras --save-weights a.npz", "no call of keras loads a file .npz; write .weights.h5"),
    "a recipe alone": ("TAGGER --to onnx --save-weights a.npz", "no file of arrays is read by onnx; "),
    "without numbers": ("-i 2 -l gru:4 --to equinox --save-weights a.npz", "--save-weights needs weights: "),
    "twice": ("TAGGER --to keras --weights TAGGER", "--weights: the model file has the weights; "),
    "its own source": ("COPY --to mlx --save-weights COPY", "is read by this call; name another file"),
    "a device": ("TAGGER --to keras --save-weights FULL", "is not a regular file; name another file"),
    "no folder": ("TAGGER --to mlx --save-weights none/a.npz", "cannot be written: no such file or directory"),
    "another shape": (
        "-i 3 -l gru:4 -c pytorch --to keras --weights WEIGHTS",
        "expected shape (12, 3), so 3 numbers in each row, got 2",
    ),
    "another depth": ("-i 2 -l gru:4,repeat=2 -c pytorch --to keras --weights WEIGHTS", "gru_2: missing"),
    "a missing bias": ("-i 2 -l gru:4 -c pytorch --to keras --weights SHORT", "bias_hh_l0: missing"),
    "a stack of another depth": (
        "-i 12 -l embedding:4 -l lstm:3 -o 5 -c pytorch --to keras --weights TAGGER",
        "write {lstm: 3, repeat: 2, ",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_is_one_line_and_loses_nothing(name: str, call: Call, tmp_path: Path, weights: str) -> None:
    """With exit code 2; no file is made or changed."""
    words, message = MISUSES[name]
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(Path("specs/models/tagger.safetensors").read_bytes())
    short = tmp_path / "short.yaml"
    text = Path(weights).read_text("utf-8")
    short.write_text(text[: text.index("  bias_hh_l0")], "utf-8")
    places = {"TAGGER": TAGGER, "COPY": str(copy), "WEIGHTS": weights, "SHORT": str(short)}
    places |= {"FULL": "/dev/full", "a.npz": str(tmp_path / "a.npz"), "none/a.npz": str(tmp_path / "none" / "a.npz")}
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = call("convert", *[places.get(word, word) for word in words.split()])
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
