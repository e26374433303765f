"""Core ML's models: the layers of a neural network, and the operations of a program, both in protocol buffers."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import Call
from models.files.messages import field, message

from rnncalc import LSTM
from rnncalc.errors import SpecError
from rnncalc.models.files import read
from rnncalc.models.read import read as drafted

KERNEL, RECURRENT, BIAS = [[10, 0, 20, 30], [11, 1, 21, 31]], [[12, 2, 22, 32]], [13, 3, 23, 33]
"""Of an LSTM of 2 inputs and 1 unit in Keras's order, i f c o: i has 10 and more, f 0, the candidate 20, o 30."""


def array(*numbers: float) -> bytes:
    """Return the weights of a layer: float32, packed."""
    return field(1, struct.pack(f"<{len(numbers)}f", *numbers))


def network(path: Path, *, sizes: Sequence[int] = (2, 1), options: bytes = b"", more: bytes = b"") -> str:
    """Write a neural network of one LSTM: its gates are i, f, block input, o."""
    gates = [
        field(at + gate, array(*numbers))
        for gate, start in enumerate((10, 0, 20, 30))
        for at, numbers in ((1, (start, start + 1)), (20, (start + 2,)), (40, (start + 3,)))
    ]
    functions = [field(10, field(number, b"")) for number in (40, 30, 30)]
    widths = [field(1, sizes[0]), field(2, sizes[1])]
    layer = message(*widths, *functions, field(15, field(10, 1) + options), field(20, message(*gates)))
    net = field(1, field(1, "rnn") + field(2, "x") + field(3, "y") + field(420, layer))
    path.write_bytes(field(1, 4) + field(2, b"") + field(500, net + more))
    return str(path)


def program(folder: Path, *, offset: int = 64, file: str = "@model_path/weights/weight.bin", rows: int = 4) -> str:
    """Write a program of one LSTM: its gates are i, f, o, g. The matrix of the input is in the file beside it."""
    blobs = folder / "a.mlpackage/Data/com.apple.CoreML/weights"
    blobs.mkdir(parents=True)
    data = struct.pack("<8f", 10, 11, 0, 1, 30, 31, 20, 21)
    (blobs / "weight.bin").write_bytes(
        bytes(64) + struct.pack("<IIQQ", 0xDEADBEEF, 2, len(data), 128) + bytes(40) + data
    )

    def of(kind: int, *sizes: int) -> bytes:
        return field(2, field(1, field(1, kind) + b"".join(field(3, field(1, field(1, size))) for size in sizes)))

    def constant(name: str, value: bytes) -> bytes:
        kind = of(11, 1)[2:]
        return field(
            3,
            field(1, "const") + field(3, field(1, name) + field(2, kind)) + field(5, field(1, "val") + field(2, value)),
        )

    def floats(*numbers: float) -> bytes:
        return field(3, field(1, field(1, field(1, struct.pack(f"<{len(numbers)}f", *numbers)))))

    def word(text: str) -> bytes:
        return of(2) + field(3, field(1, field(4, field(1, text))))

    values = {
        "weight_ih": of(11, rows, 2) + field(5, field(1, file) + field(2, offset)),
        "weight_hh": of(11, 4, 1) + floats(12, 2, 32, 22),
        "bias": of(11, 4) + floats(13, 3, 33, 23),
        "recurrent_activation": word("sigmoid"),
        "cell_activation": word("tanh"),
        "activation": word("tanh"),
        "direction": word("forward"),
        "initial_h": of(11, 1, 1) + floats(0),
    }
    inputs = [field(2, field(1, name) + field(2, field(1, field(1, f"{name} 0")))) for name in values]
    lstm = field(3, field(1, "lstm") + b"".join(inputs) + field(3, field(1, "rnn")))
    block = b"".join(constant(f"{name} 0", value) for name, value in values.items()) + lstm
    function = field(2, field(1, "main") + field(2, field(3, field(1, "CoreML6") + field(2, block))))
    (blobs.parent / "model.mlmodel").write_bytes(field(1, 7) + field(2, b"") + field(502, function))
    return str(folder / "a.mlpackage")


@pytest.mark.parametrize("write", [lambda folder: network(folder / "a.mlmodel"), program])
def test_gates_are_in_the_order_of_keras(tmp_path: Path, write: Callable[[Path], str]) -> None:
    """Four matrices one after the other, or the blocks of one: both become i, f, c, o, as columns."""
    reading = drafted(read(write(tmp_path)))
    (module,) = reading.file.modules
    assert {leaf: tensor.read() for leaf, tensor in module.tensors.items()} == {
        "kernel": KERNEL,
        "recurrent_kernel": RECURRENT,
        "bias": BIAS,
    }
    assert reading.draft
    assert (reading.draft.network.layers, reading.file.params) == ((LSTM(1, path="rnn"),), 16)


def test_a_package_is_taken_where_a_file_is(tmp_path: Path, call: Call) -> None:
    """It is a folder: 4 × (2 + 1 + 1) = 16."""
    path = program(tmp_path)
    assert "Core ML model, 3 tensors, 16 parameters, 1 LSTM layer" in call("read", path + "/").out
    assert "16" in call("count", path).out
    assert call("check", path, "--max-params", "16").code == 0
    assert call("check", path, "--max-params", "15").code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (field(60, 0.5), "(clip): a run differs"),
        (field(60, 500.0), ""),
        (field(50, 1), "no layer that is known here: rnn"),
    ],
)
def test_what_no_lstm_computes(tmp_path: Path, options: bytes, said: str, call: Call) -> None:
    """A bound of 500 is what coremltools writes if there is none."""
    out = call("read", network(tmp_path / "a.mlmodel", options=options)).out
    assert said in out
    assert ("a run differs" in out or "no layer" in out) == bool(said)


def test_weights_of_few_bits_are_named(tmp_path: Path, call: Call) -> None:
    """Four bits each: 6 weights are 3 bytes. They are not counted, as in other formats."""
    dense = field(1, 3) + field(2, 2) + field(20, field(30, b"abc") + field(40, field(1, 4))) + field(21, array(1, 2))
    more = field(1, field(1, "fc") + field(2, "y") + field(140, dense))
    out = call("read", network(tmp_path / "a.mlmodel", more=more)).out
    assert "because they are quantised: fc/kernel, 6 numbers in all" in out


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda folder: network(folder / "a.mlmodel", sizes=(3, 1)), "rnn/kernel of 8 numbers, which its sizes do not"),
        (lambda folder: program(folder, rows=5), "of 32 bytes, which its shape and type do not need"),
        (lambda folder: program(folder, offset=65), "whose numbers are not in @model_path/weights/weight.bin"),
        (lambda folder: program(folder, offset=2**60), "whose numbers are not in"),
        (lambda folder: program(folder, file="/etc/passwd"), "names the file /etc/passwd"),
        (lambda folder: program(folder, file="@model_path/weights/.."), "names the file .., which is not in its"),
        (lambda folder: program(folder, file="@model_path/weights/b"), "which is not there"),
    ],
)
def test_what_is_refused(tmp_path: Path, write: Callable[[Path], str], said: str) -> None:
    """Sizes and places that contradict the bytes."""
    with pytest.raises(SpecError, match=said):
        read(write(tmp_path))
