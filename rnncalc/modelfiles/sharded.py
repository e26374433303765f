"""Files whose tensors are spread over others, and that say which of them each is in: `model.safetensors.index.json`."""

from __future__ import annotations

import json
import os
from importlib import import_module

from rnncalc.files import open_input
from rnncalc.modelfiles.model import BadFileError, FileTensor, ModelFile, Remark, Sign
from rnncalc.modelfiles.safetensors import in_order, of_names, tensors_of
from rnncalc.text import escape

MOST_INDEX = 8_000_000


def read(path: str) -> ModelFile:
    """Return what all the files of an index hold together. Raises BadFileError where one of them is not as it says."""
    with open_input(path) as file:
        data = file.read(MOST_INDEX + 1)
    if len(data) > MOST_INDEX:
        raise BadFileError(f"is longer than the {MOST_INDEX:,} bytes of an index that are read")
    try:
        index = json.loads(data)
    except (ValueError, RecursionError):
        raise BadFileError("is no JSON") from None
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BadFileError("is no index of a model: it has no weight_map")
    tensors: list[FileTensor] = []
    files = sorted({*places.values()})
    for name in files:
        tensors += _tensors(os.path.dirname(path), name)
    held = {tensor.name for tensor in tensors}
    if len(held) < len(tensors):
        raise BadFileError("names files that hold a tensor of the same name")
    if not held.issuperset(places):
        raise BadFileError("gives tensors that its files do not hold")
    return of_names(path, "safetensors", in_order(tensors), Remark(Sign.FILES, tuple(files)))


def _tensors(folder: str, name: str) -> list[FileTensor]:
    if name != os.path.basename(name) or name in ("", ".", ".."):
        raise BadFileError(f"names the file {escape(name)}, which is not in its folder")
    path = os.path.join(folder, name)
    if os.path.dirname(os.path.realpath(path)) != os.path.realpath(folder):
        raise BadFileError(f"names {escape(name)}, a link out of its folder; put the file itself there")
    try:
        if name.endswith(".safetensors"):
            return tensors_of(path)
        return [*import_module("rnncalc.modelfiles.pytorch").read(path).tensors]
    except BadFileError as error:
        raise BadFileError(f"names {escape(name)}, which {error}") from None
    except OSError as error:
        raise BadFileError(f"names {escape(name)}: {(error.strerror or str(error)).lower()}") from None
