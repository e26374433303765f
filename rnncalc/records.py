"""Values whose fields are the annotations of their class, and quick to define.

`Frozen` replaces a frozen dataclass, which compiles methods for each class at import and takes 0.4 to 1 ms; here the
methods are written once, and a class takes 0.01 ms. A Frozen may have fields that are given by name alone, and keeps
what is computed of it. Any other record is a `NamedTuple`. `loaded` imports an entry of a table at its first use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from rnncalc.words import all_of, did_you_mean

if TYPE_CHECKING:
    from inspect import Signature


Entry = TypeVar("Entry")
_NOTHING = object()


class CallError(ValueError):
    """A call with missing or wrong arguments; the message says what to give."""


class _SignatureOfFields:
    """What `inspect.signature` and `help` read of a class: its fields, as a call of it gives them.

    It is made on demand, because importing `inspect` takes longer than defining all values.
    """

    def __get__(self, value: object, cls: type[Frozen]) -> Signature:
        from inspect import Parameter, Signature

        parameters = []
        after_a_default = False
        for name in cls.fields:
            default = cls.defaults.get(name, Parameter.empty)
            after_a_default = after_a_default or (name in cls.positional and name in cls.defaults)
            by_place = name in cls.positional and not (after_a_default and name not in cls.defaults)
            kind = Parameter.POSITIONAL_OR_KEYWORD if by_place else Parameter.KEYWORD_ONLY
            of_type = next(annotations[name] for annotations in map(_annotations, cls.__mro__) if name in annotations)
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
    positional: ClassVar[tuple[str, ...]] = ()
    _start: ClassVar[dict[str, Any]] = {}
    """Every field in order, with its default or _NOTHING."""
    _needed: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _refuse(cls, values: dict[str, Any], number: int, named: dict[str, Any]) -> None:
        """Raise CallError for a call that has too many or too few values."""
        name, positional = cls.__name__, cls.positional
        if number > len(positional):
            some = f" ({all_of(positional)})" if positional else ""
            raise CallError(f"{name}() takes at most {len(positional)} values without names{some}; name the others")
        for field in named:
            if field not in cls._start:
                near = did_you_mean(field, cls.fields) or f"; it has {all_of(cls.fields)}"
                raise CallError(f"{name}() has no {field!r}{near}")
            if field in positional[:number]:
                raise CallError(f"{name}() gets two values for {field!r}; give one")
        for field in cls._needed:
            if values[field] is _NOTHING:
                raise CallError(f"{name}() needs {field!r}; give {field}=...")

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        names = [name for name, annotation in _annotations(cls).items() if "ClassVar" not in str(annotation)]
        new = tuple(name for name in names if name not in cls.fields)
        cls.fields = (*cls.fields, *new)
        cls.defaults = cls.defaults | {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        cls._start = {name: cls.defaults.get(name, _NOTHING) for name in cls.fields}
        cls._needed = tuple(name for name in cls.fields if name not in cls.defaults)
        if not kw_only:
            cls.positional = (*cls.positional, *new)
            type.__setattr__(cls, "__match_args__", cls.positional)  # the fields of a positional pattern

    def __init__(self, *args: Any, **named: Any) -> None:
        values, positional = self.__dict__, self.positional
        if not named and len(args) == len(positional) == len(self._start):
            values.update(zip(positional, args, strict=True))  # every field, by place
        else:
            values.update(self._start)
            wrong = len(args) > len(positional)
            if args:
                values.update(zip(positional, args, strict=False))
                wrong = wrong or not named.keys().isdisjoint(positional[: len(args)])
            values.update(named)
            for name in self._needed:
                wrong = wrong or values[name] is _NOTHING
            if wrong or len(values) > len(self._start):
                self._refuse(values, len(args), named)
        self.__post_init__()

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
        mine, others = self.__dict__, other.__dict__
        return all(mine[name] == others[name] for name in self.fields)  # the first difference decides

    def __hash__(self) -> int:
        values = map(self.__dict__.__getitem__, self.fields)
        return hash((type(self), *(frozenset(each.items()) if isinstance(each, dict) else each for each in values)))

    def __repr__(self) -> str:
        changed = (
            f"{name}={value!r}"
            for name, value in self.values().items()
            if name not in self.defaults or value != self.defaults[name]
        )
        return f"{type(self).__name__}({', '.join(changed)})"


def imported(place: str) -> Any:
    """Return what is in a module, by its place such as `rnncalc.layers.options:DTYPES`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def loaded(table: dict[str, str | Entry], name: str) -> Entry:
    """Return an entry of a table; one that is a place is imported when it is first used, and kept in the table.

    Raises KeyError for a name that is not in the table.
    """
    entry = table[name]
    if isinstance(entry, str):
        value: Entry = imported(entry)
        table[name] = value
        return value
    return entry


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
