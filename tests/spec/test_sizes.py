"""Sizes with names: a spec that names its sizes is the spec with the numbers written out."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import file_at, written
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import SpecError, compare, count, exercise, explain, load, training
from rnncalc.formats import FORMATS
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import Size
from rnncalc.network.writer import spec_of
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.shapes import shapes
from rnncalc.questions.solve import resized
from rnncalc.questions.stream import stream
from rnncalc.questions.vary import sizes_of
from rnncalc.reports.beside import ShapesReport, StreamReport
from rnncalc.reports.compare import ComparisonReport
from rnncalc.reports.count import CountReport
from rnncalc.reports.draw import Drawing
from rnncalc.reports.explain import ExplanationReport
from rnncalc.reports.operations import OperationsReport
from rnncalc.reports.training import TrainingReport

REPORTS = (
    lambda network: CountReport(count(network), tensors=True, cost=True, dense=True),
    lambda network: ShapesReport(CountReport(count(network)), shapes(network)),
    lambda network: StreamReport(CountReport(count(network)), stream(network)),
    lambda network: OperationsReport(CountReport(count(network)), pass_operations(network)),
    lambda network: TrainingReport(CountReport(count(network)), training(network)),
    lambda network: ComparisonReport(compare(network)),
    lambda network: ExplanationReport(explain(network)),
    Drawing,
)
KEYS = {"input", "steps", "output", "units"}


def is_size(key: str) -> bool:
    """Return whether the number under a key is a size: that of a network, of a kind, or an option."""
    if key in KINDS:
        return bool(kind(key).number) and isinstance(kind(key).option(kind(key).number).allowed, Size)
    option = kind("lstm").known_option(key) or kind("conv1d").known_option(key)
    return key in KEYS or (option is not None and isinstance(option.allowed, Size))


@st.composite
def named(draw: st.DrawFn) -> tuple[Spec, Spec]:
    """Draw a spec, and the same one with names and expressions for some of its sizes."""
    spec = draw(st.one_of(network(), encoder_decoder()))
    sizes: dict[str, Any] = {"A": draw(st.integers(1, 9)), "Z": "A*2"}

    def renamed(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {below: renamed(below, each) for below, each in value.items()}
        if isinstance(value, list):
            return [renamed(key, each) for each in value]
        if not isinstance(value, int) or isinstance(value, bool) or not is_size(key) or not value:
            return value
        name = f"N_{len(sizes)}"
        way = draw(st.sampled_from(["number", "name", "product", "quotient", "sum", "of others"]))
        if way == "number":
            return value
        sizes[name] = {"name": value, "product": value, "quotient": 3 * value, "sum": value + 5}.get(way, value)
        if way == "of others":
            sizes[name] = f"(Z - A - A) + {value}*Z/(A + A)"
        return {"product": f"1*{name}", "quotient": f"{name}/3", "sum": f"{name} - (2 + 3)"}.get(way, name)

    return spec, {"sizes": sizes} | {key: renamed(key, value) for key, value in deepcopy(spec).items()}


@given(named())
def test_it_is_the_same_network(specs: tuple[Spec, Spec]) -> None:
    """Its parts are equal, its layers have the same tensors, and each formula has the value of the count."""
    plain, with_names = map(network_of, specs)
    assert with_names.parts == plain.parts
    for one, other in zip(plain.stack, with_names.stack, strict=True):
        assert (one.params, one.tensors, one.substituted) == (other.params, other.tensors, other.substituted)
        assert value_of(other.formula, {**other.sizes, **(with_names.sizes or {})}) == one.params


def value_of(formula: str, sizes: dict[str, Any]) -> Any:
    """Return the value of a formula, read by Python: what is next to a bracket or a number is multiplied."""
    text = re.sub(r" [·×] |·", "*", formula).replace("−", "-")
    text = re.sub(r"(?<=[0-9])(?=[A-Za-z(])(?<![A-Za-z]_.)|(?<=[\w)])(?=\()", "*", text)
    return eval(re.sub(r"_\*?", "_", text), {}, sizes)


@pytest.mark.broad
@given(named())
def test_every_report_is_the_same(specs: tuple[Spec, Spec]) -> None:
    """In every format, where formulas have the layers' own letters."""
    plain, with_names = map(network_of, specs)
    for make in REPORTS:
        one, other = make(plain), make(with_names.replace(sizes=None))
        for name, form in FORMATS.items():
            if form.can_write(type(one)):
                assert written(one, name) == written(other, name), name


@given(named())
def test_its_spec_is_written_with_its_names(specs: tuple[Spec, Spec]) -> None:
    """What is written of it is read as the same network, and so is that of its parts with the numbers alone."""
    plain, with_names = map(network_of, specs)
    written = yaml.safe_load(yaml.safe_dump(spec_of(with_names)))
    assert network_of(written) == with_names
    assert {*written["sizes"]} == {*specs[1]["sizes"]}
    assert network_of(written).parts == network_of(spec_of(plain)).parts


@given(st.integers(1, 40), st.integers(1, 40))
def test_another_number_gives_the_spec_with_that_number(one: int, other: int) -> None:
    """What is made of the name follows it."""
    layers = [{"lstm": "E"}, {"gru": "(E + D)/3"}, {"dense": "D*q + E"}]
    spec = {"sizes": {"E": "2*D", "D": one}, "input": "D", "layers": layers, "output": 3}
    changed = resized(network_of(spec), [sizes_of(network_of(spec))["D"]], other)
    assert changed.parts == network_of(spec | {"sizes": {"E": "2*D", "D": other}}).parts
    assert changed.sizes == {"D": other, "E": 2 * other}


def test_python_gives_other_sizes(tmp_path: Path) -> None:
    """As `--set` does, and with its messages."""
    path = file_at(tmp_path / "net.yaml", "sizes: {D: 4, E: 2*D}\ninput: D\nlayers: [lstm: E]\n")
    network = load(path, sizes={"D": 5})
    assert (network.params, network.sizes) == (4 * 10 * (5 + 10 + 1), {"D": 5, "E": 10})
    assert load(path, sizes={"E": "D - 1"}).params == 4 * 3 * (4 + 3 + 1)
    with pytest.raises(SpecError, match=r"^sizes: F: the spec has no such size; its sizes are D or E$"):
        load(path, sizes={"F": 5})
    copied = deepcopy(network)
    assert (copied, count(copied).layers[0].formula) == (network, "4E(D + E + 1)")


def test_an_exercise_draws_a_named_size(tmp_path: Path) -> None:
    """All its layers follow."""
    path = file_at(tmp_path / "net.yaml", "sizes: {D: 4, E: 2*D}\ninput: D\nlayers: [lstm: E]\n")
    for each in exercise(load(path), vary={"D": range(3, 9), "lstm_1.extra_inputs": range(4)}, variants=6).exercises:
        inputs: Any = each.network.input
        layer: Any = each.network.layers[0]
        assert layer.units == 2 * inputs
        assert each.right_answer == 8 * inputs * (inputs + layer.extra_inputs + 2 * inputs + 1)
