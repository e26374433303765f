"""The worked examples in `specs/`."""

from pathlib import Path

import pytest

from rnncalc import load

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.yaml"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_spec_counts_what_its_source_says(path: Path) -> None:
    """Each example has a source, an expected total, and comes to it, layer by layer where it says so."""
    network = load(path)
    assert network.source
    assert network.expect
    assert network.expect.total == network.params
    if network.expect.layers:
        assert network.expect.layers == tuple(placed.params for placed in network.placed)


def test_there_is_an_example_of_every_topology() -> None:
    """Each topology has a file of its own."""
    topologies = {load(path).topology_name for path in SPECS}
    assert topologies == {"one-to-one", "one-to-many", "many-to-one", "many-to-many", "encoder-decoder"}
