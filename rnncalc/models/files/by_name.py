"""Files that tell the names, shapes and types of tensors, and nothing of the layers that have them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rnncalc.models.files import flax, torch_names
from rnncalc.models.files.model import FileTensor, ModelFile, Remark, RemarkKind

_MLX = re.compile(r"(^|[.])(Wx|Wh|Wxh|Whh|bhn)$")
"""The names that MLX's recurrent layers have and no other's, as seen in mlx 0.32.4 in November 2026."""


def of_names(path: str, form: str, tensors: Sequence[FileTensor], *remarks: Remark) -> ModelFile:
    """Return a file of tensors with the names of Flax or PyTorch, sorted: its format, form, keeps no order."""
    names = [tensor.name for tensor in tensors]
    of_flax = flax.framework_of(names)
    tensors = sorted(flax.with_roles(tensors) if of_flax else tensors, key=lambda tensor: natural(tensor.name))
    ordered, of_tensors = torch_names.remarked(tensors)
    of_mlx = Remark(RemarkKind.MLX, tuple(name for name in names if _MLX.search(name)))
    remarks = (*remarks, *of_tensors, *[of_mlx] * bool(of_mlx.names), Remark(RemarkKind.ROLES_BY_NAME))
    modules = flax.modules(ordered) if of_flax else torch_names.modules_of(ordered)
    return ModelFile(path, form, of_flax or "pytorch", ordered, modules, False, remarks)


def natural(name: str) -> list[tuple[int, str]]:
    """Return the sort key of a name, by which `layers.10` follows `layers.9`."""
    return [
        (int(piece[:18]), "") if piece.isdecimal() and piece.isascii() else (-1, piece)
        for piece in re.split(r"(\d+)", name)
    ]
