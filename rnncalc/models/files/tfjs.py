"""TensorFlow.js's layers models: a configuration of Keras in JSON, and files of bytes beside it.

https://github.com/tensorflow/tfjs/blob/master/tfjs-core/src/io/types.ts, WeightsManifestConfig; seen in tfjs 4.22.0,
November 2026. The files of a group are one after another; a weight may begin in one and end in the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from typing import Any

from rnncalc.bounds import MOST_CONFIG, MOST_NAME, MOST_TENSORS
from rnncalc.models.files import model
from rnncalc.models.files.hdf5 import Contents, StoredArray
from rnncalc.models.files.keras import of_arrays
from rnncalc.models.files.model import BYTES, BadFileError, ModelFile
from rnncalc.printable import escape

_STORED = ("float32", "float16", "int32", "uint8", "uint16", "bool", "complex64")


def read(path: str) -> ModelFile:
    """Return the contents of a `model.json` and of the files that it names."""
    whole = model.json_in(path, "configuration", MOST_CONFIG)
    topology = whole.get("modelTopology")
    if whole.get("format") == "graph-model" or not isinstance(topology, dict):
        raise BadFileError("is a graph model of TensorFlow.js, without layers; name the model it was converted from")
    config = topology.get("model_config", topology)  # the converter writes a Keras file's attributes
    groups = whole.get("weightsManifest")
    arrays = [array for group in groups for array in _arrays(path, group)] if isinstance(groups, list) else []
    if len({array.path for array in arrays}) < len(arrays) or len(arrays) > MOST_TENSORS:
        raise BadFileError(f"lists a weight twice, or more than {MOST_TENSORS:,}")
    return of_arrays(path, "tfjs", Contents(arrays), config if isinstance(config, dict) else {}, framework="tfjs")


def _arrays(path: str, group: Any) -> Iterator[StoredArray]:
    """Yield the weights of a group, with the pieces of its files that each is in."""
    match group:
        case {"paths": [*names], "weights": [*weights]} if len(weights) <= MOST_TENSORS:
            files = [model.beside(path, name) for name in names]
        case _:
            raise BadFileError("has a group of weights that is none")
    ends = [*accumulate(map(os.path.getsize, files), initial=0)]
    start = 0
    for weight in weights:
        match weight:
            case {"name": str(name), "shape": [*sizes], "dtype": str(dtype)} if len(name) <= MOST_NAME:
                quantised = weight.get("quantization") or {}
            case _:
                raise BadFileError("has a weight without a name, a shape or a type")
        stored = quantised.get("dtype", dtype) if isinstance(quantised, dict) else ""
        shape = model.shape_of(name, sizes)
        if stored not in _STORED:
            raise BadFileError(f"has {escape(name)}, of the type {escape(str(stored))}, which is not read")
        end = start + prod(sizes) * BYTES[stored]
        if end > ends[-1]:
            raise BadFileError(f"is truncated: {escape(name)} ends at byte {end:,}, its files have {ends[-1]:,}")
        pieces = tuple(
            (file, max(start, first) - first, min(end, last) - max(start, first))
            for file, (first, last) in zip(files, pairwise(ends), strict=True)
            if first < end and start < last
        )
        read_stored = partial(model.numbers_in, pieces, stored, shape)
        yield StoredArray(name, shape, dtype, partial(_scaled, read_stored, quantised) if quantised else read_stored)
        start = end
    if start != ends[-1]:
        raise BadFileError(f"has files of {ends[-1]:,} bytes for weights of {start:,}")


def _scaled(read_stored: Any, quantised: Mapping[str, Any]) -> Any:
    """Return numbers that are stored as whole ones: number · scale + min; float16 has neither."""
    scale, least = quantised.get("scale", 1), quantised.get("min", 0)
    if not all(isinstance(number, int | float) for number in (scale, least)):
        raise BadFileError("has a scale that is not a number")

    def scaled(value: Any) -> Any:
        return [scaled(each) for each in value] if isinstance(value, list) else value * scale + least

    return scaled(read_stored())
