"""The JSON of each question, key by key, on networks small enough to work out by hand."""

import json
from typing import Any

from conftest import Call


def report(call: Call, *args: object) -> dict[str, Any]:
    (found,) = json.loads(call(*args, "-f", "json").out)["reports"]
    assert isinstance(found, dict)
    return found


def test_run(call: Call) -> None:
    """Two steps of two weights: four multiplications, one vector of one number."""
    found = report(call, "run", "-i", 1, "-l", "rnn:1,activation=linear,bias=false", "-T", 2, "--states")
    (layer,) = found.pop("layers")
    output = layer["output"]
    assert found == {
        "name": "network",
        "convention": "textbook",
        "topology": "many-to-one",
        "steps": 2,
        "feedback": False,
        "agrees": True,
        "outputs": output,
    }
    (states,) = layer.pop("states").values()
    assert {**states[-1], "x": None} == {"x": None, "h": output}
    assert len(states) == 2
    assert layer.pop("start") == {"forward": {"h": [0.0]}}
    assert layer == {
        "name": "rnn_1",
        "shape": [1],
        "declared_shape": [1],
        "weights": 2,
        "weights_read": 2,
        "multiply_adds": 4,
        "multiplications": 4,
        "output": output,
        "agrees": True,
        "reason": None,
    }


def test_all_conventions(call: Call) -> None:
    """3·2·11 and 4·2·5 and 3; 6h, 4h and 8h of biases instead of 3h and 4h."""
    names = ("textbook", "pytorch", "keras", "flax-linen", "flax-nnx", "onnx")
    gru, lstm, output = (66, 72, 72, 68, 66, 72), (40, 48, 40, 40, 40, 48), (3,) * 6
    found = report(call, "-i", 8, "-l", "gru:2", "-l", "lstm:2", "-o", 1, "--all-conventions")
    sixth, eighth = (
        "6 more in gru_1 than the textbook, biases of 6h instead of 3h",
        "8 more in lstm_1 than the textbook",
    )
    eighth += ", biases of 8h instead of 4h"
    fourth = "2 more in gru_1 than the textbook, biases of 4h instead of 3h (iz/bias, ir/bias, in/bias, hn/bias)"
    assert found == {
        "name": "network",
        "topology": "many-to-one",
        "steps": None,
        "layers": [
            {"name": "gru_1", "kind": "gru", "part": None, "params": dict(zip(names, gru, strict=True))},
            {"name": "lstm_1", "kind": "lstm", "part": None, "params": dict(zip(names, lstm, strict=True))},
            {"name": "output", "kind": "dense", "part": None, "params": dict(zip(names, output, strict=True))},
        ],
        "params": {name: sum(counts) for name, *counts in zip(names, gru, lstm, output, strict=True)},
        "differences": [
            {"convention": "pytorch", "params": 6, "text": f"{sixth} (bias_ih_l0, bias_hh_l0)"},
            {"convention": "pytorch", "params": 8, "text": f"{eighth} (bias_ih_l0, bias_hh_l0)"},
            {"convention": "keras", "params": 6, "text": f"{sixth} (bias)"},
            {"convention": "flax-linen", "params": 2, "text": fourth},
            {"convention": "onnx", "params": 6, "text": f"{sixth} (B)"},
            {"convention": "onnx", "params": 8, "text": f"{eighth} (B)"},
        ],
        "reasons": {},
    }


def test_many_layers_are_named_in_few_words(call: Call) -> None:
    """Three by name, more as a number."""
    for count, words in ((3, "gru_1, gru_2, gru_3"), (4, "gru_1, gru_2, 2 others")):
        found = report(call, "-i", 2, "-l", f"gru:2,repeat={count}", "--all-conventions")
        assert found["differences"][0]["text"].startswith(f"{6 * count} more in {words} than")


def test_answer(call: Call) -> None:
    """A total without 1 bias of 28; and a number a layer."""
    assert report(call, "answer", "specs/dense-equivalent.yaml", 27) == {
        "name": "Three steps, against a dense network",
        "notation": "w",
        "params_formula": None,
        "params_formula": None,
        "answer": 27,
        "right": False,
        "mistakes": [
            {
                "id": "no-output-bias",
                "text": "leaves out the bias of the output layer",
                "params": 27,
                "layer": None,
                "tensor": None,
                "arithmetic": "3 × (4 + 3 + 1) + 1 × 3",
                "right": "3 × (4 + 3 + 1) + 1 × (3 + 1)",
            }
        ],
        "remarks": ["27 is also the number of saved activations, not of parameters."],
    }
    assert report(call, "answer", "specs/two-rnn-layers.yaml", 15, 28, 5) == {
        "name": "Two recurrent layers",
        "notation": "w",
        "params_formula": [None, None, None],
        "params": [15, 32, 5],
        "answer": [15, 28, 5],
        "right": False,
        "mistakes": [
            {
                "id": "no-biases",
                "text": "leaves out all biases",
                "params": 28,
                "layer": "rnn_2",
                "tensor": None,
                "arithmetic": "4 × (3 + 4)",
                "right": "4 × (3 + 4 + 1)",
            },
            {
                "id": "recurrent-of-inputs",
                "text": "gives the recurrent matrices h × m weights instead of h × h",
                "params": 28,
                "layer": "rnn_2",
                "tensor": None,
                "arithmetic": "4 × (3 + 3 + 1)",
                "right": "4 × (3 + 4 + 1)",
            },
        ],
        "remarks": ["The first wrong layer is rnn_2."],
    }
    assert report(call, "answer", "specs/lstm.yaml", "1.60k")["remarks"] == []
    rounded = report(call, "answer", "specs/two-rnn-layers.yaml", "0.1k")
    assert rounded["remarks"] == [
        "0.1k is right, rounded: the exact number is 52.",
        "One digit is too few to tell it from wrong counts; give two or more.",
    ]


def test_solve(call: Call) -> None:
    """3·8 + 4 = 28 fits in 30, 4·9 + 5 = 41 does not."""
    assert report(call, "solve", "-i", 4, "-l", "rnn:?", "-o", 1, "--params", 30) == {
        "name": "network",
        "budget": 30,
        "size": 3,
        "params": 28,
        "next_size": 4,
        "next_params": 41,
        "exact": False,
        "left": 2,
        "budget_bytes": None,
        "left_bytes": None,
        "solved": True,
    }
    none = report(call, "solve", "-i", 4, "-l", "rnn:?", "-o", 1, "--params", 7)
    assert (none["size"], none["params"], none["left"], none["solved"]) == (None, None, None, False)
    assert (none["next_size"], none["next_params"]) == (1, 8)


def test_compare(call: Call) -> None:
    """24, 72 and 96 in the layer and 4 in the output; 21, 63 and 84 multiply-adds a step and 3 at the end."""
    found = report(call, "compare", "specs/dense-equivalent.yaml")
    assert found["name"] == "Three steps, against a dense network"
    assert found["notes"] == []
    expected = (("this network", 28, 66), ("rnn", 28, 66), ("gru", 76, 192), ("lstm", 100, 255), ("dense", 127, 117))
    for row, (name, params, multiply_adds) in zip(found["rows"], expected, strict=True):
        assert row == {
            "name": name,
            "params": params,
            "multiply_adds": multiply_adds,
            "bytes": 4 * params,
            "units": None,
            "ratio": params / 28,
        }
    same = report(call, "compare", "specs/dense-equivalent.yaml", "--same-params")
    assert [(row["units"], row["params"]) for row in same["rows"]] == [(None, 28), (3, 28), (1, 20), (1, 26)]
    beside = report(call, "compare", "specs/rnn.yaml", "specs/gru.yaml")
    assert beside["name"] == "Comparison"
    assert [(row["name"], row["multiply_adds"]) for row in beside["rows"]] == [
        ("Simple RNN, one layer", None),
        ("GRU, one layer", None),
    ]


def test_growth(call: Call) -> None:
    """One step has 3·5 + 4, two 6·9 + 7, three 9·13 + 10."""
    assert report(call, "compare", "specs/dense-equivalent.yaml", "--steps", "1..3") == {
        "name": "Three steps, against a dense network",
        "params": 28,
        "rows": [
            {"steps": 1, "params": 28, "dense": 19, "ratio": 19 / 28},
            {"steps": 2, "params": 28, "dense": 61, "ratio": 61 / 28},
            {"steps": 3, "params": 28, "dense": 127, "ratio": 127 / 28},
        ],
    }


def test_explain(call: Call) -> None:
    """Each step with its arithmetic in letters and numbers."""

    def step(label: str, what: str, formula: str, substituted: str, params: int) -> dict[str, object]:
        return {"label": label, "what": what, "formula": formula, "substituted": substituted, "params": params}

    assert report(call, "explain", "specs/dense-equivalent.yaml") == {
        "name": "Three steps, against a dense network",
        "convention": "textbook",
        "notation": "w",
        "layers": [
            {
                "name": "rnn_1",
                "kind": "rnn",
                "letters": ["m = 4: the network's input", "h = 3: units"],
                "gates": ["h, hidden state: mixes the input with the memory of the step before"],
                "equations": [
                    {
                        "text": "h_t = tanh(W_xh x_t + W_hh h_(t−1) + b_h)",
                        "shapes": {"h_t": [3], "W_xh": [3, 4], "x_t": [4], "W_hh": [3, 3], "h_(t−1)": [3], "b_h": [3]},
                    }
                ],
                "steps": [
                    step("W_xh", "input matrix", "h × m", "3 × 4", 12),
                    step("W_hh", "recurrent matrix", "h × h", "3 × 3", 9),
                    step("b_h", "bias", "h", "3", 3),
                    step("sum", "", "12 + 9 + 3", "12 + 9 + 3", 24),
                    step("formula", "all of it in one", "h(m + h + 1)", "3 × (4 + 3 + 1)", 24),
                ],
                "remarks": ["Biases: one bias vector per gate; the two products are summed, so one bias serves both."],
                "params": 24,
                "params_formula": None,
            },
            {
                "name": "output",
                "kind": "dense",
                "letters": ["m = 3: the output of rnn_1", "n = 1: units"],
                "gates": [],
                "equations": [{"text": "y = W_hy h + b_y", "shapes": {"y": [1], "W_hy": [1, 3], "h": [3], "b_y": [1]}}],
                "steps": [
                    step("W_hy", "matrix", "n × m", "1 × 3", 3),
                    step("b_y", "bias", "n", "1", 1),
                    step("sum", "", "3 + 1", "3 + 1", 4),
                    step("formula", "all of it in one", "n(m + 1)", "1 × (3 + 1)", 4),
                ],
                "remarks": [],
                "params": 4,
                "params_formula": None,
            },
        ],
        "params": 28,
        "params_formula": None,
        "dense": [
            step("rnn_1", "12 → 9", "9 × (12 + 1)", "9 × (12 + 1)", 117),
            step("output", "9 → 1", "1 × (9 + 1)", "1 × (9 + 1)", 10),
            step("Total", "", "117 + 10", "117 + 10", 127),
        ],
    }


def test_check(call: Call) -> None:
    """What was checked, where the limits stand, and what changed."""
    args = ["specs/dense-equivalent.yaml", "--baseline", "specs/rnn.yaml", "--max-growth", "1k"]
    found = report(call, "check", *args)
    assert found["baseline"] == {"before": 400, "after": 28, "change": -372, "percent": -93.0}
    assert found["checks"][0] == {
        "name": "expect.total",
        "limit": 28,
        "actual": 28,
        "ok": True,
        "message": None,
        "line": 10,
        "column": 10,
    }
    numbers = {key: found[key] for key in ("status", "params", "bytes", "multiply_adds", "dense_ratio", "convention")}
    assert numbers == {
        "status": "passed",
        "params": 28,
        "bytes": 112,
        "multiply_adds": 66,
        "dense_ratio": 127 / 28,
        "convention": "textbook",
    }
    assert (found["file"], found["skipped"], found["problems"]) == ("specs/dense-equivalent.yaml", None, [])
