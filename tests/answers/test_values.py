"""Values of a pass by hand: read, judged at their digits, and the mistakes behind wrong ones.

The numbers were worked by hand, each as the calculation beside it.
"""

from pathlib import Path
from random import Random

import pytest
from conftest import Call

from rnncalc import GRU, LSTM, RNN, CallError, Network, Output
from rnncalc.answers.judgement import Answer, Judgement
from rnncalc.answers.values import ValueGrader, written
from rnncalc.expressions import EXACT_DIGITS, read_real
from rnncalc.network.data import Data
from rnncalc.questions.run import weights_in_use
from rnncalc.reports.answer import AnswerReport
from rnncalc.spec import spec_in_flags

# fmt: off
ONE = Network(input=1, steps=2, layers=[RNN(1)])
"""One unit: h_1 = tanh(0.5·1 + 0.3·0.2 + 0.1) = tanh(0.66) and h_2 = tanh(0.5·2 + 0.3·h_1 + 0.1)."""
OF_ONE = Data(
    {"rnn_1": {"W_xh": [[0.5]], "W_hh": [[0.3]], "b_h": [0.1]}},
    {None: [[1.0], [2.0]]},
    {"rnn_1": {"h": [0.2]}},
    [0.3],
)
TWO = Network(input=1, steps=1, layers=[RNN(2)])
OF_TWO = Data(
    {"rnn_1": {"W_xh": [[0.4], [-0.3]], "W_hh": [[0.1, 0.6], [-0.2, 0.3]], "b_h": [0.0, 0.0]}},
    {None: [[1.0]]},
    {"rnn_1": {"h": [0.5, -0.4]}},
)
GATED = Network(input=1, steps=1, layers=[GRU(1)])
OF_GATED = Data(
    {
        "gru_1": {
            "W_xz": [[0.1]], "W_xr": [[0.2]], "W_xn": [[0.3]], "W_hz": [[0.4]], "W_hr": [[0.5]], "W_hn": [[0.6]],
            "b_z": [0.01], "b_r": [0.02], "b_n": [0.03],
        }
    },
    {None: [[1.0]]},
    {"gru_1": {"h": [0.5]}},
)
RESET = Network(input=1, steps=1, layers=[GRU(2, bias=False)])
"""The reset gate is (σ(0.5), σ(−1)), and the candidate reads h_0 = (0.8, −0.6) alone."""
OF_RESET = Data(
    {
        "gru_1": {
            "W_xz": [[0.0], [0.0]], "W_xr": [[0.5], [-1.0]], "W_xn": [[0.0], [0.0]],
            "W_hz": [[0.0, 0.0]] * 2, "W_hr": [[0.0, 0.0]] * 2, "W_hn": [[0.5, -0.4], [0.3, 0.2]],
        }
    },
    {None: [[1.0]]},
    {"gru_1": {"h": [0.8, -0.6]}},
)
MEMORY = Network(input=1, steps=1, layers=[LSTM(1)])
"""i = σ(0.2), f = σ(−0.5), o = σ(0.7), g = tanh(0.4), and c_0 = 0.9."""
OF_MEMORY = Data(
    {
        "lstm_1": {
            "W_xi": [[0.2]], "W_xf": [[-0.5]], "W_xo": [[0.7]], "W_xg": [[0.4]],
            **{f"W_h{gate}": [[0.0]] for gate in "ifog"},
            **{f"b_{gate}": [0.0] for gate in "ifog"},
        }
    },
    {None: [[1.0]]},
    {"lstm_1": {"h": [0.0], "c": [0.9]}},
)
CLASSES = Network(input=2, steps=1, layers=[RNN(2, activation="relu")], output=Output(2, activation="softmax"))
"""h_1 = (0.3, 0.1), and the softmax of it."""
OF_CLASSES = Data(
    {
        "rnn_1": {"W_xh": [[1.0, 0.0], [0.0, 1.0]], "W_hh": [[0.0, 0.0]] * 2, "b_h": [0.0, 0.0]},
        "output": {"W_hy": [[1.0, 0.0], [0.0, -2.0]], "b_y": [0.0, 0.0]},
    },
    {None: [[0.3, 0.1]]},
)
OF_FIRST = OF_CLASSES._replace(targets=0)
# fmt: on


def judged(network: Network, data: Data, *texts: str, loss: str | None = None) -> tuple[Answer, list[Judgement]]:
    grader = ValueGrader(network, data, loss)
    answer = grader.judge([each for text in texts for each in grader.read(text)])
    return answer, [*answer.judged]


@pytest.mark.parametrize(
    ("text", "value", "error", "digits"),
    [
        ("0.76", 0.76, 0.005, 2),
        ("−0.2", -0.2, 0.05, 1),
        ("0,810", 0.81, 0.0005, 3),
        ("1.234", 1.234, 0.0005, 4),
        ("2.5e-2", 0.025, 0.0005, 2),
        (r"1.2 · 10^{-3}", 0.0012, 0.00005, 2),
        ("3", 3.0, 0.5, 1),
        ("1/3", 1 / 3, 0.0, EXACT_DIGITS),
        (r"\frac{1}{4}", 0.25, 0.0, EXACT_DIGITS),
        ("tanh(0.5)", 0.46211715726, 0.0, EXACT_DIGITS),
        (r"\tanh(-0.4)", -0.37994896226, 0.0, EXACT_DIGITS),
        ("σ(0.25)", 0.562176500886, 0.005 * 0.2461, 3),  # the slope of σ at 0.25 is 0.5622·0.4378 = 0.2461
        ("e^{-1}", 0.367879441171, 0.0, EXACT_DIGITS),
        ("e⁻¹", 0.367879441171, 0.0, EXACT_DIGITS),
        ("exp(-1)", 0.367879441171, 0.0, EXACT_DIGITS),
        ("1/(1 + e^{-2})", 0.880797077978, 0.0, EXACT_DIGITS),
        ("√2/2", 0.707106781187, 0.0, EXACT_DIGITS),
        ("ln 2", 0.69314718056, 0.0, EXACT_DIGITS),
    ],
)
def test_a_number_or_a_calculation_is_read(text: str, value: float, error: float, digits: int) -> None:
    """With what its decimals leave unknown; a calculation with coarse ones is meant exactly."""
    number = read_real(text)
    assert number.value == pytest.approx(value, abs=1e-11)
    assert number.error == pytest.approx(error, rel=0.02)
    assert number.digits == digits


@pytest.mark.parametrize("text", ["", "x", "1/0", "foo(2)", "0.5 0.3", "(-8)^(1/3)", "10^{400}", "((((", "ln 0"])
def test_what_is_no_number_is_refused(text: str) -> None:
    """In one line, also where a function has no value."""
    with pytest.raises(CallError):
        read_real(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("h_1", name) for name in ("h_1", "h1", "h₁", "$h_{1}$", "rnn_1.h_1", "rnn_1: h_1", "h_1 of rnn_1")),
        *(("∂L/∂W_hh", name) for name in ("dL/dW_hh", "∂L/∂W_hh", r"\frac{\partial L}{\partial W_{hh}}", "dWhh")),
        *(("∂L/∂W_hh", name) for name in ("dWh", "dE/dW_hh", "gradient of W_hh", "W_hh.grad", "dJ/dw_hh")),
        *(("∂L/∂b_h", name) for name in ("dL/db", "db")),  # of one layer alone
        *(("∂L/∂W_hh (step 2)", name) for name in ("dL/dW_hh (step 2)", "dJ/dWh (t=2)")),
        *(("h_2", name) for name in ("H_2", "hidden state 2", "prediction", "Ausgabe", "salida", "so h⁽²⁾")),
        *(("h_1", name) for name in ("The hidden state h_1", "estado oculto h_1", "Versteckter Zustand in Schritt 1")),
        *(
            ("∂L/∂W_hh", name)
            for name in (
                "∇W_hh",
                "dL / dW_hh",
                "Gradient von W_hh",
                "Gradient wrt W_hh",
                r"\partial L / \partial W_{hh}",
            )
        ),
        *(("L", name) for name in ("Verlust", "perte", "pérdida", "therefore L")),
        *(("δ_h,2", name) for name in ("δ_h,2", r"\delta_{h,2}", "delta_h,2")),
        ("L", "loss"),
    ],
)
def test_a_name_is_found_as_it_is_written(name: str, text: str) -> None:
    """In plain text, in LaTeX, with its layer or without."""
    _, (value,) = judged(ONE, OF_ONE, f"{text} = 0.5")
    assert value.tensor == name


CORRECT = [
    (ONE, OF_ONE, "h_1 = 0.5784", False),
    (ONE, OF_ONE, "h_1 = tanh(0.66)", False),
    (ONE, OF_ONE, "h_1 = tanh(0.5 + 0.3·0.2 + 0.1) = 0.58", False),
    (ONE, OF_ONE, "h_1 = 0.5782", True),  # two units less
    (ONE, OF_ONE, "h_2 = 0,855", False),
    (ONE, OF_ONE, "step h\n1 0.5784\n2 0.8547", False),
    (ONE, OF_ONE, "L = 0.1539", False),  # (0.8547 − 0.3)²/2
    (ONE, OF_ONE, "dL/dW_hh = 0.0924", False),  # 0.1495·0.5784 + 0.0297·0.2
    (ONE, OF_ONE, "dL/dW_xh = 0.3287; dL/db_h = 0.1793", False),
    (TWO, OF_TWO, "h_1 = (0.207, -0.4777)", False),  # tanh of 0.4 + 0.05 − 0.24 and of −0.3 − 0.1 − 0.12
    (TWO, OF_TWO, "h_1 = [[0.207], [-0.4777]]", False),
    (GATED, OF_GATED, "z_1 = σ(0.31), r_1 = σ(0.47)", False),
    (GATED, OF_GATED, "h̃_1 = 0.4735", False),  # tanh(0.3 + 0.6·0.6154·0.5 + 0.03)
    (MEMORY, OF_MEMORY, "\\tilde{c} = 0.3799; c_1 = 0.5487", False),  # tanh(0.4)
    (MEMORY, OF_MEMORY, "c_1 = 0.5487", False),  # 0.3775·0.9 + 0.5498·0.3799
    (CLASSES, OF_CLASSES, "y = (0.6225, 0.3775)", False),  # e^0.3 and e^−0.2, each over their sum
    (CLASSES, OF_FIRST, "L = 0.4741; ŷ = (0.6225, 0.3775)", False),  # −ln 0.6225; p is called ŷ too
    (CLASSES, OF_FIRST, "y_hat = (0.6225, 0.3775); h = (0.3, 0.1)", False),  # one step needs no number
    (CLASSES, OF_FIRST, "y_1 = 0.6225; y_2 = 0.3775", False),  # of the one output
    (TWO, OF_TWO, "h_1[0] = 0.207, h_1[1] = -0.4777", False),
    (TWO, OF_TWO, "h[1][1] = -0.4777", False),
    (TWO, OF_TWO, "h_{1,1} = 0.207; h_1^{(2)} = -0.4777", False),  # there is one step
    (TWO, OF_TWO, "| t | h_{t,1} | h_{t,2} |\n|---|---|---|\n| 1 | 0.207 | -0.4777 |", False),
    (ONE, OF_ONE, "| t | h_t |\n|---|---|\n| 1 | 0.5784 |\n| 2 | 0.8547 |", False),
    (ONE, OF_ONE, "\\begin{tabular}{ccc} & $t=1$ & $t=2$ \\\\ \\hline $h$ & 0.5784 & 0.8547 \\end{tabular}", False),
    (ONE, OF_ONE, "h_1\t0.5784\nL\t0.1539", False),
    (ONE, OF_ONE, "Step 1: h = 0.5784\nStep 2: h = 0.8547, L = 0.1539", False),
    (ONE, OF_ONE, "Step 1\nh = 0.5784\nStep 2\nh = 0.8547, L = 0.1539", False),
    (ONE, OF_ONE, "h^{(1)} = 0.5784 and h[2] = 0.8547", False),
    (ONE, OF_ONE, "h_{t=1} → 0.5784, h_2 is 0.8547", False),
    (ONE, OF_ONE, "h1 0.5784, h2 0.8547", False),
    (ONE, OF_ONE, "h_1 = .5784 and h at t = 2: 0.8547", False),
    (ONE, OF_ONE, "h_1 = 0.5784 (tanh(0.66)); H_2 = 0.8547 (rounded)", False),
    (ONE, OF_ONE, "\\begin{aligned} h_1 &= 0.5784 \\\\ h_T &= 0.8547 \\end{aligned}", False),
    (ONE, OF_ONE, "hidden state 1: 0.5784; output: 0.8547", False),  # without an output layer
    (CLASSES, OF_CLASSES, "output = (0.6225, 0.3775)", False),
    (MEMORY, OF_MEMORY, "forget gate: 0.3775; output gate: 0.6682; candidate: 0.3799; cell state: 0.5487", False),
]


@pytest.mark.parametrize(("network", "data", "text", "rounded"), CORRECT)
def test_a_correct_value_is_correct_at_its_digits(network: Network, data: Data, text: str, rounded: bool) -> None:
    """Up to two units of the last digit, with a remark."""
    answer, values = judged(network, data, text)
    assert answer.right
    assert [each.value and each.value.rounded for each in values] == [rounded] * len(values)


WRONG = [
    (ONE, OF_ONE, "h_1 = 0.66", "leaves out the activation of h", True),
    (ONE, OF_ONE, "h_1 = 0.660", "leaves out the activation of h", False),
    (ONE, OF_ONE, "h_1 = 0.508", "leaves out the bias", False),  # tanh(0.56)
    (ONE, OF_ONE, "h_1 = 0.5370", "leaves out the recurrent product", False),  # tanh(0.6)
    (ONE, OF_ONE, "h_2 = 0.8514", "ignores the state before the first step", False),  # tanh(1.1 + 0.3·0.5370)
    (ONE, OF_ONE, "h_1 = 0.4621", "exchanges the matrices of the input and of the state", False),  # tanh(0.3 + 0.2)
    (ONE, OF_ONE, "h_1 = 0.6593", "takes σ instead of tanh for h", False),  # σ(0.66)
    (ONE, OF_ONE, "h_1 = 0.8210", "takes the input of the next step", False),  # tanh(1.16)
    (TWO, OF_TWO, "h_1 = (0.4854, -0.1194)", "takes the transpose of the recurrent matrix of h", False),
    (GATED, OF_GATED, "h_1 = 0.4847", "exchanges z and 1 − z", False),  # 0.4231·0.5 + 0.5769·0.4735
    (GATED, OF_GATED, "n_1 = 0.5581", "leaves out r in the candidate", False),  # tanh(0.33 + 0.3)
    # tanh of r_1·(0.4 + 0.24) and of r_2·(0.24 − 0.12), with r = (0.6225, 0.2689)
    (RESET, OF_RESET, "n_1 = (0.3786, 0.0323)", "applies r after the matrix instead of before", False),
    (MEMORY, OF_MEMORY, "h_1 = 0.3666", "leaves out the tanh of c", False),  # 0.6682·0.5487
    (MEMORY, OF_MEMORY, "c_1 = 0.6383", "exchanges f and i", False),  # 0.5498·0.9 + 0.3775·0.3799
    (CLASSES, OF_CLASSES, "y = (0.300, -0.200)", "leaves out the softmax of y", False),
    (ONE, OF_ONE, "dL/dW_hh = 0.0864", "stops the gradient at each step", False),  # 0.1495·0.5784
    (ONE, OF_ONE, "dL/db_h = 0.7212", "leaves out the derivative of the activation of h", False),  # 0.5547·(1 + 0.3)
    (ONE, OF_ONE, "L = 0.3077", "leaves out the factor 1/2 of the loss", False),
    (ONE, OF_ONE, "dL/dW_hh = -0.0924", "takes target − output instead of output − target", False),
    (CLASSES, OF_FIRST, "L = 0.2059", "takes the logarithm to base 10", False),  # −log10 0.6225
    (CLASSES, OF_FIRST, "L = 0.6839", "takes the logarithm to base 2", False),  # −log2 0.6225
    (ONE, OF_ONE, "h_1 = -0.5784", "has the wrong sign", False),
    (TWO, OF_TWO, "h_1[1] = 0.2070", "is h_1[0]", False),
    (TWO, OF_TWO, "h_1[0] = 0.4854", "takes the transpose of the recurrent matrix of h", False),
]


@pytest.mark.parametrize(("network", "data", "text", "mistake", "guess"), WRONG)
def test_a_wrong_value_has_its_mistake(network: Network, data: Data, text: str, mistake: str, guess: bool) -> None:
    """The pass done again with one thing changed; two digits of one value are a guess."""
    answer, (value,) = judged(network, data, text)
    assert not answer.right
    texts = {each.mistakes[0].text: each.by_chance for each in value.diagnoses}
    assert texts.get(mistake) is guess, texts


def test_the_reset_gate_may_also_be_applied_before_instead_of_after() -> None:
    """In PyTorch's GRU: tanh of 0.5·0.6225·0.8 + 0.4·0.2689·0.6 and of 0.3·0.6225·0.8 − 0.2·0.2689·0.6."""
    network, before = RESET.replace(convention="pytorch"), OF_RESET.weights["gru_1"]  # type: ignore[index]
    stacked = {
        "weight_ih_l0": [*before["W_xr"], *before["W_xz"], *before["W_xn"]],
        "weight_hh_l0": [*before["W_hr"], *before["W_hz"], *before["W_hn"]],
    }
    _, (value,) = judged(network, OF_RESET._replace(weights={"gru_1": stacked}), "n_1 = (0.3036, 0.1166)")
    assert value.diagnoses[0].mistakes[0].text == "applies r before the matrix instead of after"


def test_two_values_that_agree_on_a_mistake_make_it_a_fact() -> None:
    """With two digits each: tanh(0.56) = 0.51 and tanh(1 + 0.3·0.508) = 0.82."""
    _, (first, second) = judged(ONE, OF_ONE, "h_1 = 0.51", "h_2 = 0.82")
    assert (first.diagnoses[0].id, first.by_chance) == ("no-bias", False)
    assert (second.follows, second.repeats, second.diagnoses) == ("h_1", True, ())


def test_what_follows_from_a_wrong_value_is_named_once() -> None:
    """From h_1 = 0.41: tanh(1.1 + 0.123) = 0.8405, and the loss (0.8405 − 0.3)²/2 = 0.1461."""
    answer, values = judged(ONE, OF_ONE, "h_1 = 0.41", "h_2 = 0.8405", "L = 0.1461")
    assert [(each.follows, each.repeats) for each in values] == [(None, False), ("h_1", False), ("h_1", False)]
    assert "h_1 is wrong; h_2 and L follow from it correctly." in answer.sentences


def test_a_value_follows_from_the_wrong_one_that_it_is_made_of() -> None:
    """From i = 0.75 instead of σ(0.2), c = 0.3775·0.9 + 0.75·0.3799 = 0.6248; o = 0.444 has nothing to do with it."""
    _, values = judged(MEMORY, OF_MEMORY, "o_1 = 0.444", "i_1 = 0.750", "c_1 = 0.6248")
    assert [each.follows for each in values] == [None, None, "i_1"]


def test_a_value_follows_from_one_wrong_number_of_a_vector() -> None:
    """From h_1 = (0.5, −0.4777): tanh(0.4 + 0.05 − 0.2866) = 0.1619; the other number is not wrong with it."""
    data = OF_TWO._replace(inputs={None: [[1.0], [1.0]]})
    answer, values = judged(TWO.replace(steps=2), data, "h_1[0] = 0.500", "h_1[1] = -0.4777", "h_2[0] = 0.1619")
    assert [(each.right, each.follows) for each in values] == [(False, None), (True, None), (False, "h_1[0]")]
    assert "h_1[0] is wrong; h_2[0] follows from it correctly." in answer.sentences


def test_a_value_follows_from_a_wrong_gradient() -> None:
    """From ∂L/∂h_2 = 0.8547, without the target: δ = 0.8547·(1 − 0.8547²) = 0.2303, and δ·0.5784 for step 2."""
    _, values = judged(ONE, OF_ONE, "dL/dh_2 = 0.8547", "δ_h,2 = 0.2303", "dL/dW_hh (step 2) = 0.1332")
    assert [each.follows for each in values] == [None, "∂L/∂h_2", "∂L/∂h_2"]


def test_a_step_in_brackets_behind_a_number_belongs_to_the_value() -> None:
    """So a gradient is what that step contributes, and h is the state of that step."""
    named = [judged(ONE, OF_ONE, text)[0].sentences for text in ("dL/dW_hh (step 2) = 9", "dL/dW_hh = 9 (step 2)")]
    assert named[0] == named[1]
    for text, correct in (("h = 0.5784 (step 1)", "h_1 = 0.5784"), ("h_1 = 0.5784 (t = 1)", "h_1 = 0.5784")):
        assert judged(ONE, OF_ONE, text)[0].right == judged(ONE, OF_ONE, correct)[0].right is True


def test_a_value_that_follows_from_rounded_ones_is_correct() -> None:
    """From h_1 = 0.57, which is correct at two digits: tanh(1.1 + 0.171) = 0.8541."""
    answer, (_, second) = judged(ONE, OF_ONE, "h_1 = 0.57", "h_2 = 0.8541")
    assert answer.right
    assert second.value
    assert second.value.rounded


def test_numbers_that_nothing_rounds_are_exact() -> None:
    """relu(0.5·1 + 0.3·0.2 + 0.1) = 0.66, so that 0.65 is wrong; two mistakes together are a guess."""
    network = ONE.with_parts({None: ONE.parts[None]._replace(layers=(RNN(1, activation="relu"),))})
    assert judged(network, OF_ONE, "h_1 = 0.66")[0].right
    assert not judged(network, OF_ONE, "h_1 = 0.65")[0].right
    _, (value,) = judged(ONE, OF_ONE, "h_1 = 0.4621")  # or with another sum
    assert value.diagnoses


def test_a_wrong_shape_is_said() -> None:
    """And nothing else is looked for."""
    _, (value,) = judged(TWO, OF_TWO, "h_1 = (0.2, 0.3, 0.4)")
    assert value.diagnoses[0].mistakes[0].text == "has a wrong shape: (3) instead of (2)"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("q_1 = 3",), "'q_1' is no value of this pass; there are x_1"),
        (("0.3",), "expected each value with its name, as in h_1 = 0.76, got '0.3'"),
        (("h_1 = 0.3", "h1 = 0.4"), "h_1 is given twice; remove one"),
        (("h_1 = foo",), "expected a number or"),
        (("h_1 = ((1, 2), (3))",), "have different lengths"),
        (("h_1 = ()",), "expected numbers between the brackets of '()', as in (0.76, -0.2)"),
        (("h_1 = 0.5784 (t=2)",), "'h_1 (step 2)' is no value of this pass"),
        (("h_1 = 0.5784 (step 2)",), "'h_1 (step 2)' is no value of this pass"),
    ],
)
def test_a_text_that_is_no_value_is_refused(texts: tuple[str, ...], message: str) -> None:
    """With its cure."""
    with pytest.raises(CallError, match=r".*") as refused:
        judged(ONE, OF_ONE, *texts)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h_{1,2} = 0.3", "'h_{1,2}' may be one of several numbers; write h_1[1] or h_2[0]"),
        ("h_1[2] = 0.3", "'h_1[2]' is no number of h_1; its last number is h_1[1], counted from 0"),
        ("h_1[0] = 0.3, h_1[0] = 0.4", "h_1[0] is given twice; remove one"),
    ],
)
def test_a_number_of_a_vector_that_is_not_known_is_refused(text: str, message: str) -> None:
    """Of two units and two steps, 1,2 may be unit 1 at step 2 or unit 2 at step 1."""
    with pytest.raises(CallError, match=r".*") as refused:
        judged(TWO.replace(steps=2), OF_TWO._replace(inputs={None: [[1.0], [1.0]]}), text)
    assert message in str(refused.value)


def test_a_pass_needs_numbers() -> None:
    """Its weights and its inputs."""
    with pytest.raises(CallError, match="give weights and inputs in the spec"):
        judged(ONE, Data(), "h_1 = 0.3")


def test_values_that_are_asked_for_need_no_names() -> None:
    """They are in order."""
    grader = ValueGrader(ONE, OF_ONE, asked=("h_1", "h_2"))
    assert grader.judge([*grader.read("0.5784"), *grader.read("0.8547")]).right
    assert grader.missing([]) == ["h_1", "h_2"]


def test_a_correct_value_rules_out_a_mistake_that_changes_it() -> None:
    """The sequence read from its end would change h_1 too."""
    _, (_, wrong) = judged(ONE, OF_ONE, "h_1 = 0.5784", "h_2 = 0.650")  # tanh(0.5·1 + 0.3·0.5784 + 0.1)
    (diagnosis,) = wrong.diagnoses
    assert diagnosis.mistakes[0].text == "takes the input of the step before"


def test_two_mistakes_together_are_a_guess() -> None:
    """σ(0.56): the bias is left out, and σ is taken instead of tanh."""
    _, (value,) = judged(ONE, OF_ONE, "h_1 = 0.6365")
    assert value.diagnoses[0].id == "no-bias+other-activation"
    assert all(each.by_chance for each in value.diagnoses)


HAND = "specs/gru-by-hand.yaml"


@pytest.mark.parametrize("form", ["table", "json", "markdown", "html"])
def test_a_hint_has_no_correct_value(form: str, call: Call) -> None:
    """The correct h_1 is 0.4888, and what gives 0.4782 is no bias."""
    shown = call("answer", HAND, "--of", "values", "h_1 = 0.4782", "h_2 = (0.1, 0.2)", "--hint", "-f", form)
    assert shown.code == 1
    assert "which products and biases does it have" in shown.out
    assert not any(correct in shown.out for correct in ("0.4888", "0.564", "no-bias", "instead of"))


def test_a_hint_on_a_wrong_factor_of_the_loss_asks_about_the_loss(call: Call) -> None:
    """The correct L is −ln(0.2365) = 1.4417, and −log₁₀(0.2365) = 0.6261."""
    shown = call("answer", "specs/classes.yaml", "--of", "values", "L = 0.6261", "--hint")
    assert "Look at the loss" in shown.out


def test_no_number_is_minus_zero() -> None:
    assert written(((4,), (-0.0, -1e-17, -0.25, -1e-6))) == "(0, 0, -0.25, 0.0000)"


def test_a_class_is_graded_in_values(tmp_path: Path, call: Call) -> None:
    """With the titles of columns as names, and decimal commas."""
    file = tmp_path / "class.csv"
    file.write_text(
        "Name;h_1;h_2\nAda;0,4888;0,5641\nBen;0.4782;0.5504\nCem;h_1 = 0.49;foo\nDan;?;0.5641\n", encoding="utf-8"
    )
    shown = call(
        "answer", HAND, "--of", "values", "--from", str(file), "--answer", "h_1", "--answer", "h_2", "-f", "csv"
    )
    rows = [row.split(";")[3:5] for row in shown.out.splitlines()[1:5]]
    assert rows[:2] == [["true", ""], ["false", "gru_1 h_1: leaves out the bias"]]
    assert rows[2][0] == ""
    assert "expected a number or σ" in rows[2][1]
    assert rows[3] == ["false", "gives no answer in h_1"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((HAND, "0.5", "--loss", "sum"), "--loss is for --of values"),
        (("specs/gru.yaml", "--of", "values", "h_1 = 3"), "give weights and inputs in the spec"),
        ((HAND, "--of", "values", "L = 3", "--loss", "squared"), "squared needs targets"),
        ((HAND, "--of", "values"), "give the answer to judge"),
    ],
)
def test_a_call_without_what_values_need_is_refused(args: tuple[str, ...], message: str, call: Call) -> None:
    """In one line."""
    shown = call("answer", *args)
    assert shown.code == 2
    assert message in shown.err


BOTH = Network(input=1, steps=2, layers=[RNN(1, bidirectional=True), RNN(1)], output=1)
OF_BOTH = Data(
    {
        "rnn_1": {
            "forward/W_xh": [[0.5]], "forward/W_hh": [[0.3]], "forward/b_h": [0.1],
            "backward/W_xh": [[0.2]], "backward/W_hh": [[-0.3]], "backward/b_h": [0.2],
        },
        "rnn_2": {"W_xh": [[0.5, -0.2]], "W_hh": [[0.4]], "b_h": [0.1]},
        "output": {"W_hy": [[2.0]], "b_y": [0.1]},
    },
    {None: [[1.0], [2.0]]},
)  # fmt: skip


def test_a_layer_and_a_direction_are_named_beside_a_value() -> None:
    """tanh(0.6) of both directions' first steps; tanh(0.2 − 0.3·0.5370 + 0.2); tanh(0.5·0.5370 − 0.2·0.2344 + 0.1)."""
    texts = ("forward h_1 = 0.5370", "backward/h_2 = 0.5370", "rnn_1.backward/h_1 = 0.2344", "h^(2)_1 = 0.3110")
    answer, values = judged(BOTH, OF_BOTH, *texts, "layer 2: h_2 = 0.4950, y_2 = 1.0900")
    assert answer.right
    assert [each.layer for each in values] == ["rnn_1"] * 3 + ["rnn_2"] * 2 + ["output"]
    with pytest.raises(CallError, match=r"several values; write rnn_1\.h_1 or rnn_2\.h_1"):
        judged(BOTH, OF_BOTH, "h_1 = 0.5")
    with pytest.raises(CallError, match=r"'dW' may be one of several values; write ∂L/∂W_xh or ∂L/∂W_hh"):
        judged(ONE, OF_ONE, "dW = 0.5")
    table = "| t | rnn_2.h | rnn_1 backward/h |\n|---|---|---|\n| 1 | 0.3110 | 0.2344 |\n| 2 | 0.4950 | 0.5370 |"
    _, values = judged(BOTH, OF_BOTH, table)
    assert [(each.layer, each.tensor, each.right) for each in values] == [
        ("rnn_2", "h_1", True),
        ("rnn_1", "backward/h_1", True),
        ("rnn_2", "h_2", True),
        ("rnn_1", "backward/h_2", True),
    ]


def test_a_remark_names_the_layer_of_a_value_that_several_have() -> None:
    network = Network(input=1, steps=1, layers=[RNN(1), RNN(1)])
    weights = {name: {"W_xh": [[0.5]], "W_hh": [[0.3]], "b_h": [0.1]} for name in ("rnn_1", "rnn_2")}
    answer, _ = judged(network, Data(weights, {None: [[1.0]]}), "rnn_1.h_1 = 0.54", "rnn_2.h_1 = 0.4")
    *_, remark = AnswerReport(answer).sentences()
    assert remark.endswith("give two digits or more of rnn_2 h_1.")


KINDS = "rnn:2 gru:2 gru:2,reset_after lstm:2,peepholes lstm:2,projection=1 mgu:2 mingru:2 minlstm:2 sru:2 fastgrnn:2"
KINDS += " gru:2,bidirectional rnn:2,recurrent_rank=1 gru:2,layer_norm multi_head_attention:2"


@pytest.mark.broad
@pytest.mark.parametrize("kind", KINDS.split())
def test_every_value_of_a_pass_by_hand_may_be_given(kind: str) -> None:
    """As the report of the pass writes it; each mistake can be made in every kind of layer."""
    network = spec_in_flags("2", (kind,), "1", steps="2").network
    data = Data(dict(weights_in_use(network, seed=1, rounded=True)), {None: [[0.3, -0.8], [0.5, 0.1]]})
    grader = ValueGrader(network, data)
    values = grader.both.exact.items()
    texts = [f"{layer} {grader.both.names[layer, key].text} = {written(each)}" for (layer, key), each in values]
    assert grader.judge([each for text in texts for each in grader.read(text)]).right
    assert len(grader.mistakes(grader.both)) > 10


@pytest.mark.broad
@pytest.mark.parametrize("layer", [RNN(1), GRU(1), LSTM(1), GRU(1, bidirectional=True)])
def test_few_random_values_have_a_mistake_as_a_fact(layer: RNN | GRU | LSTM, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 4 in 100 of wrong values, uniform from −1 to 1 at three digits; pairs of mistakes are no facts."""
    monkeypatch.setattr("rnncalc.answers.values.MOST_PAIRS", 0)
    network = Network(input=1, steps=3, layers=[layer], output=1)
    random, facts, number = Random(3), 0, 0
    for seed in range(5):
        inputs: dict[str | None, list[list[float]]] = {None: [[random.randrange(-9, 10) / 10] for _ in range(3)]}
        grader = ValueGrader(network, Data(dict(weights_in_use(network, seed=seed, rounded=True)), inputs))
        for _ in range(50):
            (value,) = grader.judge(grader.read(f"y = {random.uniform(-1, 1):.3f}")).judged
            number += not value.right
            facts += bool(value.diagnoses) and not value.by_chance
    assert facts <= 0.04 * number
