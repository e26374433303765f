"""At most 1,000 layers after `repeat` in each half, however they are written; more are refused in one located line."""

import ast
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, file_at
from sources import PACKAGE, sources

from rnncalc import RNN, Dropout, Network, Output, Part, SpecError

MESSAGE = "expected at most 1,000 layers after repeat, got 1,001; stack fewer"
STACKS = [(RNN(3, repeat=1_000),), (RNN(3),) * 1_000, (RNN(3, repeat=600), Dropout(0.5), RNN(3, repeat=399))]


@pytest.mark.parametrize("layers", STACKS)
def test_a_thousand_layers_are_a_network(layers: tuple[Any, ...]) -> None:
    """The output layer is not one of them; one more is refused."""
    net = Network(input=4, layers=layers, output=2)
    assert len(net.stack) == 1_001
    with pytest.raises(SpecError) as caught:
        Network(input=4, layers=(*layers, RNN(3)), output=2)
    assert str(caught.value) == f"layers: {MESSAGE}"


def test_each_half_has_a_thousand() -> None:
    """Two thousand in all; the half that has more is named, both if both have."""
    half = Part(4, (RNN(3, repeat=1_000),))
    long = Part(4, (RNN(3, repeat=1_001),))
    net = Network(encoder=half, decoder=half._replace(output=Output(2)))
    assert len(net.stack) == 2_001
    for encoder, decoder, wrong in ((long, half, "encoder"), (half, long, "decoder")):
        with pytest.raises(SpecError) as caught:
            Network(encoder=encoder, decoder=decoder)
        assert str(caught.value) == f"{wrong}.layers: {MESSAGE}"
    with pytest.raises(SpecError) as caught:
        Network(encoder=long, decoder=long)
    assert len(caught.value.problems) == 2


def test_flags_and_a_long_list_are_refused_alike(call: Call, tmp_path: Path) -> None:
    """A list is refused by its length alone: what is wrong in it further on is not looked for."""
    assert call("-i", 4, "-l", "rnn:3,repeat=1001") == (2, "", f"--layer: {MESSAGE}\n")
    assert call("-i", 4, *["-l", "rnn:3"] * 1_001) == (2, "", f"--layer: {MESSAGE}\n")
    path = file_at(tmp_path / "long.yaml", "input: 4\nlayers:\n" + "- rnn: 3\n" * 1_000 + "- rnn: xx\n")
    assert call(path) == (2, "", f"{path}:3:1: layers: {MESSAGE}\n")


def test_every_bound_has_its_reason_and_is_held() -> None:
    """A text behind it, and a module that uses it."""
    _, *body = ast.parse((PACKAGE / "bounds.py").read_text("utf-8")).body
    names = []
    for bound, reason in zip(body[::2], body[1::2], strict=True):
        assert isinstance(bound, ast.Assign)
        assert isinstance(reason, ast.Expr)
        names += [name.id for name in ast.walk(bound) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]
    used = {
        name
        for parts in sources().values()
        for name in [
            *(each for module, names in parts.imports if module == "rnncalc.bounds" for each in names),
            *(name for of, name in parts.attributes if of == "bounds" and name.isupper()),
        ]
    }
    assert used == {*names}
