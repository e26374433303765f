"""Frozen values whose fields are their annotations, as a frozen dataclass's are, but quick to define.

A dataclass compiles its methods for each class when it is imported, 0.4 to 1 ms each at every start; here they are
written once. For a type checker the two are the same.

Such a value is defined ten times as fast as a NamedTuple (10 µs instead of 100), and takes seven times as long to make
(2 µs instead of 0.3) and to compare. So records that are made for every layer and tensor (Gate, Tensor, Placed) remain
NamedTuples; each of them stands where no other type can, and is compared with its own type alone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from rnncalc.errors import CallError
from rnncalc.text import all_of, did_you_mean

if TYPE_CHECKING:
    from inspect import Signature

_NOTHING = object()


class _SignatureOfFields:
    """What `inspect.signature` and `help` read of a class: its fields, as a call of it gives them.

    It is made on demand, because importing `inspect` takes longer than defining all values.
    """

    def __get__(self, value: object, of: type[Frozen]) -> Signature:
        from inspect import Parameter, Signature

        parameters = []
        after_a_default = False
        for name in of.fields:
            default = of.defaults.get(name, Parameter.empty)
            after_a_default = after_a_default or (name in of.positional and name in of.defaults)
            by_place = name in of.positional and not (after_a_default and name not in of.defaults)
            kind = Parameter.POSITIONAL_OR_KEYWORD if by_place else Parameter.KEYWORD_ONLY
            of_type = next(own[name] for own in map(_annotations, of.__mro__) if name in own)
            parameters.append(Parameter(name, kind, default=default, annotation=of_type))
        return Signature(sorted(parameters, key=lambda each: each.kind))


@dataclass_transform(frozen_default=True)
class Frozen:
    """A value: its fields are the annotations of its class and of those above it, ClassVars left out.

    The fields of a class with `kw_only=True` are given by name only. `__post_init__` runs when all are set.
    """

    __signature__: ClassVar[_SignatureOfFields] = _SignatureOfFields()
    fields: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[dict[str, Any]] = {}
    _start: ClassVar[dict[str, Any]] = {}
    """Every field in order, with its default or _NOTHING."""
    positional: ClassVar[tuple[str, ...]] = ()
    _needed: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        own = [name for name, of in _annotations(cls).items() if "ClassVar" not in str(of)]
        new = tuple(name for name in own if name not in cls.fields)
        cls.fields = (*cls.fields, *new)
        cls.defaults = cls.defaults | {name: cls.__dict__[name] for name in own if name in cls.__dict__}
        cls._start = {name: cls.defaults.get(name, _NOTHING) for name in cls.fields}
        cls._needed = tuple(name for name in cls.fields if name not in cls.defaults)
        if not kw_only:
            cls.positional = (*cls.positional, *new)
            type.__setattr__(cls, "__match_args__", cls.positional)  # the fields of a positional pattern

    def __init__(self, *given: Any, **named: Any) -> None:
        values = self.__dict__
        if not named and len(given) == len(self.positional) == len(self.fields):
            values.update(zip(self.fields, given, strict=True))  # whole and in order, as records are made
        else:
            values.update(self._start, **named)
            values.update(zip(self.positional, given, strict=False))
            too_many = len(given) > len(self.positional) or len(values) > len(self._start)
            twice = given and not named.keys().isdisjoint(self.positional[: len(given)])
            if too_many or twice or _NOTHING in values.values():
                self._refuse(len(given), named)
        self.__post_init__()

    def _refuse(self, given: int, named: dict[str, Any]) -> None:
        """Raise CallError if a call has too many or too few values."""
        name, positional = type(self).__name__, self.positional
        if given > len(positional):
            some = f" ({all_of(positional)})" if positional else ""
            raise CallError(f"{name}() takes at most {len(positional)} values without names{some}; name the others")
        for field in named:
            if field not in self._start:
                near = did_you_mean(field, self.fields) or f"; it has {all_of(self.fields)}"
                raise CallError(f"{name}() has no {field!r}{near}")
            if field in positional[:given]:
                raise CallError(f"{name}() gets two values for {field!r}; give one")
        for field in self._needed:
            if self.__dict__[field] is _NOTHING:
                raise CallError(f"{name}() needs {field!r}; give {field}=...")

    def __post_init__(self) -> None:
        """Run when all fields are set."""

    def replace(self, **changes: Any) -> Self:
        """Return the value with some fields changed. Raises CallError for an unknown field."""
        return type(self)(**{**self.values(), **changes})

    def values(self) -> dict[str, Any]:
        """Return the values of all fields by name."""
        return {name: self.__dict__[name] for name in self.fields}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; make another with replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; {name} stays")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        own, others = self.__dict__, other.__dict__
        return all(own[name] == others[name] for name in self.fields)  # the first difference decides

    def __hash__(self) -> int:
        return hash((type(self), *map(self.__dict__.__getitem__, self.fields)))

    def __repr__(self) -> str:
        given = (
            f"{name}={value!r}"
            for name, value in self.values().items()
            if name not in self.defaults or value != self.defaults[name]
        )
        return f"{type(self).__name__}({', '.join(given)})"


def _annotations(cls: type) -> dict[str, Any]:
    """Return the annotations of a class itself, in their order.

    The attribute is read, not the class's `__dict__`, which Python 3.14 fills no earlier. `inspect` would cost 5 ms.
    """
    try:
        return cls.__annotations__
    except NameError:  # a type defined later in the file, or for type checkers only, as 3.14 allows
        if sys.version_info >= (3, 14):
            import annotationlib

            return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
        raise
