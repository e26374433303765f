"""The one writer of programs: turns the moves of a network into statements. A framework extends it with its own words.

These are templates with {places}, and methods that yield lines of code, indented from their own start. Users' names are
written as identifiers, or escaped.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from rnncalc.conventions import convention
from rnncalc.conventions.tensor import Role, Tensor
from rnncalc.errors import RefusedError
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Shape, Transform, bias_of
from rnncalc.network import flow
from rnncalc.printable import escape
from rnncalc.programs.code import (
    FALLBACK,
    broken,
    class_name,
    docstring,
    docstring_text,
    identifiers,
    quoted,
    tensors_of,
    with_comment,
    with_return,
)
from rnncalc.programs.formulas import Expressions, FormulaWriter, LayerWriter, dense_of
from rnncalc.programs.program import Module, OwnCell, Program
from rnncalc.records import Frozen
from rnncalc.step.equations import Application, Equation, Symbol, symbols, within
from rnncalc.step.operations import OPERATIONS
from rnncalc.words import all_of, plural

WIDTHS = {"m": "inputs", "h": "units", "p": "projection"}
"""The names of widths in a program, by their letters; any other letter is its own name."""

IN_BLOCKS = '''
def in_blocks(matrix{array}, vector{array}, number{whole}){returns}:
    """Return blocks along a diagonal times the parts of a vector."""
    rows, columns = matrix.shape
    blocks = {library}.reshape(matrix, (number, rows // number, columns))
    parts = {library}.reshape(vector, (-1, number, columns))
    return {library}.reshape({library}.einsum("goi,bgi->bgo", blocks, parts), (-1, rows))
'''

SOME_STEPS = 2
"""The number of steps with which a program is tried if the network has none."""

BEFORE = "t−1"


class Around(Frozen):
    """How a layer around the cells is made, and what applies it: both may have {places}.

    module: what makes it, nothing if it is a function.
    applied: where x is a sequence; vector: where it is one vector; padded: where zeros are put around it; by default
    each is the one before. options: how those are written that differ from their default. words: the framework's own
    for values of options. calls: the arguments of the call for options that are true, with {x}. activates: whether the
    module itself applies the activation. trained: whether what applies it depends on whether the network is being
    trained. built: what builds it before it is frozen, if it is trained otherwise.
    """

    module: str = ""
    applied: str = "{module}({x})"
    vector: str = ""
    padded: str = ""
    options: Mapping[str, str] = {}
    words: Mapping[str, str] = {}
    calls: Mapping[str, str] = {}
    activates: bool = False
    trained: bool = False
    built: str = ""


NOTHING = Around()

LOSSES: Mapping[str, tuple[str, str]] = {
    "sum": ("the sum of the outputs", "{0}.sum(output)"),
    "squared": ("half the sum of the squared errors", "{0}.sum((output - targets) ** 2) / 2"),
    "cross_entropy": ("−Σ y log p; targets: rows that sum to 1", "-{0}.sum(targets * {0}.log(output))"),
}
"""The losses of `run`: what each is, and its formula with the module of sums and logarithms."""


class Writer(Expressions, ABC):
    """Writes one program. A framework is a subclass: templates with {places}, and methods that yield lines of code."""

    # The program, its class, and the method that applies its modules.
    imports: tuple[str, ...]
    base: str  # the class that the program's class extends
    setup: tuple[str, ...]  # the first lines of the method that makes the modules
    forward: str  # the name of the method that applies them
    array: str = ""  # the type of its arguments
    returns: str = ""  # the end of its head, such as ` -> torch.Tensor`
    in_training: tuple[str, str] = ("", "")  # its parameter that tells training, and the argument of a dropout
    main: str  # the function that prints the parameters, with {name}, {sample} and {params}
    samples: tuple[str, str] = ("", "")  # arrays of zeros, and of token numbers, for {sample}; {} is a shape

    # Modules and trained arrays.
    layers: ClassVar[Mapping[str, str]]  # the module of each kind of layer without recurrence
    separator: str = "/"  # between the names of a module and of an array in it, when they are saved
    without_bias: str  # the argument of one without a bias
    cells: ClassVar[Mapping[str, str]]  # the class of each kind of cell that the framework has
    two_modules: bool = False  # each direction is a module
    stacks: bool = False  # one module may be several equal layers
    transforms: ClassVar[Mapping[str, Around]] = {}  # of each kind of layer around the cells
    parameter: str  # a trained array of zeros or ones, as {start} says
    matrix: str  # one of random numbers
    frozen: str = ""  # what its template gets as {frozen} if it is not trained
    freeze: str = ""  # the statement that leaves a module untrained
    tie: str = ""  # the statement that gives an output module the matrix of the embedding
    tied: str = ""  # or the expression for its product, without a module

    # Cells that the framework lacks, and parts described elsewhere.
    own_class: str  # the head of the class of a cell
    runner: str = ""  # the class that runs such cells
    external: str  # the class that stands in for a part described elsewhere

    # Expressions, beside those of layers.
    helpers: ClassVar[Mapping[str, str]] = {}  # functions that it lacks, written out, by operation
    half: str  # the half of x that a direction reads
    one_step: str  # a vector as a sequence of one step
    reshaped: str = ""  # x in another shape, if a cell's steps have places
    made_with: str = ""  # the arguments of a module of the program's own
    looped: str  # the statement that applies a recurrent module for one step, from its states after the step before

    @abstractmethod
    def recurrent(self, module: Module, direction: int) -> str:
        """Return what makes a recurrent module; if two_modules, that of a direction."""

    @abstractmethod
    def cell(self, cell: OwnCell) -> Iterable[str]:
        """Yield the body of the class of a cell that the framework lacks."""

    @abstractmethod
    def recur(self, module: Module, x: str) -> Iterable[str]:
        """Yield the statements that apply a recurrent module to x, from its start to its merge."""

    @abstractmethod
    def learned(self, module: Module, x: str, name: str) -> Iterable[str]:
        """Yield the statements that make the initial states of a batch, under a name."""

    def start_from(self, module: Module, start: Module) -> Iterable[str]:
        """Yield the statements that give a decoder's module the final states of the encoder's before a loop."""
        message = f"no program for {self.program.target} is written with a decoder that runs step by step"
        raise RefusedError(f"{message}; write start_from in its spelling, or export to another target")

    def first_state(self, module: Module) -> str:
        """Return the first state of a recurrent module after a step of a loop, (batch, units)."""
        return f"{self.identifier(module)}_end"

    def constants(self) -> Iterable[str]:
        """Yield the lines after the imports."""
        return ()

    def state_shape(self, module: Module, width: int) -> str:
        """Return the shape of a learned state: a vector, or one for each direction."""
        return f"(2, {width})" if module.two_way else f"({width},)"

    def __init__(self, program: Program) -> None:
        self.program = program
        self.identifiers = identifiers(program.modules, self.reserved)
        self.own_cells: dict[OwnCell, str] = {}
        for cell in dict.fromkeys(module.cell for module in program.modules if module.cell):
            alike = [name for name in self.own_cells.values() if name.startswith(f"{cell.name}Cell")]
            self.own_cells[cell] = f"{cell.name}Cell{len(alike) + 1 if alike else ''}"
        self.layer_classes: dict[str, str] = {}  # of the layers around the cells that it lacks, by their code
        self.own_layers: dict[str, str] = {}  # the name of the class, by that of the module
        shapes, modules = flow.shapes(program.network.flow), {each.name: each for each in program.modules}
        for move in program.network.flow:
            if isinstance(move, flow.Window) and self._is_own(move.layer):
                code = "\n".join(self._own_layer(modules[move.name], shapes[move.reads[0]]))
                name = f"{type(move.layer).__name__}Layer"
                alike = [each for each in self.layer_classes.values() if each.startswith(name)]
                name = self.layer_classes.setdefault(code, f"{name}{len(alike) + 1 if alike else ''}")
                self.own_layers[move.name] = name
        beside = re.findall(r"^class (\w+)", f"{self.runner}\n{self.external}", re.MULTILINE)
        taken = {"Attention", *beside, *self.own_cells.values(), *self.own_layers.values()}
        self.name = class_name(program.network.name, taken)
        self.single = all(len(shape) == 1 for shape in flow.shapes(program.network.flow))  # its modules read one step
        self.arrays = flow.arrays(program.network.flow)
        self.looping = False

    def text(self, loss: str = "") -> str:
        """Return the program, with the function of a loss."""
        main = self.main_of(self.name, self.sample(), self.program.params)
        return self.joined([*self.constants()], [*self.blocks(), *self._loss(loss), main])

    def _loss(self, name: str) -> Iterator[str]:
        """Yield the function of a loss, as `run --loss` computes it, nothing for none."""
        if name:
            about, formula = LOSSES[name]
            array, targets = f": {self.array}" * bool(self.array), ", targets" * ("targets" in formula)
            head = f"def loss(output{array}{targets}{array * bool(targets)}){self.returns}:"
            yield f'{head}\n    """Return {about}."""\n    return {formula.format(self.library)}'

    def joined(self, constants: Iterable[str], blocks: Iterable[str]) -> str:
        """Return a program of constants, functions and classes, with the imports that these need."""
        after = "\n\n\n".join(part.strip("\n") for part in blocks)
        unused = {line for line in self.imports if " as " in line and f"{line.split()[-1]}." not in after}
        lines = [part for line in constants for part in broken(line)]
        return "\n".join([*(line for line in self.imports if line not in unused), *lines]) + f"\n\n\n{after}\n"

    def blocks(self) -> list[str]:
        """Return the functions and classes of the program, its own class last."""
        cells = self.own_cells
        classes = [self.runner] if self.runner and cells else []
        classes += ["\n".join(self._cell(cell, name)) for cell, name in cells.items()]
        if any(isinstance(module.layer, External) for module in self.program.modules):
            classes.append(self.external)
        attending = [module for module in self.program.modules if attends(module)]
        classes += ["\n".join(self._attention(module)) for module in attending]
        classes += [f"class {name}{code}" for code, name in self.layer_classes.items()]
        classes.append("\n".join(self._class()))
        if any("in_blocks(" in code for code in classes):
            places = {"array": f": {self.array}" * bool(self.array), "whole": ": int" * bool(self.array)}
            classes.insert(0, IN_BLOCKS.format(library=self.library, returns=self.returns, **places))
        used = {name: re.compile(rf"(?<![\w.]){self.functions[name][0]}[(,)]") for name in self.helpers}
        return [*(self.helpers[name] for name, call in used.items() if any(map(call.search, classes))), *classes]

    def _class(self) -> Iterator[str]:
        modules = self.program.modules
        arguments = [argument.typed(self.array) for argument in self.arguments()]
        if any(isinstance(module.layer, Dropout) or self._around(module).trained for module in modules):
            arguments += [self.in_training[0]] * bool(self.in_training[0])
        making = [line for module in modules for line in self._making(module)]
        yield f"class {self.name}{self.head(self._paragraphs(), making, arguments)}"
        lines = [part for line in self._flow() for part in broken(f"{'    ' * (2 + self.looping)}{line}")]
        if self.looping:
            shape = shape_of(self.arrays[-1])
            yield from (*lines, "            outputs.append(x)")
            yield from broken(with_comment(f"        return {self.join}(outputs, {self.axis}=1)", shape))
        else:
            yield from with_return(lines)

    def _making(self, module: Module) -> Iterator[str]:
        """Yield the statements that make a module and what belongs to it."""
        name = self.identifier(module)
        notes = [] if name == module.name else [f"'{escape(module.name)}'"]
        if module.params:
            notes.append(f"{plural(module.params, 'parameter')}{', frozen' if module.layer.frozen else ''}")
        note = ", ".join(notes)
        if module.tied and self.tied:
            if module.params:
                bias = self._parameter(f"{name}_bias", f"({module.outputs},)", module)
                yield with_comment(f"self.{name}_bias = {bias}", note)
        else:
            around = isinstance(module.layer, Transform) and not (self._around(module).module or attends(module))
            for direction, run in enumerate(() if around else self.names(module)):
                if isinstance(module.layer, Embedding) and module.layer.tied:
                    code = f"self.{self._table(module, 'encoder')}"
                elif module.recurrent:
                    code = self.recurrent(module, direction)
                else:
                    code = f"Attention({self.made_with})" if attends(module) else self._layer(module)
                yield with_comment(f"self.{run} = {code}", "" if direction else note)
            if module.tied:
                yield with_comment(self.tie.format(module=name, table=self._table(module)), "tied")
            if module.layer.frozen and module.params and self.freeze:
                if before := self._around(module).built:
                    yield before.format(module=name, inputs=module.inputs)
                yield self.freeze.format(module=f"{name}.bias" if module.tied else name)
        if isinstance(module.layer, Embedding) and module.layer.positions is not None:
            shape = f"({module.layer.positions}, {module.layer.units})"
            yield f"self.{name}_positions = {self._parameter(f'{name}_positions', shape, module)}"
        for letter, width in module.learned:
            state = f"{name}_{letter}_0"
            yield f"self.{state} = {self._parameter(state, self.state_shape(module, width), module)}"

    def _attention(self, module: Module) -> Iterator[str]:
        """Yield the class of a decoder's attention, made of dense layers; dense: their matrices, by role."""
        layer, sizes = module.layer, module.places[0].sizes
        assert isinstance(layer, DecoderAttention)
        making = [*self._dense_layers(layer, sizes)]
        typed = f": {self.array}" if self.array else ""
        about = f"Attention with {layer.scoring} scores: a context for each query."
        yield f"class Attention{self.head([about], making, [f'query{typed}', f'memory{typed}'])}"
        for line in self._attending(layer.scoring, sizes):
            yield from broken(f"        {line}")

    def _dense_layers(self, layer: Transform, sizes: Mapping[str, int]) -> Iterator[str]:
        """Yield the statements that make the dense layers in a layer."""
        arrays = dict(layer.arrays)
        for role, name in dense_of(layer).items():
            units, inputs = (sum(sizes.get(letter, 1) for letter in axis.split("+")) for axis in arrays[role])
            bias = "" if bias_of(role) in arrays else self.without_bias
            places = {"inputs": inputs, "units": units, "bias": bias, "activation": "", "name": name}
            yield f"self.{name} = {self.layers['dense'].format(**places)}"

    def _is_own(self, layer: Transform) -> bool:
        """Return whether a layer around the cells is a class of the program's own."""
        return layer.named_as not in self.transforms or not convention(self.program.target).expresses(layer)

    def _own_layer(self, module: Module, shape: Shape) -> Iterator[str]:
        """Yield the class of a layer around the cells without its name; shape: of its input."""
        steps = shape[0] if len(shape) > 1 else 1
        of_dense = convention(self.program.target).transform(module.layer.named_as).of_dense
        layer = LayerWriter(FormulaWriter(self), module.places[0], steps, of_dense=of_dense)
        making = [*self._dense_layers(layer.layer, module.places[0].sizes)] if of_dense else []
        lines = [*layer.lines()]
        for (role, name), tensor in zip(layer.attributes.items(), module.places[0].tensors, strict=True):
            if role in layer.dense or role in map(bias_of, layer.dense):
                continue
            start = "random" if len(tensor.shape) > 1 else "zeros" if tensor.role is Role.BIAS else "ones"
            making.append(f"self.{name} = {self._array(name, tuple_of([*map(str, tensor.shape)]), start)}")
        about = f"The layer {module.layer.kind}, in the textbook's letters."
        yield self.head([about], making, [f"x: {self.array}" if self.array else "x"])
        yield from with_return([part for line in lines for part in broken(f"        {line}")])

    def head(
        self, about: Iterable[str], making: Iterable[str], arguments: Iterable[str], returns: str | None = None
    ) -> str:
        """Return a class without its name, up to the head of the method that applies its modules."""
        nothing = ["pass"] * (len(self.setup) == 1)  # where all layers are functions
        modules = [part for line in [*making] or nothing for part in broken(f"        {line}")]
        head = broken(
            f"    def {self.forward}({', '.join(['self', *arguments])}){self.returns if returns is None else returns}:"
        )
        setup = [f"    {line}" for line in self.setup]
        return "\n".join([f"({self.base}):", *docstring(*about), "", *setup, *modules, "", *head])

    def _attending(self, score: str, sizes: Mapping[str, int]) -> Iterator[str]:
        """Yield the statements of an attention from a query of (batch, steps, features)."""
        keys = "self.matrix(memory)" if score == "general" else "memory"
        scores = f'{self.library}.einsum("btd,bsd->bts", query, {keys})'
        if score == "additive":
            hidden = "self.query(query)[:, :, None] + self.keys(memory)[:, None]"
        elif score == "concat":
            yield "pairs = (query.shape[0], query.shape[1], memory.shape[1])"
            for name, at, width in (("query", ":, :, None", "q"), ("memory", ":, None", "k")):
                shape = f"(*pairs, {sizes[width]})"
                yield f"{'queries' if name == 'query' else 'keys'} = {self.library}.broadcast_to({name}[{at}], {shape})"
            hidden = f"self.matrix({self.join}([queries, keys], {self.axis}=-1))"
        if score in ("additive", "concat"):
            yield f"hidden = {self.called('tanh', (hidden,))}"
            scores = "self.score(hidden)[..., 0]"
        yield f"alpha = {self.called('softmax', (scores,))}"
        yield "return alpha @ memory"

    def _parameter(self, name: str, shape: str, module: Module) -> str:
        return self._array(name, shape, frozen=self.frozen if module.layer.frozen else "")

    def _array(self, name: str, shape: str, start: str = "zeros", frozen: str = "") -> str:
        template = self.matrix if start == "random" else self.parameter
        return template.format(name=name, shape=shape, sizes=shape[1:-1].rstrip(","), start=start, frozen=frozen)

    def _layer(self, module: Module) -> str:
        """Return what makes a layer without recurrence."""
        layer, around, values = module.layer, self._around(module), self._values(module)
        activation = values.get("activation", "linear")
        options = "".join(
            f", {around.options[option].format(value)}"
            for option, value in layer.values().items()
            if option in around.options and value != layer.defaults[option]
        )
        values |= {
            **{letter: size for letter, size in module.places[0].sizes.items() if letter not in values},
            "inputs": module.inputs,
            "outputs": module.shape[-1],
            "bias": "" if values.get("bias", True) else self.without_bias,
            "activation": "" if activation == "linear" else f', activation="{activation}"',
            "name": self.identifier(module),
            "options": options,
            "only": options.removeprefix(", "),
        }
        if isinstance(layer, External):
            tensors = [*tensors_of(layer)]
            untrained = [quoted(name) for name, _, trained in tensors if not trained]
            values["shapes"] = f"{{{', '.join(f'{quoted(name)}: {shape}' for name, shape, _ in tensors)}}}"
            values["untrained"] = f", {tuple_of(untrained)}" if untrained else ""
        template = around.module if isinstance(layer, Transform) else self.layers[layer.kind]
        return template.format(**values)

    def _around(self, module: Module) -> Around:
        if name := self.own_layers.get(module.name):
            vector = f"{{module}}({self.one_step}){'' if module.layer.time.ends else '[:, 0]'}"
            return Around(f"{name}({self.made_with})", vector=vector, activates=True)
        return self.transforms.get(module.layer.named_as, NOTHING)

    def _values(self, module: Module) -> dict[str, object]:
        """Return the values of a layer's options, in the framework's own words."""
        words = self._around(module).words
        return {
            option: words.get(value, value) if isinstance(value, str) else value
            for option, value in module.layer.values().items()
        }

    def _transformed(self, module: Module, move: flow.Window, shape: Shape, sequence: bool, x: str) -> str:
        """Return the output of a layer around the cells; shape: of its input."""
        layer, around = move.layer, self._around(module)
        before, after = layer.padding_of(shape[0]) if sequence else (0, 0)
        calls = [call.format(x=x) for option, call in around.calls.items() if layer.values()[option]]
        places = {"x": x, "calls": "".join(calls), "stride": layer.every, "before": before, "after": after}
        name = f"self.{self.identifier(module)}"
        template = (around.padded if before or after else "") or around.applied
        code = (template if sequence else around.vector or template).format(
            **self._values(module) | places, module=name
        )
        activation = layer.values().get("activation", "linear")
        return code if activation == "linear" or around.activates else self.called(activation, (code,))

    def _flow(self) -> Iterator[str]:
        """Yield the statements that pass the inputs through the modules, one move of the network after the other."""
        moves = self.program.network.flow
        shape = flow.shapes(moves)
        modules = {module.places[-1].name: module for module in self.program.modules}
        decoder = self.program.network.decoder
        alone = decoder is not None and decoder.input == 0
        x, step_input = "x", "context"  # what a decoder without an input reads at a step
        for place, move in enumerate(moves):
            if isinstance(move, flow.Apply | flow.Recur) and (sizes := self._reshaped(place, shape, x)):
                yield f"x = {self.reshaped.format(x=x, shape=sizes)}"
                x = "x"
            match move:
                case flow.Input(extra_of=None, part="decoder") if any(isinstance(each, flow.Attend) for each in moves):
                    yield with_comment(f"memory = {x}", shape_of(self.arrays[place - 1]))
                    x = input_of(move)
                    continue
                case flow.Input(extra_of=None) if not self.single:
                    x = input_of(move)
                    continue
                case flow.Input(extra_of=None):
                    yield with_comment(f"x = {self.one_step.format(x=input_of(move))}", "one step")
                case flow.Input(extra_of=str(name)) if any(
                    alone and isinstance(each, flow.Merge) and each.reads[0] == place for each in moves
                ):
                    step_input = f"{self.identifiers[name]}_extra[:, step : step + 1]"
                    x = step_input if self.looping else x
                    continue
                case flow.Delay() if alone:
                    (memory,) = [each.reads[1] for each in moves if isinstance(each, flow.Attend)]
                    yield with_comment(f"memory = {x}", shape_of(self.arrays[memory]))
                    yield from self._decoder_loop(move, "")
                    x = step_input
                    continue
                case flow.Delay():
                    yield from self._decoder_loop(move, x)
                    x = "sequence[:, step : step + 1]"
                    continue
                case flow.Attend(reads=(asks, _)):
                    query = moves[asks]
                    code = x
                    if isinstance(query, flow.Delay):
                        recurrent = [module for module in self.program.modules if module.looped and module.recurrent]
                        code = self.one_step.format(x=self.first_state(move.layer.query_layer(recurrent)))
                    module = modules[move.name]
                    places = {"module": f"self.{self.identifier(module)}", "x": f"{code}, memory"}
                    attended = self._around(module).applied.format(**places)
                    yield with_comment(f"context = {attended}", shape_of(module.shape))
                    continue
                case flow.Merge(reads=(_, _), how="sum"):
                    yield f"x = {x} + context"
                case flow.Merge(reads=(_, beside)) if isinstance(moves[beside], flow.Attend | flow.Delay):
                    yield f"x = {self.join}([{x}, context], {self.axis}=-1)"
                case flow.Merge(reads=(_, beside)):
                    extra = moves[beside]
                    assert isinstance(extra, flow.Input)
                    step = "[:, step : step + 1]" if self.looping else ""
                    name = f"{self.identifiers[extra.extra_of or '']}_extra{step}"
                    yield f"x = {self.join}([{x}, {name}], {self.axis}=-1)"
                case flow.Begin(later="output"):
                    yield with_comment(f"x = {self.one_step.format(x=x)}", "one step")
                    yield from self._loop()
                case flow.Begin():
                    step = ", ".join(map(str, self.arrays[place][1:]))
                    yield f"zeros = {self.zeros.format(x=x, steps='steps - 1', width=step)}"
                    grown = f"x = {self.join}([{self.one_step.format(x=x)}, zeros], {self.axis}=1)"
                    yield with_comment(grown, f"{shape_of(self.arrays[place])}, zeros after the input")
                case flow.Recur(name=name) if name in modules and self.looping:
                    step = self.looped.format(module=self.identifier(modules[name]), x=x)
                    yield with_comment(step, shape_of(modules[name].shape))
                case flow.Recur(name=name) if name in modules:
                    yield from self.recur(modules[name], x)
                case flow.InitialState():
                    continue  # its layer applies it
                case flow.Apply(name=name):
                    code = self._applied(modules[name], x)
                    yield with_comment(f"x = {code}", shape_of(modules[name].shape))
                case flow.Window(name=name):
                    below = shape[move.reads[0]]
                    sequence = len(below) > 1 or self.single or self.looping
                    one = sequence and len(below) == 1 and (move.layer.time.ends or move.layer.time.begins)
                    if one and len(self.arrays[place]) == len(self.arrays[move.reads[0]]):
                        continue  # a vector is a sequence of one step in a program of one step
                    code = self._transformed(modules[name], move, below, sequence, x)
                    code = self.one_step.format(x=code) if one else code
                    if code == x:
                        continue
                    yield with_comment(f"x = {code}", shape_of(modules[name].shape))
                case flow.Last(reads=(ended,)) if isinstance(moves[ended], flow.Apply | flow.Window):
                    yield with_comment(f"x = {x}[:, -1]", shape_of(self.arrays[place]))
                case _:
                    continue
            x = "x"
        if self.single:
            yield with_comment("x = x[:, -1]", shape_of(self.arrays[-1]))

    def _reshaped(self, place: int, shapes: list[Shape], x: str) -> str:
        """Return the shape that a layer's input must have; nothing if the input has it already.

        A layer whose steps have places reads them as axes; one that outputs no places reads all of them in one vector.
        """
        move = self.program.network.flow[place]
        below, read = shapes[move.reads[0]], self.arrays[move.reads[0]]
        shape = read
        if isinstance(move, flow.Recur):
            shape = flow.array_of(below, move.layer.grid)
        elif len(self.arrays[place]) < len(read):
            shape = below
        if shape == read:
            return ""
        steps = ["1"] if self.single or self.looping else [str(size or f"{x}.shape[1]") for size in below[:-1]]
        return f"({', '.join(['-1', *steps, *map(str, shape[len(below) - 1 :])])})"

    def _loop(self) -> Iterator[str]:
        """Yield the statements that begin a loop over steps, each recurrent module at its initial states or none."""
        for module in self.program.modules:
            if module.starts_itself:
                yield from self.learned(module, "x", f"{self.identifier(module)}_end")
            elif module.recurrent:
                yield f"{self.identifier(module)}_end = None"
        extras = any(module.layer.extra_inputs for module in self.program.modules)
        yield "outputs = []"
        yield f"for {'step' if extras else '_'} in range(steps):"
        self.looping = True

    def _decoder_loop(self, move: flow.Delay, x: str) -> Iterator[str]:
        """Yield the statements that begin a decoder's loop over steps, its states and its context first."""
        for module in self.program.modules:
            if module.looped and module.recurrent and module.starts_itself:
                yield from self.learned(module, "memory", f"{self.identifier(module)}_end")
            elif module.looped and module.recurrent and module.start:
                yield from self.start_from(module, module.start)
        if not move.reads:
            yield f"context = {self.zeros.format(x='memory', steps=1, width=move.width)}"
        if x:
            yield f"sequence = {x}"
        extras = any(module.looped and module.layer.extra_inputs for module in self.program.modules)
        yield "outputs = []"
        yield "for step in range(sequence.shape[1]):" if x else f"for {'step' if extras else '_'} in range(steps):"
        self.looping = True

    def _applied(self, module: Module, x: str) -> str:
        """Return the output of a layer without recurrence."""
        layer, name = module.layer, f"self.{self.identifier(module)}"
        tied = module.tied and bool(self.tied)
        if tied:
            code = self.tied.format(x=x, table=self._table(module))
            code += f" + {self.number.format(parameter=f'{name}_bias')}" if module.params else ""
        else:
            code = f"{name}({x}{self.in_training[1] if isinstance(layer, Dropout) else ''})"
        if isinstance(layer, Embedding) and layer.positions is not None:
            sequence = len(module.shape) > 1
            at = f"[: {x}.shape[1]]" if sequence else "[0]"
            code += f" + {self.number.format(parameter=f'{name}_positions')}{at}"
        inside = not tied and "{activation}" in self.layers[layer.kind]
        if not isinstance(layer, Dense) or inside or layer.activation == "linear":
            return code
        return self.called(layer.activation, (code,))

    def final_state(self, start: Module, name: str, letter: str) -> str:
        """Return a state of the encoder by its letter, both directions side by side; name: the module's identifier."""
        return f"{name}_end"

    def dense_states(self, module: Module) -> Iterator[tuple[str, str]]:
        """Yield the letter and the code of each initial state that a dense layer makes, of both directions as one."""
        name, start = self.identifier(module), module.start
        for (letter, _), read in zip(module.states if module.dense else (), module.dense, strict=True):
            vector = self.final_state(start, self.identifier(start), read) if start else f"{name}_start"
            yield letter, f"self.{name}_{letter}_0({vector})"

    def merged(self, module: Module) -> Iterator[str]:
        """Yield the last step and the merge of a recurrent output: x, or `forward` and `backward` of two directions."""
        if module.two_way:
            one, other = ("forward[:, -1]", "backward[:, 0]") if module.last else ("forward", "backward")
            joined = f"{self.join}([{one}, {other}], {self.axis}=-1)"
            codes = {"sum": f"{one} + {other}", "mul": f"{one} * {other}", "ave": f"({one} + {other}) / 2"}
            code = codes.get(module.layer.values()["merge"], joined)
            yield with_comment(f"x = {code}", shape_of(module.shape))
        elif module.last:
            yield with_comment("x = x[:, -1]", shape_of(module.shape))

    def _cell(self, cell: OwnCell, name: str) -> Iterator[str]:
        options = [f"{option}={value}" for option, value in cell.options]
        options += ["a projection"] * any(tensor.role is Role.PROJECTION for tensor in cell.weights)
        listed = f" with {all_of(options)}" if options else ""
        yield from self.own_class.format(name=name).split("\n")
        yield from docstring(f"A step of {cell.name}{listed}, in the textbook's letters.")
        yield ""
        for line in self.cell(cell):
            yield from broken(f"    {line}" if line else "")

    def identifier(self, module: Module) -> str:
        return self.identifiers[module.name]

    def names(self, module: Module) -> list[str]:
        """Return the identifiers of the objects that run a module: one, or one for each direction."""
        name, two = self.identifier(module), module.two_way and self.two_modules
        return [f"{name}_forward", f"{name}_backward"] if two else [name]

    def saved_as(self, module: Module, tensor: str) -> str:
        """Return the name under which the framework saves an array of a module."""
        of_program = tensor == "positions" or (module.tied and self.tied)
        return f"{self.identifier(module)}{'_' if of_program else self.separator}{tensor}"

    def own_cell(self, module: Module, direction: int, *others: str, without: str = "") -> str:
        """Return a call that makes a cell that the framework lacks. without: the letter of a width to leave out."""
        assert module.cell
        sizes = [str(module.places[0].sizes[letter]) for letter in module.cell.widths if letter != without]
        half = ["second=True"] if module.cell.half and direction else []
        return f"{self.own_cells[module.cell]}({', '.join([*sizes, *half, *others])})"

    def _table(self, module: Module, part: str = "") -> str:
        """Return the identifier of the embedding that a tied output, or another embedding, shares its matrix with."""
        part = part or module.places[0].part or ""
        embeddings = (each for each in self.program.modules if isinstance(each.layer, Embedding))
        return next(self.identifier(each) for each in embeddings if (each.places[0].part or "") == part)

    def arguments(self) -> Iterator[Argument]:
        """Yield the arguments of the program: inputs, extra inputs, then the number of steps."""
        extras, steps = [], []
        for place, move in enumerate(self.program.network.flow):
            match move:
                case flow.Input(extra_of=None):
                    shape = self.arrays[place]
                    yield Argument(input_of(move), shape[:-1] if move.tokens else shape, move.tokens)
                case flow.Input(extra_of=str(name)):
                    shape = (1, *move.shape) if self.single and not move.starts else move.shape
                    extras.append(Argument(f"{self.identifiers[name]}_{'start' if move.starts else 'extra'}", shape))
                case flow.Begin():
                    steps.append(Argument("steps", None, default=move.steps))
        if (decoder := self.program.network.decoder) and decoder.input == 0:
            steps.append(Argument("steps", None, default=decoder.steps))
        yield from (*extras, *steps)

    def sample(self) -> str:
        """Return arguments with which the program is tried."""
        return ", ".join(argument.sample(*self.samples) for argument in self.arguments())

    def main_of(self, name: str, sample: str, number: int) -> str:
        """Return the function that prints the parameters of a class, and its call where the program is run.

        number: of its parameters.
        """
        params = '["params"]' if number else '.get("params", {})'  # Flax has no key for none
        text = self.main.format(name=name, sample=sample, params=params)
        lines = [part for line in text.splitlines() for part in broken(line)]
        return "\n".join([*lines, "", "", 'if __name__ == "__main__":', "    main()"])

    def _paragraphs(self) -> Iterator[str]:
        network, program = self.program.network, self.program
        untrained = program.params - program.trainable
        trained = f", {untrained:,} of them {convention(program.target).untrained}" if untrained else ""
        name = FALLBACK if network.name == network.defaults["name"] else docstring_text(network.name)
        yield f"{name}: {plural(program.params, 'parameter')}{trained}."
        reads = [
            f"{each.name} {shape_of(each.shape)}{' of token numbers' * each.tokens}"
            for each in self.arguments()
            if each.shape is not None
        ]
        yield f"Reads {', '.join(reads)}; gives {shape_of(self.arrays[-1])}."
        if self.own_cells or self.own_layers:
            title = convention(program.target).title
            each = ", one matrix per gate" if self.own_cells else ""
            instead = f"the classes above are written from their equations{each}"
            yield f"{title} has no module for some of the layers; {instead}."
        if network.source and network.convention == program.target:  # else it would mention other numbers
            yield f"Source: {docstring_text(network.source, 400)}"

    def step_of(self, cell: OwnCell) -> tuple[list[str], list[str], str]:
        """Return a cell's step as assignments, the names of its new states in the cell's order, and of its output.

        It reads x and the old states under their letters.
        """
        number: Any = dict(cell.options).get("recurrent_blocks")
        blocks = [tensor for tensor in cell.weights if number and any(axis.letter == "b" for axis in tensor.axes)]
        writer = FormulaWriter(self, {f"self.{tensor.name}": number for tensor in blocks})
        lines = [f"x_half = {self.half}"] if cell.half else []
        for formula in _made_first(cell.equations):
            (first, *_) = formula.operands
            assert isinstance(first, Symbol)
            name = f"w{first.subscript}" if formula.operation == "matrix" else first.letter
            lines.append(f"{name} = {writer.code(formula)}")
            writer.names[formula] = name
        states = {letter for letter, _ in cell.states}
        for number, (left, right) in enumerate(cell.equations):
            for each in within(right):
                if isinstance(each, Application) and OPERATIONS[each.operation].alone:
                    (operand,) = each.operands
                    letter = operand.letter if isinstance(operand, Symbol) else left.letter
                    name = f"{OPERATIONS[each.operation].function}_{letter}"
                    lines.append(f"{name} = {writer.code(each)}")
                    writer.names[each] = name
            code = writer.code(right)
            needed = set().union(*(symbols(later.right) for later in cell.equations[number + 1 :]))
            still_needed = left.letter in states and any(
                each.letter == left.letter and each.time == BEFORE for each in needed
            )
            writer.names[left] = name = f"new_{left.letter}" if still_needed else left.letter
            lines.append(f"{name} = {code}")
        after = [writer.names[Symbol(letter, time="t", axes=(width,))] for letter, width in cell.states]
        return lines, after, writer.names[Symbol("h", time="t", axes=(cell.output,))]


class Argument(Frozen):
    """An argument of a program: an array of a shape, the batch left out, or, without one, the number of steps."""

    name: str
    shape: tuple[int | None, ...] | None
    tokens: bool = False
    default: int | None = None

    def typed(self, array: str) -> str:
        """Return it as the head of a function has it."""
        if self.shape is not None:
            return f"{self.name}: {array}" if array else self.name
        return f"{self.name}: int{'' if self.default is None else f' = {self.default}'}"

    def sample(self, zeros: str, ints: str) -> str:
        """Return a value of a batch of one; `zeros` and `ints` make an array of the shape that is put into them."""
        if self.shape is None:
            return f"{self.name}={self.default or SOME_STEPS}"
        shape = tuple(SOME_STEPS if size is None else size for size in (1, *self.shape))
        return (ints if self.tokens else zeros).format(shape)


def input_of(move: flow.Input) -> str:
    """Return the name of a part's input."""
    return {"encoder": "source", "decoder": "target"}.get(move.part or "", "x")


def shape_of(shape: tuple[int | None, ...]) -> str:
    """Return a shape in words, the batch in front and an unknown T as `steps`."""
    return f"({', '.join(['batch', *('steps' if size is None else str(size) for size in shape)])}{',' * (not shape)})"


def width_name(letter: str) -> str:
    """Return how a program calls a width."""
    return WIDTHS.get(letter, letter)


def shape_in(tensor: Tensor, prefix: str = "") -> list[str]:
    """Return the shape of one of a cell's weights, in the names of its widths."""
    return [f"{prefix}{width_name(axis.letter)}" if axis.letter else str(axis.times) for axis in tensor.axes]


def arguments_of(cell: OwnCell, *, without: str = "") -> list[str]:
    """Return the arguments of a cell: widths, and which half of x it reads if it reads a half."""
    widths = [f"{width_name(letter)}: int" for letter in cell.widths if letter != without]
    return [*widths, *(["second: bool = False"] if cell.half else [])]


def tuple_of(names: list[str]) -> str:
    """Return names as a tuple."""
    return f"({', '.join(names)}{',' * (len(names) == 1)})"


def _made_first(equations: tuple[Equation, ...]) -> list[Application]:
    """Return what is computed before the equations: products used in several, and trained numbers."""
    counts: dict[Application, int] = {}
    for equation in equations:
        for formula in within(equation.right):
            match formula:
                case Application("matrix", (_, Symbol(letter=letter, time=time))) if time == BEFORE or letter == "x":
                    counts[formula] = counts.get(formula, 0) + 1
                case Application(_, (Symbol(axes=(), time=""),)):
                    counts[formula] = 2
    return [formula for formula, count in counts.items() if count > 1]


def attends(module: Module) -> bool:
    """Return whether a module is a decoder's attention that is made of dense layers: one with a score."""
    return module.layer.named_as == "decoder_attention"
