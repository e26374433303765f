"""Frozen values behave as frozen dataclasses do, and records as NamedTuples, which they stand in for."""

import pickle
import sys
from copy import copy
from inspect import Parameter, signature
from typing import Any

import pytest

from rnncalc import LSTM
from rnncalc.errors import CallError
from rnncalc.records import Frozen, Record


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


class Couple(Record):
    """Another record with the same fields."""

    first: int
    second: int


class Pair(Record):
    """A record, with a default and a property."""

    first: int
    second: int = 2

    @property
    def both(self) -> int:
        return self.first + self.second


def test_a_record_is_a_tuple_with_names() -> None:
    """By place or by name, and a default where none is given."""
    assert Pair(1) == Pair(first=1) == Pair(1, 2) == Pair(second=2, first=1)
    first, second = Pair(3, second=4)
    assert (first, second, Pair(3, 4).both) == (3, 4, 7)
    couple: object = Couple(1, 2)
    assert couple != Pair(1, 2)
    assert Pair(1) != (1, 2) == tuple(Pair(1))
    assert {Pair(1): 5}[Pair(1, 2)] == 5
    assert repr(Pair(1)) == "Pair(first=1, second=2)"
    assert Pair(1)._asdict() == {"first": 1, "second": 2}
    assert str(signature(Pair)) == "(first: int, second: int = 2)"
    assert copy(Pair(5)) == pickle.loads(pickle.dumps(Pair(5))) == Pair(5)
    match Pair(6):
        case Pair(first, second=second):
            assert (first, second) == (6, 2)


def test_a_record_is_replaced_and_never_changed() -> None:
    """Nor does it take another attribute."""
    assert Pair(1)._replace(second=5) == Pair(1, 5)
    with pytest.raises(CallError, match=r"^Pair\(\) has no 'secnd'; did you mean 'second'\?$"):
        Pair(1)._replace(secnd=5)  # type: ignore[call-arg]  # that is what is tested
    for name in ("first", "third"):
        with pytest.raises(AttributeError):
            setattr(Pair(1), name, 2)


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "Pair() needs 'first'; give first=..."),
        ((1, 2, 3), {}, "Pair() takes at most 2 values without names (first and second); name the others"),
        ((1,), {"first": 2}, "Pair() gets two values for 'first'; give one"),
        ((), {"frist": 2}, "Pair() has no 'frist'; did you mean 'first'?"),
    ],
)
def test_a_record_refuses_what_a_value_does(given: tuple[int, ...], named: dict[str, int], message: str) -> None:
    """With the same words."""
    with pytest.raises(CallError) as caught:
        Pair(*given, **named)
    assert str(caught.value) == message


class Same(Pair):
    """No more fields."""


def test_a_record_of_a_record() -> None:
    """Has its fields, and is another type."""
    assert repr(Same(1)._replace(second=7)) == "Same(first=1, second=7)"
    assert Same(1)._asdict() == Pair(1)._asdict()
    pair: object = Pair(1)
    assert Same(1) != pair


def test_a_record_whose_defaults_are_not_last() -> None:
    """Its values would be taken for those of other fields."""
    with pytest.raises(TypeError, match="Late: a field without a default stands behind one with a default"):
        exec("class Late(Record):\n    a: int = 1\n    b: int\n", {"Record": Record})
