"""The schema and the reader say the same of every key by itself, both ways: a word that one takes the other takes.

The words are written plainly, and the schema sees what a YAML 1.2 reader makes of them. What such a reader makes no
difference between (`3.0` and `3`, `1e3` and `1000`, `"5"` and `5` to a reader of text) no schema can tell.
"""

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from rnncalc import SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import EXPRESSION, WRITTEN_LETTER
from rnncalc.network.budget import BUDGET_KEYS
from rnncalc.network.training import UPDATE_KEYS
from rnncalc.network.validation import KEYS
from rnncalc.spec import parse, parse_data, spec_in_file
from rnncalc.spec.reader import OUTPUT_KEYS
from rnncalc.spec.schema import schema

SCHEMA = schema()
GONE = object()
"""What a YAML reader no longer sees as it was written."""

BASE = "input: 4\nlayers: [rnn: 3]\n"


def needed(name: str, but: str = "") -> str:
    """Return the options without a default of a kind, as they are written behind its number."""
    return "".join(f", {option}: 1" for option in kind(name).needed() if option != but)


def units(name: str, option: str) -> str:
    """Return the number of a kind: a letter if the option's size is compared with it, which no schema does."""
    return "h" if option.startswith("recurrent_") else "1" if kind(name).number else ""


TOP, KIND_DEFS = SCHEMA["properties"], SCHEMA["$defs"]
PLACES: dict[str, tuple[str, Any]] = {
    **{f"{key}:": (f"{BASE if key != 'input' else BASE[9:]}{key}: %s\n", TOP[key]) for key in KEYS},
    "expect:": (f"{BASE}expect: %s\n", TOP["expect"]),
    "weights:": (f"{BASE}weights: %s\n", TOP["weights"]),
    "inputs:": (f"{BASE}inputs: %s\n", TOP["inputs"]),
    "output:": (f"{BASE}output: %s\n", TOP["output"]),
    **{f"budget.{key}:": (f"{BASE}budget: {{{key}: %s}}\n", TOP["budget"]["properties"][key]) for key in BUDGET_KEYS},
    **{
        f"training.{key}:": (f"{BASE}training: {{{key}: %s}}\n", TOP["training"]["properties"][key])
        for key in UPDATE_KEYS
    },
    **{
        f"output.{key}:": (
            f"{BASE}output: {{{'units: 3, ' if key != 'units' else ''}{key}: %s}}\n",
            KIND_DEFS["output"]["anyOf"][1]["properties"][key],
        )
        for key in OUTPUT_KEYS
    },
    **{
        f"{name}:": (f"input: 4\nlayers: [{{{name}: %s{needed(name)}}}]\n", KIND_DEFS[name]["properties"][name])
        for name in KINDS
    },
    **{
        f"{name}.{option}:": (
            f"input: 4\nlayers: [{{{name}: {units(name, option)}{needed(name, option)}, {option}: %s}}]\n",
            KIND_DEFS[name]["properties"][option],
        )
        for name in KINDS
        for option in kind(name).options()
    },
}
SPELLINGS = """
? 0 1 00 01 010 0_1 1_000 1__000 _1 1_ 1_0_0 12k 1.5k 1.0005k 1.5 0.5 .5 0.50 1. 5k 5K 5M 5G 5Ki 5ki 5Mi 5Gi
1.5Mi 1.1Mi 0.25Gi 5kB 5MB 5MiB 5B 5KB 5b 5m 5g 1k5 k true True false yes no on off null ~ Null tanh Tanh
softmax concat full diagonal keeps replaces textbook pytorch keras many-to-one one-to-one many 1000000000000
1000000000001 1_000_000_000_000 1_000_000_000_001 9_999_999_999_999 .inf .nan -1 +1 -0 1e3 0x10 0o7 1:30 []
{} [1] 5*10^3 5·10³ 2*3k 2+3kB 2+3KiB 2(3+4) 5³ nₕ h₁ hₙ₁ h_1₂ h₁ₙ
"""
WORDS = [*SPELLINGS.split(), "9" * 40, "9" * 41, "1" + "_0" * 20, "[1, 2]", "{a: 1}"]
GENERATED = st.one_of(
    st.sampled_from(WORDS),
    st.from_regex(r"[0-9_]{1,14}(\.[0-9]{1,11})?[kKMG]?i?B?", fullmatch=True),
    st.integers(0, 10**42).map(str),
    st.from_regex(r"[A-Za-z0-9.+_][A-Za-z0-9.+_?-]{0,12}", fullmatch=True),
)


def seen(text: str) -> Any:
    """Return what a reader of YAML 1.2 makes of a plain word."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.lower() in ("true", "false") and text in (text.lower(), text.upper(), text.capitalize()):
        return text.lower() == "true"
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text) if str(int(text)) == text else GONE
    if re.fullmatch(
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0x[0-9a-fA-F]+|0o[0-7]+|[-+]?\.(inf|nan)", text, re.I
    ):
        plain = re.fullmatch(r"-?(0|[1-9][0-9]*)?\.[0-9]*[1-9]", text) and len(text) <= 15
        return float(text) if plain else GONE
    if text[0] in "[{":
        return {"[]": [], "{}": {}, "[1]": [1], "{a: 1}": {"a": 1}, "[1, 2]": [1, 2]}.get(text, GONE)
    return text


@cache
def validator(place: str) -> Any:
    return Draft202012Validator({**PLACES[place][1], "$defs": KIND_DEFS})


def reads(place: str, text: str) -> bool:
    """Return whether the reader finds nothing wrong with the word where it is; `?` being a size to look for."""
    template = PLACES[place][0] % text + (f"sizes: {{{text}: 1}}\n" if re.fullmatch(WRITTEN_LETTER, text) else "")
    try:
        spec_in_file(template.encode(), "spec").sized(1)
    except SpecError as error:
        return not any(problem.message.startswith("expected ") for problem in error.problems)
    return True


@pytest.mark.broad
@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=settings().max_examples // 3)  # there are many places
@given(GENERATED)
@example("1__000")
@example("?")
@example("4Mi")
def test_a_word_is_taken_by_both_or_by_neither(place: str, text: str) -> None:
    """At every key there is, for numbers in every spelling, words and brackets."""
    value = seen(text)
    if value is GONE or (place in ("expect:", "output:") and isinstance(value, dict | list)):
        return  # those have keys of their own
    if text == "" or ":" in text.replace(": ", ""):
        return
    if re.fullmatch(EXPRESSION, text) and not re.fullmatch(f"{WRITTEN_LETTER}|[0-9]+", text):
        return  # no schema computes a value
    assert validator(place).is_valid(value) == reads(place, text), f"{place} {text}"


def test_the_test_of_agreement_can_fail() -> None:
    """A word that the one takes and the other does not is seen."""
    assert reads("lstm:", "5")
    assert not reads("lstm:", "many")
    assert not reads("budget.max_params:", "1__000")
    assert Draft202012Validator(PLACES["lstm:"][1]).is_valid(5)
    assert not Draft202012Validator(PLACES["lstm:"][1]).is_valid("many")


@pytest.mark.parametrize("word", ["010", "00", "-010", "01.5"])
def test_no_number_starts_with_a_zero_that_does_not_count(word: str) -> None:
    """Some readers take `010` for 8: as a size, a share, a ratio and a weight it is refused."""
    spec = f"input: 1\nlayers: [{{rnn: 1, bias: false}}]\nweights: {{rnn_1: {{W_xh: [[{word}]], W_hh: [[1]]}}}}\n"
    with pytest.raises(SpecError, match="expected a number"):
        parse_data(parse(spec.encode(), "spec"), None, None)
    for place in ("dropout:", "budget.min_dense_ratio:", "lstm:", "external:", "budget.max_params:"):
        assert not reads(place, word)
