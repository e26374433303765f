"""Which site is which layer: what the layers ask of a file, how far what is there is from it, and which is meant."""

from collections.abc import Sequence
from typing import Any

import pytest
from case_files import cases
from models.made import Shapes, cell, file, linear, module, shapes_of, site, tensor
from strategies import network_of

from rnncalc.errors import SpecError
from rnncalc.layers.layer import Embedding, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.models.files.model import FileModule
from rnncalc.models.matching import match
from rnncalc.models.pairing import distance, paired, spec_layers
from rnncalc.models.sites import sites_of
from rnncalc.network.network import Network
from rnncalc.network.parts import Part


@pytest.mark.parametrize(
    ("shapes", "far"),
    [
        (cell(4, 4, 3), 0),
        (cell(4, 9, 3), 1 / 8),  # four names, three of them in its shape: 1 - (3 + 4) / 8
        (cell(4, 9, 9), 1 / 2),
        (cell(4, 4, 3, bias=False), 1 / 2),  # two of four names
        ({**cell(4, 4, 3), **cell(4, 4, 3, mark="_reverse")}, 1 / 2),  # four of eight
        ({"weight_ih_l0": (12, 4)}, 3 / 4),
        ({"weight_ih_l0": (9, 9)}, 7 / 8),
        (linear(4, 12), None),
        ({**cell(4, 4, 3), "bias_ih_l0": (2, 12)}, 1 / 8),
        ({"weight_ih_l0": (12,), "bias_ih_l0": (12,)}, None),
        ({"weight_ih_l0": (12, 4, 1), "bias_ih_l0": (12,)}, None),
    ],
)
def test_how_far_tensors_are_from_a_layer(shapes: Shapes, far: float | None) -> None:
    """Half by their names and half by their shapes; without a name or a matrix in common, none."""
    (layer,) = spec_layers(Network(input=4, layers=[LSTM(3)], convention="pytorch"))
    assert distance(layer, site("pytorch", module("rnn", shapes))) == far


Paths = dict[str, tuple[str, int]]


def pairs(layers: Sequence[Layer], *modules: FileModule, input: int = 4, ordered: bool = True, **more: Any) -> Paths:
    """Return for each layer's name the path and number of the site it is paired with."""
    wanted = spec_layers(Network(input=input, layers=layers, convention="pytorch", **more))
    found = paired(wanted, sites_of(file("pytorch", *modules)), ordered=ordered)
    assert len({id(site) for site in found.values()}) == len(found)
    return {wanted[place].name: (site.path, site.number) for place, site in sorted(found.items())}


def modules(**of: Shapes) -> list[FileModule]:
    """Return modules of these paths; `__` is a point in them."""
    return [module(path.replace("__", "."), shapes) for path, shapes in of.items()]


SAME = {"a": cell(4, 4, 4), "b": cell(4, 4, 4)}


@pytest.mark.parametrize("case", cases("models/pairings.yaml"), ids=lambda case: str(case["modules"]))
def test_which_site_is_which_layer(case: dict[str, Any]) -> None:
    """By its path, its name, its shapes and its order; where it may be several, that is said."""
    part = {} if "decoder" in case else {"input": 4}
    network = network_of({"convention": "pytorch"} | part | {key: case[key] for key in case.keys() & {*Network.fields}})
    modules = [module(path, shapes_of(shapes)) for path, shapes in case["modules"].items()]
    stored = file(network.convention, *modules, ordered=case.get("ordered", True))
    if "problem" in case:
        with pytest.raises(SpecError) as caught:
            match(network, stored)
        assert str(caught.value) == case["problem"]
        return
    sites = match(network, stored).sites
    assert len({id(site) for site in sites.values()}) == len(sites)
    assert {name: f"{site.path} {site.number}" for name, site in sites.items()} == case["pairs"]


def test_a_table_is_told_from_a_matrix_behind_what_fits_in_part() -> None:
    """In a decoder, whose encoder has another width in the file."""
    there = modules(enc=cell(4, 7, 4), fc={"weight": (9, 4)}, emb={"weight": (9, 4)}, dec=cell(4, 4, 4))
    decoder = Part(9, (Embedding(4), LSTM(4)), Output(9, bias=False))
    network = Network(encoder=Part(5, (LSTM(4),)), decoder=decoder, convention="pytorch")
    found = paired(spec_layers(network), sites_of(file("pytorch", *there)), ordered=True)
    assert [found[place].path for place in range(4)] == ["enc", "emb", "dec", "fc"]


def test_what_is_used_once_more_is_not_meant() -> None:
    """Of two modules with the same numbers the first has them, and there is nothing to choose."""
    there = module("z", SAME["a"]), module("a", SAME["a"], shared_with="z")
    assert pairs([LSTM(4)], *there) == {"lstm_1": ("z", 0)}
    assert pairs([LSTM(4), LSTM(4)], *there) == {"lstm_1": ("z", 0), "lstm_2": ("a", 0)}


def test_what_shares_the_tables_matrix_is_found_wherever_it_stands() -> None:
    """Before a cell that fits in part too; an output that is tied in the file alone, and has nothing of its own."""
    shared = tensor("fc.weight", (9, 4), shared_with="emb.weight")
    for own, output in (({"bias": tensor("fc.bias", (9,))}, Output(9, tied=True)), ({}, Output(9, bias=False))):
        there = (
            module("emb", {"weight": (9, 4)}),
            FileModule("fc", {"weight": shared, **own}),
            module("a", cell(4, 7, 4)),
        )
        found = pairs([Embedding(4), LSTM(4)], *there, input=9, output=output)
        assert found == {"embedding_1": ("emb", 0), "lstm_1": ("a", 0), "output": ("fc", 0)}


@pytest.mark.parametrize(("count", "meant"), [(400, 1), (401, 0)])
def test_many_that_fit_in_part_are_paired_as_they_stand(count: int, meant: int) -> None:
    """Of more than four hundred, on either side, not each is compared with each: the first may be the first."""
    others = [module(f"fc{number}", linear(1, 1)) for number in range(count - 2)]
    sites = [module("rnn0", cell(4, 9, 9)), module("rnn1", cell(4, 9, 2)), *others]
    assert pairs([LSTM(2)], *sites, input=1) == {"lstm_1": (f"rnn{meant}", 0)}
    near = module("a", cell(4, 3, 2, bias=False))
    assert pairs([LSTM(3), LSTM(2, repeat=count - 1)], near, input=2) == {f"lstm_{meant + 1}": ("a", 0)}
    assert pairs([LSTM(2, repeat=401)], module("fc", linear(1, 1)), module("a", cell(4, 1, 1)), input=2) == {
        "lstm_2": ("a", 0)
    }
