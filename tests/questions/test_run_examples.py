"""`run` over the worked examples in `specs/`."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnncalc import Network, load
from rnncalc.bounds import MOST_MULTIPLY_ADDS
from rnncalc.layers.kinds import KINDS
from rnncalc.questions.run import run
from rnncalc.spec import parse

SPECS = sorted((Path(__file__).parent.parent.parent / "specs").glob("*.yaml"))
LARGE = [
    path
    for path in SPECS
    if load(path).params > 5_000_000 or any(math.prod(layer.grid) > 100 for layer in load(path).layers)
]
WIDTHS = {"input", "output", "units", "outputs", "extra_inputs", "projection", *KINDS} - {"dropout"}


def narrow(spec: Any) -> Any:
    """Return a spec with an eighth of every width; what is known of its counts is left out."""
    if isinstance(spec, list):
        return [narrow(below) if isinstance(below, dict) else max(1, below // 8) for below in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: max(1, below // 8) if key in WIDTHS and isinstance(below, int) else narrow(below)
        for key, below in spec.items()
        if key not in ("expect", "budget")
    }


def short(path: Path) -> Network:
    """Return the network of a spec, for two steps where it is large."""
    network = load(path)
    return load(path, steps=2) if network.params > 100_000 and not network.encoder else network


@pytest.mark.parametrize("path", [path for path in SPECS if path not in LARGE], ids=lambda path: path.stem)
def test_every_example_runs_and_agrees(path: Path) -> None:
    """The worked examples, all but the largest as they are."""
    assert run(short(path)).agrees


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.stem)
def test_the_largest_examples_run_and_agree_when_they_are_narrow(path: Path) -> None:
    """The same layers, options and halves, at an eighth of every width."""
    spec = yaml.safe_dump(narrow(yaml.safe_load(path.read_text(encoding="utf-8")))).encode()
    network = parse(spec, path.name).network
    assert [type(layer) for part in network.parts.values() for layer in part.layers] == [
        type(layer) for part in load(path).parts.values() for layer in part.layers
    ]
    assert network.params < load(path).params / 8
    assert run(network).agrees


@pytest.mark.slow
@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.stem)
def test_the_largest_examples_run_and_agree(path: Path) -> None:
    """At their full widths, whose weights alone may take longer to draw than a pass does by default."""
    assert run(short(path), most_multiply_adds=2 * MOST_MULTIPLY_ADDS).agrees
