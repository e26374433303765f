"""The report of `check`: a finding for each limit, tensor and problem; tables of limits and of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from rnncalc.errors import dotted
from rnncalc.network.budget import OF_TRAINING, Quantity, Rule
from rnncalc.printable import escape, escape_path
from rnncalc.questions.check import Difference, LimitCheck, Number, Status, Unknown, Verdict
from rnncalc.reports.report import CheckedReport, DataReport, RecordReport, SheetReport, fields
from rnncalc.typeset.sheet import MOST_LINES, Column, Finding, Outcome, Row, Sheet, Value, key_columns, number_columns
from rnncalc.words import bracketed, in_full, plural

UNITS = {
    Quantity.PARAMS: ("parameter", ""),
    Quantity.BYTES: ("byte", ""),
    Quantity.MULTIPLY_ADDS: ("multiply-add", ""),
    Quantity.DENSE_RATIO: ("dense-equivalent parameter", " for each one"),
    Quantity.SAVED: ("saved activation", ""),
    Quantity.BACKWARD_MULTIPLY_ADDS: ("multiply-add", " of the backward pass"),
    Quantity.TRAINING_BYTES: ("byte", " of training"),
    Quantity.STATE: ("number", " of state"),
    Quantity.STATE_BYTES: ("byte", " of state"),
    Quantity.MULTIPLY_ADDS_PER_STEP: ("multiply-add", " per step"),
    Quantity.MULTIPLY_ADDS_PER_SECOND: ("multiply-add", " per second"),
}
"""What is counted of each quantity: a noun in the singular, and the words behind it."""

_MOST_DIGITS = 40
"""The most digits after the point; numbers that differ only in later digits look equal."""

MOST_ROWS = 200
"""The most rows; if there are more, rows of kept limits and unchanged numbers are left out."""

_STATUSES = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.BROKEN: "invalid spec",
    Status.UNCHECKED: "with nothing to check",
    Status.REMOVED: "removed",
}
_WRONG = (Status.FAILED, Status.BROKEN)

_SPEC = Column("Spec", key=True, whole=True)
_COLUMNS = (*(*key_columns(""), _SPEC, *key_columns("Check")), *number_columns("Expected", "Actual", together=True))


class CheckReport(SheetReport, DataReport, RecordReport, CheckedReport):
    """The verdicts on all files.

    baseline: the baseline's name, if there is one. remarks: the parts of it that could not be read.
    left_out: how many files of the folders are not specs. tensors: whether all tensors of a model file are listed.
    """

    verdicts: tuple[Verdict, ...]
    baseline: str = ""
    remarks: tuple[str, ...] = ()
    left_out: int = 0
    tensors: bool = False

    @property
    def code(self) -> int:
        """The exit code: 2 if a spec is invalid, 1 if a limit was not kept, else 0."""
        statuses = {verdict.status for verdict in self.verdicts}
        return 2 if Status.BROKEN in statuses else 1 if Status.FAILED in statuses else 0

    def findings(self) -> Iterator[tuple[str, str, list[Finding]]]:
        for verdict in self.verdicts:
            findings = *_problems(verdict), *_limits(verdict), *_tensors(verdict, self.tensors), *_about(verdict)
            yield verdict.file, verdict.convention or "", [*findings]

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row for each check, its `result` in JUnit's words."""
        return ("file", "convention", "check", "result", "limit", "actual", "message"), (
            (file, convention, each.name, each.outcome.value, each.limit, each.actual, each.message)
            for file, convention, findings in self.findings()
            for each in findings
        )

    def data(self) -> Iterator[dict[str, Any]]:
        return (_data(verdict, self.tensors) for verdict in self.verdicts)

    def failures(self) -> Iterator[str]:
        """Yield a line for each failure, up to MOST_LINES."""
        wrong = (verdict for verdict in self.verdicts if verdict.status in _WRONG)
        lines = (line for verdict in wrong for line in _lines(verdict, self.tensors))
        yield from islice(lines, MOST_LINES)
        if rest := sum(1 for _ in lines):
            yield f"and {rest:,} more failures"
        yield from self.remarks
        if self.left_out:
            verb = "was" if self.left_out == 1 else "were"
            yield f"{plural(self.left_out, 'YAML file')} without the keys of a spec {verb} left out"

    def sheets(self) -> list[Sheet]:
        """Return the table of limits and, with a baseline, the table of changes."""
        notes = tuple(self._notes())
        if not self.baseline:
            return [self._limit_sheet(notes)]
        return [self._limit_sheet(()), self._difference_sheet(notes)]

    def _limit_sheet(self, notes: tuple[str, ...]) -> Sheet:
        verdicts = [verdict for verdict in self.verdicts if verdict.status is not Status.REMOVED]
        kept = [check.kept for verdict in verdicts for check in verdict.checks]
        subtitle = f"{plural(len(verdicts), 'spec')}, {plural(len(kept), 'check')}"
        conventions = Counter(verdict.convention for verdict in verdicts if verdict.convention)
        usual = max(conventions, key=conventions.__getitem__, default="")
        many = sum(kept) and sum(len(verdict.checks) or 1 for verdict in verdicts) > MOST_ROWS
        shown = [verdict for verdict in verdicts if not (many and verdict.status is Status.PASSED)]
        rows = [row for verdict in shown for row in _rows(verdict, self.tensors, usual) if not many or row[0] != "✓"]
        subtitle += f"; the {sum(kept):,} that were kept are not shown" if many else ""
        if usual:
            subtitle += f"; convention {usual}{' unless a check names another' if len(conventions) > 1 else ''}"
        return Sheet(_COLUMNS, rows, title="Checks", subtitle=subtitle, notes=notes)

    def _difference_sheet(self, notes: tuple[str, ...]) -> Sheet:
        compared = [(verdict.file, verdict.difference) for verdict in self.verdicts if verdict.difference]
        same = [change for _, change in compared if change.before == change.after] if len(compared) > MOST_ROWS else []
        rows: list[Row] = []
        for file, change in compared:
            before, after = change
            if same and before == after:
                continue
            state = "new" if before is None else "removed" if after is None else ""
            numbers = ("" if number is None else _as_json(number) for number in change)
            rows.append((file, *numbers, _signed(change.growth), _percent(change), state))
        if same:
            params = _as_json(sum(difference.before or 0 for difference in same))
            rows.append((f"{len(same):,} others, unchanged", params, params, "0", "", ""))
        whole = Difference(*(sum(change[side] or 0 for _, change in compared) for side in (0, 1)))
        total = "Total", _as_json(whole.before), _as_json(whole.after), _signed(whole.growth), _percent(whole), ""
        columns = (_SPEC, *number_columns("Before", "After", "Change", "Percent", together=True), Column("State"))
        subtitle = f"parameters against {escape(self.baseline)}"
        return Sheet(columns, rows, total, title="Changes", subtitle=subtitle, notes=notes)

    def _notes(self) -> Iterator[str]:
        yield from self.failures()
        reasons = Counter(reason for verdict in self.verdicts if (reason := _left_out(verdict)))
        for reason, count in reasons.items():
            yield f"{plural(count, 'spec')}: {reason}."
        if others := sum(verdict.model.left_out for verdict in self.verdicts if verdict.model):
            verb = "is not a parameter and was" if others == 1 else "are not parameters and were"
            yield f"{plural(others, 'tensor')} of the model file {verb} left out."
        yield from (in_full(text) for verdict in self.verdicts for text in _remarks(verdict))
        counts = Counter(verdict.status for verdict in self.verdicts)
        texts = (
            plural(counts[status], word) if status is Status.BROKEN else f"{counts[status]:,} {word}"
            for status, word in _STATUSES.items()
            if counts[status]
        )
        yield f"{'; '.join(texts)}."


def of_network(verdict: Verdict) -> CheckReport:
    """Return the report of one network, with its name instead of a file's."""
    return CheckReport((verdict._replace(file=verdict.file or verdict.name or ""),))


def _problems(verdict: Verdict) -> Iterator[Finding]:
    """Yield the problems of an invalid spec."""
    name = escape_path("stdin" if verdict.file == "-" else verdict.file)
    names = (name, f"'{name}'", f"'{escape(verdict.file)}'", verdict.file)
    for problem in verdict.problems:
        elsewhere = (
            "" if problem.source in ("", *names) else ":".join(map(str, (problem.source, *(problem.place or ()))))
        )
        key = ": ".join(part for part in (elsewhere, dotted(problem.path)) if part)
        place = (None, None) if elsewhere else (problem.line, problem.column)  # of another file, such as a network's
        yield Finding(key or "spec", Outcome.ERROR, problem.message, key, *place)


def _lines(verdict: Verdict, every: bool) -> Iterator[str]:
    """Yield a line for each failure. If the model file is another network's, one line is about all its tensors."""
    tensors = _tensors(verdict, every)
    if verdict.model and verdict.model.another_network:
        path = escape_path(verdict.model.path)
        message = f"{path} is of another network: the spec has none of its tensors; rnncalc read {path} drafts its spec"
        tensors = iter([Finding("", Outcome.FAILED, message)])
    file = escape_path(verdict.file if verdict.file != "-" else "stdin")
    for finding in (*_problems(verdict), *_limits(verdict), *tensors, *_about(verdict)):
        if finding.wrong:
            where = f"{file}:{finding.line}:{finding.column}" if finding.line else file
            key = escape(finding.key, limit=1_000)  # the name of a layer in a budget may be any text
            yield ": ".join(part for part in (where, key, finding.message) if part)


def _limits(verdict: Verdict) -> Iterator[Finding]:
    """Yield a finding for each limit."""
    for check in verdict.limits:
        limit = check.limit
        key = limit.flag or dotted(limit.path)
        numbers: tuple[Any, Any] = (_as_json(limit.value), _as_json(check.actual))
        if limit.shape:
            numbers = (limit.shape, check.shape or None)
        yield _checked(key, _message(check), (check.line, check.column), numbers, _cells(check))


def _tensors(verdict: Verdict, every: bool) -> Iterator[Finding]:
    """Yield the findings on a model file: the layers that differ, then its tensors.

    every: whether all tensors are listed; else those that differ and that no layer explains.
    """
    if (match := verdict.model) is None:
        return
    from rnncalc.reports.read import cured, differences, messages, name  # few calls have a model file

    for key, message, at, values in differences(match):
        yield _checked(key, cured(message, verdict.places), verdict.places.get(at, (None, None)), values, values)
    if match.kept and not every:
        count = len(match.tensors)
        yield _checked("--model", None, (None, None), (count, count), (plural(count, "tensor"),) * 2)
    for number, (tensor, text) in enumerate(zip(match.tensors, messages(match), strict=True)):
        if every or not (tensor.kept or number in match.explained):
            shapes = tensor.shape, tensor.stored_shape
            text = text and cured(text, verdict.places)
            yield _checked(name(tensor), text, verdict.places.get(tensor.at, (None, None)), shapes, shapes)


def _checked(
    key: str, message: str | None, place: tuple[int | None, int | None], numbers: tuple[Any, Any], cells: Row
) -> Finding:
    outcome = Outcome.PASSED if message is None else Outcome.FAILED
    return Finding(key, outcome, message or "", key, *place, *numbers, cells)


def _remarks(verdict: Verdict) -> list[str]:
    """Return the remarks on the model file, if the spec was compared with one."""
    if not verdict.model:
        return []
    from rnncalc.reports.read import sentence  # imported here, because few calls have a model file

    return [sentence(remark) for remark in verdict.model.remarks]


def _about(verdict: Verdict) -> Iterator[Finding]:
    """Yield a finding for each check that was skipped, each removed file and each remark on a model file."""
    yield from (Finding("--model", Outcome.REMARK, text) for text in _remarks(verdict))
    if verdict.status is Status.REMOVED:
        yield Finding("spec", Outcome.REMARK, "in the baseline, but no longer among the specs")
    elif not verdict.problems and not verdict.checked:
        reason = _left_out(verdict) or "nothing to check; give expect or budget, or a limit such as --max-params"
        outcome, key = (Outcome.FAILED, "--strict") if verdict.strict else (Outcome.SKIPPED, "")
        yield Finding("nothing to check", outcome, reason, key)
    elif skipped := _left_out(verdict):
        yield Finding("expect", Outcome.SKIPPED, skipped)


def _left_out(verdict: Verdict) -> str | None:
    """Return why `expect` was not checked; None if it was."""
    if verdict.expect_counts is None:
        return None
    return f"expect is not checked: it counts what {verdict.expect_counts} has, and -c says {verdict.convention}"


def _rows(verdict: Verdict, every: bool, usual: str) -> Iterator[Row]:
    """Yield a row for each limit, or one for a file without limits; usual: the convention that a row does not name."""
    named = "" if verdict.convention in (None, usual) else f" ({verdict.convention})"
    if verdict.problems:
        yield "✗", verdict.file, plural(len(verdict.problems), "problem"), "", ""
    elif verdict.numbers and not verdict.checked:
        yield "✗" if verdict.strict else "·", verdict.file, f"nothing to check{named}", "", ""
    for finding in (*_limits(verdict), *_tensors(verdict, every)):
        yield "✗" if finding.wrong else "✓", verdict.file, f"{finding.name}{named}", *finding.cells


_NUMBERS = (
    *("params", "bytes", "multiply_adds", "dense_ratio", "dense_params"),
    *("state", "state_bytes", "multiply_adds_per_step", "multiply_adds_per_second"),
)


def _data(verdict: Verdict, every: bool) -> dict[str, Any]:
    numbers, difference = verdict.numbers, verdict.difference
    return {
        **fields(verdict, "file", "name", "convention"),
        "status": verdict.status.value,
        **{key: numbers and _as_json(getattr(numbers, key)) for key in _NUMBERS},
        "checks": (
            {
                **fields(finding, "name", "limit", "actual"),
                "convention": verdict.convention,
                "ok": not finding.wrong,
                "message": finding.message or None,
                **fields(finding, "line", "column"),
            }
            for finding in (*_limits(verdict), *_tensors(verdict, every))
        ),
        "skipped": _left_out(verdict),
        "baseline": difference
        and {**difference._asdict(), "change": difference.growth, "percent": _as_json(difference.percent)},
        "problems": [
            {"line": each.line, "column": each.column, "path": each.key, "message": each.message}
            for each in _problems(verdict)
        ],
    }


def _percent(difference: Difference) -> str:
    return "" if difference.percent is None else f"{_fixed(difference.percent, 2, signed=True)}%"


def _signed(number: Number) -> str:
    return f"{number:+,}" if number else "0"


def _cells(check: LimitCheck) -> tuple[Value, Value]:
    """Return the limit and the number for a table; fractions have enough digits to differ."""
    limit, actual = check.limit, check.actual
    if limit.shape:
        return bracketed(limit.shape), bracketed(check.shape) if check.shape else None
    if not limit.percent and limit.quantity is not Quantity.DENSE_RATIO:
        assert isinstance(limit.value, int)
        assert actual is None or isinstance(actual, int)
        return limit.value, actual
    sign = "%" if limit.percent else ""
    digits = _digits(limit.value, actual)
    return f"{_fixed(limit.value, digits)}{sign}", None if actual is None else f"{_fixed(actual, digits)}{sign}"


def _as_json(number: Number | None) -> int | float | None:
    """Return a number for JSON: a fraction as the nearest float."""
    return number if number is None or isinstance(number, int) else float(number)


def _message(check: LimitCheck) -> str | None:
    """Return a sentence if a limit is not kept, else None."""
    if check.kept:
        return None
    limit, actual = check.limit, check.actual
    noun, more = UNITS[limit.quantity]
    unit = f"{noun}{'s' * (limit.value != 1 or limit.percent)}{more}"
    if limit.shape:
        expected = f"expected {bracketed(limit.shape)}"
        if check.unknown:
            return f"{expected}, and {escape(limit.layer or '')} has no such tensor; rnncalc count --tensors lists them"
        return f"{expected} in {escape(limit.layer or '')}, got {bracketed(check.shape)}"
    if actual is None:
        return f"cannot be judged: {_why_unknown(check)}"
    if limit.rule is Rule.GROWTH:
        most = f"{_plain(limit.value)}{'%' if limit.percent else ''}"
        expected = "" if limit.quantity is Quantity.PARAMS else f" {unit}"
        change = check.difference
        assert change is not None  # a limit on a change has one
        digits = _digits(limit.value, actual) if limit.percent else 2
        share = "" if change.percent is None else f" ({_fixed(change.percent, digits, signed=True)}%)"
        got = f"{change.growth:+,}{share}: {change.before:,} before, {change.after:,} now"
        return f"expected at most {most} more{expected} than before, got {got}"
    if limit.quantity is Quantity.DENSE_RATIO:
        return f"expected {_plain(limit.value)} {unit} at least, got {_fixed(actual, _digits(limit.value, actual))}"
    where = f" in {escape(limit.layer)}" if limit.layer else ""
    difference = actual - limit.value
    if limit.rule is Rule.EXACTLY:
        more = f"{difference:,} more" if difference > 0 else f"{-difference:,} fewer"
        return f"expected {limit.value:,}{where}, got {actual:,}: {more}"
    return f"expected at most {limit.value:,} {unit}{where}, got {actual:,}: {difference:,} too many"


def _why_unknown(check: LimitCheck) -> str:
    match check.unknown:
        case Unknown.NO_PARAMS:
            return "a network without parameters has no ratio; remove the limit"
        case Unknown.COUNTED_ELSEWHERE if check.limit.quantity in (Quantity.STATE, Quantity.STATE_BYTES):
            return "what an external part carries is not known; give it state, or remove the limit"
        case Unknown.NOT_QUANTIZED:
            return "how an external part is quantized is not known; give it a dtype, or remove the limit"
        case Unknown.COUNTED_ELSEWHERE if check.limit.quantity not in (*OF_TRAINING, Quantity.DENSE_RATIO):
            return "what an external part costs is not known; give it multiply_adds, or remove the limit"
        case Unknown.COUNTED_ELSEWHERE:
            return "what an external part costs is not known; remove the limit, or the external part"
        case Unknown.CANNOT_STREAM:
            why = "a layer reads both ways or a whole sequence, and does not run step by step"
            return f"{why}; remove the limit, or the layer that count --stream names"
        case Unknown.RATE_NOT_GIVEN:
            return f"{_not_known(check.limit.quantity)} without the steps per second; give rate, or --rate"
        case Unknown.NOT_KNOWN_BEFORE:
            return f"{_not_known(check.limit.quantity)} of the baseline"
        case Unknown.GROWN_FROM_NOTHING:
            after = check.difference.after if check.difference else None
            return f"growth from 0 to {after or 0:,} has no percentage; limit it by a number, such as 10k"
        case why:
            cure = "give steps in each network" if why is Unknown.STEPS_WITHIN else "give steps, or -T"
            return f"{_not_known(check.limit.quantity)} without the number of steps; {cure}"


def _not_known(quantity: Quantity) -> str:
    is_one = quantity is Quantity.DENSE_RATIO
    return "the dense equivalent is not known" if is_one else f"{'s'.join(UNITS[quantity])} are not known"


def _digits(one: Number, other: Number | None) -> int:
    """Return how many digits after the point make two numbers differ, at least 2."""
    if other is None or one == other:
        return 2
    return next((n for n in range(2, _MOST_DIGITS) if _fixed(one, n) != _fixed(other, n)), _MOST_DIGITS)


def _plain(number: Number) -> str:
    """Return a number as it was written, without zeros at its end."""
    return _fixed(number, _MOST_DIGITS).rstrip("0").rstrip(".")


def _fixed(number: Number, digits: int, *, signed: bool = False) -> str:
    """Return a number rounded to some digits after the point; a float could not have them all."""
    scaled = round(abs(number) * 10**digits)
    sign = "-" if number < 0 and scaled else "+" if signed else ""
    whole, rest = divmod(scaled, 10**digits)
    return f"{sign}{whole:,}.{rest:0{digits}}"
