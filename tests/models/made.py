"""Model files as they are read: modules of tensors that have names and shapes alone, and no numbers to look at."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, TensorRole
from rnncalc.models.sites import Site, sites_of

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]


def _unread() -> Any:
    raise AssertionError("what a tensor is does not depend on its numbers")


def tensor(name: str, shape: Shape, **more: Any) -> FileTensor:
    """Return a tensor; more: whether it is frozen, and whose numbers it shares."""
    return FileTensor(name, shape, "float32", TensorRole.PARAMETER, _unread, **more)


def module(
    path: str, shapes: Shapes, kind: str = "", settings: Mapping[str, Any] | None = None, **more: Any
) -> FileModule:
    """Return a module of tensors that are called what it is, and what they are in it."""
    tensors = {leaf: tensor(f"{path}.{leaf}".removeprefix("."), shape, **more) for leaf, shape in shapes.items()}
    return FileModule(path, tensors, kind, settings or {})


def file(framework: str, *modules: FileModule, **more: Any) -> ModelFile:
    """Return a file of modules; more: whether they are ordered, and what the network reads."""
    tensors = tuple(tensor for module in modules for tensor in module.tensors.values())
    return ModelFile("model.file", framework, framework, tensors, modules, **more)


def site(framework: str, module: FileModule) -> Site:
    """Return the one site of a module."""
    (found,) = sites_of(file(framework, module))
    return found


def cell(
    gates: int, inputs: int, units: int, *, number: int = 0, mark: str = "", bias: bool = True
) -> dict[str, Shape]:
    """Return the shapes of one layer and direction of PyTorch's cells, as it documents them."""
    shapes = {
        f"weight_ih_l{number}{mark}": (gates * units, inputs),
        f"weight_hh_l{number}{mark}": (gates * units, units),
    }
    biases = {f"bias_ih_l{number}{mark}": (gates * units,), f"bias_hh_l{number}{mark}": (gates * units,)}
    return {**shapes, **biases} if bias else {**shapes}


def stacked(*widths: int) -> Shapes:
    """Return the shapes of an LSTM of stacked layers; each reads its width and outputs the next."""
    both = enumerate(pairwise(widths))
    return {name: shape for number, (one, two) in both for name, shape in cell(4, one, two, number=number).items()}


def linear(inputs: int, outputs: int) -> dict[str, Shape]:
    """Return the shapes of PyTorch's Linear."""
    return {"weight": (outputs, inputs), "bias": (outputs,)}


def shapes_of(written: str | Mapping[str, list[int]]) -> Shapes:
    """Return the shapes of a module in a file of cases: one by one, or as a call of the functions above."""
    if isinstance(written, str):
        shapes: Shapes = eval(written)
        return shapes
    return {name: tuple(shape) for name, shape in written.items()}
