"""Keras' own files: a zip archive of a configuration and of the weights in HDF5."""

from __future__ import annotations

import io

from rnncalc.modelfiles.archive import MOST_INFLATED, Archive
from rnncalc.modelfiles.configured import MOST_BYTES, parsed
from rnncalc.modelfiles.groups import Region
from rnncalc.modelfiles.hdf5 import of_groups
from rnncalc.modelfiles.model import BadFileError, ModelFile

WEIGHTS = "model.weights.h5"


def read(path: str) -> ModelFile:
    """Return what a file holds. Nothing in its configuration is made, a lambda in it least of all."""
    with Archive(path) as archive:
        if WEIGHTS not in archive.names:
            raise BadFileError(f"is a zip archive, but no model of Keras: it holds no {WEIGHTS}")
        config = parsed(archive.read("config.json", MOST_BYTES))
        span = archive.span(WEIGHTS)
        if span is None:
            whole = archive.read(WEIGHTS, MOST_INFLATED)

            def opened() -> io.RawIOBase | io.BytesIO:
                return io.BytesIO(whole)
        else:
            start, size = span

            def opened() -> io.RawIOBase | io.BytesIO:
                return Region(path, start, size)

    return of_groups(path, "keras", opened, config)
