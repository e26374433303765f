"""Programs of torch.export: a zip of raw bytes, one file for each tensor, with a list of them in JSON.

https://docs.pytorch.org/docs/2.13/export/pt2_archive.html; seen in torch 2.13.0, November 2026. What the program
computes (models/model.json) is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

from rnncalc.bounds import MOST_HEADER, MOST_TENSORS
from rnncalc.models.files import model, torch_names
from rnncalc.models.files.archive import Archive, TensorView, numbers_of
from rnncalc.models.files.model import BYTES, BadFileError, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.printable import escape

CONFIG = "data/weights/model_weights_config.json"
_TYPES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64"}
_TYPES |= {10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 34: "uint32", 35: "uint64"}
_TYPES |= {29: "float8_e4m3fn", 30: "float8_e5m2"}
"""torch/_export/serde/schema.py, ScalarType."""


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with Archive(path) as archive:
        config = next((name for name in archive.names if name.endswith(CONFIG)), CONFIG)
        entries = model.json_object(archive.read(config, MOST_HEADER), "list of weights", MOST_HEADER).get("config")
        if not isinstance(entries, dict) or len(entries) > MOST_TENSORS:
            raise BadFileError("has a list of weights that is none")
        tensors = [*_tensors(path, archive, config.removesuffix(CONFIG), entries)]
    ordered, remarks = torch_names.remarked(tensors)
    return ModelFile(
        path, "pt2", "pytorch", ordered, torch_names.modules_of(ordered), remarks=(Remark(RemarkKind.PROGRAM), *remarks)
    )


def _tensors(path: str, archive: Archive, root: str, entries: dict[str, Any]) -> Iterator[FileTensor]:
    """Yield the tensors; of those with the same numbers, later ones name the first."""
    order, first = archive.order(root), dict[TensorView, str]()
    for name, entry in entries.items():
        match entry:
            case {"path_name": str(file), "is_param": bool(is_param), "use_pickle": False, "tensor_meta": dict(meta)}:
                sizes, strides = _sizes(meta.get("sizes")), _sizes(meta.get("strides"))
                start, dtype = _sizes([meta.get("storage_offset")]), _TYPES.get(meta.get("dtype", 0))
            case _:
                dtype = None
        if not dtype or sizes is None or strides is None or not start or len(sizes) != len(strides):
            raise BadFileError(f"has {escape(name)}, which is not a plain tensor")
        view = TensorView(f"{root}data/weights/{file}", start[0] * BYTES[dtype], strides, sizes, dtype)
        archive.check(name, view)
        role = TensorRole.PARAMETER if is_param else TensorRole.BUFFER
        other = first.setdefault(view, name) if prod(sizes) else name
        frozen = not meta.get("requires_grad")
        read = partial(numbers_of, (path,), order, view)
        yield FileTensor(name, sizes, dtype, role, read, is_param and frozen, None if other == name else other)


def _sizes(value: Any) -> tuple[int, ...] | None:
    """Return numbers that are each written {"as_int": 3}; None for anything else, such as a size in letters."""
    listed = value if isinstance(value, list) else [None]
    numbers: list[Any] = [each.get("as_int") if isinstance(each, dict) else None for each in listed]
    return tuple(numbers) if model.is_shape(numbers) else None
