"""`solve` against brute force over drawn documents: every size from 0 to 60 is tried, one by one."""

import random
from typing import Any

import pytest
import strategies
import yaml
from cells import CELLS
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import RefusedError, SpecError
from rnncalc.questions.solve import Solution, solve
from rnncalc.spec import Template, parse_template

TRIED = range(61)
SIZES = ("input", "steps", "units", "repeat", "extra_inputs", "projection", "outputs", "external", "embedding", "dense")
MARKED = (*SIZES, *CELLS, "output")

Place = tuple[Any, Any]
"""A mapping or list, and the key of a size in it."""


def places(node: Any) -> list[Place]:
    """Return where the sizes of a document stand."""
    if isinstance(node, list):
        return [place for below in node for place in places(below)]
    if not isinstance(node, dict):
        return []
    own = [(node, key) for key, value in node.items() if key in MARKED and type(value) is int]
    return own + [place for below in node.values() for place in places(below)]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a document whose sizes depend on one another, and write `?` for one to three of them."""
    spec = draw(st.one_of(strategies.network(), strategies.encoder_decoder(), tied(), repeated_halves()))
    if draw(st.booleans()):
        spec["convention"] = draw(st.sampled_from(["pytorch", "keras", "onnx", "flax-linen"]))
    sizes = places(spec)
    equal = draw(st.sampled_from([of[key] for of, key in sizes]))
    chosen = draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1, max_size=3, unique=True))
    if draw(st.booleans()):  # sizes that are the same are often meant to be
        chosen = [number for number, (of, key) in enumerate(sizes) if of[key] == equal][:3]
    for number in chosen:
        of, key = sizes[number]
        of[key] = "?"
    return {**spec}


@st.composite
def tied(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a network whose output shares the embedding's matrix."""
    vocabulary, width = draw(st.integers(1, 50)), draw(st.integers(1, 40))
    last = draw(strategies.cell(draw(st.sampled_from(["rnn", "gru", "lstm", "sru"])), width)) | {"repeat": 1}
    between = draw(st.lists(st.one_of(strategies.cell(), strategies.plain()), max_size=2))
    layers = [{"embedding": width}, *between, last]
    return {"input": vocabulary, "layers": layers, "output": {"units": vocabulary, "tied": True}}


@st.composite
def repeated_halves(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an encoder-decoder in which layers of two widths are repeated."""
    widths, times = st.sampled_from([4, 8]), st.integers(1, 9)
    layers = st.lists(st.builds(lambda h, n: {"gru": h, "repeat": n}, widths, times), min_size=1, max_size=3)
    encoder = draw(layers)
    decoder = draw(st.one_of(layers, st.just([{**layer} for layer in encoder])))
    return {"encoder": {"input": 3, "layers": encoder}, "decoder": {"input": 5, "layers": decoder}}


def template_of(spec: dict[str, Any]) -> Template:
    return parse_template(yaml.safe_dump(spec).encode(), "drawn.yaml")


def tried(template: Template) -> dict[int, int]:
    """Return the counts of the sizes at which there is a network."""
    found = {}
    for size in TRIED:
        try:
            found[size] = template.network(size).params
        except SpecError:
            continue
    return found


def hold(found: Solution, counts: dict[int, int], budget: int) -> None:
    """Hold a solution against the counts of the sizes that were tried."""
    fitting = [size for size, params in counts.items() if params <= budget]
    wanted = [size for size in fitting if counts[size] == budget] if found.exact else []
    best = max(wanted or fitting, default=None)
    if found.size is not None and found.size > TRIED[-1]:
        assert found.params is not None
        assert found.params <= budget
        assert not wanted or found.met
    else:
        assert found.size == best
        assert best is None or found.params == counts[best]
        beyond = min((size for size in counts if size > (-1 if best is None else best)), default=None)
        assert beyond is None or (found.next_size, found.next_params) == (beyond, counts[beyond])
    assert found.solved == (found.size is not None and (not found.exact or found.params == budget))


@given(documents(), st.booleans(), st.integers(-1, 3), st.integers(1, 3), st.randoms(use_true_random=False))
def test_it_finds_what_brute_force_finds(
    spec: dict[str, Any], exact: bool, more: int, multiple: int, chance: random.Random
) -> None:
    """Sizes at which the network cannot be are no solutions, and of the others the largest that fits is."""
    template = template_of(spec)
    counts = {size: params for size, params in tried(template).items() if size % multiple == 0}
    budget = max(0, chance.choice([*counts.values()] or [500]) + more)
    try:
        found = solve(template.network, budget, multiple=multiple, exact=exact)
    except SpecError:
        assert not counts
    except RefusedError:
        assert len({*counts.values()}) <= 1
    else:
        hold(found, counts, budget)


def test_the_brute_force_can_object() -> None:
    """An answer that is not the largest is told."""
    template = template_of({"input": 3, "layers": [{"rnn": "?"}]})
    counts = tried(template)
    right = solve(template.network, counts[9])
    hold(right, counts, counts[9])
    with pytest.raises(AssertionError):
        hold(right._replace(size=8, params=counts[8]), counts, counts[9])
