"""Frozen values behave as frozen dataclasses do, and records as NamedTuples, which they stand in for."""

import sys
from inspect import Parameter, signature
from typing import Any

import pytest

from rnncalc import LSTM
from rnncalc.errors import CallError
from rnncalc.records import Frozen


class Base(Frozen, kw_only=True):
    name: str | None = None


class Point(Base):
    x: int
    y: int = 2


def test_values_go_by_place_or_by_name() -> None:
    """Fields of a class with `kw_only` by name alone."""
    assert Point(1) == Point(x=1, y=2) == Point(1, 2, name=None)
    assert Point(1, name="a").values() == {"name": "a", "x": 1, "y": 2}
    assert Point.fields == ("name", "x", "y")


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "Point() needs 'x'; give x=..."),
        ((1, 2, 3), {}, "Point() takes at most 2 values without names (x and y); name the others"),
        ((1,), {"x": 2}, "Point() gets two values for 'x'; give one"),
        ((1,), {"z": 2}, "Point() has no 'z'; it has name, x and y"),
        ((1,), {"nmae": 2}, "Point() has no 'nmae'; did you mean 'name'?"),
    ],
)
def test_what_does_not_fit_is_refused(given: tuple[int, ...], named: dict[str, int], message: str) -> None:
    """Too many, too few, twice and unknown, each with its name."""
    with pytest.raises(CallError) as caught:
        Point(*given, **named)  # type: ignore[arg-type]  # that is what is tested
    assert str(caught.value) == message


def test_a_value_without_a_name_where_all_have_one() -> None:
    """There is none to list."""
    with pytest.raises(CallError, match=r"^Base\(\) takes at most 0 values without names; name the others$"):
        Base("a")  # type: ignore[call-arg]  # that is what is tested


def test_it_is_frozen_and_replaced() -> None:
    """Nothing is set or deleted; another is made."""
    point = Point(1)
    with pytest.raises(AttributeError, match="Point is frozen"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="Point is frozen"):
        del point.x
    assert point.replace(y=5) == Point(1, 5)
    assert hash(point) == hash(Point(1)) != hash(Point(2))
    assert repr(Point(1, name="a")) == "Point(name='a', x=1)"


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_fields_are_found_with_and_without_the_future_import(future: str) -> None:
    """Python 3.14 evaluates annotations late, unless a file asks for strings."""
    source = (
        f"{future}from typing import ClassVar\nfrom rnncalc.records import Frozen\n"
        "class Outer(Frozen):\n    a: int\n    kinds: ClassVar[int] = 1\n    b: 'Outer | None' = None\n"
        "class Inner(Outer):\n    pass\n"
    )
    names: dict[str, Any] = {}
    exec(source, names)
    assert names["Outer"].fields == names["Inner"].fields == ("a", "b")
    assert names["Inner"](1, None).values() == {"a": 1, "b": None}


class Late(type):
    """Classes of any Python that keep their annotations as Python 3.14 does: in no entry of `__dict__`."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> "Late":
        late = body.pop("__annotations__", {})
        return super().__new__(cls, name, bases, {**body, "late": late})

    @property
    def __annotations__(cls) -> dict[str, Any]:  # type: ignore[override]  # on purpose
        late: dict[str, Any] = cls.__dict__["late"]
        return late


def test_annotations_that_are_filled_when_they_are_read() -> None:
    """What 3.14 does, on every Python."""
    point = Late("Moved", (Point,), {"__annotations__": {"z": int}, "z": 3})
    assert "__annotations__" not in point.__dict__
    assert point.fields == ("name", "x", "y", "z")  # type: ignore[attr-defined]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="an earlier Python refuses the class itself")
def test_a_type_that_is_defined_later() -> None:
    """A field may have one: only names matter."""
    names: dict[str, Any] = {}
    exec("from rnncalc.records import Frozen\nclass Node(Frozen):\n    next: Later\n", names)
    assert names["Node"].fields == ("next",)


def test_its_signature_names_its_fields() -> None:
    """Those given by place first, those given by name alone after the star, each with its default."""
    assert str(signature(Point)) == "(x: int, y: int = 2, *, name: str | None = None)"
    options = signature(LSTM).parameters
    assert [name for name, of in options.items() if of.kind is Parameter.POSITIONAL_OR_KEYWORD][:2] == ["units", "bias"]
    assert {*options} == {*LSTM.fields}
    assert options["repeat"].default == 1
    assert options["units"].default is Parameter.empty
    assert options["peepholes"].kind is Parameter.POSITIONAL_OR_KEYWORD
    assert options["name"].kind is Parameter.KEYWORD_ONLY


def test_a_field_without_a_default_after_one_with_one_is_given_by_name() -> None:
    """No signature has them by place in that order."""
    names: dict[str, Any] = {}
    exec("from rnncalc.records import Frozen\nclass Late(Frozen):\n    a: int = 1\n    b: int\n", names)
    assert str(signature(names["Late"])) == "(a: int = 1, *, b: int)"


def test_a_pattern_takes_its_fields_by_place() -> None:
    """As it does a dataclass's."""
    match Point(3, name="a"):
        case Point(x, y):
            assert (x, y) == (3, 2)
