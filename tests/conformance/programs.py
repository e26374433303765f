"""Random networks to export, and what rnncalc's own pass gives, each layer under the tensors that its program has."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np
from conformance.drawing import cells, networks
from hypothesis import assume
from hypothesis import strategies as st
from strategies import encoder_decoder, network, network_of, started

from rnncalc import GRU, MGU, DecoderAttention, Dense, Network, Output, Part, SpecError
from rnncalc.conventions import convention, lacks
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import floats
from rnncalc.forward.bindings import Binding, BoundWeights, binding
from rnncalc.forward.network_pass import Pass
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.layer import CROSS, Embedding, Layer, Transform
from rnncalc.models.files import read
from rnncalc.models.matching import match
from rnncalc.network.flow import Begin, Input, shapes
from rnncalc.network.stack import Placed
from rnncalc.programs import source, spelling
from rnncalc.programs.code import identifiers
from rnncalc.programs.program import Module, Program, program_of

NAMES = ["encoder", "class", "forward", "x", "lstm_1_h", "ключ", '"""\n', "3 d", "Dense layer", "\x1b[31m", "a" * 60]


class Case(NamedTuple):
    """A program, its numbers, and what comes out of them.

    weights: by layer and tensor. inputs: by part, a sequence or one vector, with the places of a step as axes. extras:
    by layer, and whether its initial states are made from them.
    """

    program: Program
    source: str
    weights: dict[str, dict[str, Any]]
    inputs: dict[str | None, Any]
    extras: dict[tuple[str, bool], Any]
    steps: int | None
    outputs: Any


@st.composite
def cases(draw: st.DrawFn, target: str) -> Case:
    """Draw a network, of the target's own layers alone or of any, export it, and run it."""
    own = networks(target, running=True)
    net = draw(
        st.one_of(
            specs(target), specs(target), halves(target), attending(target), own, around(target), fed_back(target)
        )
    )
    known = net.with_parts({name: part._replace(steps=part.steps or 2) for name, part in net.parts.items()})
    told = draw(st.booleans()) or net.encoder is not None
    program = program_of(known if told else net, target, stacks=spelling(target).stacks)
    return case_of(program, known, draw(st.integers(0, 2**32 - 1)))


@st.composite
def around(draw: st.DrawFn, target: str) -> Network:
    """Draw the target's own layers with what is written around them."""
    net = draw(networks(target, running=True))
    layers = []
    for layer in net.layers:
        if not isinstance(layer, Embedding):
            layer = layer.replace(
                repeat=draw(st.integers(1, 3)),
                extra_inputs=draw(st.sampled_from([0, 0, 2])),
                frozen=draw(st.booleans()),
            )
        layers.append(layer.replace(learned_state=draw(st.booleans())) if isinstance(layer, Cell) else layer)
    topology = draw(st.sampled_from(["one-to-many", "many-to-one", "many-to-many"]))
    return net.replace(layers=layers, topology=topology, convention="textbook")


@st.composite
def fed_back(draw: st.DrawFn, target: str) -> Network:
    """Draw a network whose outputs are its next inputs."""
    layers: list[Layer] = []
    for layer in draw(st.lists(st.one_of(cells(target, 3), st.builds(MGU, st.integers(1, 3))), min_size=1, max_size=2)):
        chosen = {
            **draw(st.sampled_from([{}, {"learned_state": True}, {"initial_state": 3}])),
            "extra_inputs": draw(st.sampled_from([0, 2])),
            "repeat": draw(st.sampled_from([1, 2])),
        }
        layers += [layer.replace(bidirectional=False, merge=None, **chosen), Dense(3, activation="tanh")]
    return Network(
        input=2, layers=layers, output=2, steps=draw(st.integers(1, 4)), topology="one-to-many", feedback=True
    )


@st.composite
def halves(draw: st.DrawFn, target: str) -> Network:
    """Draw an encoder-decoder of the target's own layers, one-way or bidirectional on each side."""
    parts: list[list[Cell]] = [[], []]
    for _ in range(draw(st.integers(1, 2))):
        gives = draw(cells(target, 3))
        ways = draw(st.sampled_from([False, True]))
        gives = gives.replace(units=2 * gives.units)
        sizes = {"units": gives.units * gives.directions // (1 + ways)}
        if getattr(gives, "projection", None):
            gives = gives.replace(projection=2 * gives.values()["projection"])
            sizes["projection"] = gives.values()["projection"] * gives.directions // (1 + ways)
        repeat = draw(st.integers(1, 2))
        takes = gives.replace(bidirectional=ways, merge=None, **sizes)
        parts[0] += [gives.replace(repeat=repeat)]
        parts[1] += [takes.replace(repeat=repeat)] if draw(st.booleans()) else [takes] * repeat
    first, second = (Part(3, tuple(layers), steps=draw(st.integers(1, 3))) for layers in parts)
    return Network(encoder=first, decoder=second._replace(output=Output(2)), convention=target)


def one_width(cell: Cell) -> bool:
    """Return whether a cell's states are of one width, as those of an LSTM with a projection are not."""
    return len({*cell.state_widths()}) == 1


@st.composite
def attending(draw: st.DrawFn, target: str) -> Network:
    """Draw an encoder-decoder whose decoder attends to the encoder's outputs, of any layers."""
    score = draw(st.sampled_from(["additive", "concat", "general", "dot", "heads"]))
    query, context = (
        draw(st.sampled_from(["before", "after"])),
        draw(st.sampled_from(["input", "output", "both", None])),
    )
    gives = [draw(cells(target, 3).filter(one_width)) for _ in range(draw(st.integers(1, 2)))]
    width = gives[-1].output_width(3)
    takes = []
    for place, cell in enumerate(gives):
        units = width if score == "dot" and place == len(gives) - 1 else draw(st.integers(1, 3))
        kind = draw(st.sampled_from([type(cell), GRU]))
        takes.append(kind(units, initial_state=cell.state_widths()[0], extra_inputs=draw(st.sampled_from([0, 2]))))
    options: dict[str, Any] = {"query": query, "context": context}
    if score == "heads":
        key = draw(st.sampled_from([None] if target == "pytorch" else [None, 1, 2]))
        heads = [number for number in (1, 2, 3) if key or units % number == 0]
        options |= {"heads": draw(st.sampled_from(heads)), "key_size": key, "bias": draw(st.booleans())}
    else:
        options["score"] = score
    if score in ("additive", "concat", "general"):
        options["layer"] = draw(st.sampled_from(["last", "first"]))
    if score in ("additive", "concat"):
        options["units"] = draw(st.integers(1, 3))
        options["bias"] = draw(st.sampled_from([True, False, {"score": False}]))
    attention = DecoderAttention(**options)
    first: tuple[Layer, ...] = (Embedding(4),) if draw(st.booleans()) else ()
    alone = not first and attention.joins[0] and draw(st.booleans())
    return Network(
        encoder=Part(3, tuple(gives), steps=draw(st.integers(1, 3))),
        decoder=Part(
            *(
                0 if alone else 5,
                (*first, *takes),
                Output(2, extra_inputs=draw(st.sampled_from([0, 2]))),
                draw(st.integers(1, 3)),
            ),
            attention=attention,
        ),
        convention=draw(st.sampled_from(["textbook", target])),
    )


@st.composite
def specs(draw: st.DrawFn, target: str) -> Network:
    """Draw a network over every option, under the target's convention where that can express it."""
    spec = draw(st.one_of(network(steps=True), network(steps=True), encoder_decoder(), started()))
    last = spec.get("decoder", spec)
    if "embedding" in last["layers"][0] and draw(st.booleans()):
        last["layers"].append({"dense": last["layers"][0]["embedding"], "activation": "softmax"})
        last["output"] = {"units": last["input"], "tied": True, "bias": draw(st.booleans())}
    if draw(st.booleans()):
        names = draw(st.permutations(NAMES))
        for layer, name in zip(last["layers"], names, strict=False):
            layer["name"] = name
    net = network_of(spec)
    assume(not any(placed.buffers and any(lacks(placed.layer, target)) for placed in net.stack))
    assume(not any(placed.layer.named_as in CROSS and any(lacks(placed.layer, target)) for placed in net.stack))
    half = net.decoder  # no program is written for attention whose states start from zeros, nor for location scores
    assume(not (half and half.attention and (half.initial_states != "all" or half.attention.score == "location")))
    try:
        return net.replace(convention=draw(st.sampled_from(["textbook", target])))
    except SpecError:
        return net


def case_of(program: Program, known: Network, seed: int) -> Case:
    """Return a program with random numbers; `known` is its network with all numbers of steps."""
    random = np.random.default_rng(seed)

    def array(*shape: int, bound: float = 0.5) -> Any:
        return random.uniform(-bound, bound, shape).astype(np.float32).astype(np.float64)

    places = [place for module in program.modules for place in module.places]
    weights = {place.name: {tensor.name: array(*tensor.shape) for tensor in place.stored} for place in places}
    for place in places:
        for tensor in place.stored:
            if tensor.role is Role.RUNNING_VARIANCE:
                weights[place.name][tensor.name] = np.abs(weights[place.name][tensor.name]) + 0.5
    inputs: dict[str | None, Any] = {}
    for name, part in known.parts.items():
        if part.input == 0:
            continue
        many = known.topology_of(name).startswith("many")
        shape: tuple[int, ...] = (part.steps or 1,) if many else ()
        tokens = isinstance(part.layers[0], Embedding)
        step = (*part.layers[0].grid, part.input)
        inputs[name] = random.integers(part.input, size=shape) if tokens else array(*shape, *step, bound=1.0)
    extras = {}
    for move in program.network.flow:
        if isinstance(move, Input) and move.extra_of:
            part = known.parts[move.part]
            single = all(len(each) == 1 for each in shapes(program.network.flow))
            shape = (1, *move.shape) if single and not move.starts else move.shape
            sizes = tuple((part.steps or 1) if size is None else size for size in shape)
            extras[move.extra_of, move.starts] = array(*sizes, bound=1.0)
    steps = known.steps if any(isinstance(move, Begin) for move in program.network.flow) else None
    if known.decoder and known.decoder.input == 0:
        steps = known.decoder.steps
    vectors = {
        name: array.reshape(*array.shape[: -len(grid) - 1], -1) if (grid := known.parts[name].layers[0].grid) else array
        for name, array in inputs.items()
    }
    outputs = Mixed(program, known, weights, vectors, extras).of_network()
    return Case(program, text_of(program), weights, inputs, extras, steps, outputs)


def hold_saved(case: Case, convention: str, suffix: str, save: Callable[[str], object]) -> None:
    """Assert that the file of a program's model has each tensor of a network that counts them, with its numbers."""
    network = case.program.network
    if network.convention != convention:
        return
    with NamedTemporaryFile(suffix=suffix) as file:
        with warnings.catch_warnings():  # as Keras saves on JAX
            warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
            save(file.name)
        try:
            matched = match(network, read(file.name))
        except SpecError as error:  # neither names nor order tell some layers apart
            if "give its path" not in str(error):
                raise
            return
        assert matched.kept, [check for check in matched.tensors if not check.kept]
        for placed in (placed for placed in network.stack if placed.name in matched.sites):
            site = matched.sites[placed.name]
            for alone, tensor in zip(placed.layout.tensors, placed.tensors, strict=True):
                stored = site.tensors[alone.sized(placed.sizes).name].read()
                np.testing.assert_allclose(stored, case.weights[placed.name][tensor.name], rtol=1e-6)


def text_of(program: Program) -> str:
    return source(program.network, program.target)


class Mixed(Pass[Any]):
    """A pass whose layers are bound under the conventions that their tensors have in a program."""

    def __init__(self, program: Program, known: Network, weights: Any, inputs: Any, extras: Any) -> None:
        def lists(array: Any) -> Any:
            return array.tolist() if array.ndim else [array.tolist()]

        sequences = {
            name: lists(array) if known.topology_of(name).startswith("many") else [array.tolist()]
            for name, array in inputs.items()
        }
        nested = {layer: {name: lists(of) for name, of in own.items()} for layer, own in weights.items()}
        super().__init__(known, floats, weights=nested, inputs=sequences)
        self.data.elsewhere = lambda count: [0.0] * count  # type: ignore[method-assign]  # an external part is zeros
        self.modules = {place.name: module for module in program.modules for place in module.places}
        self.queues = {of: iter(np.atleast_2d(extra).tolist()) for of, extra in extras.items()}
        self.target = program.target
        own = {place.name: place for module in program.modules for place in module.places}
        known.__dict__["stack"] = tuple(
            place._replace(
                layout=own[place.name].layout,
                params=own[place.name].params,
                work=own[place.name].work,
            )
            for place in known.stack
        )

    def of_network(self) -> Any:
        ran = [*self.run()]
        assert all(each.agrees for each in ran), ran[-1]
        assert len(ran) == len(self.network.stack)
        return ran[-1].output

    def rules(self, placed: Placed) -> tuple[Binding, Habits]:
        around = isinstance(placed.layer, Transform) and any(lacks(placed.layer, self.target))
        book = self.modules[placed.name].cell or around
        habits = convention("textbook" if book else self.target).habits(placed.layer.kind)
        return binding("textbook") if book else _with_states(self.target), habits

    def read(self, move: Input, *, one_step: bool) -> Iterable[Any]:
        if move.extra_of is None:
            return super().read(move, one_step=one_step)
        steps = move.shape[0] or 1 if move.sequence and not one_step else 1
        return [next(self.queues[move.extra_of, move.starts]) for _ in range(steps)]


def _with_states(target: str) -> Any:
    """Return a target's binding with the textbook's learned states, which programs hold beside its modules."""
    of, book = binding(target), binding("textbook")

    def cell(arrays: Any, layer: Cell, inputs: int, backward: bool) -> BoundWeights:
        bound: Any = of.cell(arrays, layer.replace(learned_state=False), inputs, backward)
        states = {
            letter: book.cell(arrays, layer, inputs, backward).state(letter)
            for letter in (layer.states if layer.learned_state else ())
        }
        return bound._replace(states=states)  # type: ignore[no-any-return]

    return of._replace(cell=cell)


def modules_of(program: Program) -> Iterator[tuple[Module, str]]:
    """Yield each module with its identifier, as its target has it."""
    named = identifiers(program.modules, spelling(program.target).reserved)
    yield from zip(program.modules, named.values(), strict=True)
