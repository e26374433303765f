"""Frozen values whose fields are their annotations, as a frozen dataclass's are, but quick to define.

A dataclass writes and compiles its methods for each class as it is imported, 0.4 to 1 ms each, which every start would
pay for; here they are written once. To a type checker the two are the same. Knows nothing of what it holds.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Frozen:
    """A value: its fields are the annotations of its class and of those above it, ClassVars left out.

    A class with `kw_only=True` has fields that are given by name alone. `__post_init__` runs when all are set.
    """

    fields: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[dict[str, Any]] = {}
    _positional: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        written = cls.__dict__.get("__annotations__", {})  # noqa: RUF063  inspect alone would cost 5 ms
        own = [name for name, of in written.items() if "ClassVar" not in str(of)]
        new = tuple(name for name in own if name not in cls.fields)
        cls.fields = (*cls.fields, *new)
        cls.defaults = cls.defaults | {name: cls.__dict__[name] for name in own if name in cls.__dict__}
        if not kw_only:
            cls._positional = (*cls._positional, *new)

    def __init__(self, *given: Any, **named: Any) -> None:
        cls = type(self)
        if len(given) > len(cls._positional):
            raise TypeError(f"{cls.__name__}() takes at most {len(cls._positional)} values without names")
        values = cls.defaults | dict(zip(cls._positional, given, strict=False))
        for name, value in named.items():
            if name not in cls.fields or name in cls._positional[: len(given)]:
                again = "gets two values for" if name in cls.fields else "has no"
                raise TypeError(f"{cls.__name__}() {again} {name!r}")
            values[name] = value
        if len(values) != len(cls.fields):
            missing = next(name for name in cls.fields if name not in values)
            raise TypeError(f"{cls.__name__}() needs {missing!r}")
        self.__dict__.update({name: values[name] for name in cls.fields})
        self.__post_init__()

    def __post_init__(self) -> None:
        """Do what is to be done when all fields are set."""

    def replace(self, **changes: Any) -> Self:
        """Return the value with some fields changed. Raises TypeError for a field that it has not."""
        return type(self)(**{**self.values(), **changes})

    def values(self) -> dict[str, Any]:
        """Return the values of all fields by name."""
        return {name: self.__dict__[name] for name in self.fields}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; make another with replace({name}=...)")

    __delattr__ = __setattr__  # type: ignore[assignment]  # it is handed no value, and raises all the same

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Frozen) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), *self.values().values()))

    def __repr__(self) -> str:
        given = (
            f"{name}={value!r}"
            for name, value in self.values().items()
            if name not in self.defaults or value != self.defaults[name]
        )
        return f"{type(self).__name__}({', '.join(given)})"
