"""A notation holds wherever parameters are shown: equations, tables, tensors and accepted answers agree in it."""

from collections.abc import Iterator
from math import prod

import pytest
from cells import CELLS, network, spelled

from rnncalc import Network, Output, answer, count, explain
from rnncalc.conventions import CONVENTIONS, NOTATIONS, convention
from rnncalc.conventions.formula import value
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.conventions.tensor import Role
from rnncalc.reports.count import CountReport
from rnncalc.reports.explain import ExplanationReport
from rnncalc.text import GREEK

Shapes = dict[str, tuple[int, ...]]


def test_the_notations_are_those_that_are_listed() -> None:
    """A notation is in two lists: one for those who only name it."""
    assert [*NOTATION_BY_NAME] == [*NOTATIONS]


@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_what_is_shown_in_a_notation_agrees(name: str, notation: str) -> None:
    """For every cell, option and convention, and in both directions: names, shapes, and the parameters in all."""
    for case in spelled(name, notation):
        net = network(*case).replace(output=Output(2), notation=notation)
        check(net)
        if not case[2]:
            (layer,) = net.layers
            check(net.replace(layers=(layer.replace(bidirectional=True),)))


def check(net: Network) -> None:
    """Hold what each report shows of a network against the others."""
    tensors = of_count(net)
    for layer, shapes, kept in in_equations(net):
        mine = {name: shape for name, shape in tensors[layer].items() if name not in kept}
        both = {mark for name in mine for mark in (name.rpartition("/")[0],)}
        assert mine == {f"{mark}/{name}" if mark else name: shapes[name] for mark in both for name in shapes}
    for layer, rows in in_tables(net).items():
        assert rows.items() <= tensors[layer].items()
    every = [shape for of_layer in tensors.values() for shape in of_layer.values()]
    assert sum(map(prod, every)) == net.params == net.replace(notation=None).params
    judged = answer(net, *every)
    assert judged.right
    assert [each.shape for each in judged.judged] == every


def of_count(net: Network) -> dict[str, Shapes]:
    """Return the shapes of `count --tensors`, as JSON has them."""
    data = CountReport(count(net)).data()
    assert data["notation"] == net.notation
    return {layer["name"]: {each["name"]: each["shape"] for each in layer["tensors"]} for layer in data["layers"]}


def in_equations(net: Network) -> Iterator[tuple[str, Shapes, set[str]]]:
    """Yield of each layer the shapes below its weights, and its tensors that no equation shows: states before them."""
    data = ExplanationReport(explain(net)).data()
    assert data["notation"] == net.notation
    greek = {sign: word for word, sign in GREEK.items()}
    for layer, placed in zip(data["layers"], net.spelled, strict=True):
        names = {tensor.name.rpartition("/")[2]: tensor for tensor in placed.tensors}
        found = {
            name: tuple(shape)
            for line in layer["equations"]
            for shown, shape in line["shapes"].items()
            if (name := "".join(greek.get(char, char) for char in shown)) in names
        }
        scalars = {name: (1,) for name, tensor in names.items() if tensor.role is Role.SCALAR and name in found}
        kept = {tensor.name for tensor in placed.tensors if tensor.role is Role.STATE}
        yield layer["name"], found | scalars, kept


def in_tables(net: Network) -> dict[str, Shapes]:
    """Return the shapes that the arithmetic of a derivation multiplies, by tensor."""
    found: dict[str, Shapes] = {}
    for each in explain(net).layers:
        sizes = each.placed.sizes
        found[each.placed.name] = {
            step.name: tuple(value(factor, sizes) for factor in step.expression.factors)  # type: ignore[union-attr]
            for step in each.steps
            if step.name
        }
    return found


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_notation_keeps_the_biases_of_a_convention(name: str) -> None:
    """Where they are and how many there are; gates are spelled one by one."""
    for notation in NOTATION_BY_NAME.values():
        if notation.only in ("", name):
            row = notation.of(convention(name))
            assert row.symbols
            assert notation.of(convention(name)) is row
