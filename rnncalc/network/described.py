"""What a description of a network has, for type checkers alone: a protocol costs more to make than all it types."""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from rnncalc.layers.layer import Layer, Output
from rnncalc.network.budget import Budget
from rnncalc.network.parts import Expect, Part
from rnncalc.network.training import Update


class Described(Protocol):
    """A network as it is described, before anything is known of whether it can be."""

    defaults: ClassVar[dict[str, Any]]

    @property
    def input(self) -> int | None: ...
    @property
    def layers(self) -> Sequence[Layer]: ...
    @property
    def output(self) -> Output | int | None: ...
    @property
    def steps(self) -> int | None: ...
    @property
    def topology(self) -> str | None: ...
    @property
    def encoder(self) -> Part | None: ...
    @property
    def decoder(self) -> Part | None: ...
    @property
    def feedback(self) -> bool: ...
    @property
    def convention(self) -> str: ...
    @property
    def expect(self) -> Expect | None: ...
    @property
    def budget(self) -> Budget | None: ...
    @property
    def training(self) -> Update | None: ...
