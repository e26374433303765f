"""What a value may be: sizes, rates, words. One declaration for the spec reader, Python callers and the schema."""

from typing import Any, NamedTuple

MAX_SIZE = 10**12
MAX_TEXT = 200
SUFFIXED = r"([0-9][0-9_]*(?:\.[0-9]+)?)([kKMG]i?)?"
"""A number with a suffix, as a pattern; JSON Schema and Python read it alike."""

_GROUPED = "^[0-9]+(_[0-9]+)+$"

Schema = dict[str, Any]
"""JSON Schema of a value as editors read YAML: `1_000` is text to those that know YAML 1.2 alone."""


class Size(NamedTuple):
    """A whole number from `least` to 10^12."""

    least: int = 1

    @property
    def expected(self) -> str:
        return "a positive whole number" if self.least else "a whole number, 0 or more"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        if isinstance(value, bool) or not isinstance(value, int) or value < self.least:
            return f"expected {self.expected}, got {value!r}"
        return f"expected at most 10^12, got {value:,}" if value > MAX_SIZE else None

    @property
    def schema(self) -> Schema:
        """The same for an editor; `?` stands for a size that `solve` looks for."""
        number = {"type": "integer", "minimum": self.least, "maximum": MAX_SIZE}
        return {"anyOf": [number, {"type": "string", "pattern": _GROUPED}, {"const": "?"}]}


class Rate(NamedTuple):
    """A number from 0 to 1."""

    expected: str = "a number from 0 to 1"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        return None if fits else f"expected {self.expected}, got {value!r}"

    @property
    def schema(self) -> Schema:
        """The same for an editor."""
        return {"type": "number", "minimum": 0, "maximum": 1}


class Switch(NamedTuple):
    """True or false."""

    expected: str = "true or false"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        return None if isinstance(value, bool) else f"expected {self.expected}, got {value!r}"

    @property
    def schema(self) -> Schema:
        """The same for an editor."""
        return {"type": "boolean"}


class Choice(NamedTuple):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        *most, last = self.words
        return f"{', '.join(most)} or {last}" if most else last

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        return None if value in self.words else f"expected {self.expected}, got {value!r}"

    @property
    def schema(self) -> Schema:
        """The same for an editor."""
        return {"enum": [*self.words]}


class Text(NamedTuple):
    """Any text of one or more characters."""

    expected: str = "text"
    most: int = MAX_TEXT

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        if not isinstance(value, str) or not value.strip():
            return f"expected {self.expected}, got {value!r}"
        return f"expected at most {self.most} characters, got {len(value):,}" if len(value) > self.most else None

    @property
    def schema(self) -> Schema:
        """The same for an editor, to which an unquoted `2026` or `true` is no text."""
        return {"type": ["string", "number", "boolean"], "pattern": r"\S", "maxLength": self.most}


class Count(NamedTuple):
    """A whole number of any size, 0 or more, that may be written with a suffix: 1M, 2.5k.

    unit: `B` where bytes are counted, and 4MB and 4MiB are understood.
    """

    suffixes: bool = False
    unit: str = ""

    @property
    def expected(self) -> str:
        return f"a whole number{f', or one such as 4M{self.unit}' if self.suffixes else ', 0 or more'}"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if fits else f"expected {self.expected}, got {value!r}"

    @property
    def schema(self) -> Schema:
        """The same for an editor."""
        written = f"^{SUFFIXED}{f'{self.unit}?' if self.unit else ''}$" if self.suffixes else _GROUPED
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": written}]}


class Ratio(NamedTuple):
    """A number of 0 or more."""

    expected: str = "a number, 0 or more"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
        return None if fits else f"expected {self.expected}, got {value!r}"

    @property
    def schema(self) -> Schema:
        """The same for an editor."""
        return {"type": "number", "minimum": 0}


class Real(NamedTuple):
    """Any finite number."""

    expected: str = "a number"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
        return None if fits else f"expected {self.expected}, got {value!r}"

    @property
    def schema(self) -> Schema:
        """The same for an editor."""
        return {"type": "number"}


Allowed = Size | Rate | Switch | Choice | Text | Count | Ratio | Real

OPTIONS: dict[str, Allowed] = {
    "units": Size(),
    "rate": Rate(),
    "params": Size(0),
    "name": Text(),
    "frozen": Switch(),
    "repeat": Size(),
    "extra_inputs": Size(0),
    "bias": Switch(),
    "activation": Choice(("tanh", "relu", "sigmoid", "linear", "softmax")),
    "bidirectional": Switch(),
    "merge": Choice(("concat", "sum", "mul", "ave")),
    "recurrence": Choice(("full", "diagonal")),
    "learned_state": Switch(),
    "reset_after": Switch(),
    "reset_gate": Switch(),
    "projection": Size(),
    "peepholes": Switch(),
    "output_gate": Switch(),
    "outputs": Size(),
    "tied": Switch(),
}
"""What each option of a layer may be; which options a kind takes are the fields of its class."""
