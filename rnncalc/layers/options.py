"""The allowed values and the meaning of each option of a layer.

The one declaration for the spec reader, the flags, Python callers and the schema. Knows no layer.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from math import isnan, prod
from sys import float_info
from typing import Any, ClassVar, Literal, get_args

from rnncalc.bounds import MAX_DIGITS, MAX_LAYERS, MAX_SIZE, MAX_TEXT
from rnncalc.letters import LETTER, LOWERED, has_letters
from rnncalc.printable import escape
from rnncalc.records import Frozen
from rnncalc.words import brief, did_you_mean

_WHOLE = r"(?:0|[1-9][0-9]*(?:_[0-9]+)*|[1-9][0-9]{0,2}(?:([,'’ ])[0-9]{3}(?:\1[0-9]{3})*|(?:\.[0-9]{3}){2,}))"
_SUFFIXES = " ?(?:{}[kK]|{}M|{}[GB]|".format(*[f"(?:[.,][0-9]{{1,{places}}}0*)? ?" for places in (3, 6, 9)])
SUFFIXED = f"{_WHOLE}(?:{_SUFFIXES}(?:\\.(?:[05]|25|75)0*)?[kKMG]i))?"
"""The pattern of a whole number that may have a suffix, for JSON Schema; `rnncalc.expressions` reads it."""

EXPRESSION = rf"[( ]*(?:[0-9]+|{LETTER})(?:[) ]*[-+*/·×−][( ]*(?:[0-9]+|{LETTER}))*[) ]*"
"""An expression of sizes that a spec names, as a pattern: `2*D`, `(D + 4)/2`."""

_CALCULATION = r"[( ]*[0-9]+(?:[) ]*(?:[-+*/·×^]|\*\*)[( ]*[0-9]+[⁰¹²³⁴-⁹]*)+[) ]*"
_GROUPED = "^(?=.*_)(?:[1-9](?:_?[0-9])*)$"

Schema = dict[str, Any]
"""The JSON Schema of a value, as editors read YAML: `1_000` is text in YAML 1.2."""

_LOWERED = f"[{LOWERED[:10]}]{{1,8}}|[{LOWERED[10:]}][{LOWERED}]{{0,7}}"
WRITTEN_LETTER = LETTER.replace("(?:_", f"(?:{_LOWERED}|_")
"""A letter as a spec may write it, as a pattern: its subscript may be in lowered signs, `h₁`."""

_EXPRESSION = {"type": "string", "pattern": f"^(?![0-9]+$){EXPRESSION.replace(LETTER, WRITTEN_LETTER)}$"}

Activation = Literal["tanh", "relu", "gelu", "sigmoid", "linear", "softmax"]
ACTIVATIONS: tuple[str, ...] = get_args(Activation)

RecurrentActivation = Literal["sigmoid", "hard_sigmoid", "hard_sigmoid_0.2"]
"""Of gates: hard_sigmoid is x/6 + 1/2 cut at 0 and 1, as in Keras 3, JAX and PyTorch; hard_sigmoid_0.2 is x/5 + 1/2,
as in Keras before 3, TensorFlow.js and ONNX's default.
"""
RECURRENT_ACTIVATIONS: tuple[str, ...] = get_args(RecurrentActivation)


def is_size(width: object) -> bool:
    """Return whether a width is a whole number, 1 or more, or has letters (`polynomial.py`)."""
    return width > 0 if isinstance(width, int) and not isinstance(width, bool) else has_letters(width)


class Allowed(Frozen):
    """The allowed values of an option."""

    @property
    def expected(self) -> str:
        """Which they are, in words."""
        raise NotImplementedError

    @property
    def schema(self) -> Schema:
        """The same for an editor, as JSON Schema."""
        raise NotImplementedError

    def fits(self, value: Any) -> bool:
        """Return whether a value is allowed; or of their type, if `problem` says what else is wrong."""
        raise NotImplementedError

    def problem(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        return None if self.fits(value) else f"expected {self.expected}, got {brief(value)}"


class Size(Allowed):
    """A whole number from `least` to 10^12.

    room: the most, a power of ten, that all layers of a network may have together.
    letters: whether it may be a letter (`polynomial.py`).
    """

    least: int = 1
    room: int = MAX_SIZE
    letters: bool = False

    @property
    def expected(self) -> str:
        return "a positive whole number" if self.least else "a whole number, 0 or more"

    def problem(self, value: object) -> str | None:
        if self.letters and has_letters(value):
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < self.least:
            cure = "; from Python, solve looks for it: solve(lambda size: Network(...), budget)" if value == "?" else ""
            if hasattr(value, "__index__") and not isinstance(value, int):  # such as a whole number of NumPy's
                cure = "; give int(...) of it"
            return f"expected {self.expected}, got {brief(value)}{cure}"
        return f"expected at most 10^12, got {brief(value, ',')}" if value > MAX_SIZE else None

    @property
    def schema(self) -> Schema:
        """The same for an editor; `?` stands for a size that `solve` looks for."""
        zeros = len(str(self.room)) - 1
        grouped = f"^(?=.*_)(?:[1-9](?:_?[0-9]){{0,{zeros - 1}}}|1(?:_?0){{{zeros}}})$"
        number = {"type": "integer", "minimum": self.least, "maximum": self.room}
        return {"anyOf": [number, {"type": "string", "pattern": grouped}, _EXPRESSION, {"const": "?"}]}


SIZE = Size(letters=True)
"""A size of a network, which may be a letter."""


class Params(Size):
    """A number of parameters, or in a spec the shapes of tensors by name."""

    @property
    def schema(self) -> Schema:
        shape = {"type": "array", "minItems": 1, "items": SIZE.schema}
        tensors = {"type": "object", "minProperties": 1, "additionalProperties": shape}
        return {"anyOf": [*super().schema["anyOf"], tensors]}


class Tensors(Allowed):
    """The shapes of tensors: a name and a tuple of sizes each."""

    expected: str = "the names of tensors, each with a shape such as (20, 10)"
    letters: bool = True

    def problem(self, value: object) -> str | None:
        if not isinstance(value, tuple) or not all(isinstance(name, str) and name for name, _ in value):
            return f"expected {self.expected}, got {brief(value)}"
        for name, shape in value:
            if problem := next(filter(None, map(SIZE.problem, shape)), "" if shape else "has no axes"):
                return f"{escape(name)}: {problem}"
        return None

    schema: ClassVar[Schema] = {"type": "object"}


class Trainable(Allowed):
    """Whether tensors are trained, by name."""

    expected: str = "the names of tensors, each with true or false"

    def fits(self, value: Any) -> bool:
        return isinstance(value, tuple) and all(isinstance(trained, bool) for _, trained in value)

    schema: ClassVar[Schema] = {"type": "object", "additionalProperties": {"type": "boolean"}}


class Sizes(Allowed):
    """One or two sizes, written `64` or `64x48`; in Python a tuple."""

    expected: str = "one or two positive whole numbers, such as 64 or 64x48"

    def problem(self, value: object) -> str | None:
        if not isinstance(value, tuple) or not 1 <= len(value) <= 2 or any(Size().problem(each) for each in value):
            return f"expected {self.expected}, got {brief(value)}"
        return f"expected at most 10^12 places, got {prod(value):,}" if prod(value) > MAX_SIZE else None

    @property
    def schema(self) -> Schema:
        one = {"type": "integer", "minimum": 1, "maximum": MAX_SIZE}
        two = {"type": "string", "pattern": "^[1-9][0-9]*x[1-9][0-9]*$"}
        items = {"anyOf": [one, _EXPRESSION]}
        return {"anyOf": [one, two, _EXPRESSION, {"type": "array", "items": items, "minItems": 1, "maxItems": 2}]}


class Rate(Allowed):
    """A number from 0 to 1."""

    expected: str = "a number from 0 to 1"

    def fits(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

    schema: ClassVar[Schema] = {"type": "number", "minimum": 0, "maximum": 1}


class Switch(Allowed):
    """True or false."""

    expected: str = "true or false"

    def fits(self, value: Any) -> bool:
        return isinstance(value, bool)

    schema: ClassVar[Schema] = {"type": "boolean"}


class Switches(Allowed):
    """True or false, or a choice for each of a few words: `{query: true, score: false}`; in Python, pairs."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"true or false, or keys ({', '.join(self.words)})"

    def fits(self, value: Any) -> bool:
        pairs = value if isinstance(value, tuple) else ()
        fits = all(isinstance(pair, tuple) and pair[0] in self.words and isinstance(pair[1], bool) for pair in pairs)
        return isinstance(value, bool) or bool(pairs and fits)

    @property
    def schema(self) -> Schema:
        one = {"type": "boolean"}
        keys = {"type": "object", "properties": dict.fromkeys(self.words, one), "additionalProperties": False}
        return {"anyOf": [one, keys]}


class SwitchOr(Allowed):
    """True or false, or one of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"true, false or {', '.join(self.words)}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, bool) or value in self.words

    @property
    def schema(self) -> Schema:
        return {"anyOf": [{"type": "boolean"}, {"enum": [*self.words]}]}


class Choice(Allowed):
    """One of a few words; the words may be a list that grows."""

    words: Collection[str]

    @property
    def expected(self) -> str:
        *most, last = self.words
        return f"{', '.join(most)} or {last}" if most else last

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def problem(self, value: object) -> str | None:
        problem = super().problem(value)
        return problem and problem + (did_you_mean(value, [*self.words]) if isinstance(value, str) else "")

    @property
    def schema(self) -> Schema:
        return {"enum": [*self.words]}


class Text(Allowed):
    """Any text of one or more characters."""

    expected: str = "text"
    most: int = MAX_TEXT

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value.strip())

    def problem(self, value: object) -> str | None:
        if isinstance(value, str) and len(value) > self.most and value.strip():
            return f"expected at most {self.most} characters, got {len(value):,}"
        return super().problem(value)

    @property
    def schema(self) -> Schema:
        """The same for an editor, for which an unquoted `2026` or `true` is not text."""
        return {"type": ["string", "number", "boolean"], "pattern": r"\S", "maxLength": self.most}


_BINARY = {"ki": 2**10, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


class WholeNumber(Allowed):
    """A whole number of any size, 0 or more, that may be written with a suffix: 1M, 2.5k.

    unit: `B` where bytes are counted, and 4MB and 4MiB are understood.
    """

    suffixes: bool = False
    unit: str = ""

    @property
    def expected(self) -> str:
        return f"a whole number{f', or one such as 4M{self.unit}' if self.suffixes else ', 0 or more'}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0

    @property
    def schema(self) -> Schema:
        number = {"type": "integer", "minimum": 0, "maximum": 10**MAX_DIGITS - 1}
        suffixed = f"{SUFFIXED.replace('[GB]', 'G')} ?B?" if self.unit else SUFFIXED  # a B of bytes is no billion
        pattern = f"^(?![0-9]+$)(?:{suffixed}|{_CALCULATION})$" if self.suffixes else _GROUPED
        return {"anyOf": [number, {"type": "string", "pattern": pattern, "maxLength": MAX_DIGITS}]}

    def number(self, text: str) -> int | None:
        """Return the number of `20,000`, `5*10^3`, `1.5k` or `4MiB`; None for another text, and for 20.000."""
        from rnncalc.expressions import read_number  # most calls have none

        bare = text.removesuffix(self.unit)
        power = _BINARY.get(bare[-2:])
        bare = bare[:-2] if power else bare
        calculation = bool(re.fullmatch(_CALCULATION, text))  # without a suffix, which could be of one number alone
        number = read_number(bare, calculation=calculation)
        marks = re.search("[.,]", bare)  # 20.000 may be 20 or 20,000
        grouped = read_number(bare, "", calculation=calculation) if marks else number
        if number is None or number != grouped or (power and 4 % number.denominator):  # 1.25Ki, as the schema has it
            return None
        number *= power or 1
        return int(number) if number.denominator == 1 else None


class Ratio(Allowed):
    """A number of 0 or more, or above 0; from a spec it is a Fraction, to be compared exactly."""

    above_zero: bool = False

    @property
    def expected(self) -> str:
        return "a number above 0" if self.above_zero else "a number, 0 or more"

    def fits(self, value: Any) -> bool:
        number = value if isinstance(value, float) or hasattr(value, "numerator") else -1
        return not isinstance(value, bool) and 0 <= number < float("inf") and not (self.above_zero and number == 0)

    @property
    def schema(self) -> Schema:
        least = "exclusiveMinimum" if self.above_zero else "minimum"
        return {"type": "number", least: 0, "maximum": 10**MAX_DIGITS - 1}


class Real(Allowed):
    """Any finite number."""

    expected: str = "a number"

    def fits(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and not isnan(value)

    def problem(self, value: object) -> str | None:
        too_large = isinstance(value, int | float) and abs(value) > float_info.max
        return f"expected a number up to 1.8e308, got {brief(value)}" if too_large else super().problem(value)

    schema: ClassVar[Schema] = {"type": "number"}


class Option(Frozen):
    """An option of a layer: its allowed values and its meaning."""

    allowed: Allowed
    meaning: str


ANY_GRID = ("H", "W")
"""The letters of the height and the width of a grid, if they are not known."""

DTYPES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
"""The bytes of one number."""


OPTIONS: dict[str, Option] = {
    "units": Option(SIZE, "the number of units"),
    "rate": Option(Rate(), "the share that is dropped while training"),
    "params": Option(Params(0, letters=True), "the number of parameters counted elsewhere"),
    "name": Option(Text(), "how reports call it; by default its kind and a number"),
    "frozen": Option(Switch(), "its parameters are counted as not trainable"),
    "repeat": Option(Size(room=MAX_LAYERS), "that many layers, one after another"),
    "extra_inputs": Option(
        Size(0, letters=True), "features joined to its input from elsewhere, as by a skip connection"
    ),
    "path": Option(Text(), "where its tensors are in a model file: the path of its module, such as encoder.lstm"),
    "dtype": Option(Choice(DTYPES), "the type of its numbers, for bytes; by default that of the call"),
    "bias": Option(Switch(), "bias vectors, as many as the convention has; none when false"),
    "bidirectional": Option(Switch(), "a second copy reads the sequence backwards"),
    "merge": Option(
        Choice(("concat", "sum", "mul", "ave")),
        "how the directions join; concat, the default, doubles the output width",
    ),
    "activation": Option(
        Choice(ACTIVATIONS), "what a cell's candidate, or a layer's output, goes through; never changes a count"
    ),
    "recurrent_activation": Option(
        Choice(RECURRENT_ACTIVATIONS),
        "what a cell's gates go through, by default the convention's; never changes a count",
    ),
    "recurrence": Option(
        Choice(("full", "diagonal")), "diagonal: each unit sees only its own past; h weights instead of h²"
    ),
    "recurrent_rank": Option(
        SIZE, "each gate's recurrent matrix is the product of two, h × r and r × h: 2h·r weights instead of h²"
    ),
    "recurrent_blocks": Option(
        Size(), "g equal blocks along the diagonal of each recurrent matrix, which divide h: h²/g weights instead of h²"
    ),
    "learned_state": Option(
        Switch(), "the state before the first step is trained: h more parameters per state and direction"
    ),
    "initial_state": Option(
        SIZE,
        "the state before the first step comes from a vector of N numbers through a dense layer: h·N + h more "
        "parameters per state and direction",
    ),
    "reset_after": Option(
        Switch(), "the reset gate is applied after the recurrent product; by default as the convention has it"
    ),
    "reset_gate": Option(Switch(), "false leaves the reset gate out: 2·h(m + h + 1)"),
    "update_gate": Option(
        Choice(("keeps", "replaces")),
        "keeps: h = z∘h + (1 − z)∘n, as in PyTorch; replaces: h = (1 − z)∘h + z∘n; never changes a count",
    ),
    "projection": Option(SIZE, "the output is projected to p units; recurrent matrices become h×p, plus p×h"),
    "peepholes": Option(Switch(), "the gates see the cell state: h more weights per gate"),
    "output_gate": Option(Switch(), "false leaves the output gate out, and the output is tanh(c): 3·h(m + h + 1)"),
    "coupled": Option(Switch(), "the input gate is one minus the forget gate, c = f∘c + (1 − f)∘g: 3·h(m + h + 1)"),
    "layer_norm": Option(
        Switch(), "normalises each gate's sum, with a gain of h; in an LSTM also the cell state, 2h more"
    ),
    "outputs": Option(SIZE, "the output width; by default the width of its input"),
    "tied": Option(Switch(), "the matrix is the embedding's, transposed, and counted there"),
}
"""Every option of every kind of layer; the fields of a kind's class say which it has."""
