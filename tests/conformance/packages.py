"""Published cells that no framework of the table has: packages, each with the layer of rnncalc that it is."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from conformance import with_mingru, with_sru, with_torchrecurrent
from conformance.drawing import CELLS
from conformance.frameworks import Framework
from hypothesis import strategies as st

from rnncalc.layers.cell import Cell

Options = dict[str, Any]


class Package(NamedTuple):
    """A published cell.

    kind, always: the kind of layer it is, and the options that make it so.
    options: what else it can be brought to express, each option's default first.
    """

    framework: Framework
    kind: str
    always: Options
    options: dict[str, tuple[Any, ...]]

    def layer(self, units: int, **chosen: Any) -> Cell:
        """Return the layer with some of its options chosen."""
        made: Cell = CELLS[self.kind](units=units, **self.always, **chosen)
        return made

    def one_option_at_a_time(self) -> Iterator[Options]:
        """Yield no option, every value of every option, and each of them in both directions."""
        for ways in ({}, {"bidirectional": True}):
            yield ways
            for option, values in self.options.items():
                if ways or option != "merge":
                    yield from (ways | {option: value} for value in values[1:])


COMMON: dict[str, tuple[Any, ...]] = {
    "bias": (True, False),
    "learned_state": (False, True),
    "merge": (None, "concat", "sum", "mul", "ave"),
}
ANY = {"activation": ("tanh", "relu", "gelu", "sigmoid", "linear", "softmax")}
GATE = {"update_gate": ("keeps", "replaces")}


def _recurrent(name: str, kind: str, always: Options, options: dict[str, tuple[Any, ...]]) -> Package:
    tensors, apply = (partial(of, name) for of in (with_torchrecurrent.tensors, with_torchrecurrent.apply))
    return Package(Framework(tensors, apply, 1e-12), kind, always, COMMON | options)


_MINIMAL = Framework(with_mingru.tensors, with_mingru.apply, 1e-12)

PACKAGES = {
    "minGRU": Package(_MINIMAL, "mingru", {}, COMMON),  # sigmoid and tanh have a test of their own
    "minLSTM": Package(_MINIMAL, "minlstm", {}, COMMON),
    "SRU": Package(Framework(with_sru.tensors, with_sru.apply, 1e-12), "sru", {}, COMMON),
    "FastGRNN": _recurrent("FastGRNN", "fastgrnn", {}, {}),
    "IndRNN": _recurrent("IndRNN", "rnn", {"recurrence": "diagonal"}, ANY),
    "LiGRU": _recurrent("LiGRU", "gru", {"reset_gate": False}, ANY | GATE),
    "UGRNN": _recurrent("UGRNN", "gru", {"reset_gate": False}, GATE),
    "MGU": _recurrent("MGU", "mgu", {}, ANY),
}


@st.composite
def layers(draw: st.DrawFn) -> tuple[Package, Cell]:
    """Draw a package and a layer that it can express."""
    package = PACKAGES[draw(st.sampled_from([*PACKAGES]))]
    chosen: Options = {"bidirectional": draw(st.booleans())}
    for option, values in package.options.items():
        if option != "merge" or chosen["bidirectional"]:
            chosen[option] = draw(st.sampled_from(values))
    return package, package.layer(draw(st.integers(1, 4)), **chosen)
