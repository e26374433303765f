"""Networks over every option that a convention says it can express, for the frameworks to build."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rnncalc import Dense, Dropout, Embedding, Layer, Network, Output
from rnncalc.conventions import convention as row
from rnncalc.conventions import lacks
from rnncalc.layers import KINDS
from rnncalc.layers import kind as class_of
from rnncalc.layers.cell import Cell
from rnncalc.layers.options import OPTIONS, Choice, Switch
from rnncalc.network.stack import Placed

Shapes = dict[str, tuple[int, ...]]

CELLS: dict[str, Any] = {name: class_of(name) for name in KINDS if issubclass(class_of(name), Cell)}
del CELLS["conv_lstm"]  # it needs a space, and no layer that reads features: test_conv_lstm.py
"""The class of each kind of recurrent layer."""

ACTIVATIONS = ("tanh", "relu", "gelu", "sigmoid", "linear", "softmax")
PLACING = {"name", "units", "frozen", "repeat", "extra_inputs", "path", "initial_state", "dtype"}
"""What says which layer it is and where it is, not what is in it."""


def kinds_of(convention: str) -> list[str]:
    """Return the kinds of recurrent layer that a convention has."""
    return [name for name in CELLS if row(convention).arrays(name) is not None]


def values(kind: str, option: str, convention: str) -> list[Any]:
    """Return the values of an option, its default first, that the convention does not refuse."""
    default = CELLS[kind].defaults[option]
    allowed = OPTIONS[option].allowed
    others: tuple[object, ...] = (1,)
    if isinstance(allowed, Choice):
        others = tuple(allowed.words)
    elif isinstance(allowed, Switch):
        others = (True, False)
    candidates = [default, *(value for value in others if value not in (default, CELLS[kind].usual.get(option)))]

    def refused(value: Any) -> bool:
        chosen: dict[str, Any] = {option: value}
        return option in {refusal for refusal, _ in lacks(CELLS[kind](units=2, **chosen), convention)}

    return [value for value in candidates if not refused(value)]


def options_of(kind: str) -> list[str]:
    """Return the options of a kind that change what is in a layer; `projection` is a width, drawn with the units."""
    return [option for option in CELLS[kind].fields if option not in PLACING]


def only(layer: Layer, *known: str) -> None:
    """Raise if a layer asks for anything that the code which builds it does not know of."""
    usual = getattr(layer, "usual", {})
    defaults = {option: (value, usual.get(option)) for option, value in layer.defaults.items()}
    asked = {option for option, value in layer.values().items() if value not in defaults.get(option, ())}
    unknown = asked - PLACING - {*known}
    assert not unknown, f"{layer}: {unknown} not built"


@st.composite
def cells(draw: st.DrawFn, convention: str, most: int = 6) -> Cell:
    """Draw a recurrent layer."""
    kind = draw(st.sampled_from(kinds_of(convention)))
    units = draw(st.integers(1, most))
    chosen: dict[str, Any] = {}
    for option in options_of(kind):
        can = values(kind, option, convention)
        if option == "projection":
            if len(can) > 1 and units > 1 and draw(st.booleans()):
                chosen[option] = draw(st.integers(1, units - 1))
        elif option != "merge" or chosen["bidirectional"]:
            chosen[option] = draw(st.sampled_from(can))
    made: Cell = CELLS[kind](units=units, **chosen)
    return made


@st.composite
def networks(draw: st.DrawFn, convention: str, *, running: bool = False) -> Network:
    """Draw one to three recurrent layers with others among them; `running`: such as a pass can be compared of."""
    most = 4 if running else 6
    sizes = st.integers(1, most)
    dense = st.builds(Dense, sizes, bias=st.booleans(), activation=st.sampled_from(ACTIVATIONS))
    plain = st.one_of(dense, st.builds(Dropout, st.sampled_from([0, 0.5])))
    stack: list[Layer] = draw(st.lists(cells(convention, most), min_size=1, max_size=3))
    for layer in draw(st.lists(plain, max_size=2)):
        stack.insert(draw(st.integers(0, len(stack))), layer)
    if not running:
        stack = [layer.replace(extra_inputs=draw(st.integers(0, 2)), repeat=draw(st.integers(1, 2))) for layer in stack]
    if draw(st.booleans()):
        stack.insert(0, Embedding(draw(sizes)))
    return Network(
        input=draw(sizes),
        layers=tuple(stack),
        output=draw(st.none() | st.builds(Output, sizes, bias=st.booleans(), activation=st.sampled_from(ACTIVATIONS))),
        steps=draw(st.integers(1, 4)),
        topology=draw(st.sampled_from(["many-to-many", "many-to-one"])),
        convention=convention,
    )


def numbers(network: Network, seed: int) -> tuple[dict[str, Any], list[Any]]:
    """Return random weights and inputs, as `run` takes them; each is a number that float32 holds exactly."""
    random = np.random.default_rng(seed)

    def array(shape: tuple[int, ...], bound: float) -> Any:
        return random.uniform(-bound, bound, shape).astype(np.float32).astype(np.float64).tolist()

    weights = {
        place.name: {tensor.name: array(tensor.shape, 0.5) for tensor in place.tensors} for place in network.stack
    }
    first, steps = network.stack[0], network.steps or 1
    if isinstance(first.layer, Embedding):
        return weights, random.integers(first.inputs, size=steps).tolist()
    return weights, array((steps, first.inputs), 1.0)


def turn_of(network: Network) -> Placed | None:
    """Return the layer that outputs its final state alone: the last recurrent one, where one vector leaves."""
    if network.topology == "many-to-many":
        return None
    return [place for place in network.stack if isinstance(place.layer, Cell)][-1]


def one_option_at_a_time(convention: str) -> Iterator[tuple[str, Network]]:
    """Yield two stacked layers of every kind, plain and with every value of every option, one-way and bidirectional."""
    for kind in kinds_of(convention):
        changes: list[dict[str, Any]] = [{}]
        for option in options_of(kind):
            if option != "bidirectional":
                changes += [{option: value} for value in values(kind, option, convention)[1:]]
        ways = [change | {"bidirectional": True} for change in changes if "recurrent_activation" not in change]
        for chosen in [*(change for change in changes if "merge" not in change), *ways]:
            layer = CELLS[kind](units=3, **chosen)
            words = ", ".join(f"{option}={value}" for option, value in chosen.items())
            yield (
                f"{convention}-{kind}({words})",
                Network(
                    input=4,
                    layers=(layer, layer),
                    output=Output(2),
                    topology="many-to-many",
                    steps=4,
                    convention=convention,
                ),
            )
