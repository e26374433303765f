"""Flax's trees in msgpack: every length is compared with the file's."""

import struct
from pathlib import Path

import pytest

from rnncalc.bounds import MOST_PICKLE_DEPTH
from rnncalc.errors import SpecError
from rnncalc.models.files import read


def array(shape: tuple[int, ...], dtype: str, body: bytes, kind: int = 1) -> bytes:
    """Return an array as Flax packs it: an extension of a list of the shape, the type and the bytes."""
    sizes = bytes([0x90 | len(shape)]) + b"".join(b"\xce" + struct.pack(">I", size) for size in shape)
    packed = (
        b"\x93" + sizes + bytes([0xA0 | len(dtype)]) + dtype.encode() + b"\xc6" + struct.pack(">I", len(body)) + body
    )
    return b"\xc8" + struct.pack(">Hb", len(packed), kind) + packed


def tree(**entries: bytes) -> bytes:
    return bytes([0x80 | len(entries)]) + b"".join(
        bytes([0xA0 | len(name)]) + name.encode() + value for name, value in entries.items()
    )


TWO = struct.pack("<2f", 0.5, -1)


def written(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def test_a_tree(tmp_path: Path) -> None:
    """Maps give names; lists, numbers, texts and single values are beside the arrays."""
    beside = {"step": b"\xcd\x01\x00", "lr": b"\xcb" + bytes(8), "list": b"\x92\xc0" + array((2,), "float32", TWO)}
    cell = tree(
        kernel=array((2, 1), "float32", TWO), bias=array((2,), "float32", TWO), n=array((), "int32", bytes(4), 3)
    )
    file = read(written(tmp_path / "a.msgpack", tree(params=tree(cell=cell), **beside)))
    assert {tensor.name: (tensor.shape, tensor.read()) for tensor in file.tensors} == {
        "list/1": ((2,), [0.5, -1]),
        "params/cell/bias": ((2,), [0.5, -1]),
        "params/cell/kernel": ((2, 1), [[0.5], [-1]]),
        "params/cell/n": ((), 0),
    }


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (tree(w=array((2,), "float32", TWO))[:-1], "truncated"),
        (tree(w=array((2,), "float32", TWO)) + b"\0", "bytes after its tree"),
        (tree(w=array((3,), "float32", TWO)), "shape and type do not need its bytes"),
        (tree(w=array((2,), "object", TWO)), "shape or type is none"),
        (tree(w=b"\xc8\xff\xff\x01"), "truncated"),
        (tree(w=b"\xdf\xff\xff\xff\xff"), "a map of 4,294,967,295 values"),
        (tree(w=b"\xdb\xff\xff\xff\xff"), "a name of 4,294,967,295 bytes"),
        (tree(w=b"\xc1"), "the byte 0xc1 where a value should begin"),
        (tree(w=b"\xc7\x01\x01\x90"), "not a shape, a type and bytes"),
        (b"\x81\xa1w" * (MOST_PICKLE_DEPTH + 2) + b"\xc0", f"more than {MOST_PICKLE_DEPTH} maps"),
        (b"\x81\x90\xc0", "a key that is not a text"),
        (tree(w=tree(__msgpack_chunked_array__=b"\xc3")), "chunks that are not an array"),
    ],
)
def test_what_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    """Lengths that contradict the file, and what no tree of arrays has."""
    with pytest.raises(SpecError, match=said):
        read(written(tmp_path / "a.msgpack", data))
