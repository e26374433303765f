"""Random networks over every option, as the plain data of a spec file; and the same network in flags."""

from math import gcd
from typing import Any

import yaml
from case_files import DUMPER
from cells import CELLS
from hypothesis import strategies as st

from rnncalc import Network
from rnncalc.layers import kind as class_of
from rnncalc.layers.layer import Transform
from rnncalc.layers.options import Allowed, Choice, Switch
from rnncalc.spec import parse

Spec = dict[str, Any]


def network_of(spec: Spec) -> Network:
    """Return the network of a spec's plain data."""
    return parse(yaml.dump(spec, Dumper=DUMPER, sort_keys=False, allow_unicode=True).encode(), "spec").network


SMALL = st.integers(1, 6)

APART = {"name", "path", "initial_state", "merge"}
"""Options of a cell that depend on what is around it."""


def drawn(name: str, allowed: Allowed) -> st.SearchStrategy[Any]:
    """Return how an option of a cell is drawn."""
    match allowed:
        case Switch():
            return st.booleans()
        case Choice(words=words):
            return st.sampled_from([word for word in words if word != "softmax"])
        case _:
            return {"repeat": st.integers(1, 3), "extra_inputs": st.integers(0, 3)}.get(name, SMALL)


@st.composite
def cell(draw: st.DrawFn, kind: str | None = None, units: int | None = None, decoder: bool = False) -> Spec:
    """Draw a recurrent layer."""
    kind = kind or draw(st.sampled_from(CELLS))
    layer: Spec = {kind: units or draw(SMALL)}
    of = class_of(kind)
    apart = APART | ({"learned_state"} if decoder else set())
    options = {name: drawn(name, of.option(name).allowed) for name in of.options() if name not in apart}
    for option in draw(st.lists(st.sampled_from(sorted(options)), unique=True)):
        layer[option] = draw(options[option])
    if layer.get("reset_gate") is False:
        layer.pop("reset_after", None)
    if "recurrence" in layer:
        layer.pop("recurrent_rank", None)
        layer.pop("recurrent_blocks", None)
    if layer.get("recurrence") == "diagonal":
        layer.pop("projection", None)
    widths: list[Any] = [layer[kind], layer.get("projection", layer[kind])]
    if "recurrent_rank" in layer:
        layer.pop("recurrent_blocks", None)
        layer["recurrent_rank"] = min(layer["recurrent_rank"], *widths)
    if "recurrent_blocks" in layer:
        layer["recurrent_blocks"] = gcd(*widths)
    if layer.get("bidirectional") and draw(st.booleans()):
        layer["merge"] = draw(st.sampled_from(["concat", "sum", "mul", "ave"]))
    return layer


@st.composite
def plain(draw: st.DrawFn) -> Spec:
    """Draw a layer without recurrence."""
    kind = draw(st.sampled_from(["dense", "dropout", "external", "multi_head_attention", "transformer"]))
    if kind == "multi_head_attention":
        sizes = {"key_size": draw(SMALL)} | draw(st.sampled_from([{}, {"value_size": 2}, {"bias": False}]))
        return {kind: draw(SMALL), **sizes, "causal": draw(st.booleans())}
    if kind == "transformer":
        options: Spec = draw(
            st.sampled_from([{}, {"norm": "first"}, {"activation": "tanh", "bias": False}, {"causal": True}])
        )
        return {kind: 1, "feed_forward": draw(SMALL), **options}
    if kind == "dropout":
        return {"dropout": draw(st.sampled_from([0, 0.25, 0.5, 1]))}
    if kind == "external":
        layer: Spec = {"external": draw(st.integers(0, 50))}
        return layer | draw(st.sampled_from([{}, {"outputs": draw(SMALL)}]))
    layer = {"dense": draw(SMALL)}
    return layer | draw(st.sampled_from([{}, {"bias": False}, {"frozen": True}, {"activation": "relu"}]))


@st.composite
def part(draw: st.DrawFn, steps: bool | None = None) -> Spec:
    """Draw the input, the layers and the output of a network."""
    spec: Spec = {
        "input": draw(SMALL),
        "layers": draw(st.lists(st.one_of(cell(), cell(), plain()), min_size=1, max_size=4)),
    }
    if draw(st.booleans()):
        spec["layers"].insert(0, {"embedding": draw(SMALL)})
    if steps or (steps is None and draw(st.booleans())):
        spec["steps"] = draw(st.integers(1, 4))
    if draw(st.booleans()):
        spec["output"] = draw(st.one_of(SMALL, st.fixed_dictionaries({"units": SMALL, "bias": st.booleans()})))
    return spec


@st.composite
def network(draw: st.DrawFn, steps: bool | None = None) -> Spec:
    """Draw a network that is no encoder-decoder."""
    spec = draw(part(steps))
    topology = draw(st.sampled_from([None, "one-to-one", "one-to-many", "many-to-one", "many-to-many"]))
    if topology:
        spec["topology"] = topology
    if topology in ("one-to-one", "one-to-many"):  # one vector, which no attention reads
        spec["layers"] = [
            {"dense": 2} if {"multi_head_attention", "transformer"} & {*layer} else layer for layer in spec["layers"]
        ]
    if topology == "one-to-one":
        spec.pop("steps", None)
    return spec


def fitting(chunk: int | None, net: Network) -> int | None:
    """Return a chunk; None if a layer of the network reads a whole sequence, which chunks would cut."""
    whole = any(isinstance(placed.layer, Transform) and placed.layer.time.whole for placed in net.stack)
    return None if whole else chunk


def option(value: Any) -> str:
    """Return a value as YAML and flags write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def flags(spec: Spec) -> list[str]:
    """Return the flags that describe the same network."""
    words = ["--input", str(spec["input"])]
    for layer in spec["layers"]:
        (kind, number), *options = layer.items()
        words += ["--layer", ",".join([f"{kind}:{number}", *(f"{key}={option(value)}" for key, value in options)])]
    if isinstance(output := spec.get("output"), dict):
        words += ["--output", f"{output['units']},bias={option(output['bias'])}"]
    elif output:
        words += ["--output", str(output)]
    for key in ("steps", "topology"):
        if key in spec:
            words += [f"--{key}", str(spec[key])]
    return words


@st.composite
def encoder_decoder(draw: st.DrawFn) -> Spec:
    """Draw an encoder-decoder whose states fit."""
    spec: Spec = {"encoder": {"input": draw(SMALL), "layers": []}, "decoder": {"input": draw(SMALL), "layers": []}}
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(CELLS))
        gives = draw(cell(kind)) | {"repeat": 1}
        units = gives[kind] * (2 if gives.get("bidirectional") else 1)
        takes = draw(cell(kind, units, decoder=True)) | {"repeat": 1, "bidirectional": False}
        takes.pop("merge", None)
        takes.pop("projection", None)
        if "projection" in gives:
            times = 2 if gives.get("bidirectional") else 1
            takes |= {"projection": gives["projection"] * times, "recurrence": "full"}
        takes.pop("recurrent_rank", None)
        takes.pop("recurrent_blocks", None)
        spec["encoder"]["layers"].append(gives)
        spec["decoder"]["layers"].append(takes)
    for half in spec.values():
        half["steps"] = draw(st.integers(1, 4))
        if draw(st.booleans()):
            half["layers"].insert(0, {"embedding": draw(SMALL)})
    spec["decoder"]["output"] = draw(SMALL)
    if draw(st.booleans()):
        spec["decoder"]["attention"] = draw(attention())
    return freer(draw, spec)


def freer(draw: st.DrawFn, spec: Spec) -> Spec:
    """Return an encoder-decoder whose decoder starts otherwise, shares a table, or reads a context alone."""
    encoder, decoder = spec["encoder"], spec["decoder"]
    if (starts := draw(st.sampled_from(["all", "all", "last", "zeros"]))) != "all":
        decoder["initial_states"] = starts
        if starts == "last":  # the one that fits the encoder's last
            decoder["layers"] = [layer for layer in decoder["layers"][:-1] if "embedding" in layer] + decoder["layers"][
                -1:
            ]
    tables = [half["layers"][0] for half in (encoder, decoder) if "embedding" in half["layers"][0]]
    if len(tables) > 1 and draw(st.booleans()):
        tables[1] |= {"embedding": tables[0]["embedding"], "tied": "encoder"}
        decoder["input"] = encoder["input"]
    attention = decoder.get("attention", {})
    joined = attention.get("context", "input" if attention.get("query") == "before" else "output") in ("input", "both")
    if attention and joined and "embedding" not in decoder["layers"][0] and draw(st.booleans()):
        decoder["input"] = 0
    return spec


@st.composite
def attention(draw: st.DrawFn) -> Spec:
    """Draw the attention of a decoder, with a score that fits any widths."""
    options: Spec = {"query": draw(st.sampled_from(["before", "after"]))}
    if draw(st.booleans()):
        options["context"] = draw(st.sampled_from(["input", "output", "both"]))
    options["layer"] = draw(st.sampled_from(["last", "first"]))
    if draw(st.booleans()):
        options |= {"heads": draw(SMALL), "key_size": draw(SMALL), "bias": draw(st.booleans())}
        return options | draw(st.sampled_from([{}, {"value_size": 2}]))
    options["score"] = draw(st.sampled_from(["additive", "location", "general", "concat"]))
    if options["score"] == "location":
        past = draw(st.sampled_from([{}, {"past": "cumulative"}, {"past": "both"}]))
        options |= {"filters": draw(SMALL), "kernel": draw(SMALL), **past}
    if options["score"] != "general":
        options |= draw(st.sampled_from([{}, {"units": 2}, {"bias": False}, {"bias": {"score": False}}]))
    return options


PLAIN = {"dense", "dropout", "embedding", "external", "multi_head_attention", "transformer"}
"""The kinds that are no cells, as `network` draws them."""


@st.composite
def started(draw: st.DrawFn) -> Spec:
    """Draw a network with a vector that starts some of its layers, an encoder-decoder among them."""
    spec: Spec = draw(st.one_of(network(steps=True), encoder_decoder()))
    halves: list[Any] = [spec["encoder"], spec["decoder"]] if "encoder" in spec else [spec]
    widths = [layer for layer in halves[0]["layers"] if not PLAIN & {*layer}]
    for half in halves:
        cells = [layer for layer in half["layers"] if not PLAIN & {*layer}]
        for place, layer in enumerate(cells):
            starts = half.get("initial_states")
            if layer.get("learned_state") or "projection" in layer or starts == "zeros" or not draw(st.booleans()):
                continue
            layer["initial_state"] = draw(SMALL)
            if half is spec.get("decoder"):
                gives = widths[-1 if starts == "last" else place]
                layer["initial_state"] = next(iter(gives.values())) * (2 if gives.get("bidirectional") else 1)
    halves[-1]["layers"] = [layer for layer in halves[-1]["layers"] if "external" not in layer] or [{"rnn": 2}]
    return spec
