"""Exercises for learning platforms, read by the programs of others: text2qti, and a parser of GIFT."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from conftest import written

from rnncalc import GRU, LSTM, RNN, Network, Output, exercise
from rnncalc.polynomial import letter
from rnncalc.questions.exercise import ASKS
from rnncalc.reports.exercise import ExerciseReport, of_exercises

pytestmark = pytest.mark.conformance

GIFT = Path(__file__).parent / "gift"
NETWORKS = [
    Network(input=8, layers=(GRU(16),), steps=10),
    Network(
        input=4,
        layers=(LSTM(6, bidirectional=True, name="a->b"), RNN(3)),
        output=Output(2),
        steps=5,
        name="A {b}: ~c=#/d & <e> *x* $y$ `z` [q]",
    ),
]
LETTERS = Network(input=letter("m"), layers=(RNN(4), GRU(letter("h"))), output=Output(letter("p")))
ASKED = [
    (network, ask, choices)
    for network in NETWORKS
    for ask in ASKS
    if ask != "formula" and not (ask == "state" and network is NETWORKS[1])  # two directions have no state to carry
    for choices in (0, 4)
]
ASKED += [(LETTERS, "formula", choices) for choices in (0, 4)]


def made(network: Network, ask: str, choices: int, form: str) -> tuple[ExerciseReport, str]:
    vary = {"gru_1" if len(network.layers) == 1 else "rnn_1": range(2, 9)}
    found = of_exercises(exercise(network, vary=vary, variants=2, ask=ask, choices=choices))
    return found, written(found, form)


@pytest.fixture(scope="session")
def gift(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the parser, installed by npm at the locked version."""
    folder = tmp_path_factory.mktemp("parser") / "gift"
    shutil.copytree(GIFT, folder, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(("network", "ask", "choices"), ASKED)
def test_a_parser_of_gift_reads_every_answer(gift: Path, network: Network, ask: str, choices: int) -> None:
    """Each question with its answers, the right one alone with a weight, and the feedback on each."""
    report, text = made(network, ask, choices, "gift")
    node = shutil.which("node")
    assert node
    done = subprocess.run([node, gift / "read.cjs"], input=text, capture_output=True, text=True, check=True)
    found = [each for each in json.loads(done.stdout) if each["type"] != "Category"]
    questions = [question for group in report.quiz().groups().values() for question in group]
    for theirs, ours in zip(found, questions, strict=True):
        assert theirs["type"] == ("MC" if choices else "Numerical" if ours.numeric else "Short")
        told = {}
        for choice in theirs["choices"]:
            number = choice["text"].get("number", choice["text"].get("text"))
            right = choice["isCorrect"] and choice["weight"] is None
            told[str(number)] = (right, choice["feedback"]["text"] if choice["feedback"] else "")
        arrow = [(each, each.feedback.replace("->", "→")) for each in (ours.choices or (ours.right, *ours.wrong))]
        for each, feedback in arrow:
            assert told[each.text] == (each is ours.right, feedback)


@pytest.mark.parametrize(("network", "ask", "choices"), ASKED)
def test_text2qti_makes_a_quiz_of_it(network: Network, ask: str, choices: int, tmp_path: Path) -> None:
    """With a question for each of ours in its group, and the right answer."""
    report, text = made(network, ask, choices, "canvas")
    (tmp_path / "quiz.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", "from text2qti.cmdline import main; main()", "quiz.md"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with zipfile.ZipFile(tmp_path / "quiz.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".xml")]
        (name,) = (name for name in names if "assessment_meta" not in name and "manifest" not in name)
        root = ET.fromstring(archive.read(name))
    space = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}
    quiz = report.quiz()
    groups = root.findall(".//q:section/q:section", space)
    for group, questions in zip(groups, quiz.groups().values(), strict=True):
        for item, question in zip(group.findall("q:item", space), questions, strict=True):
            assert question.right.text in ET.tostring(item, encoding="unicode")
