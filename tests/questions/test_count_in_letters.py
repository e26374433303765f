"""Counts whose sizes are letters: for random networks the polynomial, at random sizes, is the count."""

import json
import re
from collections.abc import Callable
from typing import Any

from cells import CELLS
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import Network, SpecError, count
from rnncalc.conventions import CONVENTIONS
from rnncalc.network.writer import spec_of
from rnncalc.polynomial import Polynomial, letter
from rnncalc.questions.compare import compare_conventions
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.quantized import quantized
from rnncalc.questions.stream import stream
from rnncalc.spec import parse

SIZES = ("input", "steps", "units", "output", "projection", "extra_inputs", "outputs", "dense", "embedding", "external")
NAMES = ["m", "h_1", "h_2", "p", "T", "d", "k", "n", "y"]


def with_sizes(of: Any, size: Callable[[int], int | str], key: str = "") -> Any:
    """Return the data of a spec with other sizes; what was equal stays equal."""
    if isinstance(of, dict):
        return {key: with_sizes(value, size, key) for key, value in of.items()}
    if isinstance(of, list):
        return [with_sizes(each, size) for each in of]
    return size(of) if key in (*SIZES, *CELLS) and type(of) is int and of else of


def parsed(spec: Spec) -> Network:
    return parse(json.dumps(spec).encode(), "spec").network


def in_both(spec: Spec, names: dict[int, str], sizes: dict[str, int]) -> tuple[Network, Network] | None:
    """Return a network in letters and the same one in numbers; None if only numbers fit."""
    text = json.dumps(with_sizes(spec, lambda size: names.get(size, size)))
    try:
        lettered = parse(re.sub(rf'"({"|".join(NAMES)})"', r"\1", text).encode(), "spec").network
    except SpecError:
        heads = any("transformer" in layer for layer in spec.get("layers", ()))
        assert "encoder" in spec or heads  # a decoder's state of 2h is no letter, and heads divide a number alone
        return None
    try:
        return lettered, parsed(with_sizes(spec, lambda size: eval(names[size], {}, sizes) if size in names else size))
    except SpecError as error:
        if "blocks do not divide" not in str(error):
            raise
        return None


def at(of: Any, sizes: dict[str, int]) -> Any:
    """Return a number at these sizes, or a list of numbers."""
    if isinstance(of, list):
        return [at(each, sizes) for each in of]
    return of.at(sizes) if isinstance(of, Polynomial) else of


LARGE = st.lists(st.integers(1_000, 10**6), min_size=len(NAMES), max_size=len(NAMES), unique=True)
"""Sizes of the letters: large, so that none is by chance another or twice another, which an SRU would notice."""

IN_LETTERS = st.dictionaries(st.integers(1, 9), st.sampled_from([*NAMES, "7*k", "5*d + 7*n", "3*y - 2"]), max_size=9)
"""Which sizes of a network are letters or expressions of them; others stay numbers."""


def check_in_letters(spec: Spec, names: dict[int, str], large: list[int]) -> None:
    """Compare a network in letters with the same one in numbers, layer by layer, under every convention."""
    sizes = dict(zip(NAMES, large, strict=True))
    both = in_both(spec, names, sizes)
    for name in CONVENTIONS if both else ():
        assert both
        try:
            own, right = (count(each.replace(convention=name)) for each in both)
        except SpecError:
            continue  # an option that this convention lacks
        totals = ("params", "trainable", "multiply_adds", "multiply_adds_per_step", "bytes")
        assert [at(getattr(own, total), sizes) for total in totals] == [getattr(right, total) for total in totals]
        assert own.params_formula is None or eval(own.params_formula, {}, sizes) == right.params
        for layer, each in zip(own.layers, right.layers, strict=True):
            assert layer.params_formula is None or eval(layer.params_formula, {}, sizes) == each.params
            assert at([layer.params, *layer.output_shape], sizes) == [each.params, *each.output_shape]
            shapes = [at([*tensor.shape], sizes) for tensor in layer.tensors]
            assert shapes == [[*tensor.shape] for tensor in each.tensors]


@given(st.one_of(network(), encoder_decoder()), IN_LETTERS, LARGE)
def test_the_polynomial_at_any_sizes_is_the_count(spec: Spec, names: dict[int, str], large: list[int]) -> None:
    """Over every option and convention, letters and numbers mixed."""
    check_in_letters(spec, names, large)


@given(network(), IN_LETTERS, LARGE)
def test_the_reports_beside_a_count_are_polynomials_too(spec: Spec, names: dict[int, str], large: list[int]) -> None:
    """Operations, what is carried from step to step, and quantized bytes."""
    sizes = dict(zip(NAMES, large, strict=True))
    both = in_both(spec, names, sizes)
    assume(both)
    assert both
    of, right = (
        [
            *(layer and [*layer] for layer in pass_operations(each, 3).layers),
            *stream(each, 10)[4:8],
            *([*layer] for layer in quantized(each, "int8").layers),
        ]
        for each in both
    )
    assert at(of, sizes) == right


def test_a_spec_in_letters_is_written_and_read_again() -> None:
    """As YAML, and as JSON, where a letter is in quotes."""
    text = b"sizes: {h_1: , D: 4}\ninput: D*n - k\nlayers: [{lstm: h_1, projection: y}]\noutput: p\nsteps: T"
    net = parse(text, "spec").network
    spec = spec_of(net)
    assert parse(json.dumps(spec).encode(), "spec").network == net
    assert network_of(spec) == net
    assert {"steps": "T", "input": "D*n - k", "output": "p"}.items() <= spec.items()
    own = net.replace(sizes=None, input=5 - letter("n") + 2 * letter("n") * letter("k"))
    assert network_of(spec_of(own)) == own


def test_conventions_are_compared_in_letters() -> None:
    """What they differ in is as plain as in numbers."""
    net = parse(b"input: m\nlayers: [lstm: h]", "spec").network
    networks = compare_conventions(net).networks
    params = {name: other.params for name, other in networks.items() if other}
    assert str(params["pytorch"] - params["textbook"]) == "4h"
