"""The contents of a model file: named tensors, the role of each, the modules that they belong to, and their numbers.

Knows no network and no one format.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from math import prod, sin
from typing import Any, BinaryIO, NamedTuple

from rnncalc.bounds import MOST_AXES, MOST_AXIS, MOST_SEARCHED
from rnncalc.files import open_input
from rnncalc.printable import escape


class BadFileError(ValueError):
    """A file that cannot be read; the message says what is wrong and what to do."""


class TensorRole(StrEnum):
    """The role of a tensor in its file."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    OPTIMIZER = "optimizer"
    CONSTANT = "constant"
    OTHER_BRANCH = "other branch"
    UNKNOWN = "unknown"


_OPTIMIZER = re.compile(
    r"(^|[./])(opt(im\w*|_state)|\w*_optimizer|optimizer\w*|lr_scheduler\w*|scheduler|grad_scaler|scaler)([./]|$)"
    r"|(^|[./])(exp_avg(_sq)?|max_exp_avg_sq|momentum_buffer|square_avg|acc_delta|grad_avg|exp_inf)([./]|$)"
)
_OF_OPTIMIZER = ("opt", "scheduler", "scaler", "exp_", "momentum_", "_avg", "acc_delta")
_BUFFER = re.compile(
    r"(^|[./])(running_mean|running_var|num_batches_tracked|moving_mean|moving_variance|position_ids|inv_freq"
    r"|seed_generator\w*|attn_mask|causal_mask|(kernel|embeddings)_(scale|zero)"
    r"|g_idx|(nested_)?(absmax|quant_map)|\w+_amax_history|(inputs|outputs_grad)_scale"  # of Keras's quantised layers
    r"|drop_mask\w*|\w*_buffer|embed_avg|cluster_size"  # of SpeechBrain, an STFT, a book of codes
    r"|eps_w|(weight|bias)_eps(ilon)?)(:0)?([./]|$)"  # the noise of the last sample of a Bayesian or noisy layer
    r"|(^|[./])(buffers[./]|rngs[./]([^./]+[./])?key$)"
    r"|(^|[.])h[.][0-9]+[.]attn[.](masked_)?bias$"  # the mask of a GPT-2
)
_OF_BUFFER = (
    *("running_", "num_batches", "moving_", "position_", "inv_freq", "seed_", "mask", "_scale", "_zero", "g_idx"),
    *("absmax", "quant_map", "_amax_", "buffer", "embed_avg", "cluster_", ".attn.", "eps", "rngs"),
)
"""The names of what an optimizer keeps, and of buffers; and words: each of these names has one."""
_WEIGHTS = re.compile(r"(weight(_packed)?|kernel|embeddings|qzeros|_qdata)(:0)?$")
_SCALE = re.compile(r"[./]_?(([a-z]+_)*(scales?|scale_inv|zero_point)|SCB|biases)(:0)?$")
_AVERAGE = re.compile(
    r"(^|[./_])ema(_[^./]*|[0-9]*)[./]|(^|[./])swa[^./]*[./]|averaged?_(model(_state)?|state_dict|weights)[./]",
    re.IGNORECASE,
)

REAL = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")
_BYTE = ("int8", "float8_e4m3fn", "float8_e5m2")
"""The types of quantised weights of one byte; those of others may be packed."""


class Names:
    """The names of tensors, in which patterns are searched."""

    def __init__(self, names: Collection[str]) -> None:
        self.names, self._lines = names, "\n".join(names).lower()

    def having(self, pattern: re.Pattern[str], *words: str) -> set[str]:
        """Return the names in which a pattern is.

        words: each of them has one of these, in small letters, which is found faster.
        """
        some = any(word in self._lines for word in words)
        return {name for name in self.names if pattern.search(name)} if some else set()


def roles_of(names: Collection[str]) -> Callable[[str, str], TensorRole]:
    """Return what returns the role of one of these tensors by its name and type: whole numbers are never trained."""
    search = Names(names).having
    roles = dict.fromkeys(search(_BUFFER, *_OF_BUFFER), TensorRole.BUFFER)
    roles |= dict.fromkeys(search(_OPTIMIZER, *_OF_OPTIMIZER), TensorRole.OPTIMIZER)

    def role(name: str, dtype: str) -> TensorRole:
        return roles.get(name) or (TensorRole.PARAMETER if dtype in REAL else TensorRole.BUFFER)

    return role


def role_of(name: str, dtype: str) -> TensorRole:
    """Return the role of a tensor by its name and type, as `roles_of` does."""
    return roles_of([name])(name, dtype)


def averages(names: Names) -> set[str]:
    """Return the names of averages, a second set of weights beside the trained ones."""
    return names.having(_AVERAGE, "ema", "swa", "average")


RemarkKind = Enum(
    "RemarkKind",
    "ROLES_BY_NAME AVERAGES LEFT_OUT CONSTANTS FOREIGN EQUAL FILES NOT_READ QUANTISED SCRIPT PROGRAM ZEROS "
    "ALL_ZEROS MERGED NO_BIAS BRANCHES SHARED TOO_DEEP LOOPS UNROLLED OPERATORS NO_CONFIG SEVERAL_INPUTS JOINS "
    "FORKS WITHIN LORA COUNTED VGSL STATED SHARD",
)
"""The kind of a remark on a whole file."""


class Remark(NamedTuple):
    """A remark on a file or its network, with the names and numbers for its sentence."""

    kind: Enum
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


def named_remarks(names: Mapping[Enum, Iterable[str]]) -> list[Remark]:
    """Return a remark for each kind that has names."""
    return [Remark(kind, several) for kind, each in names.items() if (several := tuple(each))]


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


def constant(path: str, width: int, number: float = 0) -> FileTensor:
    """Return a vector of equal numbers, such as the bias of zeros of a layer, which its file does not store."""
    return FileTensor(f"{path}: not stored", (width,), "float32", TensorRole.CONSTANT, lambda: [number] * width)


class FileModule(NamedTuple):
    """Tensors that belong together, under the names that their framework has for them, in the shapes it uses them in.

    kind: the file's word for it, empty if there is none. settings: its other settings in the file.
    buffers: the tensors that the framework keeps beside its parameters.
    steps, inputs: the length and width of the sequence that it reads, 0 if the file does not say; steps are None if
        they cannot be known, and 0 beside the width of one vector.
    """

    path: str
    tensors: Mapping[str, FileTensor]
    kind: str = ""
    settings: Mapping[str, Any] = {}
    buffers: Mapping[str, FileTensor] = {}
    steps: int | None = 0
    inputs: int = 0


class ModelFile(NamedTuple):
    """A model file as read.

    format: the name of the format. framework: whose names the tensors have.
    modules: every parameter is in one of them, but for what belongs to none. ordered: whether they are in the order
        in which they were defined; some formats sort them by their names.
    steps, inputs: the length and width of its input, if the file gives them.
    apart: how many more parameters the modules have than the file stores.
    rows: the paths of modules that follow one another, and how often each row is called, if they are several.
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
    apart: int = 0
    rows: tuple[tuple[frozenset[str], int], ...] = ()

    @property
    def params(self) -> int:
        """How many parameters it has; a shared tensor is counted once."""
        return sum(tensor.params for tensor in self.tensors if tensor.is_parameter)


def path_and_leaf(name: str) -> tuple[str, str]:
    """Return the path of a tensor's module, and its own name in it."""
    path, _, leaf = name.rpartition(".")
    return path, leaf


def modules_of(
    tensors: tuple[FileTensor, ...], split: Callable[[str], tuple[str, str]] = path_and_leaf
) -> tuple[FileModule, ...]:
    """Return the modules: the last part of a tensor's name is its own, the rest is the module's path.

    A module without parameters is left out, unless it stores the mean of a batch norm. split: divides a name so.
    """
    modules: dict[str, tuple[dict[str, FileTensor], dict[str, FileTensor]]] = {}
    for tensor in tensors:
        if (role := tensor.role) is TensorRole.PARAMETER or role is TensorRole.BUFFER:
            path, leaf = split(tensor.name)
            if path not in modules:
                modules[path] = {}, {}
            modules[path][role is TensorRole.BUFFER][leaf] = tensor
    return tuple(
        FileModule(path, parameters, buffers=buffers)
        for path, (parameters, buffers) in modules.items()
        if parameters or {"running_mean", "mean"} & buffers.keys()
    )


_MAY_BE_BUFFER = re.compile(r"(^|[._])(\w*mask|tril|triu|pe|pos\w*|\w*encoding|(bias))$")


def may_be_buffers(tensors: Iterable[FileTensor]) -> Iterator[FileTensor]:
    """Yield the tensors that are called as masks and positions are, in a file that says of none what it is."""
    matrices = [each for each in tensors if each.shape[1:] and each.is_parameter and each.frozen is None]
    words = "mask", "tri", "pe", "pos", "encoding", "bias"
    names = Names([each.name for each in matrices]).having(_MAY_BE_BUFFER, *words)
    for tensor in matrices if names else ():
        *rows, width = tensor.shape
        match = _MAY_BE_BUFFER.search(tensor.name) if prod(rows) > 1 < width else None
        if match and (not match[3] or rows[-1] == width):  # as a GPT-2 calls its mask
            yield tensor


class BoundedReader:
    """Reads the numbers of tensors, until they are too many."""

    def __init__(self) -> None:
        self.room = MOST_SEARCHED

    def numbers(self, tensor: FileTensor) -> list[float] | None:
        """Return the numbers of a tensor as one list, None if they are too many or of a type that is not read."""
        if prod(tensor.shape) > self.room or tensor.dtype not in REAL[:4]:
            return None
        self.room -= prod(tensor.shape)
        return flat(tensor)


def flat(tensor: FileTensor) -> list[float]:
    """Return the numbers of a tensor as one list."""
    return flattened(tensor.read(), len(tensor.shape))


def flattened(numbers: Any, axes: int) -> list[float]:
    """Return the numbers of nested lists of some axes as one list."""
    for _ in range(axes - 1):
        numbers = [number for row in numbers for number in row]
    return numbers if axes else [numbers]


def _is_fixed(numbers: Sequence[float], width: int) -> bool:
    """Return whether rows are a triangular mask, or sines and cosines of positions: no training leaves such numbers."""
    rows = [numbers[start : start + width] for start in range(0, len(numbers), width)]
    below = {number for place, row in enumerate(rows) for number in row[: place + 1]}
    above = {number for place, row in enumerate(rows) for number in row[place + 1 :]}
    if len(rows) == width and len(below) == len(above) == 1 and below != above:
        return True
    half = width // 2
    starts = [0, 1] * half, [0] * half + [1] * half
    return rows[0][: 2 * half] in starts and abs(rows[1][0] - sin(1)) < 0.01


def remarked(
    tensors: Sequence[FileTensor], quantised: Mapping[str, int] | None = None
) -> tuple[tuple[FileTensor, ...], tuple[Remark, ...]]:
    """Return tensors with masks, positions of sines and the scales of quantised ones as buffers, and remarks on these.

    quantised: weights that are known to be, with how many numbers each has unpacked, 0 if that is not known.
    """
    packed = dict(quantised or {})
    scaled = [*packed]
    for tensor in tensors:
        whole = tensor.role is TensorRole.BUFFER and tensor.dtype not in (*REAL, "bool")
        if not (whole or tensor.dtype in _BYTE or tensor.name.endswith("_qdata")):
            continue
        is_weight = bool(tensor.shape[1:] and _WEIGHTS.search(tensor.name))
        if is_weight and (whole or tensor.name.endswith("_qdata")):
            packed.setdefault(tensor.name, prod(tensor.shape) if tensor.dtype in _BYTE else 0)
        if whole or (is_weight and tensor.dtype in _BYTE):  # a weight, or a zero point
            scaled += [tensor.name] if is_weight or _SCALE.search(tensor.name) else []
    modules = {re.split(r"[./](?=[^./]*$)|[.]_packed", name)[0] for name in scaled}
    reader, buffers = BoundedReader(), {*packed}
    for tensor in tensors if modules else ():
        scale = tensor.is_parameter and _SCALE.search(tensor.name)
        if scale and tensor.name[: scale.start()] in modules:
            buffers.add(tensor.name)
    for tensor in may_be_buffers(tensors):
        if (numbers := reader.numbers(tensor)) and _is_fixed(numbers, tensor.shape[-1]):
            buffers.add(tensor.name)
    return with_roles(tensors, dict.fromkeys(buffers, TensorRole.BUFFER)), tuple(quantised_remarks(packed))


def with_roles(tensors: Sequence[FileTensor], roles: Mapping[str, TensorRole]) -> tuple[FileTensor, ...]:
    """Return tensors, those with one of these names in the role of that name."""
    if not roles:
        return tuple(tensors)
    return tuple([each._replace(role=roles[each.name]) if each.name in roles else each for each in tensors])


def quantised_remarks(packed: Mapping[str, int]) -> Iterator[Remark]:
    """Yield the remark on quantised weights; packed: how many numbers each has unpacked, 0 if that is not known."""
    if packed:
        yield Remark(RemarkKind.QUANTISED, tuple(packed), (sum(packed.values()),) if all(packed.values()) else ())


# The numbers of a tensor: from bytes to nested lists, in plain Python


BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
BYTES |= {"int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1}
BYTES |= {"complex64": 8, "complex128": 16}
"""The bytes of a number, by the names of the types that tensors have."""

WHOLE = {
    f"{letter}{bits}": f"{word}{bits}" for letter, word in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
}
"""The types of whole numbers by their usual short names: i8, u64."""

_LETTERS = {"float64": "d", "float32": "f", "int64": "q", "int32": "i", "int16": "h", "int8": "b", "bool": "B"}
_LETTERS |= {"uint64": "Q", "uint32": "I", "uint16": "H", "uint8": "B"}
"""The letters of types in the array module."""


def decoded(data: bytes, dtype: str, order: str = "little") -> list[float]:
    """Return the numbers of some bytes, widened to Python's floats. Raises BadFileError for a type that has none."""
    if dtype in _LETTERS:
        numbers = array(_LETTERS[dtype], data)
        if order != sys.byteorder and numbers.itemsize > 1:
            numbers.byteswap()
        return [*map(float, numbers)]
    mark, count = "<" if order == "little" else ">", len(data) // BYTES.get(dtype, 1)
    if dtype == "float16":
        return [*struct.unpack(f"{mark}{count}e", data)]
    if dtype == "bfloat16":  # the upper half of a float32
        halves = struct.unpack(f"{mark}{count}H", data)
        return [*struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves)))]
    raise BadFileError(f"holds numbers of the type {dtype}, which are not read here; save them as float32")


class Bytes:
    """The bytes of an open file, read where they are asked for. Raises BadFileError for a place beyond its end.

    It is not memory-mapped, because a mapped file that is truncated meanwhile ends the process.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size = file, os.fstat(file.fileno()).st_size

    def piece(self, start: int, count: int) -> bytes:
        """Return so many bytes from a place on."""
        if not 0 <= start <= start + count <= self.size:
            raise BadFileError("is truncated")
        self.file.seek(start)
        data = self.file.read(count)
        if len(data) < count:
            raise BadFileError("is truncated")
        return data

    def unpacked(self, form: str, start: int) -> tuple[Any, ...]:
        """Return the numbers of a form of the struct module, the lowest byte first."""
        return struct.unpack(f"<{form}", self.piece(start, struct.calcsize(f"<{form}")))


def numbers_at(path: str, start: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a tensor that are contiguous in a file, from a byte on."""
    return numbers_in([(path, start, prod(shape) * BYTES.get(dtype, 1))], dtype, shape)


def numbers_in(pieces: Iterable[tuple[str, int, int]], dtype: str, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a tensor that is in pieces: each a file, its first byte and how many bytes."""
    data = b""
    for path, start, size in pieces:
        with open_input(path) as file:
            file.seek(start)
            data += file.read(size)
    if len(data) < prod(shape) * BYTES.get(dtype, 1):
        raise BadFileError("is truncated")
    return nested(decoded(data, dtype), shape)


def words_at(path: str, start: int, count: int) -> array[int]:
    """Return the numbers of a tensor of four bytes each as whole ones, to be compared."""
    with open_input(path) as file:
        file.seek(start)
        return array("I", file.read(4 * count))


def nested(flat: Sequence[float], shape: tuple[int, ...]) -> Any:
    """Return numbers as nested lists of a shape; without axes, the one number."""
    return strided(flat, shape, row_strides(shape))


def row_strides(shape: tuple[int, ...], *, columns_first: bool = False) -> tuple[int, ...]:
    """Return the strides of an array that is stored row by row, or column by column, in numbers."""
    if columns_first:
        return row_strides(shape[::-1])[::-1]
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def is_shape(sizes: Any) -> bool:
    """Return whether these are the sizes of as many axes as a tensor may have, none of them too long."""
    few = isinstance(sizes, list | tuple) and len(sizes) <= MOST_AXES
    return few and all(type(size) is int and 0 <= size < MOST_AXIS for size in sizes)


def shape_of(name: str, sizes: Any) -> tuple[int, ...]:
    """Return sizes as the shape of a tensor. Raises BadFileError if they are none."""
    if not is_shape(sizes):
        raise BadFileError(f"has {escape(name)}, whose shape is none" if name else "has a tensor whose shape is none")
    return tuple(sizes)


def check_length(name: str, shape: tuple[int, ...], dtype: str, length: int) -> None:
    """Raise BadFileError unless a shape and a type need so many bytes; a type that is not in BYTES may need any."""
    if not is_shape(shape) or (dtype in BYTES and prod(shape) * BYTES[dtype] != length):
        raise BadFileError(f"has {escape(name)} of {length:,} bytes, which its shape and type do not need")


def strided(flat: Sequence[float], shape: tuple[int, ...], strides: tuple[int, ...], start: int = 0) -> Any:
    """Return numbers at a given stride along each axis."""
    if not shape:
        return flat[start]
    size, step = shape[0], strides[0]
    if len(shape) == 1 and step:
        return [*flat[start : start + size * step : step]]
    return [strided(flat, shape[1:], strides[1:], start + place * step) for place in range(size)]


def turned(tensor: FileTensor) -> FileTensor:
    """Return a matrix as its transpose, anything else as it is."""
    if len(tensor.shape) != 2:
        return tensor
    return tensor._replace(shape=tensor.shape[::-1], read=lambda: transposed(tensor.read()))


def transposed(rows: Any) -> Any:
    """Return a matrix with its rows as columns."""
    return [[*column] for column in zip(*rows, strict=True)]


def beside(path: str, name: Any) -> str:
    """Return the path of a file that another one names. Raises BadFileError unless it is in the same folder."""
    shown = escape(str(name))
    if not isinstance(name, str) or name != os.path.basename(name) or name in ("", ".", "..") or not name.isprintable():
        raise BadFileError(f"names the file {shown}, which is not in its folder")
    other = os.path.join(os.path.dirname(path), name)
    if os.path.dirname(os.path.realpath(other)) != os.path.realpath(os.path.dirname(path)):
        raise BadFileError(f"names {shown}, a link out of its folder; put the file itself there")
    return other


# The objects in JSON that some files begin with


def refuse_long(what: str, length: int, most: int) -> None:
    """Refuse a part of a file that has too many bytes to be read."""
    if length > most:
        raise BadFileError(f"has a {what} of {length:,} bytes; at most {most:,} are read")


def json_in(path: str, what: str, most: int) -> dict[str, Any]:
    """Return the object that a file of JSON is."""
    with open_input(path) as file:
        refuse_long(what, os.fstat(file.fileno()).st_size, most)
        return json_object(file.read(most), what, most)


def json_object(text: bytes | str, what: str, most: int) -> dict[str, Any]:
    """Return an object from JSON, no name in it twice. Raises BadFileError if it is none."""
    import json  # few formats have any

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            raise BadFileError(f"has a {what} with a name in it twice")
        return entries

    refuse_long(what, len(text), most)
    try:
        parsed = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, BadFileError) else BadFileError(f"has a {what} that is no JSON") from None
    if not isinstance(parsed, dict):
        raise BadFileError(f"has a {what} that is no JSON object")
    return parsed
