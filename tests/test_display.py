"""Results show themselves as their commands do: `str`, `format` and `_repr_html_`."""

import html
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from conftest import Call

import rnncalc.questions
from rnncalc import (
    LSTM,
    CallError,
    DeclarationError,
    Network,
    RefusedError,
    answer,
    backward,
    check,
    compare,
    convert,
    count,
    draw,
    exercise,
    explain,
    export,
    load,
    read,
    run,
    solve,
    training,
)
from rnncalc.formats import offered
from rnncalc.layers import KINDS, kind
from rnncalc.questions.compare import dense_growth
from rnncalc.reports.count import CountReport
from rnncalc.words import one_of

NETWORK = load("specs/lstm.yaml").replace(steps=2)
SMALL = "specs/dense-equivalent.yaml"
SPEC = ("specs/lstm.yaml", "-T", "2")
SHOWN: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "Count": (lambda: count(NETWORK), ["count", *SPEC]),
    "Run": (lambda: run(NETWORK), ["run", *SPEC]),
    "Explanation": (lambda: explain(NETWORK), ["explain", *SPEC]),
    "Solution": (
        lambda: solve(lambda size: Network(input=4, layers=[LSTM(size)]), 1_000),
        ["solve", "-i", "4", "-l", "lstm:?", "--params", "1000"],
    ),
    "Comparison": (lambda: compare(NETWORK), ["compare", *SPEC]),
    "DenseGrowth": (lambda: dense_growth(NETWORK, 1, 9), ["compare", "specs/lstm.yaml", "--steps", "1..9"]),
    "Answer": (lambda: answer(NETWORK, 1664), ["answer", *SPEC, "1664"]),
    "ExerciseSet": (lambda: exercise(NETWORK), ["exercise", *SPEC]),
    "Verdict": (lambda: check(NETWORK)._replace(file="specs/lstm.yaml"), ["check", *SPEC]),
    "Converted": (lambda: convert(NETWORK, "keras"), ["convert", *SPEC, "--to", "keras"]),
    "Reading": (lambda: read("specs/models/tagger.pt"), ["read", "specs/models/tagger.pt", "-f", "table"]),
    "Backward": (lambda: backward(load(SMALL)), ["run", SMALL, "--backward"]),
    "Training": (lambda: training(NETWORK, batch=2), ["count", *SPEC, "--training", "--batch", "2"]),
    "Drawing": (lambda: draw(NETWORK), ["draw", *SPEC]),
}


def test_every_result_is_tried() -> None:
    """The table has each class that shows itself, and no other."""
    modules = [each.name for each in pkgutil.walk_packages(rnncalc.__path__, "rnncalc.") if "__main__" not in each.name]
    classes = [of for name in modules for of in vars(importlib.import_module(name)).values() if isinstance(of, type)]
    shown = {of.__name__ for of in classes if "_repr_html_" in vars(of)}
    assert {*SHOWN} == shown | {"Drawing"}


@pytest.mark.broad
@pytest.mark.parametrize("name", SHOWN)
def test_a_result_is_its_command_s_answer(name: str, call: Call) -> None:
    """In every format that its command has; its page is in a frame."""
    make, words = SHOWN[name]
    result = make()
    assert f"{result}\n" == f"{result!s}\n" == call(*words).out
    report = importlib.import_module("rnncalc.display").report_of(result)
    for form in offered(type(report)) if name != "Verdict" else ():  # no file has lines here
        assert format(result, form) == call(*words, "-f", form).out
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" onload="[^"]*" style="[^"]*"></iframe>', result._repr_html_())
    assert frame
    assert html.unescape(frame[1]) == call(*words, "-f", "html").out or name == "Verdict"


def test_a_format_that_a_result_has_not_is_refused() -> None:
    """With those that it has."""
    with pytest.raises(CallError, match=f"cannot be written as svg; choose {one_of(offered(CountReport))}"):
        format(count(NETWORK), "svg")


def test_an_answer_has_finished_sentences() -> None:
    """The verdict, and what gives a wrong number, with its sum."""
    assert answer(NETWORK, 1600).sentences == ("Correct.",)
    verdict, why = answer(NETWORK, 1664).sentences[:2]
    assert verdict == "Wrong: 1,664 is 64 more than the correct 1,600."
    assert why.startswith("1,664 ")
    assert why.endswith("instead of 4 × 16 × (8 + 16 + 1) = 1,600.")


@pytest.mark.parametrize("name", KINDS)
def test_the_signature_of_a_layer_names_its_options(name: str) -> None:
    """`inspect.signature(LSTM)` and `help(LSTM)` too."""
    cls = kind(name)
    assert {*inspect.signature(cls).parameters} == {cls.number, *cls.options(), *cls.without} - {""}


def test_a_network_is_checked_against_its_own_limits_and_those_of_the_call() -> None:
    """Both hold: the nearer one decides."""
    own = NETWORK.replace(budget=rnncalc.Budget(max_params=2_000))
    assert check(own).status.value == "passed"
    assert check(own, max_params=1_700).status.value == "passed"
    assert check(own, max_params=1_500).status.value == "failed"
    assert check(NETWORK.replace(budget=rnncalc.Budget(max_params=100)), max_params=2_000).status.value == "failed"
    assert [each.kept for each in check(own, max_params=1_500).limits if each.limit.path[:1] != ("expect",)] == [
        False,
        True,
    ]


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: export(NETWORK, "pytroch"), CallError, "to: expected .*; did you mean 'pytorch'"),
    (lambda: export(cast("Any", "x"), "keras"), CallError, "expected a Network"),
    (lambda: check(NETWORK, max_param=3), CallError, "limit: expected .*; did you mean 'max_params'"),
    (lambda: check(NETWORK, max_params=-3), CallError, "max_params: expected a whole number"),
    (lambda: draw(NETWORK, view="font"), CallError, "view: expected unrolled, cell or growth, got 'font'"),
    (lambda: draw(NETWORK, only="gru_1"), CallError, "only: expected lstm_1, got 'gru_1'"),
    (lambda: draw(cast("Any", "a.yaml")), CallError, "load"),
    (lambda: str(draw(Network(input=3, layers=[rnncalc.Dense(2)]), view="cell")), RefusedError, "recurrent"),
]


@pytest.mark.parametrize(("wrong", "error", "message"), REFUSED)
def test_what_is_asked_wrongly_is_refused(wrong: Callable[[], object], error: type[Exception], message: str) -> None:
    """In one line."""
    with pytest.raises(error, match=message) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_a_declaration_error_is_public() -> None:
    """Who registers a cell may catch it."""
    assert issubclass(DeclarationError, ValueError)


def test_text_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where colours are asked for, as the kernel of a notebook does."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in str(count(load("specs/lstm.yaml")))
