"""TeX sets all that `-f latex` writes, under every convention and in every notation: nothing runs off the paper."""

import io
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, product
from pathlib import Path
from typing import Any, get_args
from unicodedata import normalize

import pytest
from cells import CELLS, network, spelled

from rnncalc import (
    LSTM,
    RNN,
    Embedding,
    FastGRNN,
    Network,
    Output,
    RefusedError,
    SpecError,
    exercise,
    explain,
    load_model,
    training,
)
from rnncalc.answers.exercise import ASKS, OF_PASS
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.formats import write
from rnncalc.layers.options import Activation
from rnncalc.questions.explain_training import explain_training
from rnncalc.questions.work import work
from rnncalc.reports.exercise import of_exercises
from rnncalc.reports.explain import ExplanationReport
from rnncalc.reports.explain_training import TrainingExplanationReport
from rnncalc.reports.work import WorkReport
from rnncalc.typeset.sheet import Arithmetic

pytestmark = pytest.mark.browser

WIDER = re.compile(r"^Overfull \\hbox \((\d+)", re.MULTILINE)


def printed(reports: list[Any], folder: Path) -> str:
    """Return the text on the pages of a document of all reports; hold that TeX has nothing to complain of."""
    text = io.StringIO()
    write(reports, "latex", text)
    (folder / "all.tex").write_text(text.getvalue(), encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="latin-1", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing" not in done.stdout
    assert [points for points in WIDER.findall(done.stdout) if int(points) > 1] == []
    command = ["pdftotext", "-layout", "all.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def networks() -> Iterator[Network]:
    """Yield each network of the specs under each convention that can express it."""
    for path in sorted(Path("specs").rglob("*.yaml")):
        for member, convention in product(load_model(path).networks.values(), CONVENTIONS):
            with suppress(SpecError):
                yield member.network.replace(convention=convention)


def numbers(reports: list[Any]) -> list[str]:
    """Return what each line of their derivations comes to."""
    rows = [row for report in reports for sheet in report.sheets() for row in (*sheet.rows, sheet.total or ())]
    return [str(row[-1]) for row in rows if any(isinstance(value, Arithmetic) for value in row)]


@pytest.mark.parametrize("choices", [0, 4])
def test_every_question_and_answer_is_on_the_paper(choices: int, tmp_path: Path) -> None:
    """A sheet a variant, and after them the key."""
    network = Network(input=20_000, layers=(Embedding(128), LSTM(64, repeat=2)), output=Output(1), steps=200)
    reports = [
        of_exercises(exercise(network, vary={"lstm_1": range(20, 90)}, variants=3, ask=ask, choices=choices))
        for ask in ASKS
        if ask != "formula"
    ]
    by_hand = Network(input=1, layers=[RNN(2)], output=1, steps=2)
    reports += [of_exercises(exercise(by_hand, variants=3, ask=ask, choices=choices)) for ask in OF_PASS]
    text = " ".join(printed(reports, tmp_path).split())
    answers = Counter(question.right.text for report in reports for question in report.quiz().questions)
    for answer, times in answers.items():
        assert text.count(answer) >= times * (2 if choices else 1)
    assert text.count("Variant 3") == 2 * len(reports)


def test_every_derivation_is_on_the_paper(tmp_path: Path) -> None:
    """Of every spec, under every second convention, in each notation in turn.

    Nothing is wider than the text, and every line has its number.
    """
    asked: list[Network] = []
    for turn, each in enumerate(islice(networks(), 0, None, 2)):
        fitting = [name for name, row in NOTATION_BY_NAME.items() if row.only in ("", each.convention)]
        asked.append(each.replace(notation=fitting[turn % len(fitting)], symbols={}))
    reports: list[Any] = [ExplanationReport(explain(each)) for each in asked]
    for each in asked:
        with suppress(RefusedError):  # a number of steps is not known
            trained = training(each)
            reports.append(TrainingExplanationReport(trained, explain_training(trained)))
    expected = numbers(reports)
    assert len(expected) > 500
    shown = Counter(re.findall(r"\d+", printed(reports, tmp_path)))
    for number, times in Counter(expected).items():
        assert shown[number] >= times, number


def test_all_work_is_on_the_paper(tmp_path: Path) -> None:
    """Of every spec that is small enough; and paper is as wide as a matrix that is wider than any page."""
    through = [Network(input=2, layers=(RNN(2, activation=each),), steps=2) for each in get_args(Activation)]
    reports = [WorkReport(work(each, backward=True)) for each in through]
    for each in (*networks(), Network(input=30, layers=(FastGRNN(3),), steps=2)):
        with suppress(RefusedError):
            reports.append(WorkReport(work(each)))
    assert len(reports) > 30
    printed(reports, tmp_path)
    info = subprocess.run(["pdfinfo", tmp_path / "all.pdf"], capture_output=True, text=True, check=True).stdout
    width = re.search(r"Page size: +(\d+)", info)
    assert width
    assert int(width[1]) > 30 * 35  # 30 columns of numbers such as −0.4561


def test_accents_are_on_the_paper(tmp_path: Path) -> None:
    """TeX's own fonts set them over the letter, which is how they are read back."""
    layers = (FastGRNN(3, name="größe Łódź"), FastGRNN(2, name="façade ňİő"))
    shown = printed([ExplanationReport(explain(Network(input=2, layers=layers, steps=2)))], tmp_path)
    assert {"größe", "façade", "ňİő"} <= {*normalize("NFC", shown).split()}


def test_long_names_are_on_the_paper(tmp_path: Path) -> None:
    """In titles, in words and beside numbers."""
    long = Network(input=2, layers=(FastGRNN(3, name="x" * 150), FastGRNN(3, name="y_" * 60)), output=1, steps=2)
    trained = training(long)
    printed([ExplanationReport(explain(long)), TrainingExplanationReport(trained, explain_training(trained))], tmp_path)


@pytest.mark.parametrize("name", CELLS)
def test_latex_is_set(name: str, tmp_path: Path) -> None:
    """One document of all; amsmath alone is loaded."""
    reports = [
        ExplanationReport(explain(network(*case), notation=notation))
        for notation in NOTATION_BY_NAME
        for case in spelled(name, notation)
    ]
    assert printed(reports, tmp_path)
    assert (tmp_path / "all.tex").read_text(encoding="ascii").count("\\begin{align*}") >= len(reports)
    assert (tmp_path / "all.pdf").stat().st_size > 10_000
