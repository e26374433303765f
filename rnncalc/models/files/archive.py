"""Untrusted zip archives: lists their files and reads parts of them, one part in memory at a time."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from typing import Any, BinaryIO, NamedTuple

from rnncalc.bounds import MOST_INFLATED, MOST_LISTED
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import BYTES, BadFileError
from rnncalc.printable import escape
from rnncalc.words import plural

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""What zipfile raises for a damaged archive."""


class Archive:
    """A zip archive that is open for reading. Raises BadFileError if it is damaged or not an archive.

    within: the name of an archive that is in the one at a path.
    """

    def __init__(self, path: str, within: str = "") -> None:
        if within:
            with Archive(path) as outer:
                self._file: BinaryIO = io.BytesIO(outer.read(within, MOST_INFLATED))
        else:
            self._file = open_input(path)
        try:
            _refuse_long_list(self._file)
            self._zip = zipfile.ZipFile(self._file)
        except BaseException as error:
            self._file.close()
            if isinstance(error, BadFileError) or not isinstance(error, _BROKEN):
                raise
            raise BadFileError(f"is truncated, or is not a zip archive: {escape(str(error)).lower()}") from None
        if any(info.header_offset < 0 for info in self._zip.filelist):
            self.__exit__()
            raise BadFileError("is truncated, or is not a zip archive: a file begins before it")
        self.names = self._zip.namelist()
        self.comment = self._zip.comment.decode("latin-1")

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def size(self, name: str) -> int | None:
        """Return the size that the archive gives for a file, None if it has no such file."""
        return self._zip.getinfo(name).file_size if name in self._zip.NameToInfo else None

    def read(self, name: str, most: int) -> bytes:
        """Return a file whole."""
        size = self.size(name)
        if size is None:
            raise BadFileError(f"holds no {escape(name)}")
        if size > most:
            raise BadFileError(f"has {escape(name)} of {size:,} bytes; at most {most:,} are read")
        return self.piece(name, 0, size)

    def piece(self, name: str, start: int, size: int) -> bytes:
        """Return some bytes of a file."""
        info = self._zip.NameToInfo.get(name)
        if info is None or start + size > info.file_size:
            raise BadFileError(f"holds no {escape(name)} of that length")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadFileError(f"packs {escape(name)} in a way that no framework does; save the model again")
        if info.compress_type != zipfile.ZIP_STORED and info.file_size > MOST_INFLATED:
            raise BadFileError(
                f"packs {escape(name)}, {info.file_size:,} bytes; at most {MOST_INFLATED:,} are unpacked"
            )
        try:
            with self._zip.open(info) as file:
                file.seek(start)
                data = file.read(size)
        except _BROKEN as error:
            raise BadFileError(f"has {escape(name)} that cannot be unpacked: {escape(str(error)).lower()}") from None
        if len(data) < size:
            raise BadFileError(f"is truncated within {escape(name)}")
        return data

    def order(self, root: str) -> str:
        """Return the order of the bytes of a number in PyTorch's archives, `little` or `big`."""
        name = f"{root}byteorder"
        return "big" if name in self.names and self.read(name, 100).strip() == b"big" else "little"

    def check(self, name: str, view: TensorView) -> None:
        """Raise BadFileError unless the archive has the numbers of a tensor."""
        needed, size = view.start + reach(view.shape, view.strides) * BYTES[view.dtype], self.size(view.file)
        if size is None or needed > size:
            there = "none" if size is None else plural(size, "byte")
            raise BadFileError(f"is truncated: {escape(name)} needs {needed:,} bytes, and there are {there}")

    def span(self, name: str) -> tuple[int, int] | None:
        """Return the start and the size of an uncompressed file in the archive; None for a compressed one."""
        info = self._zip.getinfo(name)
        if info.compress_type != zipfile.ZIP_STORED or self._zip.fp is None:
            return None
        self._zip.fp.seek(info.header_offset)
        head = self._zip.fp.read(30)
        if len(head) < 30 or head[:4] != b"PK\3\4":
            raise BadFileError(f"has no {escape(name)} where it says")
        lengths = struct.unpack("<HH", head[26:30])
        return info.header_offset + 30 + sum(lengths), info.file_size


def _refuse_long_list(file: BinaryIO) -> None:
    """Refuse an archive whose list of contents is too large: zipfile reads it whole."""
    length = file.seek(0, os.SEEK_END)
    file.seek(max(0, length - 70_000))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) < at + 22:
        raise BadFileError("is truncated, or is not a zip archive: it has no list of its files")
    (size,) = struct.unpack("<L", tail[at + 12 : at + 16])
    if size == 0xFFFFFFFF and (far := tail.rfind(b"PK\6\6", 0, at)) >= 0 and len(tail) >= far + 48:
        (size,) = struct.unpack("<Q", tail[far + 40 : far + 48])
    if size > MOST_LISTED and length > MOST_LISTED:
        raise BadFileError(f"has a list of contents of {size:,} bytes; at most {MOST_LISTED:,} are read")


class TensorView(NamedTuple):
    """The place of a tensor's numbers in an archive: its file, the first byte, and the strides, counted in numbers."""

    file: str
    start: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: str


def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return how many numbers a tensor spans, those between its own too."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True)) if all(shape) else 0


def numbers_of(place: tuple[str, ...], order: str, view: TensorView) -> Any:
    """Return the numbers of a tensor as nested lists; place: what opens the archive; order: that of Archive.order."""
    with Archive(*place) as archive:
        data = archive.piece(view.file, view.start, reach(view.shape, view.strides) * BYTES.get(view.dtype, 1))
    return model.strided(model.decoded(data, view.dtype, order), view.shape, view.strides)
