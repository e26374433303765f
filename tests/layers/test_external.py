"""Parts that are described by their tensors: counted, listed, streamed, and found in a model file."""

import csv
import io
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call, file_at, report_of
from hypothesis import given
from hypothesis import strategies as st
from models.files.made import safetensors
from strategies import network_of

from rnncalc import External, Network, count
from rnncalc.network.writer import spec_of
from rnncalc.questions.stream import stream

Shapes = dict[str, Any]
SHAPES = st.dictionaries(
    st.from_regex(r"[A-Za-z_][\w.]{0,8}", fullmatch=True),
    st.lists(st.integers(1, 50), min_size=1, max_size=4),
    min_size=1,
    max_size=5,
)


@given(SHAPES, st.integers(1, 3), st.data())
def test_its_tensors_are_what_it_counts(shapes: Shapes, repeat: int, data: st.DataObject) -> None:
    """In each copy the shapes as given; what is not trained is counted apart; the spec is read back."""
    still = data.draw(st.sets(st.sampled_from(sorted(shapes))))
    layer = {"external": shapes, "repeat": repeat, "trainable": {**dict.fromkeys(still, False)}, "state": 7}
    network = network_of({"input": 4, "layers": [layer]})
    total = sum(prod(shape) for shape in shapes.values())
    for placed in network.stack:
        assert {tensor.name: [*tensor.shape] for tensor in placed.tensors} == shapes
        assert placed.params == total
        assert placed.trainable == total - sum(prod(shapes[name]) for name in still)
    assert stream(network).state == 7 * repeat
    assert network_of(spec_of(network)) == network


@given(SHAPES)
def test_names_in_shapes_are_numbers(shapes: Shapes) -> None:
    """Each size with a name or as an expression; the formula is the sum of products in the names."""
    sizes = {f"n_{number}": number for number in {size for shape in shapes.values() for size in shape}}
    named = {
        name: [f"n_{size}" if size % 2 else f"2*n_{size} - n_{size}" for size in shape]
        for name, shape in shapes.items()
    }
    plain, other = (
        network_of({"input": 4, **more})
        for more in ({"layers": [{"external": shapes}]}, {"sizes": sizes, "layers": [{"external": named}]})
    )
    assert plain.parts == other.parts
    (placed,) = other.stack
    text = placed.formula.replace("·", "*")
    for power, sign in enumerate("²³⁴", 2):
        text = text.replace(sign, f"**{power}")
    assert (
        sum(
            eval(term.replace("n", "*n", 1) if term[0].isdigit() else term, {}, dict(sizes))
            for term in text.split(" + ")
        )
        == plain.params
    )


def test_the_tables_have_a_row_for_each_tensor(tmp_path: Path, call: Call) -> None:
    """By hand: 3 · 4 and 5 twice, the second not trained."""
    spec = {"input": 4, "layers": [{"external": {"W": [3, 4], "b": [5]}, "repeat": 2, "trainable": {"b": False}}]}
    path = file_at(tmp_path / "net.yaml", yaml.safe_dump(spec))
    report = report_of(call, "count", path)
    assert (report["params"], report["trainable"]) == (34, 24)
    assert [[tensor["shape"], tensor["role"]] for tensor in report["layers"][1]["tensors"]] == [
        [[3, 4], "external"],
        [[5], "external"],
    ]
    rows = [*csv.DictReader(io.StringIO(call("count", path, "--tensors", "-f", "csv").out))]
    assert [row["tensor"] for row in rows] == ["W", "b", "W", "b", ""]
    assert sum(int(row["params"]) for row in rows[:-1]) == int(rows[-1]["params"]) == 34


BLOCK: Shapes = {"in_proj.weight": [6, 4], "A_log": [6, 2], "D": [6]}
FILE: Shapes = {
    **{f"backbone.layers.{number}.mixer.{name}": shape for number in range(11) for name, shape in BLOCK.items()},
    "backbone.norm_f.weight": [4],
    "head.weight": [9, 4],
    "head.bias": [9],
}
SPEC: dict[str, Any] = {
    "convention": "pytorch",
    "input": 4,
    "layers": [
        {
            "external": {f"mixer.{name}": shape for name, shape in BLOCK.items()},
            "repeat": 11,
            "path": "backbone.layers",
        },
        {"external": {"norm_f.weight": [4]}},
    ],
    "output": 9,
}


@pytest.mark.parametrize("trained", [True, False])
def test_its_tensors_are_found_in_a_model_file(tmp_path: Path, call: Call, trained: bool) -> None:
    """Below its path, of a list of modules with a number each, or by their names alone; trained or not, they are there.

    Without its D of 6 numbers, each of eleven blocks trains 24 + 12; the norm and the output train 4 + 9 · 4 + 9.
    """
    model = safetensors(tmp_path / "model.safetensors", FILE)
    block = SPEC["layers"][0] | ({} if trained else {"trainable": {"mixer.D": False}})
    path = file_at(tmp_path / "net.yaml", yaml.safe_dump(SPEC | {"layers": [block, SPEC["layers"][1]]}))
    assert report_of(call, "count", path)["trainable"] == 11 * (24 + 12 + 6 * trained) + 4 + 9 * 4 + 9
    result = call("check", path, "--model", model)
    assert (result.code, result.err) == (0, "")
    assert "36 checks" in result.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"D": [7]}, "external_1.mixer.D: expected (7), the file has (6) in backbone.layers.0.mixer.D"),
        ({"E": [7]}, "external_11.mixer.E: expected (7), and the file has no such tensor"),
        ({}, "backbone.layers.3.mixer.extra"),
    ],
)
def test_what_differs_in_a_model_file_is_named(tmp_path: Path, call: Call, change: Shapes, message: str) -> None:
    """With the place of the layer in the spec; a tensor that no layer has is unexpected."""
    others = {} if change else {"backbone.layers.3.mixer.extra": [2]}
    model = safetensors(tmp_path / "model.safetensors", FILE | others)
    block = {f"mixer.{name}": shape for name, shape in (BLOCK | change).items()}
    layers = [SPEC["layers"][0] | {"external": block}, SPEC["layers"][1]]
    path = file_at(tmp_path / "net.yaml", yaml.safe_dump(SPEC | {"layers": layers}))
    result = call("check", path, "--model", model)
    assert result.code == 1
    assert message in result.out + result.err


def test_it_is_made_in_python() -> None:
    """Of a mapping instead of a number."""
    layer = External({"W": (3, 4), "b": [5]}, trainable={"b": False}, outputs=2)
    network = Network(input=4, layers=[layer])
    assert (count(network).params, count(network).trainable, layer.params) == (17, 12, 17)
    assert layer.replace(outputs=3).tensors == (("W", (3, 4)), ("b", (5,)))
