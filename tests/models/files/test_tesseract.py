"""Tesseract's `.traineddata`: a table of parts, and a network of layers within layers."""

import struct
from pathlib import Path

import pytest
from conftest import Call


def text(word: str) -> bytes:
    return struct.pack("<I", len(word)) + word.encode()


def layer(kind: str, name: str, sizes: tuple[int, int, int], body: bytes, training: int = 0) -> bytes:
    """Return a layer; sizes: its inputs, its outputs and its weights."""
    return b"\0" + text(kind) + struct.pack("<bbiiii", training, 0, 64, *sizes) + text(name) + body


def matrix(rows: int, columns: int) -> bytes:
    """Return a matrix of bytes, with a scale for each row."""
    return (
        struct.pack("<BIIb", 129, rows, columns, 0) + bytes(rows * columns) + struct.pack("<I", rows) + bytes(8 * rows)
    )


def several(kind: str, *layers: bytes, sizes: tuple[int, int, int] = (3, 5, 57)) -> bytes:
    """Return a list of layers, and of a rate for each."""
    count = struct.pack("<I", len(layers))
    return layer(kind, kind, sizes, count + b"".join(layers) + count + bytes(4 * len(layers)))


def lstm(name: str = "Lfx2", inputs: int = 3) -> bytes:
    gates = matrix(2, inputs + 2 + 1) * 4
    return layer("LSTM", name, (inputs, 2, 4 * 2 * (inputs + 3)), struct.pack("<i", inputs + 2) + gates)


INPUT = layer("Input", "Input", (3, 3, 0), struct.pack("<5i", 1, 36, 0, 3, 0))
SOFTMAX = layer("Softmax", "Output", (2, 3, 9), matrix(3, 3))


def model(path: Path, network: bytes) -> Path:
    """Write a file whose part 17 is a network."""
    starts = [-1] * 17 + [4 + 8 * 18]
    path.write_bytes(struct.pack("<I18q", 18, *starts) + network + text("[1,36,0,3Lfx2O1c3]"))
    return path


@pytest.mark.parametrize(
    ("network", "params", "said"),
    [
        (several("Series", INPUT, lstm(), SOFTMAX), 57, "The network is [1,36,0,3Lfx2O1c3]; its 57 weights"),
        (several("Series", INPUT, several("RTLReversed", lstm()), SOFTMAX), 57, "direction: reverse"),
        (
            several("Series", several("ParBidiLSTM", lstm(), several("RTLReversed", lstm())), sizes=(3, 4, 96)),
            96,
            "bidirec",
        ),
    ],
)
def test_the_counts_that_it_stores(tmp_path: Path, call: Call, network: bytes, params: int, said: str) -> None:
    """An LSTM of 2 units on 3 inputs has 4 × 2 × (3 + 2 + 1) = 48 weights, a softmax of 3 on 2 has 3 × (2 + 1) = 9."""
    path = model(tmp_path / "a.traineddata", network)
    draft = call("read", path).out
    assert said in draft
    spec = tmp_path / "a.yaml"
    spec.write_text(draft)
    assert f" {params}\n" in call("count", spec).out
    assert call("check", spec, "--model", path).code == ("a run differs" in draft)
    assert "are not read" in draft or "and not read" in draft
    done = call("run", spec, "--weights", path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (several("Series", lstm(), sizes=(3, 2, 49)), "says that it has 49 weights"),
        (layer("LSTM", "a", (3, 2, 48), struct.pack("<i", 7) + matrix(2, 6) * 4), "two pasts or a softmax within"),
        (layer("LSTM", "a", (3, 2, 48), struct.pack("<i", 5) + matrix(3, 6) * 4), "do not fit its sizes"),
        (layer("Tanh", "a", (3, 2, 8), struct.pack("<BIIb", 128, 2**31, 2**31, 0)), "is truncated, or its network"),
        (layer("Series", "a", (3, 2, 0), struct.pack("<I", 2**32 - 1)), "of more layers than are read"),
        (layer("Tanh", "a", (3, 2, 8), matrix(2, 4), training=1), "is a checkpoint of a training"),
        (several("Series", several("Series", several("Oops"))), "a kind that is none of Tesseract's"),
    ],
)
def test_what_is_refused(tmp_path: Path, call: Call, network: bytes, said: str) -> None:
    """Sizes that contradict the bytes, and layers that are not read."""
    done = call("read", model(tmp_path / "a.traineddata", network))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err
