"""`run --work`: what is printed is read back, worked out again and against `run`: every cell, every convention."""

import re
from collections.abc import Collection, Iterator
from itertools import chain, groupby, product
from math import tanh
from operator import mul
from pathlib import Path
from random import Random
from typing import Any

import cells
import pytest
import yaml
from conftest import Call, Screen, report_of, written
from strategies import network_of
from worked_text import Known, Number, equations

from rnncalc import GRU, LSTM, RNN, Dropout, Embedding, External, Network
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.errors import RefusedError, SpecError
from rnncalc.formats.mathematics import paragraphs
from rnncalc.layers import kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.questions.backward import backward
from rnncalc.questions.run import Run, run
from rnncalc.questions.work import work
from rnncalc.reports.work import WorkReport, number
from rnncalc.typeset.equations import Block

CELLS = cells.CELLS
OPTIONS: dict[str, tuple[Any, ...]] = {
    "bias": (False,),
    "bidirectional": (True,),
    "merge": ("sum", "mul", "ave"),
    "activation": ("relu", "linear", "softmax"),
    "recurrence": ("diagonal",),
    "reset_after": (True, False),
    "update_gate": ("replaces",),
    "reset_gate": (False,),
    "output_gate": (False,),
    "coupled": (True,),
    "layer_norm": (True,),
    "projection": (1,),
    "peepholes": (True,),
    "learned_state": (True,),
    "extra_inputs": (1,),
}
WITHIN = 4e-3
"""Each printed number is off by half of its fourth decimal at the most; so far may they be together."""


def printed(network: Network, **numbers: Any) -> str:
    """Return the titles and the work as a table has them; a test below holds that it does."""
    paragraphs_: list[str] = []
    for sheet in WorkReport(work(network, **numbers)).sheets():
        paragraphs_.append(sheet.title)
        paragraphs_ += ["\n".join(lines) for lines in paragraphs(sheet.work, 10_000)]
    return "\n\n".join(paragraphs_)


def sections(text: str, known: Known | None) -> Iterator[tuple[str, list[tuple[str, list[Any]]]]]:
    """Yield each title with the equations below it that have numbers in, and with `known` letters."""
    paragraphs = [[*lines] for blank, lines in groupby(text.splitlines(), key=lambda line: not line) if not blank]
    title, found = "", list[tuple[str, list[Any]]]()
    for lines in paragraphs:
        if any(" = " in line for line in lines):
            found += equations(lines, known, re.sub("(, both directions)?(, step .*|: gradients.*)?$", "", title))
        else:
            yield title, found
            (title,), found = lines, []
    yield title, found


def states_of(done: Run) -> dict[str, Number]:
    """Return every state, gate and output by its title and its name, as `run` has them."""
    found: dict[str, Number] = {}
    for layer in done.layers:
        name = layer.placed.name
        traces = layer.traces if isinstance(layer.placed.layer, Cell) else ()
        for way, trace in zip((", forward direction", ", backward direction"), traces, strict=False):
            way = way if len(traces) > 1 else ""
            for step, values in enumerate(trace.steps, 1):
                for letter, value in values.items():
                    found[f"{name}{way}, step {step}: {letter}"] = value
        if len(traces) == 1 or isinstance(layer.placed.layer, Dropout | DecoderAttention):
            continue  # a state, or what the layer below outputs
        letter = "h" if traces else "y"
        both = ", both directions" if traces else ""
        many = len(layer.shape or ()) > 1
        for step, value in enumerate(layer.output if many else [layer.output], 1):
            found[f"{name}{both}{f', step {step}' if many else ''}: {letter}"] = value
    return found


def flat(value: Number) -> list[float]:
    return [x for each in value for x in flat(each)] if isinstance(value, list) else [value]


def close(value: Number, other: Number, within: float) -> bool:
    both = [flat(value), flat(other)]
    return len(both[0]) == len(both[1]) and all(abs(a - b) <= within * (1 + abs(b)) for a, b in zip(*both, strict=True))


def check(network: Network, **numbers: Any) -> int:
    """Assert that every printed equation is true, and what it comes to is what `run` has; return how many there are."""
    done = run(network, states=True, **numbers)
    text = printed(network, rounded=False, **numbers)
    assert done.agrees
    expected = states_of(done)
    told = set()
    count = 0
    for title, lines in sections(text, None):
        for name, sides in lines:
            values = [side for side in sides if side is not None]
            for value in values:
                assert close(value, values[-1], WITHIN), f"{title}: {name}: {values}\n{text}"
            count += len(sides) > 1
            letter, _, step = name.partition("_")
            key = f"{title}: {letter}"
            if key in expected and (not step or title.endswith(f" step {step.strip('()')}")):
                assert close(values[-1], expected[key], 6e-4), f"{title}: {name}\n{text}"
                told.add(key)
    assert not {*expected} - told, text
    return count


def weights_of(network: Network, seed: int = 0) -> dict[str, Any]:
    """Return weights in eighths, which are printed as they are."""
    chance = Random(seed)

    def nested(shape: tuple[int, ...]) -> Any:
        if not shape:
            return chance.randint(-12, 12) / 8
        return [nested(shape[1:]) for _ in range(shape[0])]

    return {
        placed.name: {tensor.name: nested(tensor.shape) for tensor in placed.tensors}
        for placed in network.stack
        if placed.tensors and not isinstance(placed.layer, External)
    }


STORED = {"reset_after", "projection"}
"""Options after which a convention stores other arrays."""


def cases(convention: str, options: Collection[str] = OPTIONS) -> Iterator[Network]:
    """Yield networks of one layer of two units, every cell with each of some options alone; and of one unit."""
    for name, units in product(CELLS, (1, 2)):
        fields = {*kind(name).fields} & {*(options if units > 1 else STORED)}
        if name != CELLS[0]:
            fields.discard("merge")
        chosen = [{option: value} for option, values in OPTIONS.items() if option in fields for value in values]
        for case in [{}, *chosen]:
            extra = {"bidirectional": True} if "merge" in case else {}
            try:
                layer = kind(name)(**{"units": units, **case, **extra})
                yield Network(input=2, layers=[layer], steps=2, topology="many-to-many", convention=convention)
            except SpecError:
                continue


@pytest.mark.broad
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_equation_is_true_and_comes_to_what_run_has(convention: str) -> None:
    """From the printed text, columns and all: each side of each equation, and every state and gate."""
    tried = 0
    for network in cases(convention):
        assert check(network, weights=weights_of(network), inputs=[[1.0, -0.5], [0.25, 2.0]]) >= 2
        tried += 1
    assert tried > 10


def check_gradients(network: Network, **numbers: Any) -> None:
    """Assert that the gradients of weights are those of `backward`."""
    done = work(network, rounded=False, backward=True, learning_rate=0.1, **numbers)
    expected = [g for layer in backward(network, **numbers).layers for g in flat([*layer.seen.gradients.values()])]
    assert done.backward is not None
    sums = [map(sum, zip(*[flat(part.numbers) for part in each.parts], strict=True)) for each in done.backward.weights]
    got = [number for numbers_ in sums for number in numbers_]
    unused = [0.0] * (len(expected) - len(got))  # of rows that no token looks up
    assert sorted([*got, *unused]) == pytest.approx(sorted(expected), abs=1e-9)


def check_backward(network: Network, **numbers: Any) -> None:
    """Assert that every equation of a backward pass is true, and the gradients of weights are those of `backward`."""
    check_gradients(network, **numbers)
    text = printed(network, rounded=False, backward=True, learning_rate=0.1, **numbers)
    end = text.rindex("\n\n", 0, text.index(": gradients of its weights"))  # where the numbers of all letters are
    text = text[text.index("Loss\n") :] if network.notation else f"{text[end:]}\n\n{text[:end]}"
    count, told = 0, dict[tuple[str, str], Number]()
    for title, lines in sections(text, None if network.notation else {}):
        for name, sides in lines:
            values = [side for side in sides if side is not None]
            count += name.startswith("∂L/∂")
            assert close(told.setdefault((title, name), values[-1]), values[-1], WITHIN), f"{title}: {name}\n{text}"
            assert all(close(value, values[-1], WITHIN) for value in values), f"{title}: {name}: {values}\n{text}"
    assert count > 2


@pytest.mark.broad
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_so_is_every_equation_of_the_backward_pass(convention: str) -> None:
    """With every option in the textbook, whose steps the others share."""
    networks = cases(convention, OPTIONS if convention == "textbook" else STORED)
    for network, notation in chain(product(networks, [None]), product(cases(convention, STORED), ["columns"])):
        numbers = {"weights": weights_of(network), "inputs": [[1.0, -0.5], [0.25, 2.0]]}
        check_backward(network.replace(notation=notation), **numbers)


def numbers_of(piece: Any) -> list[list[float]]:
    """Return a block, or a number, as a matrix."""
    rows = piece.rows if isinstance(piece, Block) else [[piece]]
    return [[float(text.replace("−", "-")) for text in row] for row in rows]


@pytest.mark.parametrize("notation", [each.name for each in NOTATION_BY_NAME.values() if each.rows])
def test_products_of_rows_are_true(notation: str) -> None:
    """With vectors as rows, x W, xᵀ δ and δ Wᵀ are products of matrices as they are written."""
    count = 0
    for cell in (RNN(2), GRU(3), LSTM(2)):
        network = Network(input=2, layers=[cell], output=2, steps=2, notation=notation)
        for sheet in WorkReport(work(network, backward=True), digits=9).sheets():
            for line in sheet.work:
                sides = [[*side] for equal, side in groupby(line, lambda piece: piece == " = ") if not equal]
                for side in sides[1:]:
                    factors = [piece for piece in side if piece not in ("(", ")", " ")]
                    if " " in side and len(factors) == 2:
                        left, right = map(numbers_of, factors)
                        done = [[sum(map(mul, row, column)) for column in zip(*right, strict=True)] for row in left]
                        for mine, theirs in zip(done, numbers_of(sides[-1][0]), strict=True):
                            assert mine == pytest.approx(theirs, abs=1e-7)
                        count += "gradients" in sheet.title
    assert count > 12


def test_backpropagation_of_one_unit_is_that_of_the_textbook() -> None:
    """δ_t = ∂L/∂h_t (1 − h_t²), ∂L/∂h_1 = w δ_2, ∂L/∂w = Σ δ_t h_(t−1), computed here without the package."""
    network = Network(input=1, layers=[RNN(1)], steps=2)
    given = {"rnn_1": {"W_xh": [[0.5]], "W_hh": [[-0.25]], "b_h": [0.125]}}
    h1 = tanh(0.5 + 0.125)
    h2 = tanh(0.5 * 2 - 0.25 * h1 + 0.125)
    delta2 = (h2 - 1) * (1 - h2 * h2)
    delta1 = -0.25 * delta2 * (1 - h1 * h1)
    done = work(network, weights=given, inputs=[[1], [2]], targets=[1], backward=True)
    assert done.backward is not None
    assert done.backward.loss == pytest.approx((h2 - 1) ** 2 / 2)
    gradients = {each.name.below: sum(flat([part.numbers for part in each.parts])) for each in done.backward.weights}
    expected = {"xh": delta1 + 2 * delta2, "hh": delta2 * h1, "h": delta1 + delta2}
    assert gradients == pytest.approx(expected)
    columns = network.replace(notation="columns")
    back = work(columns, weights=given, inputs=[[1], [2]], targets=[1], backward=True).backward
    joined, _ = back.weights if back else ()
    assert (joined.name.letter, joined.name.below, joined.weights) == ("W", "h", [[-0.25, 0.5]])
    assert joined.total == [pytest.approx([expected["hh"], expected["xh"]])]


NETWORKS = {
    name: network_of(spec)
    for name, spec in yaml.safe_load(Path(__file__).with_name("worked.yaml").read_text(encoding="utf-8")).items()
}


@pytest.mark.broad
@pytest.mark.parametrize("name", NETWORKS)
def test_so_is_every_equation_of_a_network(name: str) -> None:
    """Over the topologies, several layers, steps of two digits; what only passes a layer is not written again."""
    network = NETWORKS[name]
    assert check(network, weights=weights_of(network, 1)) > 3
    if any(isinstance(placed.layer, External) or getattr(placed.layer, "tied", False) for placed in network.stack):
        with pytest.raises(RefusedError):
            work(network, backward=True)
    else:
        check_backward(network, weights=weights_of(network, 1))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_table_has_what_is_read_back_here(name: str) -> None:
    """Every title and every line, in order."""
    table = iter(written(WorkReport(work(NETWORKS[name])), "table").splitlines())
    for line in printed(NETWORKS[name]).splitlines():
        assert not line or line in table


def test_a_start_is_shown() -> None:
    """h_0 and c_0 are before the first step."""
    network = Network(input=1, layers=[LSTM(1)], steps=1)
    lines = printed(network, weights=weights_of(network), start={"lstm_1": {"h": [0.5], "c": [-2]}}).splitlines()
    assert any(line.endswith("h_0 = 0.5    c_0 = −2") for line in lines)
    both = Network(input=1, layers=[RNN(1, bidirectional=True)], steps=12)
    lines = printed(both, start={"rnn_1": {"h": [[0.5], [0.25]]}}).splitlines()
    assert any(line.endswith("h_0 = 0.5") for line in lines)
    assert any(line.endswith("h_(13) = 0.25") for line in lines)


def test_columns(call: Call, screen: Screen) -> None:
    """Vectors are columns, on a narrow screen the sides of an equation are below each other, in ASCII too."""
    args = ("run", "-i", 1, "-l", "rnn:2,activation=linear", "-T", 1, "--work")
    wide = call(*args).out.splitlines()
    (base,) = (number for number, line in enumerate(wide) if line.startswith("h_1 = "))
    assert wide[base].startswith("h_1 = ⎡")
    assert wide[base + 1].startswith("      ⎣")
    for columns in (30, 40, 60):
        lines = screen(columns, *args).splitlines()
        assert all(len(line) <= columns for line in lines if "⎡" in line or "⎣" in line)


def test_fractions_are_rounded_alike(call: Call) -> None:
    """Long or short, of a power of two or not, to four decimals; a number that has fewer is as it is."""
    weights = {"rnn_1": {"W_xh": [[0.123456, 0.12345678, 0.234375, 12345]], "W_hh": [[0.00123456]], "b_h": [-0.5]}}
    text = printed(Network(input=4, layers=(RNN(1),), steps=1), weights=weights, inputs=[[1, 1, 1, 0]])
    assert "W_xh = [0.1235 0.1235 0.2344 12345]" in re.sub(" +", " ", text)
    assert "W_hh = 0.0012" in text
    assert "(0.1235·1 + 0.1235·1 + 0.2344·1 + 12345·0 + 0.0012·0 − 0.5)" in text  # 0.123456 + 0.123457 + 0.234375
    assert "= tanh(−0.0187) = −0.0187" in text  # − 0.5 = −0.018712, whose tanh is that + 0.0187³/3, 2e-6
    for digits in (0, 1, 4, 15):
        args = ("run", "-i", 2, "-l", "gru:2", "-l", "lstm:2,projection=1", "-T", 2, "--work", "--digits", digits)
        shown = call(*args).out.partition("Outcome")[0]
        fractions = re.findall(r"\d+\.(\d+)", shown)
        assert max(map(len, fractions), default=0) == digits
        assert f"Fractions are rounded to {digits} decimal{'' if digits == 1 else 's'};" in shown
    assert call(*args[:-2]).out == call(*args[:-1], 4).out


def test_the_row_of_a_word_and_that_of_the_step_are_written() -> None:
    """By hand; word 1 has the second row, the first step the first position, each with a gradient of its own."""
    network = Network(input=2, layers=[Embedding(1, positions=3), RNN(1)], steps=2)
    weights: dict[str, Any] = {"embedding_1": {"E": [[1], [2]], "P": [[10], [20], [30]]}}
    weights |= {"rnn_1": {"W_xh": [[1]], "W_hh": [[1]], "b_h": [0]}}
    text = printed(network, weights=weights, inputs=[1, 0], backward=True)
    assert "y_1 = E_1 + 10 = 2 + 10 = 12" in text
    assert "y_2 = E_0 + 20 = 1 + 20 = 21" in text
    assert {*re.findall("(∂L/∂[EP][^ ]*) = ", text)} == {"∂L/∂E_1", "∂L/∂P_1", "∂L/∂E_0", "∂L/∂P_2"}


def test_a_fraction_that_is_rounded_has_all_its_decimals() -> None:
    """0.27 exactly is told from 0.27 nearly; what a float adds to three tenths is nothing."""
    texts = {
        0.27: "0.27",
        0.27001: "0.2700",
        0.1 + 0.2: "0.3",
        -1.26e-9: "−1.3e−09",
        -0.5: "−0.5",
        3.0: "3",
        1e-16: "0",
    }
    assert {each: number(each) for each in texts} == texts


def test_what_is_not_given_is_round() -> None:
    """Weights with a decimal or two, more for a wide layer, whose weights are small; none is 0."""
    done = work(Network(input=2, layers=[GRU(2), RNN(6, extra_inputs=1)], output=1, steps=2), seed=4)
    for layer in done.layers:
        for tensor in layer.weights.values():
            values = flat(tensor)
            assert values == [round(value, 2) for value in values]
            assert all(values)


def test_whole_numbers_stand_as_they_are() -> None:
    """3·1,000,001 + 2⁵² = 4,503,599,630,370,499, to the last digit; from 2⁵³ on a float has not all of them."""
    weights = {"rnn_1": {"W_xh": [[3]], "W_hh": [[2.0**53]], "b_h": [2**52]}}
    network = Network(input=1, layers=(RNN(1, activation="linear"),), steps=1)
    text = printed(network, weights=weights, inputs=[[1_000_001]])
    assert "W_xh = 3    W_hh = 9.007e+15    b_h = 4503599627370496" in text
    assert "h_1 = 3·1000001 + 9.007e+15·0 + 4503599627370496 = 4503599630370499" in text


def test_what_does_not_agree_is_told(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """The work ends with the same verdict, and the exit code, as the pass that confirms."""
    monkeypatch.setattr("rnncalc.forward.network_pass.LayerRun.agrees", False)
    result = call("run", "-i", 1, "-l", "rnn:1", "--work")
    assert result.code == 1
    assert "✓" not in result.out


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_mathematics_says_the_same(format: str, call: Call) -> None:
    """The columns of an array have the numbers of the columns of the text, in the same order; brackets pair."""
    args = ("run", "-i", 2, "-l", "gru:2", "-l", "rnn:1", "-o", 2, "-T", 2, "--work")
    typeset = call(*args, "-f", format).out
    text = printed(Network(input=2, layers=[GRU(2), RNN(1)], output=2, steps=2))
    for opening, closing in ((r"\left", r"\right"), (r"\begin{array}", r"\end{array}"), ("{", "}")):
        assert typeset.count(opening) == typeset.count(closing) > 0
    numbers = re.split(r"&|\\\\", "&".join(re.findall(r"\\begin\{array\}\{r+\}(.*?)\\end", typeset)))
    shown = flat([sides[-1] for _, lines in sections(text, None) for _, sides in lines if isinstance(sides[-1], list)])
    assert {round(x, 9) for x in shown} <= {round(float(number), 9) for number in numbers}
    assert "∘" not in typeset
    assert "−" not in typeset.replace("t−1", "")


def test_names_of_strangers_stay_text(call: Call) -> None:
    """In a title, and where a value is said to be of another layer."""
    name = r"a\input{x}$<script>"
    args = ("run", "-i", 1, "-l", f"rnn:1,name={name}", "-l", "rnn:1", "-T", 1, "--work")
    assert r"\input{x}" not in call(*args, "-f", "latex").out
    markdown = call(*args, "-f", "markdown").out
    assert "<script>" not in re.sub(r"\\textless\{\}script", "", markdown)


def test_random_passes_are_those_of_run(call: Call, tmp_path: Path) -> None:
    """With the weights that it saves, which are those that it shows, a run has the same output."""
    (tmp_path / "x.yaml").write_text("[[0.5, -1], [2, 0.25]]")
    args = ("run", "-i", 2, "-l", "lstm:2", "-l", "sru:1", "-o", 1, "-T", 2, "--inputs", tmp_path / "x.yaml")
    shown = call(*args, "--seed", 5, "--work", "--save-weights", tmp_path / "w.yaml").out
    report = report_of(call, *args, "--weights", tmp_path / "w.yaml")
    (output,) = report["outputs"]
    assert f"Output: {output:.6g}\n" in shown


def test_steps_are_assumed_as_in_a_run() -> None:
    """Three where nobody says a number; those of the network, or of the inputs, where they do."""
    cases: list[tuple[Any, Any, Any]] = [(None, None, 3), (None, [[1.0]] * 2, None), (4, None, None)]
    for steps, inputs, assumed in cases:
        network = Network(input=1, layers=(RNN(1),), steps=steps)
        done = work(network, inputs=inputs).run
        assert done.assumed_steps == run(network, inputs=inputs).assumed_steps == assumed


def test_the_order_of_the_gates_is_told(call: Call) -> None:
    """Where they lie in one tensor, so that the numbers of an equation are found in the weights above it."""
    args = ("run", "-i", 1, "-T", 1, "--work")
    assert "in its tensors in the order r, z, n.\n" in call(*args, "-l", "gru:1", "-c", "pytorch").out
    peeping = call(*args, "-l", "lstm:1,peepholes", "-c", "onnx").out
    assert "in its tensors in the order i, o, f, g.\nIn P the order is i, o, f.\n" in peeping
    for layer in ("gru:1", "fastgrnn:1"):
        assert "order" not in call(*args, "-l", layer).out


def test_the_parts_of_a_filter_are_called_as_in_its_equation(call: Call) -> None:
    """`y_t = W_1 x_t + W_2 x_(t+1) + b`, so the numbers are those of W_1 and W_2."""
    shown = call("run", "-i", 2, "-l", "conv1d:1,kernel=2", "-T", 3, "--work").out
    assert "y_t = W_1 x_t + W_2 x_(t+1) + b" in shown
    assert " W_2 = [" in shown
    assert "W[" not in shown
