"""What is said of an answer: the verdict, its reasons with both sums, and what to do where there is none."""

import io
import re
from collections.abc import Iterable, Iterator

import pytest
from conftest import Call
from wrong_counts import WRONG

from rnncalc import GRU, LSTM, Cell, Layer, Network, Output, SpecError, count, formats, training
from rnncalc.answers.grading import Grader, answer
from rnncalc.answers.judgement import Answer
from rnncalc.answers.reading import read_answer
from rnncalc.answers.tensors import tensors_of
from rnncalc.answers.worksheet import write
from rnncalc.questions.shapes import shapes
from rnncalc.reports.answer import AnswerReport
from rnncalc.typeset.sheet import Arithmetic

NET = Network(input=10, layers=(LSTM(20),), output=Output(5))


def test_sums_are_never_cut(call: Call) -> None:
    """Forty different layers are a long sum, and = N is at its end; equal ones are a short one."""
    layers: tuple[Layer, ...] = tuple(GRU(units) for units in range(100, 140))
    net = Network(input=10, layers=layers)
    wrong = net.params - 3 * sum(range(100, 140))
    _, sheet = AnswerReport(answer(net, wrong)).sheets()
    ((_, yours, right),) = sheet.rows
    assert isinstance(yours, Arithmetic)
    assert isinstance(right, Arithmetic)
    assert (yours.numbers, right.numbers) == (f"{wrong:,}", f"{net.params:,}")
    flags = [word for units in range(100, 140) for word in ("-l", f"gru:{units}")]
    for form in ("table", "markdown"):
        out = call("answer", "-i", 10, *flags, wrong, "-f", form).out
        assert f"+ 3 × 139 × (138 + 139) = {wrong:,}" in out
        assert f"+ 3 × 139 × (138 + 139 + 1) = {net.params:,}" in out


def counts(text: str) -> set[int]:
    """Return the whole numbers of a text, without those in names and styles."""
    plain = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return {int(number.replace(",", "")) for number in re.findall(r"(?<![\w#.-])\d[\d,]*(?<!,)", plain)}


FORMATS = formats.offered(AnswerReport)


def written(judged: Answer, *, hint: bool, names: Iterable[str] = FORMATS) -> dict[str, str]:
    """Return what formats of the report write of an answer."""
    texts = {"sentences": " ".join(AnswerReport(judged, hint=hint).sentences())}
    for name in names:
        file = io.StringIO()
        formats.write([AnswerReport(judged, hint=hint)], name, file)
        texts[name] = file.getvalue()
    return texts


def wrong_answers(net: Network) -> list[tuple[int | str, ...]]:
    """Return wrong numbers, quantities of training, and numbers for each layer, rounded too."""
    layers = [placed.params for placed in net.stack if placed.params]
    numbers = [net.params + 1_009, 7 * net.params, net.params**2]
    if net.steps:
        of = training(net)
        numbers += [of.gradients * net.steps, 2 * (count(net).multiply_adds or 0)]
    several: list[tuple[int | str, ...]] = [
        tuple(each + 1_009 for each in layers),
        (*layers[:-1], 7 * layers[-1]),
        (*(f"{each:.1e}" for each in layers[:-1]), 7 * layers[-1]),
    ]
    return [(each,) for each in numbers] + (several if len(layers) > 1 else [])


CASES = {mistake: WRONG[mistake](11, 13, 17, 19) for mistake in WRONG if not mistake.startswith("letters")}
NETWORKS = {" ".join(placed.layer.kind for placed in net.stack): net for net, _ in CASES.values()}
"""One network of each stack of kinds."""


def assert_no_correct_number(net: Network, answers: Iterable[tuple[int | str, ...]], names: Iterable[str]) -> None:
    """Assert that a hint on none of these answers has a correct number, nor what the answer is off by."""
    right = {1_009, net.params, *(placed.params for placed in net.stack if placed.params)}
    sizes = {size for placed in net.stack for size in placed.sizes.values()}
    grader = Grader(net)
    for given in answers:
        judged = grader.judge([read_answer(str(each)) for each in given])
        if judged.right:
            continue
        known = {int(float(each)) for each in given} | sizes
        for name, text in written(judged, hint=True, names=names).items():
            assert not (counts(text) - known) & right, (given, name, text)
            for diagnosis in (diagnosis for each in judged.judged for diagnosis in each.diagnoses):
                assert not {write(diagnosis.right), write(diagnosis.yours)} & {*re.split("[<>]", text)}, (given, name)


@pytest.mark.broad
@pytest.mark.parametrize("mistake", CASES)
def test_a_hint_on_a_mistake_has_no_correct_number(mistake: str) -> None:
    """In no format; sizes and the answer itself may be there."""
    net, number = CASES[mistake]
    assert_no_correct_number(net, [(number,)], FORMATS)


@pytest.mark.broad
@pytest.mark.parametrize("network", NETWORKS)
def test_a_hint_on_any_other_answer_has_no_correct_number(network: str) -> None:
    """For no kind of wrong answer; the other formats write what the table does."""
    assert_no_correct_number(NETWORKS[network], wrong_answers(NETWORKS[network]), ("table", "json"))


def named_shapes(net: Network) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield each tensor and returned array by name, its shape, of 7 sequences, and the blocks of its cell."""
    blocks = {
        placed.name: len(placed.layer.gates(placed.inputs)) for placed in net.stack if isinstance(placed.layer, Cell)
    }
    for layer, tensor in tensors_of(net):
        yield f"{layer}.{tensor.name}", tensor.plain_shape, blocks.get(layer, 0)
    for module in shapes(net, 7).modules:
        first = module.places[0].name
        for name, array in module.returns.items():
            yield f"{first}.{name}", tuple(size for size in array.values() if size), blocks.get(first, 0)


@pytest.mark.broad
@pytest.mark.parametrize("convention", ["textbook", "pytorch", "keras"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_hint_on_a_shape_has_no_correct_size(network: str, convention: str) -> None:
    """Nor the number of blocks: sentences have no number but those of the answer, a window and a stride."""
    try:
        net = NETWORKS[network].replace(convention=convention)
    except SpecError:
        return
    known = {size for placed in net.stack for size in placed.sizes.values()}
    for name, right, blocks in named_shapes(net):
        others = sorted({*known, *(time * size // 4 for size in right for time in (1, 2, 3, 8, 12, 16, 20)), 23})
        wrong = {(*right[:axis], size, *right[axis + 1 :]) for axis in range(len(right)) for size in others if size}
        for shape in sorted(wrong | {right[::-1], right[1:], (*right, 23)} - {right, ()}):
            judged = answer(net, f"{name}={shape}")
            sentences = " ".join([*AnswerReport(judged, hint=True).sentences()])
            told = counts(sentences.replace(name, "")) - {*shape}
            assert judged.right or not told & {*right, blocks}, (name, shape, sentences)


def test_a_hint_has_the_mistake_in_words() -> None:
    """The verdict, and what to look at."""
    texts = written(answer(NET, 2_480 + 5 * 20), hint=True)  # without the bias of the output layer
    question = "Look at the biases: how many vectors does each block have, and how many numbers is each?"
    assert texts.pop("sentences") == f"Wrong. {question}"
    assert all(question in text.replace("\n", " ") for text in texts.values())
