"""`count --counters`: what programs that count multiply-adds or FLOPs print for a network.

Each was run in November 2026, on the CPU in float32, with the batch first. Tests compare the rules with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions.tensor import BIASES
from rnncalc.errors import Cure, RefusedError, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Dropout, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.network.network import Network, in_numbers, members_of
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions import described_of, whole
from rnncalc.questions.count import total

if TYPE_CHECKING:
    from rnncalc.network.model import Described


class CountedLayer(NamedTuple):
    """A layer in a pass over a batch, in the numbers that the rules of counters take.

    times: how often it is applied, for each sequence at each step. inputs, units, output: its widths, in one direction.
    ways: its directions. params, biases, products: its parameters, those of them that are biases, and the exact
    multiply-adds of applying it once, in all directions. stacked: whether a layer of the same module is below it.
    joined: whether the last states of two directions are its output.
    """

    layer: Layer
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
            placed.layer,
            "projected" if "p" in placed.sizes else placed.kind,
            *(batch, batch * (placed.uses or 0), ways),
            *(placed.inputs, placed.units or 0, placed.outputs // ways, placed.params),
            sum(tensor.params for tensor in placed.tensors if tensor.role in BIASES),
            *(placed.work.multiply_adds or 0, placed.copy > 0, ways > 1 and not placed.sequence),
        )

    @property
    def blocks_of_unit(self) -> int:
        """The rows of a gate's matrices for each unit: the blocks of its cell."""
        return {"rnn": 1, "gru": 3}.get(self.kind, 4)

    @property
    def blocks(self) -> int:
        """The rows of the gates' matrices in all directions."""
        return self.ways * self.units * self.blocks_of_unit

    @property
    def in_onnx_tool(self) -> bool:
        """Whether onnx-tool has a rule for it."""
        return self.kind in ("lstm", "gru") and not self.joined

    @property
    def in_blocks(self) -> int:
        """The multiply-adds of the gates, without a projection's."""
        return self.blocks * (self.inputs + self.output)

    def of_units(self, rnn: int, gru: int, lstm: int) -> int:
        """Return so many numbers for each unit in each direction."""
        return self.ways * self.units * {"rnn": rnn, "gru": gru}.get(self.kind, lstm)


RULES: Mapping[str, Callable[[CountedLayer, int], int | None]] = {
    "nothing": lambda *_: 0,
    "unknown": lambda *_: None,
    "products": lambda x, _: x.times * x.products,
    "twice": lambda x, _: 2 * x.times * x.products,
    "twice, biases": lambda x, _: x.times * (2 * x.products + x.biases),
    "twice, fused": lambda x, _: 0 if x.kind == "lstm" else 2 * x.times * x.products,
    "params": lambda x, _: x.times * x.params,
    "params once": lambda x, _: x.batch * x.params,
    "lookups": lambda x, _: 2 * x.times,
    # a layer of a stack seems to it to read all units of the one below
    "thop": lambda x, more: (
        x.times * (x.blocks * ((x.ways * x.units if x.stacked else x.inputs) + x.units) + x.biases + more)
    ),
    "ultralytics": lambda x, more: x.times * (x.products + x.biases + more),
    "ptflops": lambda x, more: x.times * (x.in_blocks + x.biases + more),
    # which biases it counts in a batch depends on the layout in memory
    "aten": lambda x, _: 0 if x.kind == "lstm" else x.times * x.params if x.batch == 1 or not x.biases else None,
    "torchprofile": lambda x, _: x.times * 4 * x.ways * x.output * (x.inputs + x.output) * (x.blocks_of_unit == 4),
    "torch.profiler": lambda x, more: x.biases // 2 if x.kind == "lstm" else x.times * (2 * x.products + more),
    "deepspeed": lambda x, more: x.times * (2 * x.in_blocks - 2 * x.blocks + x.biases + more),
    # of two directions it adds the rest once; to pick their last states is work of a program's own
    "onnx-tool": lambda x, more: x.times * (x.params + more // x.ways) if x.in_onnx_tool else None,
    "onnx-tool once": lambda x, _: x.batch * x.params if x.in_onnx_tool else None,
    "xla": lambda x, more: x.batch * (2 * x.products + more) + 2 * x.ways,  # 2: the counter of a loop
    "tensorflow": lambda x, more: x.batch * (2 * x.products + x.biases + more),
    "frozen": lambda x, more: x.batch * (2 * x.blocks * x.inputs + x.blocks * bool(x.biases) + more),
}
"""What counters add for a layer, with so many numbers more for its units; None if that is not known."""


class Counter(NamedTuple):
    """A counter: its name and version, what it calls its number, why this differs, and its rules by their names.

    why: clauses, by the kinds of layer that they are about. units: what it adds for each unit of an RNN, a GRU and an
    LSTM, `{}` in the clauses; of_one: with a batch of 1, if that differs. framework: whose layers it counts.
    activation: whether one after a dense layer adds nothing.
    """

    name: str
    version: str
    quantity: str
    why: Mapping[str, str]
    recurrent: str
    dense: str
    units: tuple[int, int, int] = (0, 0, 0)
    embedding: str = "nothing"
    framework: str = "pytorch"
    activation: bool = False
    of_one: tuple[int, int, int] | None = None

    def added(self, batch: int) -> tuple[int, int, int]:
        """Return what it adds for each unit of an RNN, a GRU and an LSTM in a batch."""
        return self.of_one if self.of_one and batch == 1 else self.units

    def reason(self, kinds: Set[str], batch: int) -> str:
        """Return the reason for a network with these kinds of layer, in words that go on after "it"."""
        cells = zip(("RNN", "GRU", "LSTM"), ("rnn", "gru", "lstm projected"), self.added(batch), strict=True)
        units = {name: f"{number}h" for name, about, number in cells if number and kinds & {*about.split()}}
        units = {name: "h" if text == "1h" else text for name, text in units.items()}
        one = len({*units.values()}) == 1
        words = ", ".join(list(units.values())[:1] if one else [f"{text} ({name})" for name, text in units.items()])
        clauses = "; ".join(text for about, text in self.why.items() if kinds & {*about.split()})
        return clauses.replace("{}", words).replace("; adds ;", ";") or "counts the matrix products alone"


_CELLS = "rnn gru lstm projected"
_ADDED = {_CELLS: "adds biases and {} per step"}
_BIASES = {f"{_CELLS} dense": "adds biases"}
_NAMED = (("dense", "a dense layer"), ("embedding", "an embedding"))
_FUSED = {"lstm": "counts 0 for an LSTM, which oneDNN runs as one operation"}
_ZERO = {_CELLS: "counts 0 for a recurrent layer"}
_ONE = _ZERO | {"dense": "counts one FLOP for a multiply-add"}
_UNPROJECTED = {"projected": "leaves out the product of a projection"}
_DEEPSPEED = {_CELLS: "counts 2m − 1 for a product of m numbers; adds biases and {} per step"} | _UNPROJECTED
_ONE_STEP = "counts one step, whatever their number"
_ON_XLA = {_CELLS: f"{_ONE_STEP}; adds {{}}, and 2 for each loop", "dense": "adds biases"}
_ON_TENSORFLOW = _BIASES | {"embedding": "counts 2 for each look-up"}
_ONCE = {_CELLS: "counts every parameter at each step, biases too"}
_ONCE |= {kind: f"counts the parameters of {name} once for each sequence" for kind, name in _NAMED}
_LOST = {"rnn gru": "counts 0 for an RNN or a GRU", "projected": "takes the width of a projection for the units"}
_SUMS = {"lstm": "counts of an LSTM one sum of its biases", "gru": "adds h per step", "projected": "adds 3h per step"}

COUNTERS = (
    Counter(
        "torchinfo", "1.8.0", "mult-adds", _ONCE, "params", "params once", embedding="params once", activation=True
    ),
    Counter(
        *("THOP", "0.1.1", "MACs", _ADDED | {"projected": "takes no notice of a projection"}, "thop", "products"),
        units=(1, 7, 8),
    ),
    Counter("ultralytics-thop", "2.2.3", "MACs", _ADDED, "ultralytics", "products", (1, 7, 8)),
    Counter(
        *("ptflops", "0.7.5", "MACs", {_CELLS: "adds {} per step"} | _UNPROJECTED | _BIASES, "ptflops", "params"),
        units=(1, 7, 10),
    ),
    Counter("ptflops (aten)", "0.7.5", "MACs", _FUSED | {"rnn gru projected dense": "adds biases"}, "aten", "aten"),
    Counter("fvcore", "0.1.5", "FLOPs", _ONE, "nothing", "products", activation=True),
    Counter("torchprofile", "0.1.0", "MACs", _LOST, "torchprofile", "products", activation=True),
    Counter("FlopCounterMode", "2.13.0", "FLOPs", _FUSED, "twice, fused", "twice", activation=True),
    Counter("Lightning", "2.6.6", "FLOPs", _FUSED, "twice, fused", "twice", activation=True),
    Counter("torch.profiler", "2.13.0", "FLOPs", _SUMS, "torch.profiler", "twice", (0, 1, 3)),
    Counter("DeepSpeed", "0.19.8", "FLOPs", _DEEPSPEED, "deepspeed", "twice", (1, 7, 10)),
    Counter("DeepSpeed", "0.19.8", "MACs", _ZERO, "nothing", "products"),
    Counter("calflops", "0.3.2", "FLOPs", _DEEPSPEED, "deepspeed", "twice", (1, 7, 10)),
    Counter("calflops", "0.3.2", "MACs", _ZERO, "nothing", "products"),
    Counter(
        *("onnx-tool", "1.0.1", "MACs", {_CELLS: "adds {} per step, for activations"} | _BIASES, "onnx-tool", "params"),
        units=(0, 110, 180),
    ),
    Counter(
        *("onnx-tool", "0.8.0", "MACs", {_CELLS: "leaves out the steps of a recurrent layer"} | _BIASES),
        *("onnx-tool once", "params"),
    ),
    Counter("paddle.flops", "3.3.1", "FLOPs", _ONE, "nothing", "products"),
    *(
        Counter(name, version, "FLOPs", _ON_XLA, "xla", "twice, biases", (2, 18, 21), "unknown", "flax-linen")
        for name, version in (("Flax tabulate", "0.12.8"), ("XLA cost_analysis", "0.10.2"))
    ),
    *(
        Counter(
            *(name, "2.20.0", "FLOPs", {_CELLS: f"{_ONE_STEP}{without}; adds {{}}"} | _ON_TENSORFLOW, rule),
            *("twice, biases", units, "lookups", "keras"),
            of_one=of_one,
        )
        for name, without, rule, units, of_one in (
            ("TensorFlow profiler", "", "tensorflow", (1, 8, 8), None),
            # sums whose shapes are known: fewer with a batch of 1
            ("TensorFlow, frozen", ", without the recurrent products", "frozen", (1, 6, 5), (0, 0, 5)),
        )
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

    network: Described
    batch: int
    exact: int | None
    printed: tuple[Printed, ...]


def counters(network: Described, batch: int = 1) -> CounterValues:
    """Return what the counters print for a pass over a batch of sequences.

    Raises RefusedError without the number of steps, and CallError for an invalid batch.
    """
    network = in_numbers(described_of(network))
    whole("batch", batch, 1)
    if not steps_known(network.parts):
        cure = Cure.STEPS_WITHIN if network.networks else Cure.STEPS
        raise RefusedError("what counters print cannot be computed without the number of steps", cure)
    once = total(placed.multiply_adds for placed in network.stack)
    exact = None if once is None else batch * once
    kinds = {CountedLayer.of(placed, batch).kind for placed in network.stack}
    frameworks = {each.framework for each in COUNTERS}
    members = members_of(network)
    stacks = {name: [(_stack(each, name, batch), calls) for _, each, calls in members] for name in frameworks}
    printed = []
    for each in COUNTERS:
        sums = [(total(_value(each, counted) for counted in stack), calls) for stack, calls in stacks[each.framework]]
        value = total(number and calls * number for number, calls in sums)
        number = exact and exact * (2 if each.quantity == "FLOPs" else 1)
        ratio = value / number if number and value is not None else None
        unknown = f"no rule is known for this network{' in a batch' if batch > 1 else ''}"
        reason = unknown if value is None else each.reason(kinds, batch)
        printed.append(Printed(*each[:3], value, ratio, reason))
    return CounterValues(network, batch, exact, tuple(printed))


def _stack(network: Network, framework: str, batch: int) -> list[CountedLayer | None]:
    """Return the layers as a framework has them; None alone if it lacks one of them, or that was not measured."""
    try:
        stack = network.replace(convention=framework, notation=None, symbols={}).stack
    except SpecError:
        return [None]
    measured = network.topology_name in MEASURED and not any(placed.starts for placed in stack)
    return [CountedLayer.of(placed, batch) for placed in stack] if measured else [None]


MEASURED = ("many-to-one", "many-to-many")
"""The topologies that the counters were run on."""

FREE = {"frozen", "name", "path", "repeat", "units", "bias", "bidirectional", "projection"}
"""The options that may have any value."""

_SAME = {"merge": "concat", "reset_after": True, "activation": "tanh", "recurrent_activation": "sigmoid"}
"""The values of other options of a cell that mean the same as their defaults."""


def is_plain(layer: Layer, free: Set[str]) -> bool:
    """Return whether the options of a layer are those of a plain layer, except the free ones."""
    odd = {
        name: value for name, value in layer.values().items() if value != layer.defaults.get(name) and name not in free
    }
    return odd.items() <= (_SAME.items() if isinstance(layer, Cell) else set())


def _value(counter: Counter, counted: CountedLayer | None) -> int | None:
    """Return what a counter adds for a layer; None if the layer has an option that its rule does not know."""
    free = FREE
    match counted and counted.layer:
        case RNN() | GRU() | LSTM() as layer:
            rule = counter.recurrent
            free = free | {"activation"} if layer.kind == "rnn" and counter.framework == "pytorch" else free
        case Dense() as layer:
            rule, free = counter.dense, free | {"activation"} if counter.activation else free
        case Embedding() as layer:
            rule = counter.embedding
        case layer:
            return 0 if isinstance(layer, Dropout) else None
    assert counted
    return RULES[rule](counted, counted.of_units(*counter.added(counted.batch))) if is_plain(layer, free) else None
