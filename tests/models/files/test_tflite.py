"""TensorFlow Lite's models: every offset of the flatbuffer is compared with the file's length."""

import struct
from pathlib import Path
from typing import Any

import pytest
from conftest import Call

from rnncalc import Dense
from rnncalc.errors import SpecError
from rnncalc.models.files import read
from rnncalc.models.read import read as drafted


def flatbuffer(table: dict[int, Any]) -> bytes:
    """Return a flatbuffer of TFLite: tables are dicts by the numbers of their fields, and numbers of four bytes."""
    data = bytearray(b"\0\0\0\0TFL3")

    def add(value: Any) -> int:
        """Write a value, and return where it begins."""
        data.extend(b"\0" * (-len(data) % 4))
        if isinstance(value, bytes):
            start = len(data)
            data.extend(struct.pack("<I", len(value)) + value)
            return start
        if isinstance(value, list):
            start = len(data)
            data.extend(struct.pack("<I", len(value)) + b"\0" * 4 * len(value))
            for place, each in enumerate(value, 1):
                at = start + 4 * place
                struct.pack_into("<i", data, at, each if isinstance(each, int) else add(each) - at)
            return start
        fields = max(value, default=-1) + 1
        layout = len(data)
        data.extend(struct.pack(f"<HH{fields}H", 4 + 2 * fields, 4 + 4 * fields, *(4 + 4 * n for n in range(fields))))
        for field in range(fields):
            if field not in value:
                struct.pack_into("<H", data, layout + 4 + 2 * field, 0)
        data.extend(b"\0" * (-len(data) % 4))
        start = len(data)
        data.extend(struct.pack("<i", start - layout) + b"\0" * 4 * fields)
        for field, each in value.items():
            at = start + 4 + 4 * field
            struct.pack_into("<i", data, at, each if isinstance(each, int) else add(each) - at)
        return start

    struct.pack_into("<I", data, 0, add(table))
    return bytes(data)


def dense(**other: Any) -> dict[int, Any]:
    """Return a model of one FULLY_CONNECTED of 3 inputs and 2 units, with a relu."""
    floats = struct.pack("<6f", *range(6))
    tensors: list[dict[int, Any]] = [
        {0: [1, 3], 1: 0, 2: 0, 3: b"x"},
        {0: [2, 3], 1: 0, 2: 1, 3: b"dense/kernel"},
        {0: [2], 1: 0, 2: 2, 3: b"dense/bias"},
        {0: [1, 2], 1: 0, 2: 0, 3: b"dense"},
    ]
    tensors[1] |= other.get("kernel", {})
    operator = {0: 0, 1: [0, 1, 2], 2: [3], 3: 8, 4: {0: 1}}
    graph = {0: tensors, 1: [0], 2: [3], 3: [operator]}
    return {0: 3, 1: [{0: 9}], 2: [graph], 4: [{}, {0: other.get("data", floats)}, {0: floats[:8]}]}


def test_a_dense_layer(tmp_path: Path) -> None:
    """Its kernel is turned, and its activation within the operator."""
    path = tmp_path / "a.tflite"
    path.write_bytes(flatbuffer(dense()))
    reading = drafted(read(str(path)))
    module, _ = reading.file.modules  # the other is the sum with the bias, which the first has
    assert module.tensors["kernel"].read() == [[0, 3], [1, 4], [2, 5]]
    assert reading.draft
    (layer,) = reading.draft.network.layers
    assert (layer, reading.file.params) == (Dense(2, activation="relu", path="dense"), 8)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (dense(kernel={0: [2, 4]}), "of 24 bytes, which its shape and type do not need"),
        (dense(kernel={0: [-2, 3]}), "whose shape is none"),
        (dense(data=b"\0" * 20), "of 20 bytes, which its shape and type do not need"),
    ],
)
def test_what_is_refused(tmp_path: Path, table: dict[int, Any], said: str) -> None:
    """Sizes that contradict the bytes."""
    path = tmp_path / "a.tflite"
    path.write_bytes(flatbuffer(table))
    with pytest.raises(SpecError, match=said):
        read(str(path))


def test_a_damaged_file_ends_in_one_line(tmp_path: Path, call: Call) -> None:
    """Each of its words in turn is the largest number, and each of its lengths cut."""
    whole, path = flatbuffer(dense()), tmp_path / "a.tflite"
    places = [at for at in range(0, len(whole), 2) if at not in range(3, 8)]
    damaged = [whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4 :] for at in places]
    refused = 0
    for data in (*damaged, *(whole[:length] for length in range(8, len(whole), 7))):
        path.write_bytes(data)
        done = call("read", path)
        refused += done.code == 2
        assert (done.code, done.err.count("\n")) in ((0, 0), (2, 1))
    assert refused > len(damaged) / 3
