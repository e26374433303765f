"""HDF5 of strangers: the arrays of a file, and the attributes of its groups. No link is followed.

It is read with h5py, which is an extra: the format takes a library.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from rnncalc import bounds
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError
from rnncalc.printable import escape

Opened = Callable[[], io.RawIOBase | io.BytesIO]
"""Opens the file for h5py, which gets no path, because with one it could open other files too."""


class StoredArray(NamedTuple):
    """An array by its path; read: returns its numbers."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], Any]


Attributes = Mapping[str, Mapping[str, Any]]


class Contents(NamedTuple):
    """The arrays of a file, the attributes of its groups by path, and its links, which are not followed."""

    arrays: Sequence[StoredArray]
    attributes: Attributes = MappingProxyType({})
    links: Sequence[str] = ()


class Region(io.RawIOBase):
    """A part of a file, or all of it, as a file."""

    def __init__(self, path: str, start: int = 0, size: int | None = None) -> None:
        self._file = open_input(path)
        rest = os.fstat(self._file.fileno()).st_size - start
        self._start, self._size, self._at = start, rest if size is None else size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + {0: 0, 1: self._at, 2: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._start + self._at)
        data = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        if len(data) < len(buffer):  # h5py would take what was in the memory for the rest
            raise OSError("the file ends before it should")
        buffer[:] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def _open(opened: Opened) -> Iterator[Any]:
    try:
        import h5py
    except ImportError:
        raise BadFileError("is read with h5py, which is not installed: pip install h5py") from None
    try:
        with opened() as data, h5py.File(data, "r") as file:
            yield file
    except BadFileError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise BadFileError(f"is truncated, or is not an HDF5 file: {escape(str(error)).lower()}") from None


def contents(opened: Opened) -> Contents:
    """Return what a file holds."""
    arrays: list[StoredArray] = []
    groups: dict[str, Mapping[str, Any]] = {}
    links: list[str] = []
    with _open(opened) as file:
        import h5py

        def visit(path: str, item: Any) -> None:
            if isinstance(item, h5py.HardLink):  # its object is visited by itself
                return
            # a virtual array is made of others; asking for its shape would open their files
            array = isinstance(item, h5py.Dataset)
            virtual = array and item.id.get_create_plist().get_layout() == h5py.h5d.VIRTUAL
            if len(arrays) + len(groups) + len(links) > bounds.MOST_GROUPS:
                raise BadFileError(f"holds more than {bounds.MOST_GROUPS:,} arrays, groups and links")
            if path.count("/") > bounds.MOST_GROUP_DEPTH or len(path) > bounds.MOST_NAME:
                raise BadFileError("holds groups within groups to no end")
            if isinstance(item, h5py.Group):
                words = {key: _attribute(item, key) for key in ("name", "model_config", "layer_names", "keras_version")}
                groups[path] = {key: value for key, value in words.items() if value is not None}
            elif virtual or isinstance(item, h5py.SoftLink | h5py.ExternalLink):
                links.append(path)
            elif array:
                kind = item.dtype
                halves = kind.kind == "V" and kind.itemsize == 2  # a type that NumPy has not is stored as bytes
                dtype = "bfloat16" if halves and _attribute(item, "dtype") in (None, "bfloat16") else str(kind.name)
                shape = tuple(int(size) for size in item.shape or ())
                arrays.append(StoredArray(path, shape, dtype, partial(_numbers, opened, path, shape, dtype)))

        visit("", file)
        file.visititems(visit)
        # h5py has visititems_links since 3.11 alone
        file.id.links.visit(lambda name: visit(name.decode(), file.get(name, getlink=True)))
    return Contents(arrays, {path: words for path, words in groups.items() if words}, sorted(links))


def _attribute(item: Any, name: str) -> str | list[str] | None:
    """Return an attribute that is text, or a list of words as Keras writes it; None for any other."""
    import h5py

    if name not in item.attrs:
        return None
    attribute = item.attrs.get_id(name)
    kind = attribute.get_type()
    shape = attribute.shape  # None of one that is empty
    if (
        not isinstance(kind, h5py.h5t.TypeStringID)
        or shape is None
        or kind.get_size() * prod(shape) > bounds.MOST_ATTRIBUTE
    ):
        return None
    if shape and kind.is_variable_str():  # each word may be as long as the file
        return None
    value = item.attrs[name]
    return [_word(each) for each in value.ravel()] if shape else _word(value)


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _numbers(opened: Opened, path: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Return the numbers of an array."""
    with _open(opened) as file:
        item = file[path]
        if item.external:
            raise BadFileError(f"keeps {escape(path)} in another file, which is not opened")
        if dtype != "bfloat16" and item.dtype.kind not in "biuf":
            raise BadFileError(f"holds numbers of the type {dtype}, which are not read here; save them as float32")
        piece = prod(item.chunks or ()) * item.dtype.itemsize
        if piece > bounds.MOST_INFLATED:
            raise BadFileError(
                f"packs {escape(path)} by {piece:,} bytes; at most {bounds.MOST_INFLATED:,} are unpacked"
            )
        array = item[()]
    flat = model.decoded(array.tobytes(), dtype) if dtype == "bfloat16" else array.astype("float64").ravel().tolist()
    return model.nested(flat, shape)
