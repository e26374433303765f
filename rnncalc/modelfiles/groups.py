"""HDF5 files of strangers: the arrays in them and what their groups say of themselves, no link followed.

Read with h5py, which is an extra: the format takes a library.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from rnncalc.modelfiles.model import MOST_NAME, MOST_TENSORS, BadFileError
from rnncalc.modelfiles.numbers import decoded, nested
from rnncalc.text import escape

MOST_DEPTH = 40

Opened = Callable[[], Any]
"""Returns what h5py opens: a path, or a file."""


class Array(NamedTuple):
    """An array by its path."""

    path: str
    shape: tuple[int, ...]
    dtype: str


class Groups(NamedTuple):
    """The arrays of a file in its order, what groups say of themselves by their paths, and links, not followed."""

    arrays: tuple[Array, ...]
    said: Mapping[str, Mapping[str, Any]]
    links: tuple[str, ...]


class Region(io.RawIOBase):
    """A part of a file, as a file."""

    def __init__(self, path: str, start: int, size: int) -> None:
        self._file = open(path, "rb")  # noqa: SIM115  closed with it
        self._start, self._size, self._at = start, size, 0

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
        buffer[: len(data)] = data
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
        with h5py.File(opened(), "r") as file:
            yield file
    except BadFileError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise BadFileError(f"is cut off, or no HDF5 file: {escape(str(error)).lower()}") from None


def groups_of(opened: Opened) -> Groups:
    """Return what a file holds."""
    arrays: list[Array] = []
    links: list[str] = []
    with _open(opened) as file:
        seen: set[int] = set()
        said: dict[str, Mapping[str, Any]] = {}
        waiting = [("", file)]
        while waiting:
            path, group = waiting.pop()
            if words := _said(group):
                said[path] = words
            below = [*_below(path, group, seen, links)]
            for name, item in below:
                if hasattr(item, "shape"):
                    arrays.append(_array(name, item))
            waiting += [(name, item) for name, item in reversed(below) if not hasattr(item, "shape")]
            if len(arrays) > MOST_TENSORS:
                raise BadFileError(f"holds more than {MOST_TENSORS:,} arrays")
        return Groups(tuple(arrays), said, tuple(links))


def _below(path: str, group: Any, seen: set[int], links: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield what a group holds that was not met before; a link elsewhere is noted."""
    import h5py

    if path.count("/") > MOST_DEPTH or len(path) > MOST_NAME:
        raise BadFileError("holds groups within groups to no end")
    for key in group:
        name = f"{path}/{key}" if path else str(key)
        if not isinstance(group.get(key, getlink=True), h5py.HardLink):
            links.append(name)
            continue
        item = group[key]
        if isinstance(item, h5py.Group | h5py.Dataset):
            address = h5py.h5o.get_info(item.id).addr
            if address not in seen:
                seen.add(address)
                yield name, item


def _array(path: str, item: Any) -> Array:
    given = item.attrs.get("dtype", "")
    dtype = str(given) if given == "bfloat16" else str(item.dtype)
    return Array(path, tuple(int(size) for size in item.shape or ()), dtype)


def _said(group: Any) -> dict[str, Any]:
    """Return what a group says of itself in words, or lists of them."""
    said: dict[str, Any] = {}
    for key in ("name", "model_config", "layer_names"):
        value = group.attrs.get(key)
        if value is not None:
            said[key] = (
                [_word(each) for each in value]
                if hasattr(value, "__len__") and not isinstance(value, str | bytes)
                else _word(value)
            )
    return said


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def numbers(opened: Opened, path: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Return the numbers of an array."""
    with _open(opened) as file:
        item = file[path]
        if item.is_virtual or item.external:
            raise BadFileError(f"keeps {escape(path)} in another file, which is not opened")
        found = item[()]
        if dtype == "bfloat16":
            return nested(decoded(found.tobytes(), dtype), shape)
        flat = found.astype("float64").ravel().tolist()
    return nested(flat, shape)
