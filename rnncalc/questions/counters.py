"""`count --counters`: what programs that count multiply-adds or FLOPs print for a network.

Each was run in November 2026, on the CPU in float32, with the batch first. Tests compare the rules with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from typing import NamedTuple

from rnncalc.conventions.tensor import BIASES
from rnncalc.errors import Cure, RefusedError, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Dropout, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions import network_of, whole
from rnncalc.questions.count import total


class CountedLayer(NamedTuple):
    """A layer in a pass over a batch, in the numbers that the rules of counters take.

    times: how often it is applied, for each sequence at each step. inputs, units, output: its widths, in one direction.
    ways: its directions. params, biases, products: its parameters, those of them that are biases, and the exact
    multiply-adds of applying it once, in all directions. stacked: whether a layer of the same module is below it.
    joined: whether the last states of two directions are its output.
    """

    kind: str
    batch: int
    times: int
    ways: int
    inputs: int
    units: int
    output: int
    params: int
    biases: int
    products: int
    stacked: bool
    joined: bool

    @classmethod
    def of(cls, placed: Placed, batch: int) -> CountedLayer:
        """Return the numbers of a layer. Its kind is `projected` for an LSTM with a projection, else its own."""
        ways = placed.layer.directions
        return cls(
            "projected" if "p" in placed.sizes else placed.kind,
            *(batch, batch * (placed.uses or 0), ways),
            *(placed.inputs, placed.units or 0, placed.outputs // ways, placed.params),
            sum(tensor.params for tensor in placed.tensors if tensor.role in BIASES),
            *(placed.work.multiply_adds or 0, placed.copy > 0, ways > 1 and not placed.sequence),
        )

    @property
    def blocks(self) -> int:
        """The rows of the gates' matrices in all directions."""
        return self.ways * self.units * {"rnn": 1, "gru": 3}.get(self.kind, 4)

    @property
    def in_blocks(self) -> int:
        """The multiply-adds of the gates, without a projection's."""
        return self.blocks * (self.inputs + self.output)

    def of_units(self, rnn: int, gru: int, lstm: int) -> int:
        """Return so many numbers for each unit in each direction."""
        return self.ways * self.units * {"rnn": rnn, "gru": gru}.get(self.kind, lstm)


Rule = Callable[[CountedLayer], int | None]
"""What a counter adds for a layer; None if that is not known."""


def _nothing(_: CountedLayer) -> int:
    return 0


def _products(layer: CountedLayer) -> int:
    return layer.times * layer.products


def _twice(layer: CountedLayer) -> int:
    return 2 * layer.times * layer.products


def _params(layer: CountedLayer) -> int:
    return layer.times * layer.params


def _params_once(layer: CountedLayer) -> int:
    return layer.batch * layer.params


def _with_biases(layer: CountedLayer) -> int:
    return layer.times * (2 * layer.products + layer.biases)


def _thop(layer: CountedLayer) -> int:
    """Return the number without projections: a layer of a stack seems to read all units of the one below."""
    inputs = layer.ways * layer.units if layer.stacked else layer.inputs
    return layer.times * (layer.blocks * (inputs + layer.units) + layer.biases + layer.of_units(1, 7, 8))


def _ultralytics(layer: CountedLayer) -> int:
    return layer.times * (layer.products + layer.biases + layer.of_units(1, 7, 8))


def _ptflops(layer: CountedLayer) -> int:
    return layer.times * (layer.in_blocks + layer.biases + layer.of_units(1, 7, 10))


def _aten(layer: CountedLayer) -> int | None:
    """Return the parameters at each step; which biases are counted in a batch depends on the layout in memory."""
    if layer.kind == "lstm":
        return 0
    return _params(layer) if layer.batch == 1 or not layer.biases else None


def _torchprofile(layer: CountedLayer) -> int:
    """Return the products of an LSTM whose units are as many as it outputs."""
    lstm = layer.kind in ("lstm", "projected")
    return 4 * lstm * layer.times * layer.ways * layer.output * (layer.inputs + layer.output)


def _flop_counter(layer: CountedLayer) -> int:
    return 0 if layer.kind == "lstm" else _twice(layer)


def _torch_profiler(layer: CountedLayer) -> int:
    """Return two for each multiply-add and some sums and products; of an LSTM the sum of its biases, once."""
    return layer.biases // 2 if layer.kind == "lstm" else layer.times * (2 * layer.products + layer.of_units(0, 1, 3))


def _deepspeed(layer: CountedLayer) -> int:
    return layer.times * (2 * layer.in_blocks - 2 * layer.blocks + layer.biases + layer.of_units(1, 7, 10))


def _onnx_tool(layer: CountedLayer) -> int | None:
    """Return the parameters at each step and the rest of one direction, even if there are two."""
    return layer.times * (layer.params + layer.of_units(0, 110, 180) // layer.ways) if _in_onnx_tool(layer) else None


def _onnx_tool_before(layer: CountedLayer) -> int | None:
    return _params_once(layer) if _in_onnx_tool(layer) else None


def _in_onnx_tool(layer: CountedLayer) -> bool:
    """Return whether it has a rule; to pick last states from two directions is work of a program's own."""
    return layer.kind in ("lstm", "gru") and not layer.joined


def _xla(layer: CountedLayer) -> int:
    return layer.batch * (2 * layer.products + layer.of_units(2, 18, 21)) + 2 * layer.ways  # 2: the counter of a loop


def _tensorflow(layer: CountedLayer) -> int:
    return layer.batch * (2 * layer.products + layer.biases + layer.of_units(1, 8, 8))


def _frozen(layer: CountedLayer) -> int:
    """Return the products with the input, and the sums whose shapes are known; with a batch of 1 fewer are."""
    several = layer.batch > 1
    once = 2 * layer.blocks * layer.inputs + (layer.blocks if layer.biases else 0)
    return layer.batch * (once + layer.of_units(several, 6 * several, 5))


def _lookups(layer: CountedLayer) -> int:
    return 2 * layer.times


def _unknown(_: CountedLayer) -> None:
    return None


class Counter(NamedTuple):
    """A counter: its name and version, what it calls its number, why this differs, and its rules.

    why: clauses, by the kinds of layer that they are about; `{h 7h –}` is h of an RNN, 7h of a GRU.
    framework: whose layers it counts. activation: whether an activation after a dense layer adds nothing.
    """

    name: str
    version: str
    quantity: str
    why: Mapping[str, str]
    recurrent: Rule
    dense: Rule
    embedding: Rule = _nothing
    framework: str = "pytorch"
    activation: bool = False

    def reason(self, kinds: Set[str]) -> str:
        """Return the reason for a network with these kinds of layer, in words that go on after "it"."""

        def per_unit(texts: re.Match[str]) -> str:
            cells = zip(("rnn", "gru", "lstm projected"), texts[1].split(), strict=True)
            each = {about.split()[0].upper(): text for about, text in cells if text != "–" and of(about)}
            one = {*each.values()}
            return one.pop() if len(one) == 1 else ", ".join(f"{text} ({kind})" for kind, text in each.items())

        def of(about: str) -> bool:
            return not kinds.isdisjoint(about.split())

        clauses = "; ".join(text for about, text in self.why.items() if of(about))
        return re.sub(r"\{(.+?)\}", per_unit, clauses) or "counts the matrix products alone"


CELLS = "rnn gru lstm projected"
_ADDED = {CELLS: "adds biases and {h 7h 8h} per step"}
_BIASES = {f"{CELLS} dense": "adds biases"}
_FUSED = {"lstm": "counts 0 for an LSTM, which oneDNN runs as one operation"}
_ZERO = {CELLS: "counts 0 for a recurrent layer"}
_ONE = _ZERO | {"dense": "counts one FLOP for a multiply-add"}
_UNPROJECTED = {"projected": "leaves out the product of a projection"}
_DEEPSPEED = _UNPROJECTED | {CELLS: "counts 2m − 1 for a product of m numbers; adds biases and {h 7h 10h} per step"}
_ONE_STEP = "counts one step, whatever their number"
_ON_XLA = {CELLS: f"{_ONE_STEP}; adds {{2h 18h 21h}}", "dense": "adds biases"}
_ON_TENSORFLOW = _BIASES | {"embedding": "counts 2 for each look-up"}
_RNN_OR_GRU = {"rnn gru": "counts 0 for an RNN or a GRU"}
_ONCE = {CELLS: "counts every parameter at each step, biases too", "dense embedding": "others once for each sequence"}

COUNTERS = (
    Counter("torchinfo", "1.8.0", "mult-adds", _ONCE, _params, _params_once, _params_once, activation=True),
    Counter("THOP", "0.1.1", "MACs", _ADDED | {"projected": "takes no notice of a projection"}, _thop, _products),
    Counter("ultralytics-thop", "2.2.3", "MACs", _ADDED, _ultralytics, _products),
    Counter(
        *("ptflops", "0.7.5", "MACs", {CELLS: "adds {h 7h 10h} per step"} | _UNPROJECTED | _BIASES, _ptflops, _params)
    ),
    Counter(*("ptflops (aten)", "0.7.5", "MACs", _FUSED | {"rnn gru projected dense": "adds biases"}, _aten, _aten)),
    Counter("fvcore", "0.1.5", "FLOPs", _ONE, _nothing, _products, activation=True),
    Counter(
        *("torchprofile", "0.1.0", "MACs"),
        _RNN_OR_GRU | {"projected": "takes the width of a projection for the units"},
        *(_torchprofile, _products),
        activation=True,
    ),
    Counter("FlopCounterMode", "2.13.0", "FLOPs", _FUSED, _flop_counter, _twice, activation=True),
    Counter("Lightning", "2.6.6", "FLOPs", _FUSED, _flop_counter, _twice, activation=True),
    Counter(
        *("torch.profiler", "2.13.0", "FLOPs"),
        {"lstm": "counts of an LSTM one sum of its biases", "gru projected": "adds {– h 3h} per step"},
        *(_torch_profiler, _twice),
    ),
    Counter("DeepSpeed", "0.19.8", "FLOPs", _DEEPSPEED, _deepspeed, _twice),
    Counter("DeepSpeed", "0.19.8", "MACs", _ZERO, _nothing, _products),
    Counter("calflops", "0.3.2", "FLOPs", _DEEPSPEED, _deepspeed, _twice),
    Counter("calflops", "0.3.2", "MACs", _ZERO, _nothing, _products),
    Counter(
        *("onnx-tool", "1.0.1", "MACs", {CELLS: "adds {– 110h 180h} per step, for activations"} | _BIASES),
        *(_onnx_tool, _params),
    ),
    Counter(
        *("onnx-tool", "0.8.0", "MACs", {CELLS: "leaves out the steps of a recurrent layer"} | _BIASES),
        *(_onnx_tool_before, _params),
    ),
    Counter("paddle.flops", "3.3.1", "FLOPs", _ONE, _nothing, _products),
    Counter("Flax tabulate", "0.12.8", "FLOPs", _ON_XLA, _xla, _with_biases, _unknown, "flax-linen"),
    Counter("XLA cost_analysis", "0.10.2", "FLOPs", _ON_XLA, _xla, _with_biases, _unknown, "flax-linen"),
    Counter(
        *("TensorFlow profiler", "2.20.0", "FLOPs", {CELLS: f"{_ONE_STEP}; adds {{h 8h 8h}}"} | _ON_TENSORFLOW),
        *(_tensorflow, _with_biases, _lookups, "keras"),
    ),
    Counter(
        *(
            "TensorFlow, frozen",
            "2.20.0",
            "FLOPs",
            {CELLS: f"{_ONE_STEP}, without the recurrent products"} | _ON_TENSORFLOW,
        ),
        *(_frozen, _with_biases, _lookups, "keras"),
    ),
)
"""The counters, PyTorch's first."""


class Printed(NamedTuple):
    """What a counter prints for a network; None if that is not known.

    ratio: to the exact multiply-adds, or to twice those for FLOPs; None if either is not known, or the exact one is 0.
    """

    name: str
    version: str
    quantity: str
    value: int | None
    ratio: float | None
    reason: str


class CounterValues(NamedTuple):
    """What all counters print for a batch of sequences. exact: the multiply-adds; None if they are not known."""

    network: Network
    batch: int
    exact: int | None
    printed: tuple[Printed, ...]


def counters(network: Network, batch: int = 1) -> CounterValues:
    """Return what the counters print for a pass over a batch of sequences.

    Raises RefusedError without the number of steps, and CallError for an invalid batch.
    """
    network = network_of(network)
    whole("batch", batch, 1)
    if not steps_known(network.parts):
        raise RefusedError("what counters print cannot be computed without the number of steps", Cure.STEPS)
    once = total(placed.multiply_adds for placed in network.stack)
    exact = None if once is None else batch * once
    kinds = {CountedLayer.of(placed, batch).kind for placed in network.stack}
    stacks = {framework: _stack(network, framework) for framework in {each.framework for each in COUNTERS}}
    printed = []
    for each in COUNTERS:
        value = total(_value(each, placed, batch) for placed in stacks[each.framework] or (None,))
        number = exact and exact * (2 if each.quantity == "FLOPs" else 1)
        ratio = value / number if number and value is not None else None
        printed.append(Printed(*each[:3], value, ratio, each.reason(kinds)))
    return CounterValues(network, batch, exact, tuple(printed))


def _stack(network: Network, framework: str) -> tuple[Placed, ...]:
    """Return the layers as a framework has them; none if it cannot express the network, or that was not measured."""
    if network.feedback or network.encoder:
        return ()
    try:
        return network.replace(convention=framework, notation=None, gate_letters={}).stack
    except SpecError:
        return ()


_FREE = {"frozen", "name", "path", "repeat", "units", "bias", "bidirectional", "projection"}
"""The options that may have any value."""

_SAME = {"merge": "concat", "reset_after": True, "activation": "tanh", "recurrent_activation": "sigmoid"}
"""The values of other options of a cell that mean the same as their defaults."""


def is_plain(layer: Layer, free: Set[str] = _FREE) -> bool:
    """Return whether the options of a layer are those of a plain layer, except the free ones."""
    odd = {
        name: value for name, value in layer.values().items() if value != layer.defaults.get(name) and name not in free
    }
    return odd.items() <= (_SAME.items() if isinstance(layer, Cell) else set())


def _value(counter: Counter, placed: Placed | None, batch: int) -> int | None:
    """Return what a counter adds for a layer; None if the layer has an option that its rule does not know."""
    if placed is None or placed.starts:
        return None
    layer, activation = placed.layer, False
    match layer:
        case RNN() | GRU() | LSTM():
            rule, activation = counter.recurrent, layer.kind == "rnn" and counter.framework == "pytorch"
        case Dense():
            rule, activation = counter.dense, counter.activation
        case Embedding():
            rule = counter.embedding
        case _:
            return 0 if isinstance(layer, Dropout) else None
    free = _FREE | {"activation"} if activation else _FREE
    return rule(CountedLayer.of(placed, batch)) if is_plain(layer, free) else None
