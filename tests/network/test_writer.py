"""A network written as a spec is, read again, the same network."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network_of
from strategies import network as whole

from rnncalc import RNN, Network, load
from rnncalc.network.writer import spec_of
from rnncalc.spec import parse

SPECS = sorted((Path(__file__).parent.parent.parent / "specs").glob("*.yaml"))


def read_back(network: Network) -> Network:
    return network_of(spec_of(network))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_example_is_read_back(path: Path) -> None:
    network = load(path).replace(expect=None, budget=None, training=None)
    assert read_back(network) == network


@given(st.one_of(whole(), encoder_decoder()))
def test_whatever_the_network_it_is_read_back(spec: Spec) -> None:
    network = network_of(spec)
    assert read_back(network) == network


def test_a_model_is_read_back() -> None:
    """What its networks share is at the top."""
    inner = {"input": 4, "layers": [{"lstm": 3}]}
    other = {"convention": "keras", "input": 2, "layers": [{"rnn": 1}], "calls": 2}
    for networks in ({"a": inner, "b": other | {"convention": "pytorch"}}, {"a": inner, "b": other}):
        spec = {"name": "m", "source": "s", "convention": "pytorch", "networks": networks}
        model = parse(json.dumps(spec).encode(), "m").described
        data = spec_of(model)
        assert parse(json.dumps(data).encode(), "m").described.networks == model.networks
        assert ("convention" in data) == (networks["b"] != other)


def test_defaults_are_left_out() -> None:
    network = parse(
        b"{input: 4, layers: [{lstm: 3, bias: true}, {dropout: 0.5}], output: {units: 1, bias: false}}", "a.yaml"
    )
    assert spec_of(network.network) == {
        "name": "a",
        "input": 4,
        "layers": [{"lstm": 3}, {"dropout": 0.5}],
        "output": {"units": 1, "bias": False},
    }


@pytest.mark.parametrize(("rate", "written"), [(50, 50), (50.0, 50), (62.5, 62.5)])
def test_a_rate_is_whole_if_it_can_be(rate: float, written: float) -> None:
    found = spec_of(Network(input=2, layers=(RNN(3),), rate=rate))["rate"]
    assert (found, type(found)) == (written, type(written))
