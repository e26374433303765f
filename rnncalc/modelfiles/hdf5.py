"""Untrusted HDF5 files: their arrays and the attributes of their groups. No link is followed.

Read with h5py, which is an extra: the format takes a library.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_ATTRIBUTE, MOST_GROUP_DEPTH, MOST_GROUPS, MOST_INFLATED, MOST_NAME
from rnncalc.files import open_input
from rnncalc.modelfiles.model import BadFileError, decoded, nested
from rnncalc.text import escape

Opened = Callable[[], io.RawIOBase | io.BytesIO]
"""Opens the file for h5py, which gets no path, because with one it could open other files too."""


class HDF5Array(NamedTuple):
    """An array by its path."""

    path: str
    shape: tuple[int, ...]
    dtype: str


class HDF5File(NamedTuple):
    """The arrays of a file in its order, the attributes of its groups by path, and its links, not followed."""

    arrays: tuple[HDF5Array, ...]
    attributes: Mapping[str, Mapping[str, Any]]
    links: tuple[str, ...]


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
        raise BadFileError("is read with h5py, which is not installed: pip install 'rnncalc[models]'") from None
    try:
        with opened() as data, h5py.File(data, "r") as file:
            yield file
    except BadFileError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise BadFileError(f"is cut off, or no HDF5 file: {escape(str(error)).lower()}") from None


def contents(opened: Opened) -> HDF5File:
    """Return what a file holds."""
    arrays: list[HDF5Array] = []
    links: list[str] = []
    with _open(opened) as file:
        import h5py

        seen: set[int] = set()
        attributes: dict[str, Mapping[str, Any]] = {}
        waiting = [""]
        while waiting:
            path = waiting.pop()
            group = file[path] if path else file
            if words := _text_attributes(group):
                attributes[path] = words
            below = []
            for name, item in _members(path, group, seen, links):
                if len(seen) + len(links) > MOST_GROUPS:
                    raise BadFileError(f"holds more than {MOST_GROUPS:,} arrays, groups and links")
                if isinstance(item, h5py.Dataset):
                    arrays.append(_array(name, item))
                else:  # only its name, because open objects take memory
                    below.append(name)
            waiting += reversed(below)
        return HDF5File(tuple(arrays), attributes, tuple(links))


def _members(path: str, group: Any, seen: set[int], links: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the members of a group that are new; add links to other files to `links`."""
    import h5py

    if path.count("/") > MOST_GROUP_DEPTH or len(path) > MOST_NAME:
        raise BadFileError("holds groups within groups to no end")
    for key in group:
        name = f"{path}/{key}" if path else str(key)
        if not isinstance(group.get(key, getlink=True), h5py.HardLink):
            links.append(name)
            continue
        item = group[key]
        if isinstance(item, h5py.Dataset) and _is_virtual(item):
            links.append(name)
        elif isinstance(item, h5py.Group | h5py.Dataset):
            address = h5py.h5o.get_info(item.id).addr
            if address not in seen:
                seen.add(address)
                yield name, item


def _is_virtual(item: Any) -> bool:
    """Return whether an array is virtual, made of others; asking for its shape would open their files."""
    import h5py

    return bool(item.id.get_create_plist().get_layout() == h5py.h5d.VIRTUAL)


def _array(path: str, item: Any) -> HDF5Array:
    kind = item.dtype
    halves = kind.kind == "V" and kind.itemsize == 2  # a type that NumPy has not is stored as bytes
    dtype = "bfloat16" if halves and _attribute(item, "dtype") == "bfloat16" else str(kind.name)
    return HDF5Array(path, tuple(int(size) for size in item.shape or ()), dtype)


def _text_attributes(group: Any) -> dict[str, Any]:
    """Return the attributes of a group that are text, or lists of text."""
    found = {key: _attribute(group, key) for key in ("name", "model_config", "layer_names")}
    return {key: value for key, value in found.items() if value is not None}


def _attribute(item: Any, name: str) -> str | list[str] | None:
    """Return an attribute that is text, or a list of words as Keras writes it; None for any other."""
    import h5py

    if name not in item.attrs:
        return None
    attribute = item.attrs.get_id(name)
    kind = attribute.get_type()
    shape = attribute.shape  # None of one that is empty
    if not isinstance(kind, h5py.h5t.TypeStringID) or shape is None or kind.get_size() * prod(shape) > MOST_ATTRIBUTE:
        return None
    if shape and kind.is_variable_str():  # each word may be as long as the file
        return None
    value = item.attrs[name]
    return [_word(each) for each in value.ravel()] if shape else _word(value)


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def numbers(opened: Opened, path: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Return the numbers of an array."""
    with _open(opened) as file:
        item = file[path]
        if item.external:
            raise BadFileError(f"keeps {escape(path)} in another file, which is not opened")
        if dtype != "bfloat16" and item.dtype.kind not in "biuf":
            raise BadFileError(f"holds numbers of the type {dtype}, which are not read here; save them as float32")
        piece = prod(item.chunks or ()) * item.dtype.itemsize
        if piece > MOST_INFLATED:
            raise BadFileError(f"packs {escape(path)} by {piece:,} bytes; at most {MOST_INFLATED:,} are unpacked")
        found = item[()]
        if dtype == "bfloat16":
            return nested(decoded(found.tobytes(), dtype), shape)
        flat = found.astype("float64").ravel().tolist()
    return nested(flat, shape)
