"""The code in an archive of TorchScript, as text: which tensors are parameters, and which operators read constants.

`torch.jit.freeze` makes weights constants without names; they are named here by the operators that read them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.bounds import MOST_CODE, MOST_CODE_DEPTH
from rnncalc.models.files.archive import Archive
from rnncalc.models.files.model import BadFileError, TensorRole

Roles = Mapping[str, TensorRole]
_CLASS = re.compile(r"^class (\w+)\(Module\):\n  __parameters__ = \[(.*)\]\n  __buffers__ = \[(.*)\]\n", re.MULTILINE)
_NAME = re.compile(r'"(\w+)"')


class Code(NamedTuple):
    """The code of an archive. roles: of the tensors of each class. constants: the uses of each by its number."""

    roles: Mapping[str, Roles]
    constants: Mapping[int, list[Use]]


class Use(NamedTuple):
    """The use of a constant: the operator, with a number if there are several, and its name for the constant."""

    operator: str
    leaf: str
    kind: str


def code_of(archive: Archive, root: str) -> Code:
    """Return what the code in an archive says of tensors. Raises BadFileError if it is too long."""
    start, roles, texts, room = f"{root}code/", {}, [], MOST_CODE
    for name in archive.names:
        if name.startswith(start) and name.endswith(".py"):
            text = archive.read(name, room).decode("utf-8", "replace")
            room -= len(text)
            module = name.removeprefix(start).removesuffix(".py").replace("/", ".")
            for word, parameters, buffers in _CLASS.findall(text):
                both = (TensorRole.PARAMETER, parameters), (TensorRole.BUFFER, buffers)
                roles[f"{module}.{word}"] = {each: role for role, names in both for each in _NAME.findall(names)}
            texts.append(text)
    constants: dict[int, list[Use]] = {}
    for number, use in _uses("\n".join(texts)):
        constants.setdefault(number, []).append(use)
    return Code(roles, constants)


_AFFINE = {1: "weight", 2: "bias"}
_OF_STEP = {2: "weight_ih", 3: "weight_hh", 4: "bias_ih", 5: "bias_hh"}
_OPERATORS: dict[str, tuple[str, dict[int, str]]] = {
    "embedding": ("Embedding", {0: "weight"}),
    "linear": ("Linear", _AFFINE),
    "conv1d": ("Conv1d", _AFFINE),
    "_convolution": ("", _AFFINE),
    **dict.fromkeys(("conv2d", "conv3d", "instance_norm", "prelu"), ("Other", _AFFINE)),
    **dict.fromkeys(("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"), ("Cell", _OF_STEP)),
    "batch_norm": ("BatchNorm1d", {**_AFFINE, 3: "running_mean", 4: "running_var"}),
    "layer_norm": ("LayerNorm", {2: "weight", 3: "bias"}),
    "group_norm": ("GroupNorm", {2: "weight", 3: "bias"}),
}
"""The class of an operator's layer, and the names of its arguments by their places:
https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml"""
_CELLS = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|CONSTANTS[.]c(\d{1,9})|[\w.]+|[\[\](),=\n]')

Argument = list[str | int]
"""The names and numbers of constants in an argument, None of its nested calls."""


def _uses(text: str) -> Iterator[tuple[int, Use]]:
    """Yield the number of each constant with its use; a call whose constants all have been yielded is one repeated."""
    lists: dict[str, Argument] = {}
    counts: Counter[str] = Counter()
    seen: set[tuple[str, tuple[tuple[int, str], ...]]] = set()
    for operator, arguments in _calls(text, lists):
        if operator in _CELLS:
            kind, pairs = _CELLS[operator], _of_cell(arguments, lists)
        else:
            kind, leaves = _OPERATORS[operator]
            if operator == "_convolution" and arguments[6:7] != [["False"]]:
                kind = "Transposed"
            pairs = [(leaf, arguments[place][:1]) for place, leaf in leaves.items() if place < len(arguments)]
        named = tuple((one, leaf) for leaf, values in pairs for one in values if isinstance(one, int))
        if named and (operator, named) not in seen:
            seen.add((operator, named))
            path = f"{operator}_{counts[operator]}" if counts[operator] else operator
            counts[operator] += 1
            yield from ((number, Use(path, leaf, kind)) for number, leaf in named)


def _of_cell(arguments: list[Argument], lists: Mapping[str, Argument]) -> list[tuple[str, Argument]]:
    """Return the names of a recurrent operator's weights, a list by layers and directions."""
    if len(arguments) < 8:
        return []
    weights, (biases, layers, ways) = arguments[2], (arguments[place][:1] for place in (3, 4, 7))
    if len(weights) == 1 and isinstance(weights[0], str):
        weights = lists.get(weights[0], [])
    marks = ["", "_reverse"] if ways == ["True"] else [""]
    names = ["weight_ih", "weight_hh", *["bias_ih", "bias_hh"] * (biases == ["True"])]
    if len(weights) == (len(names) + 1) * len(marks) * int(next((each for each in layers if str(each).isdecimal()), 0)):
        names.append("weight_hr")
    ends = [f"_l{number // len(marks)}{marks[number % len(marks)]}" for number in range(len(weights) // len(names))]
    each = [f"{name}{end}" for end in ends for name in names]
    return [(leaf, [value]) for leaf, value in zip(each, weights, strict=False)]


def _calls(text: str, lists: dict[str, Argument]) -> Iterator[tuple[str, list[Argument]]]:
    """Yield the calls of known operators with their arguments, and collect the lists that are assigned to names."""
    frames: list[tuple[str, list[Argument]]] = []
    before, target = "", ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "([":
            if len(frames) >= MOST_CODE_DEPTH:
                raise BadFileError(f"has code that is nested more than {MOST_CODE_DEPTH:,} levels deep")
            frames.append((before if token == "(" else "[", [[]]))
        elif token in ")]" and frames:
            name, arguments = frames.pop()
            if name == "[":
                values = [value for argument in arguments for value in argument]
                if frames:
                    frames[-1][1][-1] += values
                elif target:
                    lists[target] = values
            operator = name.removeprefix("torch.")
            if operator != name and (operator in _OPERATORS or operator in _CELLS):
                yield operator, arguments
        elif token == "," and frames:
            frames[-1][1].append([])
        elif token == "=" and not frames:
            target = before
        elif token == "\n" and not frames:
            target = ""
        elif frames and token != "\n":
            frames[-1][1][-1].append(int(match[1]) if match[1] else token)
        before = token
