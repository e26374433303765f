"""Writes arrays of float32 as the files of other programs: safetensors, NumPy's archives, and Keras's HDF5.

The first two take the standard library alone.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from rnncalc.errors import CallError


class Stored(NamedTuple):
    """An array in a file: its names, its shape, and its numbers, the last axis fastest.

    The first name owns it.
    """

    names: list[str]
    shape: tuple[int, ...]
    numbers: array[float]

    @property
    def data(self) -> bytes:
        """Its numbers, the lowest byte first."""
        numbers = self.numbers[:]
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers.tobytes()


def safetensors(arrays: Iterable[Stored], convention: str) -> bytes:
    """Return the bytes of a file in the safetensors format: a header in JSON, then the numbers."""
    header, data = dict[str, Any](__metadata__={"convention": convention}), bytearray()
    for each in arrays:
        for name in each.names:
            start = len(data)
            data += each.data
            header[name] = {"dtype": "F32", "shape": each.shape, "data_offsets": (start, len(data))}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join((len(text).to_bytes(8, "little"), text, data))


def npz(arrays: Iterable[Stored], convention: str) -> bytes:
    """Return the bytes of an archive of NumPy's arrays; the convention is the archive's comment, which NumPy ignores.

    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = convention.encode()
        for each in arrays:
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {each.shape}}}"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            start = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()
            for name in each.names:
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), start + each.data)
    return file.getvalue()


def hdf5(arrays: Iterable[Stored]) -> bytes:
    """Return the bytes of an HDF5 file; further names of an array are links to it. Raises CallError without h5py."""
    try:
        import h5py
        import numpy as np
    except ImportError:
        raise CallError("is written with h5py, which is not installed: pip install h5py") from None
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        for each in arrays:
            first, *others = each.names
            opened[first] = np.frombuffer(each.data, "<f4").reshape(each.shape)
            for name in others:
                opened[name] = opened[first]
    return file.getvalue()


WRITERS: Mapping[str, Callable[[Iterable[Stored], str], bytes]] = {
    ".safetensors": safetensors,
    ".npz": npz,
    ".weights.h5": lambda arrays, _: hdf5(arrays),
}
"""What writes each kind of file, by its suffix: arrays, whose names are those of a convention."""
