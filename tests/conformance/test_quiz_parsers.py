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
from rnncalc.answers.exercise import ASKS
from rnncalc.polynomial import letter
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
BY_HAND = Network(input=1, layers=(RNN(2),), output=1, steps=2)
ON_A_PASS = [(BY_HAND, "values", 0), (BY_HAND, "values", 4), (BY_HAND, "gradients:L,dL/dW_hh", 0)]


def made(network: Network, ask: str, choices: int, form: str) -> tuple[ExerciseReport, str]:
    size = "input" if network is BY_HAND else "gru_1" if len(network.layers) == 1 else "rnn_1"
    vary = {size: range(1, 4) if network is BY_HAND else range(2, 9)}
    found = of_exercises(exercise(network, vary=vary, variants=2, ask=ask, choices=choices))
    return found, written(found, form)


@pytest.fixture(scope="session")
def gift(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the parser, installed by npm at the locked version."""
    folder = tmp_path_factory.mktemp("parser") / "gift"
    shutil.copytree(GIFT, folder, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=folder, check=True)
    return folder


def test_a_parser_of_gift_reads_every_answer(gift: Path) -> None:
    """Each question with its answers, the right one alone with a weight, and the feedback on each."""
    exercises = [made(*asked, "gift") for asked in ASKED]
    node = shutil.which("node")
    assert node
    text = "\n\n".join(text for _, text in exercises)
    done = subprocess.run([node, gift / "read.cjs"], input=text, capture_output=True, text=True, check=True)
    found = [each for each in json.loads(done.stdout) if each["type"] != "Category"]
    questions = [question for report, _ in exercises for group in report.quiz().groups().values() for question in group]
    for theirs, ours in zip(found, questions, strict=True):
        assert theirs["type"] == ("MC" if ours.choices else "Numerical" if ours.numeric else "Short")
        told = {}
        for choice in theirs["choices"]:
            number = choice["text"].get("number", choice["text"].get("text"))
            right = choice["isCorrect"] and choice["weight"] is None
            told[str(number)] = (right, choice["feedback"]["text"] if choice["feedback"] else "")
        arrow = [(each, each.feedback.replace("->", "→")) for each in (ours.choices or (ours.right, *ours.wrong))]
        for each, feedback in arrow:
            assert told[each.text] == (each is ours.right, feedback)


QUIZZES = """
import sys
from text2qti.cmdline import main
for path in sys.argv[1:]:
    sys.argv[1:] = [path]
    main()
"""


def test_text2qti_makes_a_quiz_of_each(tmp_path: Path) -> None:
    """With a question for each of ours in its group, and the right answer."""
    exercises = [made(*asked, "canvas") for asked in (*ASKED, *ON_A_PASS)]
    paths = [tmp_path / f"quiz_{number}.md" for number in range(len(exercises))]
    for path, (_, text) in zip(paths, exercises, strict=True):
        path.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-c", QUIZZES, *paths], cwd=tmp_path, check=True, capture_output=True)
    space = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}
    for path, (report, _) in zip(paths, exercises, strict=True):
        with zipfile.ZipFile(path.with_suffix(".zip")) as archive:
            names = [name for name in archive.namelist() if name.endswith(".xml")]
            (name,) = (name for name in names if "assessment_meta" not in name and "manifest" not in name)
            root = ET.fromstring(archive.read(name))
        groups = root.findall(".//q:section/q:section", space)
        for group, questions in zip(groups, report.quiz().groups().values(), strict=True):
            for item, question in zip(group.findall("q:item", space), questions, strict=True):
                assert question.right.text in ET.tostring(item, encoding="unicode")
