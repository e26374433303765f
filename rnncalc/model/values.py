"""What a value may be: sizes, rates, words. One declaration for the spec reader, Python callers and the schema."""

from typing import NamedTuple

MAX_SIZE = 10**12
MAX_TEXT = 200


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


class Rate(NamedTuple):
    """A number from 0 to 1."""

    expected: str = "a number from 0 to 1"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        return None if fits else f"expected {self.expected}, got {value!r}"


class Switch(NamedTuple):
    """True or false."""

    expected: str = "true or false"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        return None if isinstance(value, bool) else f"expected {self.expected}, got {value!r}"


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


class Text(NamedTuple):
    """Any text of one or more characters."""

    expected: str = "text"
    most: int = MAX_TEXT

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        if not isinstance(value, str) or not value.strip():
            return f"expected {self.expected}, got {value!r}"
        return f"expected at most {self.most} characters, got {len(value):,}" if len(value) > self.most else None


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


class Ratio(NamedTuple):
    """A number of 0 or more."""

    expected: str = "a number, 0 or more"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
        return None if fits else f"expected {self.expected}, got {value!r}"


class Real(NamedTuple):
    """Any finite number."""

    expected: str = "a number"

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        fits = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
        return None if fits else f"expected {self.expected}, got {value!r}"


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
