"""What a backward pass was seen to save and multiply is what is counted, where that is hardest to count.

Equal layers of which the first has nothing trained below it, directions that stop in different chunks, tables that a
frozen output shares, states that frozen encoders hand over, networks without a recurrent layer.
"""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import SMALL, Spec, encoder_decoder, network, network_of

from rnncalc import Network, RefusedError, SpecError, training
from rnncalc.conventions import CONVENTIONS
from rnncalc.forward.arrays import PassData
from rnncalc.forward.backward_pass import backward_pass, the_sum
from rnncalc.layers import KINDS
from rnncalc.layers.layer import External

KIND = st.sampled_from([kind for kind in KINDS if kind not in ("dense", "embedding", "dropout", "external")])
STEPS = st.integers(1, 11)
TOPOLOGY = st.sampled_from(["many-to-one", "many-to-many", "one-to-many"])
ACTIVATION = st.sampled_from(["linear", "softmax", "tanh"])


@st.composite
def frozen(draw: st.DrawFn, layer: Spec) -> Spec:
    """Draw whether a layer is."""
    return layer | ({"frozen": True} if draw(st.booleans()) else {})


@st.composite
def cell(draw: st.DrawFn, /, units: int, **others: Any) -> Spec:
    """Draw a recurrent layer that outputs as many numbers as it has units."""
    layer = draw(frozen({draw(KIND): units})) | others
    if draw(st.booleans()):
        layer["bias"] = False
    if draw(st.booleans()):
        layer |= {"bidirectional": True, "merge": draw(st.sampled_from(["sum", "mul", "ave"]))}
    return layer


@st.composite
def tied(draw: st.DrawFn) -> Spec:
    """Draw a language model whose output shares its table."""
    output = draw(frozen({"units": 6, "tied": True, "activation": draw(ACTIVATION), "bias": draw(st.booleans())}))
    layers = [draw(frozen({"embedding": 4})), draw(cell(4, repeat=draw(st.integers(1, 3))))]
    return {"input": 6, "steps": draw(STEPS), "topology": draw(TOPOLOGY), "layers": layers, "output": output}


@st.composite
def halves(draw: st.DrawFn) -> Spec:
    """Draw an encoder-decoder of several equal layers, one by one or repeated, in one direction or both."""
    runs = draw(st.lists(st.tuples(KIND, st.integers(1, 4), st.booleans()), min_size=1, max_size=3))

    def half() -> Spec:
        layers: list[Spec] = []
        for kind, copies, both in runs:
            for repeat in [copies] if draw(st.booleans()) else [1] * copies:
                layer = draw(frozen({kind: 3, "repeat": repeat}))
                merge = {"bidirectional": True, "merge": draw(st.sampled_from(["concat", "sum", "mul", "ave"]))}
                layers.append(layer | (merge if both else {}))
            layers += draw(st.sampled_from([[], [{"dense": 3}], [{"dense": 3, "frozen": True, "activation": "relu"}]]))
        below = draw(st.sampled_from([[], [{"dense": 3}], [{"embedding": 3}], [{"embedding": 3, "frozen": True}]]))
        return {"input": 3, "steps": draw(STEPS), "layers": below + layers}

    spec = {"encoder": half(), "decoder": half()}
    spec["decoder"]["output"] = draw(frozen({"units": 2}))
    for layer in spec["encoder"]["layers"]:
        if not {"dense", "embedding"} & {*layer} and draw(st.booleans()):
            layer["learned_state"] = True
    return spec


@st.composite
def plain(draw: st.DrawFn) -> Spec:
    """Draw layers of which the recurrent ones, if any, are above others."""
    kinds: list[Spec] = [{"dense": 3}, {"dense": 3, "activation": "tanh"}, {"dropout": 0.1}, {"dense": 3, "repeat": 3}]
    layers = [draw(frozen(layer)) for layer in draw(st.lists(st.sampled_from(kinds), max_size=3))]
    if not layers or draw(st.booleans()):
        layers.insert(0, draw(frozen({"embedding": 3})))
    if draw(st.booleans()):
        layers += [draw(cell(3, repeat=draw(st.integers(1, 3)))), draw(frozen({"dense": 3, "activation": "relu"}))]
    spec = {"input": 3, "steps": draw(STEPS), "topology": draw(TOPOLOGY), "layers": layers}
    return spec | draw(st.sampled_from([{}, {"output": 2}, {"output": {"units": 2, "activation": "softmax"}}]))


@st.composite
def fed_back(draw: st.DrawFn) -> Spec:
    """Draw a network whose outputs are its next inputs."""
    dense = frozen({"dense": 3, "activation": "tanh"})
    layers = [draw(cell(3) | dense), *draw(st.lists(cell(3) | dense, max_size=1))]
    for layer in layers:
        layer.pop("bidirectional", None)
        layer.pop("merge", None)
    output: Spec = draw(st.sampled_from([{}, {"output": {"units": 3, "frozen": True}}, {"output": 3}]))
    topology: Spec = {"topology": "one-to-many", "feedback": True}
    return {"input": 3, "steps": draw(STEPS), "layers": layers, **topology, **output}


@st.composite
def longer(draw: st.DrawFn) -> Spec:
    """Draw any network, of more steps than a few."""
    spec = draw(network(steps=True) | encoder_decoder())
    for half in (spec, spec.get("encoder", {}), spec.get("decoder", {})):
        if "steps" in half:
            half["steps"] = draw(STEPS)
    return spec


def read(spec: Spec) -> Network:
    try:
        net = network_of(spec)
    except SpecError:  # the convention cannot express it
        assume(False)
        raise
    assume(not any(isinstance(entry.layer, External) for entry in net.stack))
    return net


@given(
    st.one_of(tied(), halves(), plain(), fed_back(), longer()),
    st.none() | SMALL,
    st.sampled_from(["textbook", "textbook", *CONVENTIONS]),
)
def test_what_is_counted_is_what_was_seen(spec: Spec, chunk: int | None, convention: str) -> None:
    """Layer by layer: the saved activations, the multiplications, and a gradient for each trainable parameter."""
    found = read(spec | {"convention": convention})
    try:
        count = training(found, chunk=chunk)
    except RefusedError:  # a layer ends or begins a sequence, which chunks would cut
        assume(chunk is None)
        raise
    numbers = PassData(0)
    weights = {placed.name: numbers.weights_of(placed) for placed in found.stack}
    back = backward_pass(found, the_sum, weights, chunk=chunk)
    for seen, counted in zip(back.layers, count.layers, strict=True):
        assert seen.placed == counted.placed
        assert (seen.saved_read, seen.multiplications) == (counted.saved, counted.backward_multiply_adds), (
            seen.placed.name
        )
        assert sum(map(scalars, seen.gradients.values())) == counted.gradients


def scalars(nested: Any) -> int:
    return sum(map(scalars, nested)) if isinstance(nested, list) else 1
