"""The contents of a model file: named tensors, the role of each, and the modules that they belong to.

Knows no network and no one format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum, StrEnum, auto
from math import prod
from typing import Any, NamedTuple


class BadFileError(ValueError):
    """A file that cannot be read; the message says what is wrong and what to do."""


class TensorRole(StrEnum):
    """The role of a tensor in its file."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    OPTIMIZER = "optimizer"
    CONSTANT = "constant"
    UNKNOWN = "unknown"


_OPTIMIZER = re.compile(
    r"(^|[./])(optim\w*|\w*_optimizer|optimizer\w*|lr_scheduler\w*|scheduler|grad_scaler|scaler)([./]|$)"
    r"|(^|[./])(exp_avg(_sq)?|max_exp_avg_sq|momentum_buffer|square_avg|acc_delta|grad_avg|exp_inf)([./]|$)"
)
_BUFFER = re.compile(
    r"(^|[./])(running_mean|running_var|num_batches_tracked|moving_mean|moving_variance|position_ids|inv_freq"
    r"|seed_generator\w*|attn_mask|causal_mask)(:0)?([./]|$)"
)
_AVERAGE = re.compile(r"(^|_)ema(_|[0-9]*$)|^swa|averaged?_(model|state_dict|weights)$", re.IGNORECASE)

REAL = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")


def role_of(name: str, dtype: str) -> TensorRole:
    """Return the role of a tensor by its name and type: whole numbers are never trained."""
    if _OPTIMIZER.search(name):
        return TensorRole.OPTIMIZER
    if _BUFFER.search(name) or dtype not in REAL:
        return TensorRole.BUFFER
    return TensorRole.UNKNOWN if is_average(name) else TensorRole.PARAMETER


def is_average(name: str) -> bool:
    """Return whether a name is that of an average, a second set of weights beside the trained ones."""
    return any(_AVERAGE.search(part) for part in re.split("[./]", name)[:-1])


class RemarkKind(Enum):
    """The kind of a remark on a whole file."""

    ROLES_BY_NAME = auto()
    AVERAGES = auto()
    FILES = auto()
    NOT_READ = auto()
    QUANTISED = auto()
    SCRIPT = auto()
    ZEROS = auto()
    IN_BRANCHES = auto()
    NO_CONFIG = auto()


class Remark(NamedTuple):
    """A remark on a file or its network, with the names and numbers for its sentence."""

    kind: Enum
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


class FileTensor(NamedTuple):
    """A tensor of a file.

    dtype: the name of its type, as NumPy has it (or `bfloat16`, which NumPy lacks).
    read: returns its numbers as nested lists; raises BadFileError if they cannot be read.
    frozen: whether it is not trained, None if the file does not say.
    shared_with: the tensor before it in the file that is made of the same numbers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: TensorRole
    read: Callable[[], Any]
    frozen: bool | None = None
    shared_with: str | None = None

    @property
    def is_parameter(self) -> bool:
        """Whether its numbers are parameters of the model."""
        return self.role is TensorRole.PARAMETER

    @property
    def params(self) -> int:
        """How many numbers it has, 0 if another tensor owns them."""
        return 0 if self.shared_with else prod(self.shape)


class FileModule(NamedTuple):
    """Tensors that belong together, under the names that their framework has for them, in the shapes it uses them in.

    kind: the file's word for it, empty if there is none. settings: its other settings in the file.
    buffers: the tensors that the framework keeps beside its parameters.
    """

    path: str
    tensors: Mapping[str, FileTensor]
    kind: str = ""
    settings: Mapping[str, Any] = {}
    buffers: Mapping[str, FileTensor] = {}


class ModelFile(NamedTuple):
    """A model file as read.

    format: the name of the format. framework: whose names the tensors have.
    modules: every parameter is in one of them, but for what belongs to none. ordered: whether they stand in the order
        in which they were defined; some formats sort them by their names.
    steps, inputs: the length and width of its input, if the file gives them.
    """

    path: str
    format: str
    framework: str
    tensors: tuple[FileTensor, ...]
    modules: tuple[FileModule, ...]
    ordered: bool = True
    remarks: tuple[Remark, ...] = ()
    steps: int | None = None
    inputs: int | None = None

    @property
    def params(self) -> int:
        """How many parameters it has; a shared tensor is counted once."""
        return sum(tensor.params for tensor in self.tensors if tensor.is_parameter)


def modules_of(tensors: tuple[FileTensor, ...], separator: str = ".") -> tuple[FileModule, ...]:
    """Return the modules: the last part of a tensor's name is its own, the rest is the module's path.

    A module without parameters is left out, unless it stores the mean of a batch norm.
    """
    found: dict[str, tuple[dict[str, FileTensor], dict[str, FileTensor]]] = {}
    for tensor in tensors:
        if tensor.is_parameter or tensor.role is TensorRole.BUFFER:
            path, _, leaf = tensor.name.rpartition(separator)
            found.setdefault(path, ({}, {}))[not tensor.is_parameter][leaf] = tensor
    return tuple(
        FileModule(path, own, buffers=buffers)
        for path, (own, buffers) in found.items()
        if own or "running_mean" in buffers
    )


def averages_in(tensors: tuple[FileTensor, ...]) -> tuple[Remark, ...]:
    """Return the remark on tensors that are averages of weights, by their names, if there are any."""
    names = tuple(tensor.name for tensor in tensors if tensor.role is TensorRole.UNKNOWN and is_average(tensor.name))
    return (Remark(RemarkKind.AVERAGES, names),) if names else ()
