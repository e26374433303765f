"""Reports on a model file: its tensors, a draft of its spec, and its differences from a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External, Layer
from rnncalc.modelfiles.model import FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.network.parts import OUTPUT
from rnncalc.network.writer import layer_spec, spec_of
from rnncalc.questions.models.cures import SpecChange
from rnncalc.questions.models.matching import Match, TensorCheck, TensorStatus
from rnncalc.questions.models.pairing import kind_of
from rnncalc.questions.models.sites import Doubt
from rnncalc.questions.read import Draft, Reading
from rnncalc.reports.report import DataReport, DocumentReport, RecordReport, SheetReport, fields
from rnncalc.reports.sheet import Column, Document, Entry, Row, Sheet, key_columns, number_columns, total_row
from rnncalc.text import all_of, bracketed, escape, escape_path, plural

_HEADER = ("file", "name", "shape", "dtype", "role", "params", "frozen", "shared_with")


class ReadReport(SheetReport, DataReport, RecordReport, DocumentReport):
    """A model file that was read."""

    read: Reading

    listed_as = "files"

    def data(self) -> dict[str, Any]:
        file, draft = self.read
        return {
            **fields(file, "path", "format", "params"),
            "tensors": (_tensor_data(tensor) for tensor in file.tensors),
            "spec": draft and spec_of(draft.network),
            "remarks": [sentence(remark) for remark in file.remarks],
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        file = self.read.file
        tensors = map(_tensor_data, file.tensors)
        return _HEADER, ((file.path, *(tensor[key] for key in _HEADER[1:])) for tensor in tensors)

    def sheets(self) -> list[Sheet]:
        """Return a row for each tensor, parameters apart from the rest."""
        file = self.read.file
        rows: list[Row] = []
        for tensor in file.tensors:
            role = f"{'frozen ' if tensor.frozen else ''}{tensor.role.value}{', shared' if tensor.shared_with else ''}"
            numbers = (tensor.params, "") if tensor.is_parameter else ("", tensor.params)
            rows.append((tensor.name, tensor.shape, tensor.dtype, role, *numbers))
        others = sum(tensor.params for tensor in file.tensors if not tensor.is_parameter)
        columns = (
            *(*key_columns("Tensor"), Column("Shape", whole=True), Column("Type"), Column("Role")),
            *number_columns("Parameters", "Others"),
        )
        notes = [_sentence(sentence(remark)) for remark in file.remarks]
        if frozen := sum(tensor.params for tensor in file.tensors if tensor.frozen and tensor.is_parameter):
            notes.append(f"{plural(frozen, 'parameter')} of these are frozen.")
        if shared := sum(tensor.shared_with is not None for tensor in file.tensors):
            once = "counted once, with the first name"
            notes.append(f"{plural(shared, 'tensor')} made of the numbers of another: {once}.")
        total = total_row(columns, file.params, others)
        return [Sheet(columns, rows, total, title=file.path, subtitle=self._contents(), notes=tuple(notes))]

    def document(self) -> Document:
        """Return the draft of a spec, below remarks on the contents of the file."""
        file, draft = self.read
        head = [f"{file.path}: {self._contents()}"]
        head += [_sentence(sentence(remark)) for remark in file.remarks]
        others = [tensor for tensor in file.tensors if not tensor.is_parameter]
        if others:
            roles = ", ".join(dict.fromkeys(tensor.role.value for tensor in others))
            numbers = sum(tensor.params for tensor in others)
            head.append(f"left out: {plural(len(others), 'tensor')} of {plural(numbers, 'number')} ({roles})")
        if draft is None:
            why = "more parameters than a spec may have" if file.params else "there are no parameters"
            return Document((*head, f"no spec: {why}"), ())
        missing = [key for key in ("steps", "topology") if not getattr(draft.network, key)]
        silent = {RemarkKind.ROLES_BY_NAME, RemarkKind.NO_CONFIG} & {remark.kind for remark in file.remarks}
        missing += ["dropout"] if silent or file.framework == "onnx" else []
        listed = f"{', '.join(missing)}, and " if missing else ""
        head.append(f"not in the file: {listed}what joins the layers but their order")
        return Document(tuple(head), tuple(_entries(draft)))

    def _contents(self) -> str:
        """Return `PyTorch state dict, 12 tensors, 1,685 parameters, 2 LSTM layers`; buffers and the like are apart."""
        file, draft = self.read
        tensors = sum(tensor.is_parameter for tensor in file.tensors)
        parts = [_kind_of_file(file), plural(tensors, "tensor"), plural(file.params, "parameter")]
        if draft:
            cells = [layer for layer in draft.network.layers if isinstance(layer, Cell)]
            names = Counter(type(cell).__name__ for cell in cells for _ in range(cell.repeat))
            parts += [plural(number, f"{name} layer") for name, number in names.items()]
        return ", ".join(parts)


def _kind_of_file(file: ModelFile) -> str:
    kinds = {remark.kind for remark in file.remarks}
    if file.format == "pytorch":
        if any(tensor.role is TensorRole.OPTIMIZER for tensor in file.tensors):
            return "PyTorch checkpoint with optimizer"
        return "PyTorch state dict" if RemarkKind.ROLES_BY_NAME in kinds else "PyTorch model"
    if file.framework == "keras":
        return "Keras weights" if RemarkKind.NO_CONFIG in kinds else "Keras model"
    return {"torchscript": "TorchScript model", "onnx": "ONNX model"}.get(file.format, file.format)


def _tensor_data(tensor: FileTensor) -> dict[str, Any]:
    return {
        **fields(tensor, "name", "shape", "dtype", "params"),
        "role": tensor.role.value,
        **fields(tensor, "frozen", "shared_with"),
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _entries(draft: Draft) -> Iterator[Entry]:
    """Yield the keys of a spec, with remarks on what the file leaves open."""
    remarks: list[tuple[str, ...]] = []
    for layer, doubts in zip(draft.layers, draft.doubts, strict=True):
        quiet = isinstance(layer, External) and not layer.params
        remarks.append(tuple(sentence(doubt) for doubt in doubts if not quiet or doubt.numbers or doubt.names))
    for key, value in spec_of(draft.network).items():
        if key == "input":
            yield Entry(key, value, ("the input is not in the file",) if draft.unknown_input else ())
        elif key == "layers":
            layers = zip(value, remarks, strict=False)
            yield Entry(key, tuple(tuple(_layer_entries(*pair)) for pair in layers))
        elif key == "output":
            options = tuple(_layer_entries(value, ())) if isinstance(value, dict) else value
            yield Entry(key, options, remarks[-1])
        else:
            yield Entry(key, value)


def _layer_entries(spec: Mapping[str, Any], remarks: tuple[str, ...]) -> Iterator[Entry]:
    """Yield the keys of a layer, with the remarks at the first."""
    for place, (key, value) in enumerate(spec.items()):
        below = tuple(Entry(*pair) for pair in value.items()) if isinstance(value, dict) else value
        yield Entry(key, below, () if place else remarks)


SHOWN = 6
"""The most names of a list to write."""

_UNNAMED = "its trained vector is gamma or beta, the file does not say which"

_DIFFERS = ": a run differs from the model's"

_SENTENCES: dict[Enum, str] = {
    Doubt.RECURRENT_ACTIVATION: "activation: tanh or relu, the file does not say",
    Doubt.ACTIVATION: "the activation is not in the file",
    Doubt.OTHER_ACTIVATION: f"its activation is none that a spec has{_DIFFERS}",
    Doubt.OPERATOR: "its activation, if it has one, is the next operator of the file",
    Doubt.CLIP: f"the sums of its gates are clipped (clip){_DIFFERS}",
    Doubt.INPUT_FORGET: f"its forget gate is one minus its input gate (input_forget){_DIFFERS}",
    Doubt.DIRECTION: f"it reads the last step first (direction: reverse){_DIFFERS}",
    Doubt.GO_BACKWARDS: f"it reads the last step first (go_backwards){_DIFFERS}",
    Doubt.GATE_ACTIVATION: f"the activation of its gates is not sigmoid{_DIFFERS}",
    Doubt.ACTIVATIONS: f"it has several activations beside those of its gates{_DIFFERS}",
    Doubt.TABLE: "a matrix without a bias: a dense layer, or a table for a vocabulary of {numbers[0]:,}",
    Doubt.MODULES: "no layer that is known here: {names}",
    Doubt.LATER_TABLE: "a table that is not the first layer, which no spec has: {names}",
    Doubt.TWO_SEQUENCES: "reads a second sequence too, such as an encoder's outputs, and a draft is one stack: {names}",
    Doubt.BUFFER: "a buffer perhaps, which is not counted: {names}",
    Doubt.WIDTH: "the width changes from {numbers[0]:,} to {numbers[1]:,}; the file does not say how",
    Doubt.INPUT: "what it reads is not in the file; input is its output width",
    Doubt.PARTLY_FROZEN: "frozen in part: {names}",
    Doubt.WINDOW: "its stride, padding, dilation, groups and activation are not in the file",
    Doubt.SPACE: "its space, padding, strides and activation are not in the file; its parameters do not depend on them",
    Doubt.PLACES: "its space is not in the file; its parameters do not depend on it",
    Doubt.STATISTICS: "its epsilon and its statistics, batch_stats of Flax, are not in the file",
    Doubt.DIRECTIONS: "two cells, by their widths the two directions of one layer",
    Doubt.ALL_STEPS: "its window is all steps, and their number is not in the file",
    Doubt.LEFT_OUT: "layers without weights that are not in this draft: {names}",
    Doubt.RESHAPED: "the {numbers[0]:,} numbers of a step change their places; the file does not say how",
    Doubt.PADDING: f"its padding is none that a spec has{_DIFFERS}",
    Doubt.NORM: "its epsilon is not in the file; a group norm has the same tensors",
    Doubt.EPSILON: "its epsilon is not in the file",
    Doubt.GAMMA_OR_BETA: _UNNAMED,
    Doubt.OTHER_EPSILON: f"its epsilon is not the framework's default{_DIFFERS}",
    Doubt.HEADS: "its heads, and whether it is causal, are not in the file; its parameters do not depend on them",
    Doubt.TRANSFORMER: "its heads, norm and activation, and whether it is causal, are not in the file; "
    "its parameters do not depend on them",
    Doubt.CAUSAL: "whether it is causal is not in the file",
    Doubt.ATTENTION: "by its name part of attention, perhaps a decoder's `attention`, and a draft is one stack",
    RemarkKind.ROLES_BY_NAME: "the format does not separate parameters from buffers; names and types were used instead",
    RemarkKind.AVERAGES: "not counted, by their names averages of the weights: {names}",
    RemarkKind.FILES: "the tensors are in {names}",
    RemarkKind.NOT_READ: "not counted, because they are not plain tensors: {names}",
    RemarkKind.QUANTISED: "not counted, because they are quantised: {names}; read the model from before quantisation",
    RemarkKind.SCRIPT: "an archive of TorchScript: its tensors are listed, its code is not read",
    RemarkKind.ZEROS: "second biases that are all zeros, as exporters add them: {names}",
    RemarkKind.IN_BRANCHES: "branches and loops are not looked into, and weights within them not counted: {names}",
    RemarkKind.MLX: "names of MLX, whose recurrent layers rnncalc does not know; they are external: {names}",
    RemarkKind.NO_CONFIG: "weights alone: activations, and how the layers are joined, are not in the file",
}


def sentence(remark: Remark) -> str:
    """Return a remark on a file, or on a layer of its draft, in words."""
    more = [f"{len(remark.names) - SHOWN:,} more"] if len(remark.names) > SHOWN else []
    names = all_of([*(name[:100] for name in remark.names[:SHOWN]), *more]) if remark.names else "the whole file"
    return _SENTENCES[remark.kind].format(names=names, numbers=remark.numbers or (0, 0))


def name(check: TensorCheck) -> str:
    """Return the name of a tensor in the network, or else in the file."""
    if check.layer is None or check.tensor is None:
        return check.stored or ""
    return f"{check.layer}.{check.tensor}"


def messages(match: Match) -> Iterator[str | None]:
    """Yield the problem of each tensor, or None; the first of a layer has the cure.

    If no cure is known, the first problem has the command that drafts a spec of the file, which must have a parameter.
    """
    empty = not any(check.stored_shape for check in match.tensors)
    draft = [] if match.cures or empty else [f"rnncalc read {escape_path(match.path)} drafts a spec that passes"]
    for number, check in enumerate(match.tensors):
        if check.doubt:
            yield sentence(Remark(check.doubt))
        elif mismatch := _mismatch(check):
            cures = [_cure(cure, check.layer) for cure in match.cures.get(number, ())]
            yield "; ".join([mismatch, *cures, *draft])
            draft = []
        else:
            yield None


Change = tuple[str, tuple[int | str, int | str], str]
"""A change of a spec: its name, what the spec and the file have, and a sentence with the cure."""


def changes(match: Match) -> Iterator[tuple[int, list[Change]]]:
    """Yield each cure that changes only widths, or the kind of a layer: the number of its tensor, and its changes."""
    for number, cures in match.cures.items():
        for cure in cures:
            several = [_width(cure, *change) for change in cure.changes]
            if cure.layer and cure.instead and len(cure.instead) == 1:
                ours, theirs = layer_text(cure.layer), layer_text(cure.instead[0])
                text = f"{_names(cure, 'is', 'are')} {theirs} in the file, {ours} in the spec; write {theirs}"
                several.append((f"{cure.names[0]}.kind", (ours, theirs), text))
            known = [change for change in several if change]
            if known and len(known) == len(several) and (cure.instead is None or len(cure.instead) == 1):
                yield number, known


def _width(cure: SpecChange, option: str, ours: Any, theirs: Any) -> Change | None:
    """Return the change of a width; None of any other option."""
    noun = kind(option).number if option in KINDS else "units" if option in (OUTPUT, "units") else ""
    if not (ours and theirs and (option == "input" or noun in ("units", "filters"))):
        return None
    if option == "input":
        name, subject, unit = f"{cure.part}.input" if cure.part else "input", "the input is", ""
    else:
        name, subject, unit = f"{cure.names[0]}.{noun}", _names(cure, "has", "have"), f" {noun}"
    text = f"{subject} {theirs:,}{unit} in the file, {ours:,} in the spec; write {option}: {theirs}"
    return name, (ours, theirs), text


def _names(cure: SpecChange, one: str, several: str) -> str:
    """Return the names of a layer's copies with a verb."""
    return f"{all_of([*map(escape, cure.names)])} {one if len(cure.names) == 1 else several}"


def _mismatch(check: TensorCheck) -> str | None:
    where = f" in {escape(check.stored, limit=1_000)}" if check.stored and check.tensor else ""
    ours, theirs = (bracketed(shape or ()) for shape in (check.shape, check.stored_shape))
    match check.status:
        case TensorStatus.MATCHED:
            return None
        case TensorStatus.MISSING:
            return f"expected {ours}, and the file has no such tensor"
        case TensorStatus.SHAPE:
            return f"expected {ours}, the file has {theirs}{where}"
        case TensorStatus.SHARED:
            return f"expected {ours} of its own, the file has it{where} as another's"
        case _:
            owner = f"{check.layer} does not have" if check.layer else "no layer has"
            return f"the file has {theirs}{where}, which {owner}"


def _cure(cure: SpecChange, layer: str | None) -> str:
    """Return what to change, in words; layer: the one whose place in the spec is with the message."""
    if cure.either:
        return f"{_cure(cure._replace(either=False), layer)}, or center: false instead of scale: false: {_UNNAMED}"
    part = f" of the {cure.part}" if cure.part else ""
    if cure.added:
        return f"add {_layers_text(cure.added)} {f'after {cure.names[-1]}' if cure.names else f'at the start{part}'}"
    parts = []
    if written := [each for each in cure.changes if each.theirs is not None]:
        letters = {"input": "m, "}
        here = (f"({letters.get(each.option, '')}here {_word(each.ours)})" for each in written)
        options = (f"{each.option}: {_word(each.theirs)}" for each in written)
        parts.append(f"write {', '.join(map(' '.join, zip(options, here, strict=True)))}")
    parts += [f"remove {change.option}" for change in cure.changes if change.theirs is None]
    if cure.layer and cure.instead:
        end = "instead" if len(cure.instead) > 1 else f"(here {layer_text(cure.layer)})"
        parts.append(f"write {_layers_text(cure.instead)} {end}")
    elif cure.layer and cure.instead is not None:
        ours, theirs = cure.counts
        kind = kind_of(cure.layer)  # of all layers that have tensors like its own
        noun = {Cell: "recurrent layer", Layer: "dense layer"}.get(kind) or kind.title or f"{kind.kind} layer"
        why = f": the file has {plural(theirs, noun)}, and the spec {ours:,}" if ours > theirs else ""
        parts.append(f"remove this layer{why}")
    where = (
        "" if layer in cure.names else f"at {cure.names[0]} " if cure.names else f"at the start{part} " if part else ""
    )
    return "; ".join(where + each for each in parts)


def _layers_text(layers: Iterable[Layer]) -> str:
    return ", then ".join(map(layer_text, layers))


def layer_text(layer: Layer) -> str:
    """Return a layer as a spec writes it on one line."""
    (kind, number), *options = layer_spec(layer).items()
    head = kind if number is None else f"{kind}: {number}"
    return ", ".join([head, *(f"{option}: {_word(value)}" for option, value in options)])


def _word(value: object) -> str:
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return f"{{{', '.join(f'{name}: {_word(each)}' for name, each in value)}}}"
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else "none" if value is None else escape(str(value))
