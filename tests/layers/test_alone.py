"""Each kind of layer as the only one of a network: every report has the same shape of its output."""

import json
from math import prod
from typing import Any

import pytest
from conftest import Call

from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell

NEEDED = {"kernel": 3, "space": 4, "feed_forward": 3}


def alone(name: str) -> str:
    """Return the layer in flags, with the options that it needs."""
    layer = kind(name)
    number = f"{name}:{'0.5' if name == 'dropout' else 2}" if layer.number else name
    needed = [f"{option}={size}" for option, size in NEEDED.items() if option in layer.options()]
    return ",".join([number, *needed])


def report(call: Call, command: str, *words: Any) -> dict[str, Any]:
    result = call(command, *words, "-f", "json")
    assert result.code == 0, result.err
    (found,) = json.loads(result.out)["reports"]
    return dict(found)


@pytest.mark.parametrize("name", [name for name in KINDS if not kind(name).time.begins])
@pytest.mark.parametrize("steps", [(), ("-T", 6)])
def test_a_sequence_without_a_last_step_stays_one(name: str, steps: tuple[Any, ...], call: Call) -> None:
    """Only a recurrent layer, and a layer that ends the sequence, leave one vector."""
    words = ("-i", 8, "-l", alone(name), *steps)
    if kind(name).time.ends and not steps and call("count", *words).code == 2:
        return  # a flatten needs the number of steps
    counted = report(call, "count", *words)
    one = issubclass(kind(name), Cell) or kind(name).time.ends
    shape = counted["layers"][0]["output_shape"]
    assert counted["topology"] == ("many-to-one" if one else "many-to-many")
    assert len(shape) == (1 if one else 2) + (name == "conv_lstm")
    if steps and name != "external":
        ran = report(call, "run", *words)
        assert ran["agrees"]
        assert prod(ran["layers"][0]["shape"]) == prod(shape)  # of a space, the numbers of a step are side by side
