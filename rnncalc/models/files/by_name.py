"""Files that tell the names, shapes and types of tensors, and nothing of the layers that have them.

The names are those of mlx 0.32.4, equinox 0.13.8, dm-haiku 0.0.17, paddle 3.3.1 and flax 0.12.8, November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from rnncalc import conventions
from rnncalc.models.files import flax, model, torch_names
from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole

_OWN: Mapping[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    "mlx": (re.compile("(^|[./])(Wx|Wh|Wxh|Whh|bhn)$"), ("wx", "wh", "bhn")),
    "haiku": (re.compile("(^|[./])(linear[./]w|w_[ih])$"), ("linear", "w_")),
    "paddle": (re.compile("(^|[./])[0-9]+[./]cell(_fw|_bw)?[./]weight_ih$"), ("cell",)),
    "equinox": (re.compile("(^|[./])bias_n$"), ("bias_n",)),
}
"""Names that a framework's recurrent layers have and no other's; and words: each of these names has one.

The words are in small letters. An LSTM of Equinox is known by its one bias."""
_WEIGHT_IH = re.compile("(^|[./])weight_ih$")
_OF_HAIKU = re.compile(r"(.*(?:lstm|rnn)[^/]*)/(linear(?:_1)?/[wb])", re.IGNORECASE)
_OF_PADDLE = re.compile(r"(?:(.*)[.])?([0-9]+[.]cell(?:_fw|_bw)?[.]weight_ho)")
_AGAIN = re.compile(r"(?P<path>(.*[.])?)(?P<layer>[0-9]+)[.]cell(?P<way>_fw|_bw)?[.](?P<leaf>(weight|bias)_(ih|hh))")
"""The second name of an array, that of its cell: `lstm.0.cell.weight_ih` is `lstm.weight_ih_l0`."""


def of_names(
    path: str, form: str, tensors: Sequence[FileTensor], *remarks: Remark, convention: str | None = None
) -> ModelFile:
    """Return a file of tensors with the names of a framework, sorted: its format, form, keeps no order.

    convention: of a file that `convert` wrote, whose names are LAYER/ARRAY.
    """
    names = [tensor.name for tensor in tensors]
    layered = convention in _OF_LAYERS and all("/" in name for name in names)
    framework = convention if layered and convention else _framework(model.Names(names))
    if layered:
        arrays = conventions.convention(framework).transform("batch_norm")
        stored = {arrays.names[role] for role in arrays.buffers}
        roles = {name: (TensorRole.PARAMETER, TensorRole.BUFFER)[name.rpartition("/")[2] in stored] for name in names}
        tensors = [tensor._replace(role=roles[tensor.name]) for tensor in tensors]
    if framework == "paddle":
        tensors = [*_once(tensors)]
    of_flax = framework in ("flax-linen", "flax-nnx")
    tensors = sorted(flax.with_roles(tensors) if of_flax else tensors, key=lambda tensor: natural(tensor.name))
    ordered, of_tensors = torch_names.remarked(tensors)
    remarks = (*remarks, *of_tensors, Remark(RemarkKind.ROLES_BY_NAME))
    modules = _by_layer if layered else _MODULES.get(framework, flax.modules)
    return ModelFile(path, form, framework, ordered, modules(ordered), False, remarks)


def _framework(names: model.Names) -> str:
    """Return the convention whose names these are; PyTorch's modules may have any."""
    if of_flax := flax.framework_of(names):
        return of_flax
    for framework, (pattern, words) in _OWN.items():
        if names.having(pattern, *words):
            return framework
    paths = [name.removesuffix("weight_ih") for name in names.having(_WEIGHT_IH, "weight_ih")]
    every = {*names.names} if paths else ()
    return "equinox" if any(f"{path}bias" in every and f"{path}bias_ih" not in every for path in paths) else "pytorch"


def _once(tensors: Sequence[FileTensor]) -> Sequence[FileTensor]:
    """Return tensors, each array that is there under its cell's name too as shared with the other."""
    names = {tensor.name for tensor in tensors}
    once = []
    for tensor in tensors:
        again = _AGAIN.fullmatch(tensor.name)
        mark = {"_bw": "_reverse"}.get(again["way"], "") if again else ""
        other = f"{again['path']}{again['leaf']}_l{again['layer']}{mark}" if again else ""
        once.append(tensor._replace(shared_with=other) if other in names else tensor)
    return once


def _modules(split: Callable[[str], tuple[str, str]]) -> Callable[[tuple[FileTensor, ...]], tuple[FileModule, ...]]:
    return lambda tensors: model.modules_of(
        tuple([each for each in tensors if not (each.shared_with and _AGAIN.fullmatch(each.name))]), split
    )


def _of_haiku(name: str) -> tuple[str, str]:
    parts = _OF_HAIKU.fullmatch(name)
    return (parts[1], parts[2]) if parts else flax.path_and_leaf(name)


def _of_paddle(name: str) -> tuple[str, str]:
    parts = _OF_PADDLE.fullmatch(name)
    return (parts[1] or "", parts[2]) if parts else model.path_and_leaf(name)


_MODULES: Mapping[str, Callable[[tuple[FileTensor, ...]], tuple[FileModule, ...]]] = {
    "pytorch": torch_names.modules_of,
    "mlx": _modules(flax.path_and_leaf),
    "equinox": _modules(flax.path_and_leaf),
    "haiku": _modules(_of_haiku),
    "paddle": _modules(_of_paddle),
}


_OF_LAYERS = {"textbook", *_OWN}
"""The conventions whose arrays `convert` names LAYER/ARRAY."""
_by_layer = _modules(lambda name: (name.partition("/")[0], name.partition("/")[2]))


_DIGITS = re.compile("[0-9]+")


def natural(name: str) -> str:
    """Return the sort key of a name, by which `layers.10` follows `layers.9`: its numbers before letters, as long."""
    return _DIGITS.sub(lambda digits: f"\0{digits[0][:18]:0>18}", name)
