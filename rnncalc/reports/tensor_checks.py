"""What is said of a tensor that was held against a model file, and of the change that would explain what differs."""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.layers.layer import Layer
from rnncalc.questions.models.matching import Change, Match, TensorCheck, TensorStatus
from rnncalc.questions.read import settings
from rnncalc.text import bracketed, escape


def name(check: TensorCheck) -> str:
    """Return the tensor's name in the network, or, where it has none there, in the file."""
    if check.layer is None or check.tensor is None:
        return check.found or ""
    return f"{check.layer}.{check.tensor}"


def messages(match: Match) -> Iterator[str | None]:
    """Yield what is wrong with each tensor, None when nothing is; with a layer's first, what would mend it."""
    cured: set[str] = set()
    for check in match.tensors:
        said = _said(check)
        mending = cure(check, match) if said else ""
        yield said and f"{said}{'' if (told := f'{check.layer}{mending}') in cured else mending}"
        if said:
            cured.add(told)


def _said(check: TensorCheck) -> str | None:
    where = f" in {escape(check.found, limit=1_000)}" if check.found and check.tensor else ""
    ours, theirs = (bracketed(shape or ()) for shape in (check.shape, check.found_shape))
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
            of = f" {check.layer} has not" if check.layer else " no layer has"
            return f"the file has {theirs}{where}, which{of}"


def cure(check: TensorCheck, match: Match) -> str:
    """Return `; write ...`, the changes of the layer that would explain what differs."""
    if check.layer is None:
        added = [change for change in match.changes if change.layer is None and _at(change.path, check.found or "")]
        return f"; add {written(added[0].theirs)}" if added else ""
    found = [*dict.fromkeys(_change(change) for change in match.changes if change.layer == check.layer)]
    return f"; write {', '.join(found)}" if found else ""


def _at(path: str, name: str) -> bool:
    return not path or name.startswith((f"{path}.", f"{path}/"))


def written(layer: Layer) -> str:
    """Return a layer as a spec writes it on one line."""
    options = [f"{option}: {_word(value)}" for option, value in settings(layer)]
    return ", ".join([f"{layer.kind}: {getattr(layer, layer.number)}", *options])


def _change(change: Change) -> str:
    if change.option == "inputs":
        if change.first:
            return f"input: {change.theirs} (m, here {change.ours})"
        more = change.theirs - change.ours
        return (
            f"extra_inputs: {more}" if more > 0 else f"a layer before it {change.theirs} wide (m, here {change.ours})"
        )
    if change.option == "kind":
        (kind, number), (our_kind, our_number) = change.theirs, change.ours
        return f"{kind}: {number} (here {our_number if kind == our_kind else f'{our_kind}: {our_number}'})"
    return f"{change.option}: {_word(change.theirs)} (here {_word(change.ours)})"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "none" if value is None else escape(str(value))
