"""`count --all-conventions`: what every framework allocates for the same network, and why the numbers differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from rnncalc.conventions.convention import CONVENTIONS
from rnncalc.conventions.layout import Layout
from rnncalc.conventions.tensor import Polynomial, Tensor
from rnncalc.errors import RefusedError, SpecError
from rnncalc.network.network import Network, Placed
from rnncalc.reports.sheet import Column, Sheet, Value, setting, steps_of
from rnncalc.text import escape

BASE = "textbook"
MOST_LAYERS = 20_000


class Difference(NamedTuple):
    """Why a convention's count is not the textbook's, for the layers of one kind: `params` more (or fewer)."""

    convention: str
    params: int
    text: str


class AllConventions(NamedTuple):
    """A network under each convention; None where the convention cannot express it, with the reason in `reasons`."""

    network: Network
    networks: dict[str, Network | None]
    reasons: dict[str, str]

    def differences(self) -> Iterator[Difference]:
        """Yield a difference for each convention and each way in which its layers have more or fewer biases."""
        base = self.networks[BASE]
        for name, network in self.networks.items():
            if not network or not base:
                continue
            changed: dict[tuple[str, str, str], list[tuple[Placed, int]]] = {}
            told: dict[tuple[Layout, Layout], tuple[str, str, str]] = {}
            for was, now in zip(base.placed, network.placed, strict=True):
                if now.params != was.params:
                    layouts = (was.weights.layout, now.weights.layout)
                    if layouts not in told:  # thousands of layers have the same few
                        told[layouts] = _how(*layouts)
                    changed.setdefault(told[layouts], []).append((now, now.params - was.params))
            for (had, has, names), layers in changed.items():
                params = sum(count for _, count in layers)
                more = f"{abs(params):,} {'more' if params > 0 else 'fewer'} in {_list(layers)}"
                text = f"{more} than the textbook, biases of {has} in place of {had} ({names})"
                yield Difference(name, params, text)

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "name": self.network.name,
            "topology": self.network.topology_name,
            "steps": steps_of(self.network),
            "layers": [
                {"name": placed.name, "kind": placed.layer.kind, "part": placed.part, "params": self._params(number)}
                for number, placed in enumerate(self.network.placed)
            ],
            "params": self._totals(),
            "differences": [difference._asdict() for difference in self.differences()],
            "reasons": self.reasons,
        }

    def _params(self, number: int) -> dict[str, int | None]:
        return {name: of.placed[number].params if of else None for name, of in self.networks.items()}

    def _totals(self) -> dict[str, int | None]:
        return {name: of.params if of else None for name, of in self.networks.items()}

    def sheets(self) -> list[Sheet]:
        """Return the table of layers with a column a convention, and a sentence for each difference."""
        halves = len(self.network.parts) > 1
        keys = ["Part", "Layer"] if halves else ["Layer"]
        return [
            Sheet(
                columns=(
                    *(Column(title, key=True) for title in keys),
                    Column("Kind"),
                    *(Column(name, right=True) for name in self.networks),
                ),
                rows=[
                    (*([placed.part] if halves else []), placed.name, placed.layer.kind, *self._params(number).values())
                    for number, placed in enumerate(self.network.placed)
                ],
                total=("Total", *[""] * len(keys), *self._totals().values()),
                title=self.network.name,
                subtitle=setting(self.network).split(";")[0],
                notes=tuple(self._notes()),
            )
        ]

    def _notes(self) -> Iterator[str]:
        told = {}
        for difference in self.differences():
            told[difference.convention] = True
            yield f"{difference.convention}: {difference.text}."
        same = [name for name, network in self.networks.items() if network and name != BASE and name not in told]
        if same:
            yield f"{', '.join(same)}: as the textbook."
        for reason in self.reasons.values():
            yield f"{reason}."

    def records(self) -> tuple[tuple[str, ...], Iterable[tuple[Value, ...]]]:
        """Return a row a layer and the total, for CSV."""
        header = ("network", "name", "kind", "part", *self.networks)
        rows: list[tuple[Value, ...]] = [
            (self.network.name, placed.name, placed.layer.kind, placed.part, *self._params(number).values())
            for number, placed in enumerate(self.network.placed)
        ]
        return header, [*rows, (self.network.name, None, "total", None, *self._totals().values())]


def all_conventions(network: Network) -> AllConventions:
    """Return the network under every convention that can express it.

    Raises RefusedError for more layers than six networks at once are made for.
    """
    if len(network.placed) > MOST_LAYERS:
        message = f"--all-conventions takes {MOST_LAYERS:,} layers at most, and {escape(network.name)} has"
        raise RefusedError(f"{message} {len(network.placed):,}; count one convention at a time, with -c")
    networks: dict[str, Network | None] = {}
    reasons: dict[str, str] = {}
    for name in CONVENTIONS:
        try:
            networks[name] = replace(network, convention=name)
        except SpecError as error:
            networks[name] = None
            (reasons[name], *_) = (fault.message for fault in error.problems)
    return AllConventions(network, networks, reasons)


def _how(was: Layout, now: Layout) -> tuple[str, str, str]:
    """Return the biases of either in letters, and the names of those that are there now."""
    names = (tensor.name for tensor in now.own if _is_bias(tensor) and tensor.direction != "backward")
    return _letters(was.own), _letters(now.own), ", ".join(names)


def _is_bias(tensor: Tensor) -> bool:
    return tensor.role in ("bias", "recurrent_bias")


def _letters(tensors: tuple[Tensor, ...]) -> str:
    terms = Polynomial.of(tensor for tensor in tensors if _is_bias(tensor)).terms
    return " + ".join(f"{number if number > 1 else ''}{letters}" for number, letters in terms)


def _list(layers: list[tuple[Placed, int]]) -> str:
    names = [placed.name for placed, _ in layers]
    return ", ".join(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2:,} others"])
