"""NumPy's archives: each array's header is compared with its bytes."""

import struct
import zipfile
from pathlib import Path

import pytest

from rnncalc.errors import SpecError
from rnncalc.models.files import read


def npz(path: Path, head: str, body: bytes = b"", version: int = 1, compression: int = zipfile.ZIP_STORED) -> Path:
    """Write an archive of one array, by the documentation of the format."""
    length = struct.pack("<H" if version == 1 else "<I", len(head))
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("lstm.w.npy", b"\x93NUMPY" + bytes([version, 0]) + length + head.encode() + body)
    return path


def head(descr: str, shape: str, *, fortran: bool = False) -> str:
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"


SIX = range(6)


@pytest.mark.parametrize(
    ("descr", "letters", "dtype"),
    [("<f4", "<6f", "float32"), (">f8", ">6d", "float64"), ("<f2", "<6e", "float16"), ("|u1", "6B", "uint8")],
)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_arrays(tmp_path: Path, descr: str, letters: str, dtype: str, version: int, compression: int) -> None:
    """By rows and by columns, in either order of bytes, packed and not."""
    for fortran, numbers in ((False, [[0, 1, 2], [3, 4, 5]]), (True, [[0, 2, 4], [1, 3, 5]])):
        body = struct.pack(letters, *SIX)
        path = npz(tmp_path / "a.npz", head(descr, "(2, 3)", fortran=fortran), body, version, compression)
        (tensor,) = read(str(path)).tensors
        assert (tensor.name, tensor.shape, tensor.dtype) == ("lstm.w", (2, 3), dtype)
        assert tensor.read() == numbers


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        (head("|O", "(2,)"), b"\x80\x04.", "lstm.w, which is not a plain array of numbers"),
        ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", bytes(8), "not a plain array"),
        (head("<f4", "(3,)"), bytes(8), "lstm.w of 8 bytes, which its shape and type do not need"),
        (head("<f4", f"({10**17},)"), bytes(8), "an array of more than 32 axes or with one that is too long"),
        (head("<f4", "(1,)") + " " * 5000, bytes(4), "not a plain array"),
    ],
)
def test_what_is_refused(tmp_path: Path, header: str, body: bytes, said: str) -> None:
    """Objects, records, lengths that contradict the bytes."""
    with pytest.raises(SpecError, match=said):
        read(str(npz(tmp_path / "a.npz", header, body)))
