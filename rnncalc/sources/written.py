"""What every target says of a program in the same words: its names, arguments, notes and docstring.

Knows no framework. Text of strangers leaves here as identifiers, or escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.tensor import Role
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Output
from rnncalc.network.flow import Input
from rnncalc.questions.program import FedBack, Module, Move, OwnCell, Program, Zeros
from rnncalc.sources.layout import INDENT, WIDTH, Call, Code, statement
from rnncalc.sources.names import FALLBACK, class_name, identifiers, spoken
from rnncalc.text import all_of, escape

WIDTHS = {"m": "inputs", "h": "units", "p": "projection"}
"""How a cell's program calls the widths that its letters are; a letter that is not here is called by itself."""


SOME_STEPS = 2
"""So many steps a program is tried with, where a network does not say."""


class Argument(NamedTuple):
    """What a program is called with: an array of a shape, the batch left out, or, without one, the number of steps."""

    name: str
    shape: tuple[int | None, ...] | None
    tokens: bool = False
    default: int | None = None

    def typed(self, array: str) -> str:
        """Return how the head of a function has it."""
        if self.shape is not None:
            return f"{self.name}: {array}"
        return f"{self.name}: int{'' if self.default is None else f' = {self.default}'}"

    def sample(self, zeros: str, ints: str) -> str:
        """Return a value of a batch of one; `zeros` and `ints` make an array of the shape that is put into them."""
        if self.shape is None:
            return f"{self.name}={self.default or SOME_STEPS}"
        shape = tuple(SOME_STEPS if size is None else size for size in (1, *self.shape))
        return (ints if self.tokens else zeros).format(shape)


class Writing:
    """The names in a program, and what is said of it.

    taken: the classes that the target writes beside it. reserved: what its modules have themselves beside the common.
    """

    def __init__(self, program: Program, taken: set[str], reserved: Container[str] = ()) -> None:
        self.program = program
        self.in_loop = False
        self.cells: dict[OwnCell, str] = {}
        for cell in program.cells:
            alike = [name for name in self.cells.values() if name.startswith(f"{cell.name}Cell")]
            self.cells[cell] = f"{cell.name}Cell{len(alike) + 1 if alike else ''}"
        self.identifiers = identifiers(program.modules, reserved)
        self.name = class_name(program.network.name, {*taken, *self.cells.values()})

    @property
    def depth(self) -> int:
        """How deep the lines of its call stand."""
        return 3 if self.in_loop else 2

    def of(self, module: Module) -> str:
        """Return the identifier of a module."""
        return self.identifiers[module.name]

    def note(self, module: Module) -> str:
        """Return what is to be said of a module where it is made."""
        said = [] if self.of(module) == module.name else [f"'{escape(module.name)}'"]
        if module.params:
            said.append(f"{module.params:,} parameters{', frozen' if module.layer.frozen else ''}")
        return ", ".join(said)

    def table(self, output: Module) -> str:
        """Return the identifier of the embedding that a tied output shares its matrix with."""
        part = output.places[0].part
        (found,) = (
            self.of(each)
            for each in self.program.modules
            if isinstance(each.layer, Embedding) and each.places[0].part == part
        )
        return found

    def arguments(self) -> Iterator[Argument]:
        """Yield what the program is called with, the inputs first, what has a default last."""
        extras, ends = [], []
        for move in self.program.moves:
            match move:
                case Input(extra_of=None):
                    yield Argument(entering(move), move.shape[:-1] if move.tokens else move.shape, move.tokens)
                case Input(extra_of=str(name)):
                    extras.append(Argument(f"{self.identifiers[name]}_extra", move.shape))
                case Zeros() | FedBack():
                    ends.append(Argument("steps", None, default=move.steps))
        yield from (*extras, *ends)

    def sample(self, zeros: str, ints: str) -> tuple[str, ...]:
        """Return what the program can be called with, arrays first; `{}` in `zeros` and `ints` is a shape."""
        arguments = sorted(self.arguments(), key=lambda each: each.shape is None)
        return tuple(each.sample(zeros, ints) for each in arguments)

    def flows(self) -> Iterator[tuple[Move, str]]:
        """Yield each move but the beginnings, with the name of what it reads."""
        name = ""
        for move in self.program.moves:
            if isinstance(move, Input) and move.extra_of is None:
                name = entering(move)
                continue
            yield move, name
            name = "x"

    def classes(self, own: Callable[[OwnCell, str], Iterable[str]], external: str) -> Iterator[str]:
        """Yield the classes beside that of the program: a cell's by `own`, and what stands in for other parts."""
        for cell, name in self.cells.items():
            yield from ("", "", *own(cell, name))
        if any(isinstance(module.layer, External) for module in self.program.modules):
            yield from external.rstrip("\n").split("\n")

    def looped(self, move: FedBack) -> Iterator[str]:
        """Yield the lines that begin a loop over steps."""
        yield "        outputs = []"
        yield f"        for {'step' if move.extras else '_'} in range(steps):"
        self.in_loop = True

    def extra(self, move: Input) -> str:
        """Return the features that join what flows; in a loop, those of its step."""
        return f"{self.identifiers[move.extra_of or '']}_extra{'[:, step : step + 1]' * self.in_loop}"

    def ended(self, lines: list[str], joined: str) -> list[str]:
        """Return the lines of the call with its end; `joined` puts the outputs of a loop together."""
        if not self.program.network.feedback:
            return returned(lines)
        shape = shape_of(self.program.modules[-1].places[-1].output_shape)
        return [*lines, "            outputs.append(x)", *statement(f"return {joined}", depth=2, note=shape)]

    def paragraphs(self) -> Iterator[str]:
        """Yield what its docstring says."""
        network = self.program.network
        frozen = self.program.params - self.program.trainable
        trained = f", {frozen:,} of them frozen" if frozen else ""
        name = FALLBACK if network.name == network.defaults["name"] else spoken(network.name)
        yield f"{name}: {self.program.params:,} parameters{trained}."
        reads = [
            f"{each.name} {shape_of(each.shape)}{' of token numbers' * each.tokens}"
            for each in self.arguments()
            if each.shape is not None
        ]
        yield f"Reads {', '.join(reads)}; gives {shape_of(self.program.modules[-1].places[-1].output_shape)}."
        if self.cells:
            title = convention(self.program.target).title
            own = "the cells above are written from their equations, one matrix a gate"
            yield f"{title} has no module for some of the layers; {own}."
        if network.source and network.convention == self.program.target:  # else it tells of other numbers
            yield f"Source: {spoken(network.source, 400)}"


def entering(move: Input) -> str:
    """Return the name of a part's input."""
    return {"encoder": "source", "decoder": "target"}.get(move.part or "", "x")


def shape_of(shape: tuple[int | None, ...]) -> str:
    """Return a shape in words, the batch in front and an unknown T as `steps`."""
    return f"({', '.join(['batch', *('steps' if size is None else str(size) for size in shape)])}{',' * (not shape)})"


def widths_of(cell: OwnCell) -> list[str]:
    """Return the letters of the widths that a cell is made from: inputs, units, and others."""
    used = dict.fromkeys("h")
    used |= dict.fromkeys(axis.letter for tensor in cell.weights for axis in tensor.axes if axis.letter)
    used |= dict.fromkeys([*(width for _, width in cell.states), cell.output])
    return sorted(used, key=lambda letter: (letter not in "mh", letter == "h", letter))


def width_name(letter: str) -> str:
    """Return how a program calls a width."""
    return WIDTHS.get(letter, letter)


def title_of(cell: OwnCell) -> str:
    """Return what a cell's docstring says of it."""
    options = [f"{option}={value}" for option, value in cell.options]
    options += ["a projection"] * any(tensor.role is Role.PROJECTION for tensor in cell.weights)
    return f"A step of {cell.name}{f' with {all_of(options)}' if options else ''}, in the textbook's letters."


def dims(cell: OwnCell, number: int) -> tuple[str, ...]:
    """Return the shape of one of a cell's weights, in the names of its widths."""
    return tuple(width_name(axis.letter) if axis.letter else str(axis.times) for axis in cell.weights[number].axes)


def joined(merge: str | None, forward: str, backward: str, concatenated: str) -> str:
    """Return the two directions put together; `concatenated` is how the framework concatenates, {} the two."""
    match merge:
        case "sum":
            return f"{forward} + {backward}"
        case "mul":
            return f"{forward} * {backward}"
        case "ave":
            return f"({forward} + {backward}) / 2"
        case _:
            return concatenated.format(f"{forward}, {backward}")


def arguments_of(cell: OwnCell, widths: Iterable[str]) -> list[str]:
    """Return what a cell is made from: widths, and whether it reads the second half of x, where it reads a half."""
    return [*(f"{width}: int" for width in widths), *(["second: bool = False"] if cell.half else [])]


def second(cell: OwnCell | None, direction: int) -> tuple[str, ...]:
    """Return what a cell of a direction, 0 or 1, is told beside its widths."""
    return ("second=True",) if cell and cell.half and direction else ()


def freezing(module: Module) -> bool:
    """Return whether a module has parameters of its own that are not trained."""
    return module.layer.frozen and module.params > 0


def ties(module: Module) -> bool:
    """Return whether a module shares the embedding's matrix."""
    return isinstance(module.layer, Output) and module.layer.tied


def recurrent(module: Module) -> Cell | None:
    """Return the module's layer where it is recurrent."""
    return module.layer if isinstance(module.layer, Cell) else None


def call_of(head: str, *args: Code | None) -> Call:
    """Return a call, arguments that are None left out."""
    return Call(head, tuple(arg for arg in args if arg is not None))


def returned(lines: list[str], depth: int = 2) -> list[str]:
    """Return the lines of a function that hands on x, the last assignment of it being its answer."""
    head = INDENT * depth
    at = max(number for number, line in enumerate(lines) if line.startswith(head) and line[len(head)] not in " )")
    answer = lines[at].replace("x = ", "return ", 1)
    if lines[at].startswith(f"{head}x = ") and len(answer) <= WIDTH:
        return [*lines[:at], answer, *lines[at + 1 :]]
    return [*lines, f"{head}return x"]
