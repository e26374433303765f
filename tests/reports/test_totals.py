"""Rows sum to totals: in every format, for every column of numbers, for frozen networks and for encoder-decoders."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable

import pytest
from conftest import Call, written
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, fitting, network, network_of

from rnncalc import count, run, training
from rnncalc.formats import offered
from rnncalc.layers.options import DTYPES
from rnncalc.questions.compare import compare_conventions
from rnncalc.reports.compare import AllocationReport
from rnncalc.reports.count import CountReport
from rnncalc.reports.run import RunReport
from rnncalc.reports.training import TrainingReport

Number = int | None
Columns = dict[str, tuple[list[Number], Number]]
"""The columns of numbers: the rows', and the total."""

UNKNOWN = ("", "–")

FOR_PEOPLE = ("table", "markdown", "html", "latex")
"""The formats in which the halves of a network have a column."""


def number(text: str) -> Number:
    text = text.strip(" *")
    return None if text in UNKNOWN else int(text.replace(",", ""))


def columns(header: list[str], rows: Iterable[list[str]], first: int) -> Columns:
    """Return the columns from the `first` on, of rows of which the last is the total."""
    *body, total = rows
    places = range(first - len(header), 0)
    return {header[place]: ([number(row[place]) for row in body], number(total[place])) for place in places}


def in_table(text: str, first: int) -> list[Columns]:
    """Return the columns of each table; cells are two spaces apart."""
    found = []
    for header, body, total in re.findall(r"\n\n([^\n]+)\n─+\n(.*?)\n─+\n(Total[^\n]*)", text, re.DOTALL):
        cells = [re.split(r"\s{2,}", line) for line in (header, *body.splitlines(), total)]
        found.append(columns(cells[0], cells[1:], first))
    return found


def in_markdown(text: str, first: int) -> list[Columns]:
    found: list[list[list[str]]] = []
    above = ""
    for line in text.splitlines():
        if line.startswith("|"):
            found += [] if above.startswith("|") else [[]]
            found[-1].append(line.removeprefix("| ").removesuffix(" |").split(" | "))
        above = line
    return [columns(header, rows, first) for header, _, *rows in found]


def in_latex(text: str, first: int) -> list[Columns]:
    """Return the columns of each table between its rules."""
    found = []
    for table in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.DOTALL):
        lines = (line.removesuffix(r" \\") for line in table.splitlines() if line != r"\midrule")
        header, *rows = [line.replace("--", "–").split(" & ") for line in lines]
        found.append(columns(header, rows, first))
    return found


def in_csv(text: str, first: int) -> list[Columns]:
    header, *rows = csv.reader(io.StringIO(text))
    return [columns(header, rows, first)]


def in_json(text: str, _: int) -> list[Columns]:
    (report,) = json.loads(text)["reports"]
    keys = ("params", "trainable", "multiply_adds", "multiply_adds_per_step", "bytes")
    return [{key: ([layer[key] for layer in report["layers"]], report[key]) for key in keys}]


def in_html(text: str, first: int) -> list[Columns]:
    """Return the columns of each table of a page, which is XML."""
    found = []
    for table in ET.fromstring(text.partition("\n")[2]).iter("table"):
        header, *rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
        found.append(columns(header, rows, first))
    return found


READERS: dict[str, tuple[Callable[[str, int], list[Columns]], int, int]] = {
    "table": (in_table, 5, 4),
    "markdown": (in_markdown, 5, 4),
    "html": (in_html, 5, 4),
    "latex": (in_latex, 5, 4),
    "csv": (in_csv, 10, 8),
    "json": (in_json, 0, 0),
}
"""How each format is read, and the first column of numbers in its rows of layers, and in its rows of tensors."""


def test_every_format_of_a_count_is_read_here() -> None:
    """So that no format is without its sums."""
    assert {*READERS} == {*offered(CountReport)}


NETWORKS = st.one_of(network(), encoder_decoder())
FROZEN: Spec = {
    "input": 4,
    "steps": 3,
    "layers": [{"lstm": 5, "frozen": True, "repeat": 3}, {"lstm": 5}, {"lstm": 5}, {"gru": 2, "repeat": 2}],
    "output": 1,
}
HALVES: Spec = {
    "encoder": {"input": 4, "steps": 3, "layers": [{"gru": 5, "frozen": True, "bidirectional": True}]},
    "decoder": {"input": 4, "steps": 2, "layers": [{"gru": 10}], "output": 3},
}


def check(found: Columns) -> None:
    """Hold the sums of the rows against the total; a total is not known exactly when a row is not."""
    assert found
    for title, (rows, total) in found.items():
        assert total == (None if None in rows else sum(row for row in rows if row is not None)), title


@pytest.mark.broad
@pytest.mark.parametrize("form", READERS)
@given(NETWORKS)
@example(FROZEN)
@example(HALVES)
def test_layers_sum_to_the_network(form: str, spec: Spec) -> None:
    """Parameters, trainable and frozen ones, multiply-adds and bytes."""
    counted = count(network_of(spec))
    reader, first, _ = READERS[form]
    halves = form in FOR_PEOPLE and "encoder" in spec
    (found,) = reader(written(CountReport(counted, cost=True), form), first + halves)
    check(found)
    frozen = counted.trainable != counted.params
    word = "Non-trainable" if counted.network.convention == "keras" else "Frozen"
    if form in FOR_PEOPLE:
        assert (word in found) == ("Trainable" in found) == frozen
        assert {"Parameters", "Bytes"} <= {*found}
    title = "Parameters" if "Parameters" in found else "params"
    assert found[title][1] == counted.params == counted.network.params
    assert counted.params - counted.trainable == (found[word][1] if word in found else 0) or title == "params"


def training_in_json(text: str) -> Columns:
    (report,) = json.loads(text)["reports"]
    return {key: ([each[key] for each in report["layers"]], report["training"][key]) for key in TrainingReport.columns}


@pytest.mark.broad
@pytest.mark.parametrize("form", READERS)
@given(NETWORKS, st.booleans(), st.none() | st.integers(1, 3))
@example(FROZEN, True, 2)
@example(HALVES, False, None)
def test_what_training_takes_sums_to_the_network(form: str, spec: Spec, cost: bool, chunk: int | None) -> None:
    """Gradients, saved activations and multiply-adds both ways, beside the parameters."""
    network = network_of(spec)
    counted, totals = count(network), training(network, chunk=fitting(chunk, network))
    text = written(TrainingReport(CountReport(counted, cost=cost), totals), form)
    if form == "json":
        found = training_in_json(text)
    elif form not in FOR_PEOPLE:
        (found,) = READERS[form][0](text, READERS[form][1])
    else:
        (found,) = READERS[form][0](text, 2 - cost + ("encoder" in spec))
    check(found)
    shown = [found[title][1] for title in ("saved", "Saved activations") if title in found]
    shown += [found[title][1] for title in ("backward_multiply_adds", "Backward") if title in found]
    numbers = [totals.saved, totals.backward_multiply_adds]
    assert shown == numbers or (numbers == [None, None] and not shown and form in FOR_PEOPLE)  # no column of –
    if form in FOR_PEOPLE:
        assert ("Gradients" in found) == (counted.trainable != counted.params)
        known = any(placed.multiply_adds is not None for placed in counted.network.stack)
        assert ("Forward" in found) == (cost and known)


@pytest.mark.broad
@pytest.mark.parametrize("form", ["table", "markdown", "html", "latex", "csv"])
@given(NETWORKS)
@example(FROZEN)
@example(HALVES)
def test_tensors_sum_to_the_network(form: str, spec: Spec) -> None:
    """The table of the tensors is before that of their roles."""
    counted = count(network_of(spec))
    reader, _, first = READERS[form]
    halves = form in FOR_PEOPLE and "encoder" in spec
    text = written(CountReport(counted, tensors=True), form)
    if not any(layer.tensors for layer in counted.layers):
        return
    text = text[text.find("Tensors") :] if form in ("table", "markdown", "latex") else text
    text = re.sub("<section>.*?</section>", "", text, count=1, flags=re.DOTALL)
    found, *_ = reader(text, first + halves)
    check(found)
    assert counted.params in [total for _, total in found.values()]


@given(NETWORKS)
@example(FROZEN)
def test_tensors_sum_to_layers_in_json(spec: Spec) -> None:
    """Every layer to its tensors, the dense equivalent to its layers."""
    (report,) = json.loads(written(CountReport(count(network_of(spec))), "json"))["reports"]
    for layer in report["layers"]:
        assert layer["params"] == sum(tensor["params"] for tensor in layer["tensors"])
        assert layer["bytes"] == DTYPES[layer["dtype"]] * layer["params"]
        names = [tensor["name"] for tensor in layer["tensors"]]
        assert len(names) == len({*names})
    if report["dense"]:
        assert report["dense"]["params"] == sum(layer["params"] for layer in report["dense"]["layers"])


@given(NETWORKS, NETWORKS)
def test_what_keys_there_are_does_not_depend_on_the_data(one: Spec, other: Spec) -> None:
    """Whatever is known of a network, and whatever layers it has."""
    reports = [json.loads(written(CountReport(count(network_of(spec))), "json"))["reports"][0] for spec in (one, other)]
    assert reports[0].keys() == reports[1].keys()
    layers = [layer.keys() for report in reports for layer in report["layers"]]
    assert all(layer == layers[0] for layer in layers)
    tensors = [tensor.keys() for report in reports for layer in report["layers"] for tensor in layer["tensors"]]
    assert all(tensor == tensors[0] for tensor in tensors)


@given(NETWORKS)
@example(FROZEN)
@example(HALVES)
def test_every_convention_sums(spec: Spec) -> None:
    """The column of each convention in CSV, its row in a table; one that cannot express the network has none."""
    report = AllocationReport(compare_conventions(network_of(spec)))
    (found,) = in_csv(written(report, "csv"), 4)
    check(found)
    lines = [re.split(r" *\| *", line)[1:-1] for line in written(report, "markdown").splitlines()]
    rows = {
        cells[0]: [int(cell.replace(",", "")) for cell in cells[1:-2]]
        for cells in lines
        if cells[:1] != ["---"] and cells and cells[0] in found
    }
    assert {name: row[-1] for name, row in rows.items()} == {
        name: total for name, (_, total) in found.items() if total is not None
    }
    assert all(sum(row) == 2 * row[-1] for row in rows.values() if len(row) > 1)
    (data,) = json.loads(written(report, "json"))["reports"]
    assert {
        name: ([layer["params"][name] for layer in data["layers"]], total) for name, total in data["params"].items()
    } == found


@given(st.one_of(network(steps=True), encoder_decoder()))
def test_what_a_pass_did_sums(spec: Spec) -> None:
    """Weights, weights read and multiplications; a part counted elsewhere has none."""
    done = run(network_of(spec))
    text = written(RunReport(done, verify=True), "markdown")
    (found,) = in_markdown(text, 3)
    assert [*found] == ["Weights", "Weights read", "Multiplications"]
    for rows, total in found.values():
        assert total == sum(row or 0 for row in rows)


@given(NETWORKS)
@example(FROZEN)
def test_the_layers_of_a_count_sum_to_it(spec: Spec) -> None:
    """What is not known of one is not known of the whole."""
    counted = count(network_of(spec))
    assert [layer.name for layer in counted.layers] == [placed.name for placed in counted.network.stack]
    for key in ("params", "trainable", "multiply_adds", "multiply_adds_per_step"):
        each = [getattr(layer, key) for layer in counted.layers]
        assert getattr(counted, key) == (None if None in each else sum(each))


def test_a_total_of_csv_tells_frozen_parameters_apart(call: Call) -> None:
    """An embedding of 12 frozen ones and 3 × (2 + 3 + 1) = 18 that are trained are 30, of which 18 are."""
    out = call("-i", 6, "-l", "embedding:2,frozen", "-l", "rnn:3", "-f", "csv").out
    *rows, total = csv.DictReader(io.StringIO(out))
    assert [(row["params"], row["trainable"]) for row in rows] == [("12", "0"), ("18", "18")]
    assert (total["params"], total["trainable"]) == ("30", "18")
