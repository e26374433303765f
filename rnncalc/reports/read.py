"""Reports on a model file: its tensors, a draft of its spec, and its differences from a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from rnncalc.errors import Path, dotted
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External, Layer, Output
from rnncalc.layers.normalisation import BatchNorm
from rnncalc.models.files.model import FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.models.matching import LayerDifference, Match, TensorCheck, TensorStatus
from rnncalc.models.read import Draft, Reading
from rnncalc.models.sites import Doubt
from rnncalc.network.parts import OUTPUT
from rnncalc.network.writer import layer_spec, spec_of
from rnncalc.printable import escape, escape_path
from rnncalc.reports.report import DataReport, DocumentReport, RecordReport, SheetReport, fields
from rnncalc.typeset.sheet import Column, Document, Entry, Row, Sheet, key_columns, number_columns, total_row
from rnncalc.words import all_of, bracketed, first_words, in_full, plural

_HEADER = ("file", "name", "shape", "dtype", "role", "params", "frozen", "shared_with")


class ReadReport(SheetReport, DataReport, RecordReport, DocumentReport):
    """A model file that was read."""

    read: Reading

    listed_as = "files"

    def data(self) -> dict[str, Any]:
        file, described = self.read.file, self.read.described
        return {
            **fields(file, "path", "format", "params"),
            "tensors": (_tensor_data(tensor) for tensor in file.tensors),
            "spec": described and spec_of(described),
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
        notes = [in_full(sentence(remark)) for remark in file.remarks]
        if frozen := sum(tensor.params for tensor in file.tensors if tensor.frozen and tensor.is_parameter):
            notes.append(f"{plural(frozen, 'parameter')} of these are frozen.")
        if shared := sum(tensor.shared_with is not None for tensor in file.tensors):
            once = "counted once, with the first name"
            notes.append(f"{plural(shared, 'tensor')} made of the numbers of another: {once}.")
        total = total_row(columns, file.params, others)
        return [Sheet(columns, rows, total, title=file.path, subtitle=self.contents(), notes=tuple(notes))]

    def document(self) -> Document:
        """Return the draft of a spec, below remarks on the contents of the file."""
        file, draft, networks = self.read
        head = [f"{file.path}: {self.contents()}"]
        head += [in_full(sentence(remark)) for remark in file.remarks]
        others = [tensor for tensor in file.tensors if not tensor.is_parameter]
        if others:
            roles = ", ".join(dict.fromkeys(tensor.role.value for tensor in others))
            numbers = sum(tensor.params for tensor in others)
            kept = [tensor.name for tensor in others if tensor.role in (TensorRole.BUFFER, TensorRole.CONSTANT)]
            names = f": {_listed(kept)}" if kept else ""
            head.append(f"left out: {plural(len(others), 'tensor')} of {plural(numbers, 'number')} ({roles}){names}")
        if draft is None:
            why = "more parameters than a spec may have" if file.params else "there are no parameters"
            return Document((*head, f"no spec: {why}"), ())
        drafts = [each for each, _ in networks.values()] or [draft]
        over_steps = [each.network for each in drafts if each.network.topology != "one-to-one"]
        missing = [key for key in ("steps", "topology") if not all(getattr(each, key) for each in over_steps)]
        kinds = {remark.kind for remark in file.remarks}
        silent = {RemarkKind.ROLES_BY_NAME, RemarkKind.NO_CONFIG, RemarkKind.COUNTED} & kinds
        missing += ["dropout"] if silent or file.framework == "onnx" else []
        joined = (file.framework in ("keras", "tfjs") or file.format in _GRAPHS) and not silent
        missing += [] if joined else ["what joins the layers but their order"]
        if missing:
            place = "read" if RemarkKind.PROGRAM in kinds else "in the file"
            head.append(f"not {place}: " + ", and ".join(filter(None, (", ".join(missing[:-1]), missing[-1]))))
        if not networks:
            return Document(tuple(head), tuple(_entries(draft)))
        head.append(f"{plural(len(networks), 'network')}, each counted by itself; no spec says how they are joined")
        assert self.read.described is not None
        top = spec_of(self.read.described)
        specs = top.pop("networks")
        below = []
        for name, (each, calls) in networks.items():
            entries = (*_entries(each), Entry("calls", calls))
            below.append(Entry(name, tuple(entry for entry in entries if entry.key in specs[name])))
        return Document(tuple(head), (*(Entry(*pair) for pair in top.items()), Entry("networks", tuple(below))))

    def contents(self) -> str:
        """Return `PyTorch state dict, 12 tensors, 1,685 parameters, 2 LSTM layers`; buffers and the like are apart."""
        file, draft, _ = self.read
        tensors = sum(tensor.is_parameter for tensor in file.tensors)
        parts = [_kind_of_file(file), plural(tensors, "tensor"), plural(file.params, "parameter")]
        if draft:
            drafts = [each for each, _ in self.read.networks.values()] or [draft]
            cells = [layer for each in drafts for layer in each.network.layers if isinstance(layer, Cell)]
            names = Counter(type(cell).__name__ for cell in cells for _ in range(cell.repeat))
            parts += [plural(number, f"{name} layer") for name, number in names.items()]
        return ", ".join(parts)


def _kind_of_file(file: ModelFile) -> str:
    kinds = {remark.kind for remark in file.remarks}
    if file.format == "pytorch":
        if any(tensor.role is TensorRole.OPTIMIZER for tensor in file.tensors):
            return "PyTorch checkpoint with optimizer"
        return "PyTorch state dict" if RemarkKind.ROLES_BY_NAME in kinds else "PyTorch model"
    if file.framework == "keras" and file.format not in _TITLES:
        return "Keras weights" if RemarkKind.NO_CONFIG in kinds else "Keras model"
    return _TITLES.get(file.format, file.format)


_TITLES = {"torchscript": "TorchScript model", "onnx": "ONNX model", "pt2": "PyTorch program", "npz": "NumPy archive"}
_TITLES |= {"msgpack": "Flax tree", "tfjs": "TensorFlow.js model", "paddle": "PaddlePaddle state dict"}
_TITLES |= {"plain-hdf5": "HDF5 file"}
_GRAPHS = {"openvino": "OpenVINO model", "tflite": "TensorFlow Lite model"}
_TITLES |= _GRAPHS | {"coreml": "Core ML model", "tesseract": "Tesseract model", "orbax": "Orbax checkpoint"}
"""What a file is called, by its format."""


def _tensor_data(tensor: FileTensor) -> dict[str, Any]:
    return {
        **fields(tensor, "name", "shape", "dtype", "params"),
        "role": tensor.role.value,
        **fields(tensor, "frozen", "shared_with"),
    }


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
    Doubt.TANH_OR_RELU: "activation: tanh or relu, the file does not say",
    Doubt.ACTIVATION: "the activation is not in the file",
    Doubt.OTHER_ACTIVATION: f"its activation is none that a spec has{_DIFFERS}",
    Doubt.OPERATOR: "its activation, if it has one, is the next operator of the file",
    Doubt.CLIP: f"the sums of its gates are clipped (clip){_DIFFERS}",
    Doubt.INPUT_FORGET: f"its forget gate is one minus its input gate (input_forget){_DIFFERS}",
    Doubt.DIRECTION: f"it reads the last step first (direction: reverse){_DIFFERS}",
    Doubt.GO_BACKWARDS: f"it reads the last step first (go_backwards){_DIFFERS}",
    Doubt.GATE_ACTIVATION: f"the activation of its gates is none that a spec has{_DIFFERS}",
    Doubt.ACTIVATIONS: f"it has several activations beside those of its gates{_DIFFERS}",
    Doubt.CALLS: f"it is called more than once{_DIFFERS}",
    Doubt.MERGE: f"its directions are not joined as in any spec{_DIFFERS}",
    Doubt.TABLE: "a matrix without a bias: a dense layer, or a table for a vocabulary of {numbers[0]:,}",
    Doubt.MODULES: "no layer that is known here: {names}",
    Doubt.TABLE_NOT_FIRST: "a table that is not the first layer, which no spec has: {names}",
    Doubt.TWO_SEQUENCES: "reads a second sequence too, such as an encoder's outputs, and a draft is one stack: {names}",
    Doubt.LI_GRU: "SpeechBrain's Li-GRU, a gru with reset_gate: false and a norm within it: {names}",
    Doubt.RNN_T: "the LSTM of torchaudio's RNN-T, with one bias or with norms within it, as none of PyTorch's: {names}",
    Doubt.BUFFER: "counted, and by their names perhaps buffers, which are no parameters: {names}",
    Doubt.BILINEAR: "a convolution, or an nn.Bilinear, which has the same tensors",
    Doubt.LENGTHS: "the lengths of weight_norm, by which the rows of a matrix are multiplied: {names}",
    Doubt.WIDTH: "the width changes from {numbers[0]:,} to {numbers[1]:,}; how is not read",
    Doubt.INPUT: "what it reads is not in the file; input is its output width",
    Doubt.PARTLY_FROZEN: "frozen in part: {names}",
    Doubt.WINDOW: "its stride, padding, dilation, groups and activation are not in the file",
    Doubt.SPACE: "its space, padding, strides and activation are not in the file; its parameters do not depend on them",
    Doubt.PLACES: "its space is not in the file; its parameters do not depend on it",
    Doubt.STATISTICS: "its epsilon and its statistics, batch_stats of Flax, are not in the file",
    Doubt.DIRECTIONS: "two cells, by their widths the two directions of one layer",
    Doubt.OR_DIRECTIONS: "a layer below the next, or with it the two directions of one layer whose outputs are summed",
    Doubt.ALL_STEPS: "its window is all steps, and their number is not in the file",
    Doubt.WHOLE: "its window is all steps that reach it; write their number",
    Doubt.LEFT_OUT: "layers without weights that are not in this draft: {names}",
    Doubt.NOT_IN_SPEC: f"without weights, and not in the spec: {{names}}{_DIFFERS}",
    Doubt.MASK: f"it leaves out the steps of word 0 (mask_zero){_DIFFERS}",
    Doubt.CUDNN: "a layer for cuDNN, with two biases for each gate, as no layer of Keras's convention has: {names}",
    Doubt.ORDER: "the widths of the layers fit in several orders; this one is a guess",
    Doubt.STEP: f"one step of its output is read, not the last{_DIFFERS}",
    Doubt.LAST_STEP: "the last step of both directions is read, so a layer is between it and `last`",
    Doubt.BOTH: f"the file reads the last step of both directions{_DIFFERS}; "
    "write dropout: 0, then last, behind the cells",
    Doubt.TOPOLOGY: f"the file's network is {{names}}{_DIFFERS}; write topology: {{names}}",
    Doubt.LENGTH: f"the file's sequences have {{numbers[0]:,}} steps{_DIFFERS}; write steps: {{numbers[0]}}",
    Doubt.TIMES: "the file calls this network {times}; write calls: {numbers[0]}",
    Doubt.STEPS: "steps are left out, because what is before {names} changes their number as no spec can",
    Doubt.FIRST_STEPS: "steps: {numbers[0]:,} are what the first layer reads; the input has {numbers[1]:,}",
    Doubt.RESHAPED: "the {numbers[0]:,} numbers of a step change their places; how is not read",
    Doubt.PADDING: f"its padding is none that a spec has{_DIFFERS}",
    Doubt.NORM: "its epsilon and activation are not in the file; a group norm has the same tensors",
    Doubt.EPSILON: "its epsilon and activation are not in the file",
    Doubt.GAMMA_OR_BETA: _UNNAMED,
    Doubt.OTHER_EPSILON: f"its epsilon is not the framework's default{_DIFFERS}",
    Doubt.FOLDED: "a product and a sum with a vector, as of a batch norm whose statistics are within the two",
    Doubt.HEADS: "its heads, and whether it is causal, are not in the file; its parameters do not depend on them",
    Doubt.TRANSFORMER: "its heads, norm and activation, and whether it is causal, are not in the file; "
    "its parameters do not depend on them",
    Doubt.CAUSAL: "whether it is causal is not in the file",
    Doubt.ATTENTION: "by its name part of attention, perhaps a decoder's `attention`, and a draft is one stack",
    RemarkKind.ROLES_BY_NAME: "the format does not separate parameters from buffers; names and types were used instead",
    RemarkKind.AVERAGES: "not counted, because they are averages or copies of weights: {names}",
    RemarkKind.LEFT_OUT: "not in the file, so taken as tied to a matrix of as many rows: {names}",
    RemarkKind.CONSTANTS: "frozen weights without names in the file; they are named by the operators that read them",
    RemarkKind.EQUAL: "equal vectors that the file stores once, counted for each operator: {names}",
    RemarkKind.FOREIGN: "beside the tensors are objects of other programs, which are not looked into: {names}",
    RemarkKind.FILES: "the tensors are in {names}",
    RemarkKind.SHARD: "by its name one of {numbers[0]:,} files of a model; name the .index.json that lists them",
    RemarkKind.NOT_READ: "not counted, because they are not plain tensors: {names}",
    RemarkKind.QUANTISED: "not counted, because they are quantised: {names}{whole}; "
    "a run differs from the model's; read the model from before quantisation",
    RemarkKind.PROGRAM: "weights in the order of their definition; of the program only activations are read",
    RemarkKind.SCRIPT: "an archive of TorchScript: its tensors are listed, its code is not run",
    RemarkKind.ZEROS: "second biases that are all zeros, as exporters add them: {names}",
    RemarkKind.ALL_ZEROS: "biases that are all zeros, which exporters write for Keras with use_bias=False: {names}",
    RemarkKind.MERGED: "the file has {numbers[1]:,} numbers for the {numbers[0]:,} parameters of its layers: "
    "it stores once what several of them have, {names}",
    RemarkKind.NO_BIAS: "no bias is stored, which exporters leave out if it is zeros, for {names}",
    RemarkKind.BRANCHES: "one of its branches is run, and the largest is counted and drafted: {pairs}",
    RemarkKind.SHARED: "several branches read, or store number for number, the same {names}",
    RemarkKind.TOO_DEEP: "branches and loops as deep as those of {names} are not read, and their weights not counted",
    RemarkKind.LOOPS: "the weights of loops are counted, and what they compute is not read: {names}",
    RemarkKind.SEVERAL_INPUTS: "inputs of the model: {numbers[0]:,}, outputs: {numbers[1]:,}; a draft has one of each"
    f"{_DIFFERS}",
    RemarkKind.JOINS: f"a draft is one row of layers, but these read several values: {{names}}{_DIFFERS}",
    RemarkKind.FORKS: f"a draft is one row of layers, but several read the outputs of these: {{names}}{_DIFFERS}",
    RemarkKind.LORA: "Keras adds {numbers[0]:,} trainable parameters (lora_rank) when it loads the file: {names}",
    RemarkKind.WITHIN: f"layers within layers of one's own, whose code is not in the file: {{names}}{_DIFFERS}",
    RemarkKind.OPERATORS: f"operators that are part of no layer here: {{names}}{_DIFFERS}",
    RemarkKind.UNROLLED: "{steps} of recurrent layers, written out one by one, each with {names}",
    RemarkKind.COUNTED: "the weights and options of the layers are read, and not what joins them",
    RemarkKind.VGSL: "the network is {names}; its {numbers[0]:,} weights are counted, and not read, because "
    "its layers read the rows and columns of an image",
    RemarkKind.STATED: "names and shapes alone are read; only tensorstore reads the numbers",
    RemarkKind.NO_CONFIG: "weights alone: activations, and how the layers are joined, are not in the file",
}


def sentence(remark: Remark) -> str:
    """Return a remark on a file, or on a layer of its draft, in words."""
    names = _listed(remark.names) if remark.names else "the whole file"
    numbers = remark.numbers or (0, 0)
    pairs = _listed([f"{name[:100]} ({number:,})" for name, number in zip(remark.names, numbers, strict=False)] or [""])
    several = {"pairs": pairs, "steps": plural(numbers[0], "step"), "times": plural(numbers[0], "time")}
    several["whole"] = f", {plural(numbers[0], 'number')} in all" if numbers[0] else ""
    return _SENTENCES[remark.kind].format(names=names, numbers=numbers, **several)


def _listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    return all_of(first_words([name[:100] for name in names], SHOWN))


def name(check: TensorCheck) -> str:
    """Return the name of a tensor in the network, or else in the file."""
    if check.layer is None or check.tensor is None:
        return check.stored or ""
    return f"{check.layer}.{check.tensor}"


Line = tuple[str, str, Path, tuple[int | str | None, int | str | None]]
"""A difference: its name, a sentence with the cure, its place in the spec, and what the spec and the file have."""


def differences(match: Match) -> Iterator[Line]:
    """Yield a line for each layer of a spec that differs from a file, and for each that only the file has."""
    for each in match.differences:
        if each.input:
            place = (*each.at[: each.at[0] in ("encoder", "decoder")], "input")
            ours, theirs = each.input
            text = f"the input is {theirs:,} in the file, {ours:,} in the spec; write input: {theirs}"
            yield dotted(place), text, place, each.input
        if each.theirs is not None and each.theirs != (each.ours,) * len(each.names):
            yield _changed(each, match.path)
    for site in match.more:
        assert site.layer is not None
        text = layer_text(site.layer)
        where = escape(site.path or next(iter(site.tensors.values())).name, limit=1_000)
        yield where, f"the file has this layer, {text}, and the spec lacks it", (), (None, text)


def _changed(difference: LayerDifference, path: str) -> Line:
    """Return the line of a layer that the file has with other widths or options, as another kind, or not at all."""
    names, at, ours, theirs, _, doubts, _ = difference
    assert theirs is not None
    if not theirs:
        where = f" at its path, {escape(ours.path, limit=1_000)}" if ours.path else ""
        folded = isinstance(ours, BatchNorm) and path.endswith(".onnx")
        why = "; an exporter may have folded it into the layer before it" if folded else ""
        return names[0], f"not in the file{where}{why}", at, (layer_text(ours), None)
    one = theirs[0] if len({*theirs}) == 1 else None
    units = getattr(ours, ours.number) if ours.number in ("units", "filters") else None
    before = layer_text(ours.replace(repeat=len(names), dtype=None))
    several_lines = ", " in before or "{" in before  # in block form
    if one and len(theirs) == len(names) and units and one == ours.replace(**{ours.number: getattr(one, ours.number)}):
        width, head = getattr(one, ours.number), ours.kind
        if isinstance(ours, Output):
            head = "units" if several_lines else "output"
        subject = f"{all_of([*map(escape, names)])} {'has' if len(names) == 1 else 'have'}"
        text = f"{subject} {width:,} {ours.number} in the file, {units:,} in the spec; write {head}: {width}"
        return f"{names[0]}.{ours.number}", text, at, (units, width)
    layers = [one.replace(repeat=len(theirs))] if one else theirs
    lines = [*map(layer_text, layers)]
    after = ", then ".join(layer_text(layer.replace(dtype=None)) for layer in layers)  # the spec says dtype alone
    whole = "output" if isinstance(ours, Output) else "layer"
    braces = whole == "layer" and (several_lines or any(", " in line for line in lines))
    in_yaml = ", then ".join(f"{{{line}}}" if braces else line for line in lines)
    in_yaml += f" instead of the whole {whole}" if several_lines else ""
    either = f"; {_UNNAMED}" if Doubt.GAMMA_OR_BETA in doubts else ""
    return names[0], f"the file has {after}, the spec {before}; write {in_yaml}{either}", at, (before, after)


def cured(text: str, written: object) -> str:
    """Return a message on a difference; without what to write if the network is not written in a file."""
    return text if written else text.partition("; write ")[0]


def messages(match: Match) -> Iterator[str | None]:
    """Yield the problem of each tensor, or None; the first that no layer explains has the command that drafts a spec.

    A file without parameters has no draft.
    """
    empty = not any(check.stored_shape for check in match.tensors)
    draft = (
        []
        if empty or any(check.doubt for check in match.tensors)
        else [f"rnncalc read {escape_path(match.path)} drafts a spec that passes"]
    )
    for number, check in enumerate(match.tensors):
        mismatch = sentence(check.doubt) if check.doubt else _mismatch(check)
        if mismatch and not check.doubt and number not in match.explained:
            yield "; ".join([mismatch, *draft])
            draft = []
        else:
            yield mismatch


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


def layer_text(layer: Layer) -> str:
    """Return a layer as a spec writes it on one line."""
    (kind, number), *options = layer_spec(layer).items()
    words = [f"{option}: {_word(value)}" for option, value in options]
    if isinstance(layer, Output) and words:
        return f"output: {{units: {number}, {', '.join(words)}}}"
    kind = OUTPUT if isinstance(layer, Output) else kind
    return ", ".join([kind if number is None else f"{kind}: {number}", *words])


def _word(value: object) -> str:
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return f"{{{', '.join(f'{name}: {_word(each)}' for name, each in value)}}}"
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else "none" if value is None else escape(str(value))
