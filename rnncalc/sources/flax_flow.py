"""What programs for both of Flax's APIs have in common: how an input flows through the modules, the batch first.

Each direction is an nn.RNN or nnx.RNN of its own, so that its last output and its carry can be taken. A carry has the
states the last one first, as an LSTM's (c, h).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rnncalc.conventions.tensor import WAYS
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout
from rnncalc.network.flow import Input
from rnncalc.questions.program import FedBack, LastStep, Module, ModuleCall, Move, OneStep, OwnCell, Zeros
from rnncalc.sources.expressions import Spelling, step_of
from rnncalc.sources.flow import Arrays, passed
from rnncalc.sources.layout import Call, Chain, Code, statement
from rnncalc.sources.written import Writing, call_of, freezing, joined, recurrent, shape_of, ties

CELLS = {"rnn": "SimpleCell", "gru": "GRUCell", "lstm": "LSTMCell", "mgu": "MGUCell"}
CONCATENATED = "jnp.concatenate([{}], axis=-1)"
READ = {"nn": "", "nnx": "[...]"}
"""How a parameter of a module is read where functions of JAX take it; nnx holds it in a box."""


def spelling(prefix: str) -> Spelling:
    """Return how one of the APIs spells activations."""
    words = ("tanh", "relu", "sigmoid", "softmax")
    half = "jnp.split(x, 2, axis=-1)[self.second]"
    activations = {word: (f"{prefix}.{word}",) for word in words}
    return Spelling(activations, half, "jnp", number=f"{{}}{READ[prefix]}")


def ways_of(layer: Cell, name: str) -> list[str]:
    """Return the names of the modules that run a layer's directions."""
    return [f"{name}_{way}" for way in WAYS] if layer.bidirectional else [name]


def options_of(layer: Cell, prefix: str) -> Iterator[str]:
    """Yield what a cell of Flax is told beside its sizes."""
    activation = layer.values()["activation"]
    if activation != "tanh":
        yield f"activation_fn={'lambda x: x' if activation == 'linear' else f'{prefix}.{activation}'}"


def frozen_of(writing: Writing) -> list[str]:
    """Return the names, at the top of the tree of parameters, of those that are not trained."""
    found = []
    for module in writing.program.modules:
        layer, name = module.layer, writing.of(module)
        if not freezing(module):
            continue
        found += ways_of(layer, name) if isinstance(layer, Cell) else [f"{name}_bias" if ties(module) else name]
        if isinstance(layer, Cell) and layer.learned_state:
            found += [f"{name}_{letter}_0" for letter, _ in module.states]
    return found


def frozen_lines(writing: Writing) -> Iterator[str]:
    """Yield the constant that names what is not trained, if anything is."""
    names = frozen_of(writing)
    if names:
        quoted = tuple(f'"{name}"' for name in names)
        yield ""
        note = "not to be trained: hand the optimizer all parameters but these"
        yield from statement(Call("FROZEN = ", quoted, "{", "}"), note=note)


def carry(names: Sequence[str]) -> str:
    """Return states as a carry: one by itself, or several, the last first."""
    return names[0] if len(names) == 1 else f"({', '.join(reversed(names))})"


def initial(states: Sequence[str]) -> Code:
    """Return the same of states that may need a line each."""
    return states[0] if len(states) == 1 else Call("", (*reversed(states),))


def step_lines(cell: OwnCell, spelled: Spelling) -> Iterator[str]:
    """Yield the body of a cell's call, which takes a carry and x."""
    step = step_of(cell, spelled)
    letters = [letter for letter, _ in cell.states]
    yield f"        {carry(letters).strip('()')} = carry"
    for line in step.lines:
        yield from statement(line.code, before=f"{line.name} = ", depth=2)
    yield f"        return {carry(step.states)}, {step.output}"


ARRAYS = Arrays("jnp.concatenate", "axis", "{0}[:, None]", "jnp.zeros((len({0}), steps - 1, {1}), {0}.dtype)")


def moved(move: Move, x: str, writing: Writing, prefix: str) -> Iterator[str]:
    """Yield the lines of a move; `x` is the name of what it reads."""
    match move:
        case OneStep() | Zeros() | Input() | LastStep():
            yield from passed(move, x, writing, ARRAYS)
        case FedBack():
            yield from _looped(move, x, writing, READ[prefix])
        case ModuleCall() if recurrent(move.module):
            yield from _recurred(move, x, writing, prefix)
        case ModuleCall():
            code = _applied(move.module, x, writing, prefix)
            yield from statement(code, before="x = ", depth=writing.depth, note=shape_of(move.shape))


def _applied(module: Module, x: str, writing: Writing, prefix: str) -> Code:
    layer, own = module.layer, f"self.{writing.of(module)}"
    code: Code = Call(own, (x,))
    if ties(module):
        code = Call(f"self.{writing.table(module)}.attend", (x,))
        if module.params:
            code = Chain((f"self.{writing.table(module)}.attend({x})", f"+ {own}_bias{READ[prefix]}"))
    if isinstance(layer, Dropout) and prefix == "nn":
        return Call(own, (x, "deterministic=not train"))
    return spelling(prefix).activated(layer.activation, code) if isinstance(layer, Dense) else code


def _looped(move: FedBack, x: str, writing: Writing, read: str) -> Iterator[str]:
    """Yield the lines that begin a loop over steps, each recurrent module at its learned state or at none."""
    for module in move.recurrent:
        start = "None"
        if module.layer.values()["learned_state"]:
            yield from _learned(module, writing.of(module), x, read)
            start = carry([f"{letter}_0" for letter, _ in module.states])
        yield from statement(start, before=f"{writing.of(module)}_end = ", depth=2)
    yield from writing.looped(move)


def _recurred(move: ModuleCall, x: str, writing: Writing, prefix: str) -> Iterator[str]:
    """Yield the lines that apply a recurrent module, from its start to its merge."""
    layer, name = recurrent(move.module), writing.of(move.module)
    assert layer
    starts: list[str] = []
    if move.looped:
        call = Call(f"self.{name}", (x, f"initial_carry={name}_end", "return_carry=True"))
        yield from statement(call, before=f"{name}_end, x = ", depth=writing.depth, note=shape_of(move.shape))
        return
    if move.start:
        yield from _carried(f"{writing.of(move.start)}_end", move.start, layer)
        starts = _starts(f"{writing.of(move.start)}_end", move.start, layer)
    elif layer.learned_state:
        yield from _learned(move.module, name, x, READ[prefix])
        letters = [letter for letter, _ in move.module.states]
        each = [""] if layer.directions == 1 else ["[0]", "[1]"]
        starts = [carry([f"{letter}_0{way}" for letter in letters]) for way in each]
    returned = "return_carry=True" if move.kept else None
    handed: tuple[str, ...]
    handed, ends = (WAYS, ("ahead", "back")) if layer.bidirectional else (("x",), (f"{name}_end",))
    handed = ("_",) * layer.directions if move.unread else handed
    note = "" if layer.bidirectional or move.last else shape_of(move.shape)
    for number, own in enumerate(ways_of(layer, name)):
        call = call_of(f"self.{own}", x, f"initial_carry={starts[number]}" if starts else None, returned)
        before = f"{ends[number]}, {handed[number]} = " if move.kept else f"{handed[number]} = "
        yield from statement(call, before=before, depth=2, note=note)
    if move.kept and layer.bidirectional:
        yield f"        {name}_end = ahead, back"
    if move.unread:
        return
    if layer.bidirectional:
        pair = ("forward[:, -1]", "backward[:, 0]") if move.last else WAYS
        code = joined(layer.merge, *pair, CONCATENATED)
        yield from statement(code, before="x = ", depth=2, note=shape_of(move.shape))
    elif move.last:
        yield from statement("x = x[:, -1]", depth=2, note=shape_of(move.shape))


def _learned(module: Module, name: str, x: str, read: str) -> Iterator[str]:
    """Yield the learned states as a batch has them."""
    two = module.layer.values()["bidirectional"]
    for letter, width in module.states:
        state = f"self.{name}_{letter}_0{'[:, None]' if two else read}"
        shape = f"({'2, ' * two}len({x}), {width})"
        yield from statement(Call("jnp.broadcast_to", (state, shape)), before=f"{letter}_0 = ", depth=2)


def _carried(end: str, gives: Module, takes: Cell) -> Iterator[str]:
    """Yield how the encoder's carry becomes a decoder's, where they differ in their directions."""
    layer = recurrent(gives)
    assert layer
    if layer.directions > takes.directions:
        concatenated = "lambda ahead, back: jnp.concatenate([ahead, back], axis=-1)"
        yield from statement(Call("jax.tree.map", (concatenated, f"*{end}")), before=f"{end} = ", depth=2)
    elif layer.directions < takes.directions:
        for number, way in enumerate(("ahead", "back")):
            half = f"lambda state: jnp.split(state, 2, axis=-1)[{number}]"
            yield from statement(Call("jax.tree.map", (half, end)), before=f"{way} = ", depth=2)


def _starts(end: str, gives: Module, takes: Cell) -> list[str]:
    layer = recurrent(gives)
    assert layer
    if takes.directions == 1:
        return [end]
    return [f"{end}[0]", f"{end}[1]"] if layer.directions > 1 else ["ahead", "back"]
