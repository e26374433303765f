"""PyTorch's files since version 1.6: a zip archive of one pickle, that says how tensors lie in the files beside it.

Tensors, parameters and dictionaries are recognised by the names that the pickle would call (torch/_utils.py). Other
objects, whole modules and TorchScript too, are only searched for tensors. Older files are a series of pickles, and are
refused, because their numbers depend on running them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from math import prod
from typing import Any, NoReturn

from rnncalc.bounds import MOST_FOREIGN, MOST_NAME, MOST_PICKLE, MOST_PICKLE_DEPTH, MOST_TENSORS
from rnncalc.models.files import model, torch_names
from rnncalc.models.files.archive import Archive, TensorView, numbers_of
from rnncalc.models.files.model import BYTES, BadFileError, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.models.files.pickles import ARRAYS, Global, PersistentId, PickledCall, called, unpickled
from rnncalc.models.files.torchscript import Code, Roles, Use, code_of
from rnncalc.printable import escape
from rnncalc.words import plural

_LETTERS = {"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64"}
_LETTERS |= {"Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool"}
_LETTERS |= {"ComplexFloat": "complex64", "ComplexDouble": "complex128"}
STORAGES = {f"{word}Storage": dtype for word, dtype in _LETTERS.items()}
"""The types of numbers by the names of their storages."""


def refuse_old(path: str) -> NoReturn:
    """Refuse a file from before version 1.6, with the way to convert it."""
    del path
    raise BadFileError(
        "is a plain pickle, as PyTorch wrote before 1.6: load it where you trust it, and save it again with"
        " torch.save(model.state_dict(), 'model.pt')"
    )


def read_policy(path: str) -> ModelFile:
    """Return the policy in an archive of Stable-Baselines3, seen in version 2.9.2 in November 2026."""
    return read(path, "policy.pth")


def read(path: str, within: str = "") -> ModelFile:
    """Return the contents of a file, which may be within another archive."""
    place = (path, within)
    with Archive(*place) as archive:
        pickles = [name for name in archive.names if name == "data.pkl" or name.endswith("/data.pkl")]
        if not pickles:
            raise BadFileError("has a policy that torch.save did not write, or is truncated")
        root = min(pickles, key=len).removesuffix("data.pkl")
        script = f"{root}constants.pkl" in archive.names
        code = code_of(archive, root) if script else Code({}, {})
        pickled = PickledTensors(unpickled(archive.read(f"{root}data.pkl", MOST_PICKLE)), code.roles)
        constants = unpickled(archive.read(f"{root}constants.pkl", MOST_PICKLE)) if script else ()
        several = {*pickled.add_constants(constants, code)}
        if pickled.others and not pickled.tensors:
            raise BadFileError(
                "has no plain tensors, but NumPy arrays, sparse tensors or others that are not read here"
                f"{pickled.others[0] and f', such as {escape(pickled.others[0])}'}; save torch.from_numpy(array), or"
                " tensor.to_dense(), of each"
            )
        if not (pickled.tensors or pickled.quantised) and (
            stored := [name for name in archive.names if _STORED.match(name[len(root) :])]
        ):
            raise BadFileError(
                f"has {plural(len(stored), 'array')}, none of them a plain tensor; save the state_dict() of the model"
                " from before it was converted"
            )
        tensors = tuple(_tensors(place, archive, root, pickled.tensors))
    has_constants = any(at == "constants" for *_, at in pickled.tensors.values())
    equal = [tensor.name for tensor in tensors if tensor.name in several and not tensor.shape[1:]]
    remarks = [*[Remark(RemarkKind.SCRIPT)] * script, *[Remark(RemarkKind.CONSTANTS)] * has_constants]
    remarks += model.named_remarks(
        {RemarkKind.EQUAL: equal, RemarkKind.NOT_READ: pickled.others, RemarkKind.FOREIGN: pickled.foreign}
    )
    beside = [name for name in _beside(tensors, pickled.tables) if pickled.tensors[name][1] is None]
    tensors = model.with_roles(tensors, dict.fromkeys(beside, TensorRole.BUFFER))
    copies = {*_copies(tensors, pickled.tables), *_turned(tensors)}
    tensors, of_tensors = torch_names.remarked(tensors, pickled.quantised, copies)
    remarks += of_tensors
    remarks += [Remark(RemarkKind.ROLES_BY_NAME)] * (not pickled.whole)
    form = "torchscript" if script else "pytorch"
    modules = []
    for module in torch_names.modules_of(tensors):
        word, settings = pickled.modules.get(module.path, ("", {}))
        modules.append(module._replace(kind=word, settings=settings))
    return ModelFile(path, form, "pytorch", tensors, tuple(modules), remarks=tuple(remarks))


# The objects of a pickle are searched, and tensors are collected under the names that lead to them.

_TENSORS = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_tensor")
_PARAMETERS = ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state")
_SUBCLASS = "torch._tensor._rebuild_from_type_v2"
_PACKED = "torch.ScriptObject"
_CLASSES = "__torch__.torch.classes."
_PACKED_IN_SCRIPT = (f"{_CLASSES}quantized.", f"{_CLASSES}rnn.")
"""The classes that hold the weights of dynamically quantised layers; others of C++ hold weights too."""
_REBUILT = "torch._utils._rebuild_"
_WITHIN = {"_parameters": TensorRole.PARAMETER, "_buffers": TensorRole.BUFFER, "_modules": None}
"""The attributes in which a module keeps its parts; they are not in the parts' names."""


_SETTINGS = {"num_heads", "norm_first", "activation_relu_or_gelu", "nonlinearity", "eps", "normalized_shape"}
_SETTINGS |= {"stride", "padding", "padding_mode", "dilation", "groups"}
"""The fields of a module that a layer is told by, beside its tensors."""
_MODULES = "torch.nn.modules."

_LIBRARIES = re.compile(r"_*(torch|collections|builtins?|numpy|_codecs|copyreg|copy_reg|pathlib)_*[.]")
"""The modules whose objects are beside the tensors of many pickles."""

_NONLINEARITY = re.compile("rnn_(tanh|relu)")
_STORED = re.compile(r"(data|constants)/\d+$")
"""The files of an archive that hold the numbers of tensors."""
_TABLES = ("", "collections.OrderedDict", "collections.defaultdict")
_COPY = re.compile(r"(^|_)(best|current|last|latest|backup|copy|old|previous|initial|shadow)(_|$)", re.IGNORECASE)
"""The keys of checkpoints under which there is a copy of what is beside it."""

PickledTensor = tuple["PickledCall", TensorRole | None, bool | None, str]
"""A tensor as the pickle describes it: its call, its role, whether it is frozen, None where the pickle is silent; and
the folder of its numbers."""


class PickledTensors:
    """The tensors below what a pickle describes, by their names, in its order; no deeper than MOST_PICKLE_DEPTH.

    others: the names of tensors of a kind that is not read; quantised: of those that are quantised, with how many
        numbers each has unpacked, 0 if that is not known.
    whole: whether the modules keep parameters apart from buffers.
    modules: the class of each module, empty if it is not PyTorch's own, and the fields in _SETTINGS of it and of those
        around it, by its path; with the activation that follows it in a Sequential.
    foreign: the classes of other objects, which are not PyTorch's. tables: the names of what dictionaries hold.
    roles: of the tensors of each class of TorchScript.
    """

    def __init__(self, root: Any, roles: Mapping[str, Roles] | None = None) -> None:
        self.roles = roles or {}
        self.tensors: dict[str, PickledTensor] = {}
        self.foreign: dict[str, None] = {}
        self.tables: dict[str, None] = {}
        self.others: list[str] = []
        self.quantised: dict[str, int] = {}
        self.whole = False
        self.modules: dict[str, tuple[str, dict[str, Any]]] = {}
        self._seen: set[int] = set()
        self._gather("", root, None, 0, {})

    def _gather(self, name: str, value: Any, role: TensorRole | None, depth: int, around: dict[str, Any]) -> None:
        """Add a value if it is a tensor; otherwise go into its items, each container once."""
        if not isinstance(value, PickledCall | dict | list | tuple):
            return
        call = value if isinstance(value, PickledCall) else PickledCall(None, ())
        frozen = None
        if call.name in _PARAMETERS and call.args and _is_call(call.args[0], *_TENSORS):
            (call, *more), role = call.args, role or TensorRole.PARAMETER
            frozen = not more[0] if more and isinstance(more[0], bool) else None
        if call.name in _TENSORS:
            if self.roles and role is TensorRole.PARAMETER and len(call.args) > 4:
                frozen = not call.args[4]
            self._add(name or "tensor", call, role, frozen)
        elif (numbers := _quantised(call)) is not None:
            _refuse_too_many(name, self.quantised)
            self.quantised[name] = numbers
        elif call.name in ARRAYS or call.name.startswith((_REBUILT, _CLASSES)) or _is_wrapper(call):
            _refuse_too_many(name, self.others)
            self.others.append(name)
        elif id(value) not in self._seen and depth < MOST_PICKLE_DEPTH:
            self._seen.add(id(value))
            if _is_module(call):
                fields = ((key, call.state[key]) for key in _SETTINGS & call.state.keys())
                alone = ((key, each[0] if isinstance(each, tuple) and len(each) == 1 else each) for key, each in fields)
                around = around | {key: each for key, each in alone if isinstance(each, int | float | str)}
                kind = call.name.rpartition(".")[2] if call.name.startswith(_MODULES) else ""
                self.modules[name] = kind, around
            elif call.name and not (_LIBRARIES.match(call.name) or len(self.foreign) >= MOST_FOREIGN):
                self.foreign[call.name] = None
            parts = value if isinstance(value, dict) else call.state
            if isinstance(parts, dict) and parts.keys() >= {"state", "param_groups"}:
                role = TensorRole.OPTIMIZER
            attributes = self.roles.get(call.name)
            self.whole = self.whole or attributes is not None
            for key, each in _below(value):
                if key in _WITHIN:
                    self.whole = True
                    self._gather(name, each, _WITHIN[key], depth + 1, around)
                    continue
                part = _joined(name, key)
                if call.name in _TABLES and isinstance(key, str):
                    self.tables[part] = None
                if attributes is not None:  # those that are neither are kept as they are, not trained
                    role = attributes.get(key, TensorRole.BUFFER if _is_call(each, *_TENSORS) else None)
                groups = call.name and key == "param_groups"  # in which an optimizer itself has the model's parameters
                self._gather(part, each, None if groups else role, depth + 1, around)
            if call.name == f"{_MODULES}container.Sequential" and isinstance(call.state, dict):
                self._activate(name, call.state.get("_modules"))

    def _add(
        self, name: str, call: PickledCall, role: TensorRole | None, frozen: bool | None, at: str = "data"
    ) -> None:
        _refuse_too_many(name, self.tensors)
        self.tensors[name] = call, role, frozen, at

    def add_constants(self, constants: Any, code: Code) -> Iterator[str]:
        """Add the constants of TorchScript, one for each use by an operator; yield the names of those used twice."""
        for number, call in enumerate(constants if isinstance(constants, tuple | list) else ()):
            uses = code.constants.get(number, [Use("", f"constant_{number}", "")])
            for use in uses if _is_call(call, *_TENSORS) else ():
                role = TensorRole.BUFFER if use.leaf.startswith("running_") else None
                name = f"{use.operator}.{use.leaf}" if use.operator else use.leaf
                self._add(name, call, role, None, "constants")
                word = _NONLINEARITY.match(use.operator)
                self.modules.setdefault(use.operator, (use.kind, {"nonlinearity": word[1]} if word else {}))
                if len(uses) > 1:
                    yield name

    def _activate(self, name: str, children: Any) -> None:
        """Set the activation of each module of a Sequential that one follows, also behind a dropout."""
        before: dict[str, Any] = {}
        for key, child in _below(children) if isinstance(children, PickledCall | dict) else ():
            word = child.name.removeprefix(_MODULES) if isinstance(child, PickledCall) else ""
            if word.startswith("activation."):
                before["activation"] = word.removeprefix("activation.").lower()
            if not word.startswith("dropout."):
                _, before = self.modules.get(_joined(name, key), ("", {}))


def _copies(tensors: Sequence[FileTensor], tables: Collection[str]) -> Iterator[str]:
    """Yield the names of tensors in a table that has the names and shapes of another beside it, and a copy's key."""
    sums: Counter[str] = Counter()
    for tensor in tensors:
        for table, name in torch_names.divisions(tensor.name):
            if table in tables:
                sums[table] += hash((name, tensor.shape))
    copies: set[str] = set()
    kept: set[tuple[str, int]] = set()
    for table in sorted(sums, key=lambda table: bool(_COPY.search(table.rpartition(".")[2]))):
        path, _, key = table.rpartition(".")
        copies |= {table} if _COPY.search(key) and (path, sums[table]) in kept else set()
        kept.add((path, sums[table]))
    yield from (each.name for each in tensors if any(path in copies for path, _ in torch_names.divisions(each.name)))


def _beside(tensors: Sequence[FileTensor], tables: Collection[str]) -> Iterator[str]:
    """Yield the names of single numbers in a dictionary that holds one of tensors too, as a checkpoint has a loss."""
    paths = {path for each in tensors for path, _ in torch_names.divisions(each.name) if path in tables}
    above = {path.rpartition(".")[0] for path in paths}
    yield from (each.name for each in tensors if not each.shape and each.name.rpartition(".")[0] in above)


def _turned(tensors: Sequence[FileTensor]) -> Iterator[str]:
    """Yield the names of constants without an operator that are another one transposed, as an optimiser adds them."""
    reader = model.BoundedReader()
    first: dict[tuple[int, ...], list[FileTensor]] = {}
    for tensor in tensors:
        if tensor.name.startswith("constant_") and len(tensor.shape) == 2:
            rows, columns = tensor.shape
            others = [reader.numbers(other) for other in first.get((columns, rows), ())]
            numbers = reader.numbers(tensor) if others else None
            turned = numbers and [each for column in range(columns) for each in numbers[column::columns]]
            if turned and turned in others:
                yield tensor.name
            else:
                first.setdefault(tensor.shape, []).append(tensor)


def _refuse_too_many(name: str, names: Sized) -> None:
    """Refuse a name that is too long, or one too many."""
    if len(names) >= MOST_TENSORS or len(name) > MOST_NAME:
        raise BadFileError(
            f"holds more than {MOST_TENSORS:,} tensors, or one with a name of more than {MOST_NAME:,} characters"
        )


def _joined(name: str, key: Any) -> str:
    """Return the name of the value under a key, cut at MOST_NAME: a key may have millions of characters."""
    if key is None:
        return name
    last = str(key[: MOST_NAME + 1] if isinstance(key, str | bytes) else key)
    return (f"{name}.{last}" if name else last)[: MOST_NAME + 1]


def _below(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the items of a value with their keys; a key is None if the value has none."""
    if not isinstance(value, PickledCall):
        return _parts(value).items() if isinstance(value, dict) else enumerate(value)
    if value.name == _SUBCLASS and len(value.args) > 2:
        return [(None, value.args[2])]
    pairs = value.args[0] if len(value.args) == 1 and isinstance(value.args[0], list) else []  # of a dictionary
    keyed = [
        (pair[0], pair[1])
        for pair in pairs
        if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
    ]
    state = value.state[0] if isinstance(value.state, tuple) and value.state else value.state
    fields = _parts(state) if isinstance(state, dict) and not value.items else {}
    # of what compiles or traces a module: the module, or its fields
    modules = [(None, arg) for arg in value.args if isinstance(arg, dict | PickledCall) and _is_module(arg)]
    return [*keyed, *value.items.items(), *fields.items(), *modules]


def _parts(fields: dict[Any, Any]) -> dict[Any, Any]:
    """Return the fields of an object, of a module those that hold its parts: others hold its weights again."""
    if fields.keys().isdisjoint(_WITHIN):
        return fields
    return {key: field for key, field in fields.items() if key in _WITHIN or _is_call(field, _PACKED)}


def _is_module(value: PickledCall | dict[Any, Any]) -> bool:
    fields = value if isinstance(value, dict) else value.state
    return isinstance(fields, dict) and "_parameters" in fields


def _is_wrapper(call: PickledCall) -> bool:
    """Return whether a tensor is of a class that is around others."""
    return call.name == _SUBCLASS and called(*call.args[:1] or (None,)) == f"{_REBUILT}wrapper_subclass"


def _quantised(call: PickledCall) -> int | None:
    """Return how many numbers a quantised tensor has unpacked, 0 if that is not known; None of any other."""
    match call.args:
        case (_, kind, (_, _, sizes, *_), *_) if _is_wrapper(call) and called(kind).startswith("torchao."):
            pass
        case (_, _, sizes, *_) if call.name == f"{_REBUILT}qtensor":
            pass
        case _:
            packed = call.name in (f"{_REBUILT}qtensor", _PACKED) or call.name.startswith(_PACKED_IN_SCRIPT)
            return 0 if packed else None
    return prod(_sizes(sizes) or (0,))


def _is_call(value: Any, *names: str) -> bool:
    return isinstance(value, PickledCall) and value.name in names


# The tensors of a pickle are compared with the files in the archive.


def _tensors(
    place: tuple[str, ...], archive: Archive, root: str, pickled: Mapping[str, PickledTensor]
) -> Iterator[FileTensor]:
    """Yield the tensors of a file; of those with the same numbers, later ones name the first."""
    order = archive.order(root)
    first: dict[TensorView, str] = {}
    for name, (call, role, frozen, at) in pickled.items():
        view = _view(name, call, archive, f"{root}{at}/")
        role = role or model.role_of(name, view.dtype)
        apart = not prod(view.shape) or (at == "constants" and not view.shape[1:])  # which may be equal by chance
        other = name if apart else first.setdefault(view, name)
        read = partial(numbers_of, place, order, view)
        yield FileTensor(name, view.shape, view.dtype, role, read, frozen, None if other == name else other)


def _view(name: str, call: PickledCall, archive: Archive, folder: str) -> TensorView:
    """Return the place of a tensor, its shape and its type. Raises BadFileError if the place is impossible."""
    shown = escape(name)
    match call.args:
        case (PersistentId((_, Global() as storage, str(key), *_)), start, shape, strides, *rest):
            shape, strides = _sizes(shape), _sizes(strides)
        case _:
            shape = strides = None
    if (
        shape is None
        or strides is None
        or len(shape) != len(strides)
        or not model.is_shape([start])
        or len(key) > MOST_NAME
    ):
        raise BadFileError(f"has {shown}, which is not a tensor")
    # some pickles give the type of the numbers beside the storage, not by it
    beside = next((each.name for each in rest if isinstance(each, Global) and each.module == "torch"), None)
    dtype = beside if beside in BYTES else STORAGES.get(storage.name)
    if dtype is None:
        raise BadFileError(f"keeps {shown} in {escape(str(storage))}, which is not read here; save it as float32")
    view = TensorView(f"{folder}{key}", start * BYTES[dtype], strides, shape, dtype)
    archive.check(name, view)
    return view


def _sizes(value: Any) -> tuple[int, ...] | None:
    """Return a shape or strides, None for anything else; some pickles have them as a call of torch.Size."""
    if isinstance(value, PickledCall) and len(value.args) == 1:
        (value,) = value.args
    return tuple(value) if model.is_shape(value) else None
