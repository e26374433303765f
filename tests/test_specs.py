"""The worked examples in `specs/`: its own, and a folder of each convention's."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call

from rnncalc import Layer, Network, load, load_model, run, training
from rnncalc.bounds import MOST_MULTIPLY_ADDS
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.questions.price import cost_of, refuse_pass
from rnncalc.questions.run import with_steps_to_run
from rnncalc.spec import parse

FOLDER = Path(__file__).parent.parent / "specs"
MODELS = sorted((FOLDER / "several").glob("*.yaml"))
"""Those of several networks."""

SPECS = sorted({*FOLDER.rglob("*.yaml")} - {*MODELS})


def name_of(path: Path) -> str:
    return str(path.relative_to(FOLDER).with_suffix(""))


@pytest.mark.parametrize("path", SPECS + MODELS, ids=name_of)
def test_a_spec_counts_what_its_source_says(path: Path) -> None:
    """Each example has a source, an expected total, and comes to it, layer by layer where it says so."""
    network: Any = load_model(path) if path in MODELS else load(path)
    assert network.source
    assert network.expect
    assert network.expect.total == network.params
    if network.expect.layers:
        assert network.expect.layers == tuple(placed.params for placed in network.stack)
    if network.expect.saved is not None or network.expect.backward_multiply_adds is not None:
        totals = training(network)
        assert network.expect.saved in (None, totals.saved)
        assert network.expect.backward_multiply_adds in (None, totals.backward_multiply_adds)


def test_there_is_an_example_of_training() -> None:
    """With its update, and both numbers that are expected of it."""
    networks = [load(path) for path in SPECS]
    wanted = [each.expect for each in networks if each.training and each.expect]
    assert any(None not in (of.saved, of.backward_multiply_adds) for of in wanted)


LARGE = [path for path in SPECS if cost_of(with_steps_to_run(load(path))) > 1_000_000]
WIDTHS = {
    "input",
    "output",
    "units",
    "outputs",
    "extra_inputs",
    "projection",
    "initial_state",
    "recurrent_rank",
    *KINDS,
} - {"dropout"}


def eighth(width: Any) -> Any:
    return width and max(1, width // 8) if type(width) is int else narrow(width)


def narrow(spec: Any) -> Any:
    """Return a spec with an eighth of every width; what is known of its counts is left out."""
    if isinstance(spec, list):
        return [eighth(below) for below in spec]
    if not isinstance(spec, dict):
        return spec
    kept = {key: below for key, below in spec.items() if key not in ("expect", "budget")}
    if sizes := kept.get("sizes"):
        kept["sizes"] = {name: eighth(size) for name, size in sizes.items()}
    return {key: eighth(below) if key in WIDTHS else narrow(below) for key, below in kept.items()}


def kinds_of(network: Network) -> list[type[Layer]]:
    return [type(layer) for part in network.parts.values() for layer in part.layers]


@pytest.mark.parametrize("path", SPECS, ids=name_of)
def test_a_spec_runs_as_it_is_declared(path: Path) -> None:
    """A pass reads the weights, has the shapes and does the work of the count.

    Of a large spec with the same layers, options and halves, at an eighth of every width.
    """
    network = load(path)
    if path in LARGE:
        text = yaml.safe_dump(narrow(yaml.safe_load(path.read_text(encoding="utf-8"))))
        smaller = parse(text.encode(), path.name).network
        assert kinds_of(smaller) == kinds_of(network)
        assert smaller.params < network.params / 6
        network = smaller
    assert run(network).agrees


@pytest.mark.parametrize("path", LARGE, ids=name_of)
def test_a_large_spec_is_not_refused_by_the_defaults(path: Path) -> None:
    """What it takes is within the limit of a call that names none."""
    refuse_pass(with_steps_to_run(load(path), None), MOST_MULTIPLY_ADDS)


def test_there_is_an_example_of_every_topology() -> None:
    """Each topology has a file of its own."""
    topologies = {load(path).topology_name for path in SPECS}
    assert topologies == {"one-to-one", "one-to-many", "many-to-one", "many-to-many", "encoder-decoder"}


def test_there_is_an_example_of_every_row() -> None:
    """Each cell of each convention has a file, in the folder of the convention where that is no textbook's."""
    rows = {(name, of) for name in CONVENTIONS for of in KINDS if convention(name).arrays(of) and is_cell(of)}
    networks = [(path, load(path)) for path in SPECS]
    found = {
        (network.convention, layer.kind) for _, network in networks for layer in network.layers if is_cell(layer.kind)
    }
    assert rows <= found
    assert all(path.parent.name in ("specs", "letters", network.convention) for path, network in networks)


def is_cell(name: str) -> bool:
    return issubclass(kind(name), Cell)


def test_the_folder_is_checked_at_once(call: Call) -> None:
    """All of them keep what they expect."""
    result = call("check", FOLDER, "--strict")
    assert result.code == 0, result.out
