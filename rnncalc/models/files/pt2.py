"""Programs of torch.export: a zip of raw bytes, one file for each tensor, with a list of them in JSON.

https://docs.pytorch.org/docs/2.13/export/pt2_archive.html; seen in torch 2.13.0, November 2026. Of what the
program computes (models/model.json), only activations are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

from rnncalc.bounds import MOST_HEADER, MOST_TENSORS
from rnncalc.models.files import model, torch_names
from rnncalc.models.files.archive import Archive, TensorView, numbers_of
from rnncalc.models.files.model import (
    BYTES,
    BadFileError,
    FileModule,
    FileTensor,
    ModelFile,
    Remark,
    RemarkKind,
    TensorRole,
)
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
        root = config.removesuffix(CONFIG)
        tensors = [*_tensors(path, archive, root, entries)]
        programs = [name for name in archive.names if name.startswith(f"{root}models/") and name.endswith(".json")]
        texts = [archive.read(name, MOST_HEADER) for name in programs if (archive.size(name) or 0) <= MOST_HEADER]
    ordered, remarks = torch_names.remarked(tensors)
    modules = torch_names.modules_of(ordered)
    if len(programs) == len(texts) == 1:
        modules = _with_program(modules, model.json_object(texts[0], "program", MOST_HEADER))
    return ModelFile(path, "pt2", "pytorch", ordered, modules, remarks=(Remark(RemarkKind.PROGRAM), *remarks))


_OPERATOR = re.compile(r"torch[.]ops[.]aten[.](?:rnn_(tanh|relu)(?:_cell)?|(linear|conv\dd)|(\w+?)_?)[.]")
_ACTIVATION = re.compile(
    "r?elu|relu6|selu|gelu|gelu_tanh|silu|mish|prelu|leaky_relu|tanh|hardtanh|(hard)?sigmoid|hardswish|softplus|"
    "(log_)?softmax( along another axis)?"
)


def _with_program(modules: tuple[FileModule, ...], program: dict[str, Any]) -> tuple[FileModule, ...]:
    """Return the modules in the order of the program's parameters; the list of weights has shared ones side by side.

    With their activations, if all calls of one agree: those of an RNN, and behind a linear.
    """
    match program:
        case {"graph_module": {"graph": {"nodes": list(nodes), **graph}, "signature": {"input_specs": list(inputs)}}}:
            pass
        case _:
            return modules
    paths = {}
    for each in inputs:
        match each:
            case {"parameter": {"arg": {"name": str(name)}, "parameter_name": str(parameter)}}:
                paths[name] = model.path_and_leaf(parameter)[0]
    readers, calls = dict[str, list[str]](), dict[str, set[tuple[str, str]]]()
    listed = [*_calls(nodes, graph)]
    for (word, linear, other), node, names in reversed(listed):  # what reads an output before what writes it
        for name in names:
            readers.setdefault(name, []).append(other)
        setting = ("nonlinearity", word)
        if linear:
            behind = [reader for output in _names(node.get("outputs")) for reader in readers.get(output, ())]
            setting = "activation", behind[0] if len(behind) == 1 and _ACTIVATION.fullmatch(behind[0]) else "linear"
        for path in {paths[name] for name in names & paths.keys()} if word or linear else ():
            calls.setdefault(path, set()).add(setting)
    order = {path: -place for place, path in enumerate(reversed(paths.values()))}
    return tuple(
        each._replace(settings={**each.settings, **dict(settings)})
        if len(settings := calls.get(each.path, set())) == 1
        else each
        for each in sorted(modules, key=lambda module: order.get(module.path, 1))
    )


def _calls(nodes: list[Any], graph: dict[Any, Any]) -> Iterator[tuple[tuple[str, str, str], dict[Any, Any], set[str]]]:
    """Yield the groups of `_OPERATOR` for each node that calls one, the node, and the names of what it reads."""
    for node in nodes:
        match node:
            case {"target": str(target), "inputs": list(inputs)} if operator := _OPERATOR.match(target):
                arguments = [each.get("arg") for each in inputs if isinstance(each, dict)]
                tanh = any(each == {"as_string": "tanh"} for each in arguments)  # an approximation of gelu
                names = {name for each in arguments for name in _names(each)}
                word, linear, other = (each or "" for each in operator.groups())
                axis = arguments[1] if arguments[1:] else {}
                if other.endswith("softmax") and not _is_last(axis, [*names], graph.get("tensor_values")):
                    other += " along another axis"
                yield (word, linear, f"{other}_tanh" if tanh else other), node, names


def _is_last(axis: Any, names: list[str], values: Any) -> bool:
    """Return whether an axis is the last one of the tensor that an operator reads."""
    match axis, [values.get(name) for name in names] if isinstance(values, dict) else []:
        case {"as_int": -1}, _:
            return True
        case {"as_int": int(place)}, [{"sizes": list(sizes)}]:
            return place == len(sizes) - 1
    return False


def _names(value: Any) -> Iterator[str]:
    """Yield the names of tensors in an argument, or in a list of outputs."""
    for each in value if isinstance(value, list) else [value]:
        match each:
            case {"as_tensor": {"name": str(name)}} | {"name": str(name)}:
                yield name
            case {"as_tensors": list(tensors)}:
                yield from _names(tensors)


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
