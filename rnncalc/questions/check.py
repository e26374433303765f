"""`check`: does a network keep its `expect` and its `budget`, and how has it grown since a baseline.

Knows numbers and limits. Where a limit was written is handed in; how the answers look, together or one by one, is
`questions/checks.py` and `reports/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from rnncalc.errors import Fault, Problem, dotted
from rnncalc.network.network import Network
from rnncalc.network.parts import Budget
from rnncalc.questions.count import Count, count
from rnncalc.text import escape

Path = tuple[str | int, ...]
Place = tuple[int, int]
Locate = Callable[[Path], Place | None]
"""Returns the line and column where a spec says what stands at a path."""

UNITS = {"max_params": "parameters", "max_bytes": "bytes", "max_multiply_adds": "multiply-adds"}
GROWTH = "--max-growth"


class Growth(NamedTuple):
    """The most a network may grow: a number of parameters, or a percentage of those before."""

    most: float
    percent: bool = False


class Change(NamedTuple):
    """Parameters before and after; None where there is no such spec: it is new, or removed."""

    before: int | None
    after: int | None

    @property
    def change(self) -> int:
        """How many parameters more there are now."""
        return (self.after or 0) - (self.before or 0)

    @property
    def percent(self) -> float | None:
        """The change in percent of before; None where there was nothing."""
        return 100 * self.change / self.before if self.before and self.after is not None else None


class Check(NamedTuple):
    """A limit held against a number.

    path: where the spec sets the limit, or the flag that does; at: its line and column, None for a flag.
    actual: None when it is not known, and then `reason` says what to give; in others it is what follows the numbers.
    """

    path: Path
    limit: int | float
    actual: int | float | None
    ok: bool
    at: Place | None = None
    reason: str = ""
    percent: bool = False

    @property
    def name(self) -> str:
        """The limit as people write it: `budget.max_params`, `--max-params`."""
        return dotted(self.path)

    @property
    def message(self) -> str | None:
        """What is wrong; None when nothing is."""
        if self.ok:
            return None
        key = str(self.path[-1]).removeprefix("--").replace("-", "_")
        if self.actual is None:
            return f"cannot be judged: {self.reason}"
        if self.path[-1] == GROWTH:
            return f"expected at most {_amount(self.limit, self.percent)} more than before, got {self.reason}"
        if key == "min_dense_ratio":
            return f"expected {self.limit} dense-equivalent parameters for each one at least, got {self.actual}"
        difference = self.actual - self.limit
        if unit := UNITS.get(key):
            return f"expected at most {self.limit:,} {unit}, got {self.actual:,}: {difference:,} too many"
        more = "more" if difference > 0 else "fewer"
        return f"expected {self.limit:,}{self.reason}, got {self.actual:,}: {abs(difference):,} {more}"

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        line, column = self.at or (None, None)
        return {
            "name": self.name,
            "limit": self.limit,
            "actual": self.actual,
            "ok": self.ok,
            "message": self.message,
            "line": line,
            "column": column,
        }


class Checked(NamedTuple):
    """One file with its checks; a file that is no spec has `problems` instead, a removed one nothing but its change.

    skipped: why its `expect` was not held against anything.
    """

    file: str
    counted: Count | None = None
    checks: tuple[Check, ...] = ()
    skipped: str = ""
    strict: bool = False
    change: Change | None = None
    problems: tuple[Problem | Fault, ...] = ()

    @property
    def status(self) -> str:
        """One of passed, failed, broken, unchecked and removed."""
        if self.problems:
            return "broken"
        if self.counted is None:
            return "removed"
        if not self.checks:
            return "failed" if self.strict else "unchecked"
        return "passed" if all(check.ok for check in self.checks) else "failed"

    @property
    def nothing(self) -> str:
        """What to say of a file without checks."""
        return self.skipped or "nothing to check; give expect or budget, or a limit such as --max-params"

    def failures(self) -> Iterator[tuple[Place | None, str, str]]:
        """Yield what is wrong: a place in the file, the name of what failed, and the message."""
        for problem in self.problems:
            yield located(problem, self.file)
        if self.status == "failed" and not self.checks:
            yield None, "--strict", self.nothing
        for check in self.checks:
            if not check.ok:
                yield check.at, check.name, check.message or ""

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        count, change = self.counted, self.change
        dense = count and count.dense
        return {
            "file": self.file,
            "name": count and count.network.name,
            "convention": count and count.network.convention,
            "status": self.status,
            "params": count and count.params,
            "bytes": count and count.bytes,
            "multiply_adds": count and count.multiply_adds,
            "dense_ratio": dense and dense.ratio,
            "checks": (check.data() for check in self.checks),
            "skipped": self.skipped or None,
            "baseline": change and {**change._asdict(), "change": change.change, "percent": change.percent},
            "problems": [
                {"line": at and at[0], "column": at and at[1], "path": path, "message": message}
                for at, path, message in (located(problem, self.file) for problem in self.problems)
            ],
        }


def check(
    network: Network,
    file: str,
    locate: Locate,
    *,
    dtype: str = "float32",
    limits: Mapping[str, int | float] | None = None,
    own_convention: str | None = None,
    strict: bool = False,
    before: int | None = None,
    growth: Growth | None = None,
    compared: bool = False,
) -> Checked:
    """Hold a network against its own limits and those of the call, which stand in place of its own.

    own_convention: whose tensors `expect` counts; under another it says nothing, and is left out.
    before: the parameters of the baseline, if it has this spec; compared: whether there is a baseline.
    """
    counted = count(network, dtype)
    skipped = ""
    checks: list[Check] = []
    if network.expect and own_convention not in (None, network.convention):
        skipped = f"expect is not checked: it counts what {own_convention} has, and -c says {network.convention}"
    elif network.expect:
        checks += _expectations(counted, locate)
    checks += _budget(counted, locate, limits or {})
    change = Change(before, counted.params) if compared else None
    if change and growth and before is not None:
        checks.append(_grown(change, growth))
    return Checked(file, counted, tuple(checks), skipped, strict, change)


def located(problem: Problem | Fault, file: str) -> tuple[Place | None, str, str]:
    """Return the place of a problem within the file, the path to it, and the message."""
    if isinstance(problem, Fault):
        return None, dotted(problem.path), problem.message
    place = problem.where.removeprefix(escape(file if file != "-" else "stdin", limit=1_000))
    numbers = place.split(":")[1:] if place.startswith(":") else []
    if len(numbers) == 2 and all(number.isdecimal() for number in numbers):
        return (int(numbers[0]), int(numbers[1])), problem.path, problem.message
    path = "" if problem.path in (f"'{escape(file)}'", file) else problem.path
    return None, ": ".join(part for part in (place, path) if part), problem.message


def _expectations(count: Count, locate: Locate) -> Iterator[Check]:
    total, layers = count.network.expect or (None, None)
    if total is not None:
        path: Path = ("expect", "total")
        yield Check(path, total, count.params, total == count.params, locate(path))
    for place, (want, placed) in enumerate(zip(layers or (), count.network.placed, strict=False)):
        path = ("expect", "layers", place)
        ok = want == placed.params
        yield Check(path, want, placed.params, ok, None if ok else locate(path), f" in {escape(placed.name)}")


def _budget(count: Count, locate: Locate, flags: Mapping[str, int | float]) -> Iterator[Check]:
    own = (count.network.budget or Budget())._asdict()
    for key in Budget._fields:
        limit = flags.get(key, own[key])
        if limit is None:
            continue
        path: Path = (f"--{key.replace('_', '-')}",) if key in flags else ("budget", key)
        at = None if key in flags else locate(path)
        if key == "min_dense_ratio":
            dense = count.dense
            ratio = dense and dense.ratio
            yield Check(path, limit, ratio, ratio is not None and ratio >= limit, at, _why_no_ratio(count))
        else:
            actual: int | None = getattr(count, key.removeprefix("max_"))
            yield Check(path, limit, actual, actual is not None and actual <= limit, at, _why_no_cost(count))


def _grown(change: Change, growth: Growth) -> Check:
    before, after = change.before or 0, change.after or 0
    share = "" if change.percent is None else f" ({change.percent:+,.2f}%)"
    reason = f"{change.change:+,}{share}: {before:,} before, {after:,} now"
    if not growth.percent:
        return Check((GROWTH,), growth.most, change.change, change.change <= growth.most, None, reason)
    ok = 100 * change.change <= growth.most * before
    actual = (100.0 if change.change else 0.0) if change.percent is None else change.percent
    return Check((GROWTH,), growth.most, actual, ok, None, reason, percent=True)


def _why_no_ratio(count: Count) -> str:
    if not count.network.params:
        return "a network without parameters has no ratio; remove the limit"
    return "the dense equivalent is not known without the number of steps; give steps, or -T"


def _why_no_cost(count: Count) -> str:
    if None in [part.steps for part in count.network.parts.values()]:
        return "multiply-adds are not known without the number of steps; give steps, or -T"
    return "what an external part costs is not known; remove the limit, or the external part"


def _amount(value: float, percent: bool) -> str:
    return f"{value:,g}%" if percent else f"{value:,}"
