"""What is said of a tensor that was held against a model file, and of the change that would explain what differs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

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
    changes: dict[str | None, list[Change]] = {}
    for change in match.changes:
        changes.setdefault(change.layer, []).append(change)
    added = {change.path: change for change in reversed(changes.pop(None, []))}  # of a path, the first
    cured: set[str] = set()
    for check in match.tensors:
        said = _said(check)
        if not said:
            yield None
            continue
        mending = _cure(changes.get(check.layer, ())) if check.layer else _addition(check.found or "", added)
        told = f"{check.layer}{mending}"
        yield said if told in cured else f"{said}{mending}"
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


def _cure(changes: Iterable[Change]) -> str:
    """Return `; write ...`, the changes of a layer that would explain what differs."""
    found = [*dict.fromkeys(map(_change, changes))]
    return f"; write {', '.join(found)}" if found else ""


def _addition(name: str, added: Mapping[str, Change]) -> str:
    """Return `; add ...`, the layer that would have a tensor of the file: the one at the longest path above it."""
    above = [*(name[: found.start()] for found in re.finditer("[./]", name)), ""]
    there = [path for path in above if path in added]
    return f"; add {written(added[max(there, key=len)].theirs)}" if there else ""


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
