"""The report of `explain`: a derivation for each layer with its equations, the total, the dense equivalent.

The sentences on a layer are derived from its gates and the convention; no kind of cell is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rnncalc.conventions.formula import Times, numbers
from rnncalc.conventions.layout import sides_of_biases
from rnncalc.conventions.rules import Side
from rnncalc.conventions.tensor import Axis, Role
from rnncalc.errors import RefusedError
from rnncalc.layers.cell import Cell, Form, Gate
from rnncalc.layers.layer import Dense, Embedding, Output, Time, Transform, quotient
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.questions.dense import DenseEquivalent
from rnncalc.questions.explain import Derivation, Explanation, Step, StepKind
from rnncalc.reports.report import DataReport, DerivationReport, SheetReport, fields
from rnncalc.step.equations import HALF, symbols
from rnncalc.step.operations import EPSILON
from rnncalc.typeset.equations import (
    Line,
    Piece,
    Term,
    line_of,
    on_functions,
    plain,
    plain_words,
    raised,
    timed,
    vector,
)
from rnncalc.typeset.setting import in_model, layer_sheets, one_to_many, setting, title
from rnncalc.typeset.sheet import Arithmetic, Column, Phrase, Sheet, TensorName, cell, worked
from rnncalc.words import all_of, decimal, in_full, plural

if TYPE_CHECKING:
    from rnncalc.network.model import Model
    from rnncalc.pictures.picture import Picture
    from rnncalc.step.equations import Equation

HOLDS = {
    Role.INPUT: "input matrix",
    Role.RECURRENT: "recurrent matrix",
    Role.LEFT: "left factor of the recurrent matrix",
    Role.RIGHT: "right factor of the recurrent matrix",
    Role.BIAS: "bias",
    Role.RECURRENT_BIAS: "recurrent bias",
    Role.GAIN: "gain of the normalised sum",
    Role.PROJECTION: "projection of the output",
    Role.MATRIX: "matrix beside the gates",
    Role.PEEPHOLE: "peephole weights",
    Role.STATE: "learned initial state",
    Role.KERNEL: "matrix",
    Role.EMBEDDING: "table of vectors",
    Role.EXTERNAL: "counted elsewhere",
    Role.VECTOR: "vector",
    Role.SCALAR: "trained number",
    Role.SCALE: "factor for each feature",
    Role.RUNNING_MEAN: "mean of each feature, not trained",
    Role.RUNNING_VARIANCE: "variance of each feature, not trained",
}
"""The name of a tensor of each role."""

ONE_A_UNIT = (Times((Axis(1, "h"),)), Times((Axis(1), Axis(1, "h"))))
"""The notation of a vector's shape, as a column and as a row."""


class ExplanationReport(DataReport, DerivationReport):
    """The report on an explanation. within: the name of the network in a model of several."""

    explanation: Explanation
    within: str | None = None

    @property
    def network(self) -> Network:
        """The network that is explained."""
        return self.explanation.network

    def data(self) -> dict[str, Any]:
        explained = self.explanation
        return {
            **fields(self.network, "name", "convention"),
            "network": self.within,
            "notation": self.network.spelling.name,
            "layers": [_layer_data(each) for each in explained.layers],
            "params_formula": explained.total and explained.counted.params_formula,
            "params": explained.total and explained.total.params,
            "dense": explained.dense and [row_data(row, "params") for row in _dense_rows(explained.dense)],
        }

    def sheets(self) -> list[Sheet]:
        """Return a derivation for each layer, then the total, then the dense equivalent."""
        head = Sheet(columns=(), rows=(), title=title(self.network), subtitle=setting(self.network))
        head = head.replace(notes=(later,)) if (later := one_to_many(self.network)) else head
        whole = self.explanation.total is not None
        return [*([head] if whole else []), *self._layers(), *self._network()]

    def page(self) -> Iterator[Sheet | Picture]:
        """Yield the page of a network, or of some of its layers: derivations, tables and pictures.

        A part that is refused, because there is nothing to draw or too much to count, is replaced by the message of the
        refusal.
        """
        from rnncalc.reports.compare import AllocationReport  # imported here: no other format needs all of them
        from rnncalc.reports.count import CountReport
        from rnncalc.reports.draw import Drawing

        def drawn(view: str, *only: str) -> Iterator[Picture]:
            from rnncalc.pictures.picture import Label, Style, moved

            for picture in Drawing(self.network, view, only).pictures(ACROSS):
                first, *others = picture.shapes
                if isinstance(first, Label) and first.style is Style.HEADING and first.y == 0:  # the page's own heading
                    shapes = tuple(moved(shape, (0, -1)) for shape in others)
                    yield picture._replace(shapes=shapes, height=picture.height - 1)
                else:
                    yield picture

        def conventions(title: str) -> list[Sheet]:
            (sheet,) = AllocationReport(self.explanation.allocations).sheets()
            return [sheet.replace(title=title, subtitle="")]

        whole = self.explanation.total is not None
        if whole:
            yield from CountReport(self.explanation.counted).sheets()[:1]
            yield from _or_why("Unrolled in time", lambda title: [Sheet((), (), title=title), *drawn("unrolled")])
        with_picture: set[tuple[Equation, ...]] = set()  # a cell is drawn below the first of those with its equations
        for each, sheet in zip(self.explanation.layers, self._layers(), strict=True):
            yield sheet
            if each.gates and each.equations not in with_picture:
                with_picture.add(each.equations)
                yield from drawn("cell", each.placed.name)
        if whole:
            yield from self._network()
            yield from _or_why("Growth with the steps", lambda title: [Sheet((), (), title=title), *drawn("growth")])
            yield from _or_why("Conventions", conventions)

    def _layers(self) -> list[Sheet]:
        remarks: set[tuple[str, str]] = set()  # those on gates and biases, to write each once
        return [*in_model(self.within, [_sheet(each, remarks) for each in self.explanation.layers])]

    def _network(self) -> Iterator[Sheet]:
        """Yield the total of several layers and the dense equivalent, if all layers are explained."""
        explained = self.explanation
        if explained.total is not None and len(explained.layers) > 1:
            head = f"Total of {self.within}" if self.within else "Total"
            yield _rows_sheet(head, [_row(explained.total)])
        if explained.dense and explained.dense.ratio is not None:
            params = f"{self.network.params:,}"
            ratio = f"{explained.dense.params:,} is {decimal(explained.dense.ratio)} × this network's {params}."
            numbers = [part.steps or 0 for part in self.network.parts.values()]
            steps = " and ".join([*(f"{number:,}" for number in numbers[:-1]), plural(numbers[-1], "step")])
            subtitle = f"all {steps} at once, no weights shared: each layer of width w has T·w units"
            sheet = _rows_sheet("Dense equivalent", [*_dense_rows(explained.dense)], (ratio,))
            key, what, *others = sheet.columns
            yield sheet.replace(subtitle=subtitle, summed=True, columns=(key, what.replace(whole=True), *others))


class ModelsReport(SheetReport, DataReport):
    """The parameters of models of several networks, below the derivations of the networks."""

    models: tuple[Model, ...]

    def data(self) -> Iterable[dict[str, Any]]:
        return ()

    def beside(self) -> dict[str, Any]:
        return {"models": [fields(model, "name", "params") for model in self.models]}

    def sheets(self) -> list[Sheet]:
        """Return a table of the networks of each model with their parameters."""
        tables = []
        for model in self.models:
            rows = ((placed, (placed.params,)) for placed in model.stack)
            *_, sheet = layer_sheets(model, (), ("Parameters",), rows, (model.params,))
            tables.append(sheet.replace(title=title(model), subtitle=setting(model)))
        return tables


Row = tuple[str | TensorName, str, Arithmetic, int]
"""A line of a derivation: its label, its meaning, the arithmetic, the parameters."""


def _layer_data(each: Derivation) -> dict[str, Any]:
    placed = each.placed
    return {
        **fields(placed, "name", "kind"),
        "letters": [*letters_of(each)],
        "gates": [f"{each.notation.letter(gate.letter)}, {gate.name}: {gate.meaning}" for gate in each.gates],
        "equations": [
            {
                "text": plain(line),
                "shapes": {piece.name: list(piece.shape) for piece in line if isinstance(piece, Term)},
            }
            for line in equations(each)
        ],
        "steps": [row_data(_row(step, each), "params") for step in each.steps],
        "remarks": [*on_biases(each), *on_matrices(each), *on_this_layer(each)],
        **fields(placed, "params_formula", "params"),
    }


def row_data(row: Sequence[Any], number: str = "number") -> dict[str, Any]:
    """Return a line of a derivation for programs: its label, its meaning, the arithmetic, and its number by a key."""
    label, what, arithmetic, count = row
    return {
        "label": in_words(label),
        "what": in_words(what),
        "formula": arithmetic.letters,
        "substituted": arithmetic.numbers,
        number: count,
    }


def in_words(value: str | TensorName | Phrase) -> str:
    """Return words, with mathematics among them or not, in plain text."""
    match value:
        case TensorName():
            return value.text
        case Phrase(parts):
            return plain_words(parts)
    return value


def _row(step: Step, derivation: Derivation | None = None) -> Row:
    """Return a line; a tensor whose name is a symbol in the convention is labelled with the symbol."""
    arithmetic = worked(step.expression, step.sizes, step.names)
    label, what = _words(step, derivation)
    if step.what is StepKind.TENSOR and derivation and derivation.row.symbols:
        direction, mark, symbol = label.rpartition("/")
        letter, _, below = symbol.partition("_")
        above = raised(Term(letter, below), derivation.notation).above
        return TensorName(letter, below, direction + mark, above), what, arithmetic, step.params
    return label, what, arithmetic, step.params


def _words(step: Step, derivation: Derivation | None) -> tuple[str, str]:
    """Return the label and the meaning of a line."""
    names = {gate.letter: gate.name for gate in derivation.gates} if derivation else {}
    letters = [derivation.notation.letter(gate) for gate in step.gates] if derivation else []
    match step.what:
        case StepKind.TENSOR:
            what = HOLDS[step.role] if step.role else ""
            if step.role is Role.RECURRENT and step.expression in ONE_A_UNIT:
                what = "recurrent weights, one per unit"
            if len(step.gates) > 1:
                what += f"{'es' if what.endswith('bias') else ''} of {all_of(letters)}"
            return step.name, what
        case StepKind.BLOCKS:  # not all of them are gates: `2 gates and the candidate: z, r, n`
            others = [name for name in map(names.__getitem__, step.gates) if not name.endswith("gate")]
            gates = len(step.gates) - len(others)
            parts = [*([plural(gates, "gate")] if gates else []), *(f"the {name}" for name in others)]
            return f"{len(step.gates)} blocks", f"{all_of(parts)}: {', '.join(letters)}"
        case StepKind.DIRECTIONS:
            return "2 directions", "forward, backward"
        case StepKind.FORMULA:
            return "formula", "all of it in one"
        case StepKind.TOTAL:
            return "Total", "all layers"
        case _:
            return step.what.value, ""


def _dense_rows(dense: DenseEquivalent) -> Iterator[Row]:
    for layer in dense.layers:
        arithmetic = numbers(layer.expression, layer.sizes)
        yield layer.name, f"{layer.inputs:,} → {layer.units:,}", Arithmetic(arithmetic, arithmetic), layer.params
    total = " + ".join(str(layer.params) for layer in dense.layers) or "0"
    yield "Total", "", Arithmetic(total, total), dense.params


def _sheet(each: Derivation, written: set[tuple[str, str]]) -> Sheet:
    """Return a layer's derivation; remarks in `written` are left out, and new remarks are added to it."""
    kind, lines = each.placed.layer.kind, equations(each)
    named = [(f"{gate.name[:1].upper()}{gate.name[1:]}", gate) for gate in each.gates]
    meanings = [f"{name} {each.notation.letter(gate.letter)}: {gate.meaning}." for name, gate in named]
    general = [(kind, text) for text in (*meanings, *on_biases(each), *on_matrices(each))]
    if any(gate.normalised for gate in each.gates):
        norm = f"norm: each number minus the mean of the vector, over the root of its variance plus {EPSILON}."
        general.append(("", norm))
    general += [("", text) for text in on_functions(lines)]
    if each.equations and each.notation.note:
        general.append(("", f"Notation: {each.notation.note}."))
    notes = [text for text in general if text not in written]
    written.update(notes)
    placed = each.placed
    rows = [_row(step, each) for step in each.steps]
    sheet = _rows_sheet(placed.name, rows, (*(text for _, text in notes), *on_this_layer(each)))
    subtitle = "; ".join((placed.layer.kind, *letters_of(each)))
    return sheet.replace(subtitle=subtitle, equations=lines)


def equations(each: Derivation) -> tuple[Line, ...]:
    """Return the equations of a layer with the numbers of its shapes."""
    return tuple([in_layers(each, line_of(equation, each.placed.sizes, each.notation)) for equation in each.equations])


def in_layers(each: Derivation, line: Line) -> Line:
    """Return mathematics of a layer, with letters of its own for the state of the layer below if layers are numbered.

    Its gradient does not: in the layer above it is a part of it.
    """
    reads = "v" if each.placed.starts else "h" if isinstance(each.placed.layer, Output) else "x"
    read, notation = each.notation.letter(reads), each.notation.at(each.read_level)
    below = timed("h" if each.read_level else reads, "", notation)

    def named(piece: Piece) -> Piece:
        if not isinstance(piece, Term) or read not in (piece.letter, piece.symbol):
            return piece
        index = f"{below.subscript},{piece.time}" if below.subscript and piece.time else piece.subscript
        return piece._replace(letter=below.letter, subscript=index, above=below.above)

    return tuple(map(named, line))


def _rows_sheet(title: str, rows: list[Row], notes: tuple[str, ...] = ()) -> Sheet:
    """Return lines as a table; the last is the result of the others, not their sum."""
    if not rows:
        return Sheet(columns=(), rows=(), title=title, notes=("No parameters.", *notes))
    columns = (Column("Step", key=True), Column("What it is"), Column("Arithmetic"), Column("Parameters", right=True))
    values = [tuple(map(cell, row)) for row in rows]
    return Sheet(columns=columns, rows=values[:-1], total=values[-1], title=title, notes=notes, summed=False)


_MEANINGS = {
    "h": "units",
    "n": "units",
    "p": "the width of the projection",
    "r": "the rank of a recurrent matrix",
    "b": "the columns of a block",
    "d": "the width of a vector",
    "f": "filters",
    "k": "the steps of the kernel",
    "c": "the features of a group",
}
"""What the letters of widths mean in a layer that does not say so itself."""


def on_biases(each: Derivation) -> Iterator[str]:
    """Yield the reason for the number of biases, which is the same for all layers of a kind that have biases."""
    layer, arrays, gates = each.placed.layer, each.row.arrays(each.placed.layer.kind), each.gates
    if not isinstance(layer, Cell) or not layer.bias or arrays is None:
        return
    sides = sides_of_biases(layer, gates, arrays)
    twice = [gate for gate in gates if sides.get(gate.letter) is Side.BOTH]
    once = [gate for gate in gates if gate.letter in sides and gate not in twice]
    without = [gate for gate in gates if gate.letter not in sides]

    def named(gates: Sequence[Gate]) -> str:
        return all_of([each.notation.letter(gate.letter) for gate in gates])

    def many(vectors: str, biased: Sequence[Gate]) -> str:
        return f"{vectors} each in {named(biased)}, none in {named(without)}" if without else f"{vectors} per gate"

    if not once:
        where = "one after the other in one tensor" if arrays.both_biases else "on the input and on the recurrent side"
        yield f"Biases: {many('two bias vectors', twice)}, {where}; {each.row.why}."
        return
    sentence = many("one bias vector", [*once, *twice])
    if twice:
        yield f"Biases: {sentence}, and a second one in {named(twice)}; {each.row.why}."
        return
    if all(sides[gate.letter] is Side.RECURRENT for gate in once):
        sentence += ", on the recurrent side"
    after = layer.resets_after(arrays.habits.reset_after)
    products = [gate.products for gate in once]
    most, full = max(map(len, products)), all(product.form is Form.FULL for some in products for product in some)
    if most == 1 or (
        arrays.stacked and not arrays.joins and full and not after
    ):  # the notation joins the matrices of a gate into one
        why = "a gate has one product, and one bias goes with it"
    else:
        both = "two products are summed, so one bias serves both"
        why = f"the {both if most == 2 else 'products of a gate are summed, so one bias serves all'}"
        if after:
            last = once[-1]
            where = "inside" if sides[last.letter] is Side.RECURRENT else "outside"
            why += f", and that of {named([last])} is {where} what is multiplied by a gate"
    yield f"Biases: {sentence}; {why}."


def on_matrices(each: Derivation) -> Iterator[str]:
    """Yield where the matrices of the equations are in a framework's tensors, and whether it multiplies rows."""
    arrays = each.row.arrays(each.placed.layer.kind) if isinstance(each.placed.layer, Cell) else None
    if arrays is None or each.row.symbols:
        return
    array = arrays.stacked or arrays.input
    assert array is not None
    turned = array.axes.split()[-1] in ("gates", "h")
    block = f"a block of their {'columns' if turned else 'rows'}"
    part = block if len(each.gates) > 1 and not array.by_gate else "one of them"
    if projections := [tensor for tensor in each.placed.tensors if tensor.role is Role.PROJECTION]:
        across = ", transposed" * (projections[0].axes[0].letter == "h" and not turned)
        part += f", and that of the projection is {all_of([tensor.name for tensor in projections])}{across}"
    if turned:
        yield f"Matrices: in {each.row.title} they multiply rows, x W; a W of the equations is {part}, transposed."
    else:
        yield f"Matrices: in {each.row.title} they multiply columns, W x, as in the equations; a W is {part}."


def on_this_layer(each: Derivation) -> Iterator[str]:
    """Yield remarks on places, half an input, missing biases, a matrix counted elsewhere, and frozen parameters."""
    layer = each.placed.layer
    if any(symbol.subscript == HALF for equation in each.equations for symbol in symbols(equation.right)):
        units = each.placed.sizes["h"]
        first, last = (f"the {end} {units:,}" for end in ("first", "last"))
        x = timed("h" if each.read_level else "x", "", each.notation.at(each.read_level)).name
        yield f"{x}_half: {first} numbers of {x}_t in the forward direction, {last} in the backward one."
    if number := isinstance(layer, Cell) and max(product.blocks for gate in each.gates for product in gate.products):
        rows, columns = quotient(layer.units, number), each.placed.sizes.get("b")
        where = "along the diagonal, and zeros elsewhere; each row of its tensor has the numbers of its block"
        if number > 1:
            yield f"A recurrent matrix is {plural(number, 'block')} of {rows} × {columns} {where}."
    if grid := layer.grid:
        places, sizes = " × ".join(map(str, grid)), each.placed.sizes
        kernel = " × ".join([str(sizes["k"])] * len(grid))
        yield f"∗: a convolution; each place reads a kernel of {kernel} around it, with zeros beyond the edges."
        channels, filters = (f"{places} × {sizes[letter]:,}" for letter in "mh")
        yield f"x_t is {channels}, a gate and a state are {filters}: places, then channels."
    if has_letters(each.placed.params):
        from rnncalc.reports.count import on_conditions  # needed in letters alone

        yield from on_conditions([each.placed])
    if isinstance(layer, Transform):
        yield f"{layer.in_words(each.shape)}."
        if work := layer.work_in_words():
            yield in_full(work)
        yield from on_parts(each)
        yield from on_padding(each)
        if each.placed.places > 1:
            places = " × ".join(map(str, each.placed.grid))
            yield f"It reads each place of a step ({places}) alone, with the same parameters."
        if each.placed.buffers:
            stored = all_of([tensor.name for tensor in each.placed.buffers])
            yield f"Stored beside the parameters, and not counted among them: {stored}."
    elif isinstance(layer, Cell | Dense) and not layer.bias:
        yield "Biases: none, by bias: false."
    if each.placed.shared:
        table = "table is the encoder's" if isinstance(layer, Embedding) else "matrix is the embedding's, transposed"
        yield f"The {table}: it is counted there, once."
    if layer.frozen:
        yield "Frozen: counted, but not trained."


def on_parts(each: Derivation) -> Iterator[str]:
    """Yield remarks on the parts of vectors in a layer's equations."""
    named = each.named if each.equations else None
    parts: dict[str, list[str]] = {}
    for place, node in enumerate(named.trace.nodes if named else ()):
        if named and node.operation == "part":
            part, whole = (plain(vector(named.formula(at), each.placed.sizes)) for at in (place, *node.operands))
            parts.setdefault(whole, []).append(part)
        if node.in_groups and not isinstance(each.placed.layer, Cell):
            letter, reads = node.letter, "reads x_(i,t), its part of x_t, with its rows of each matrix"
            yield f"Each group i, of {node.number:,}, {reads}; {letter}_(i,t) is its part of {letter}_t."
    for whole, names in parts.items():
        yield f"{all_of(names)}: equal parts of {whole}, by their number."


def on_padding(each: Derivation) -> Iterator[str]:
    """Yield a remark on steps that a window reads outside the sequence."""
    layer = each.placed.layer
    before, after = layer.padding_of(None)
    if each.equations and (before or after):
        yield f"x is zero before the first step{' and after the last' if after else ''}."
        if layer.every > 1 and after and not isinstance(each.shape[0], int):
            yield f"The equation is that for a T that is a multiple of {layer.every}."


def letters_of(each: Derivation) -> Iterator[str]:
    """Yield each letter with its meaning and the source of its value."""
    placed, layer = each.placed, each.placed.layer
    if "m" in placed.sizes:
        joined = {"of the context": each.context, "extra inputs": layer.extra_inputs}
        beside = {name: number for name, number in joined.items() if number}
        width = placed.inputs - sum(beside.values())
        source = f"the sum of {_source(each)} and the context" if each.added else _source(each)
        if not width:  # a decoder without an input of its own
            source, width = "the context", beside.pop("of the context")
        extra = "".join(f", and {number} {name}" for name, number in beside.items())
        added = beside and not has_letters(placed.inputs)
        sum_ = f"{' + '.join(map(str, (width, *beside.values())))} = " if added else ""
        size = f"{sum_}{placed.sizes['m']}"
        shown = worked("m", placed.sizes, placed.names).letters
        yield f"{'' if shown == str(placed.sizes['m']) else f'{shown} = '}{size}: {source}{extra}"
    others = {letter for size in placed.sizes.values() if has_letters(size) for letter in str(size)}
    meanings = {**_MEANINGS, **layer.meanings}
    for letter, meaning in meanings.items():
        if letter in placed.sizes:
            number, shown = placed.sizes[letter], worked(letter, placed.sizes, placed.names).letters
            before = "" if letter in others or shown == str(number) else f"{shown} = "
            yield f"{before}{number}: {meaning}"
    for letter, number in placed.sizes.items() if isinstance(layer, Transform) else ():  # letters of its own
        if letter != "m" and letter not in meanings and len(letter) == 1:
            yield f"{letter} = {number}"


def _source(each: Derivation) -> str:
    """Return where a layer's input width comes from."""
    below, layer = each.below, each.placed.layer
    channels = "the channels of " if layer.grid or (layer.time is Time.PLACE and each.placed.grid) else ""
    if each.placed.starts and each.placed.part == "decoder":
        return "the encoder's final state, the vector v"
    if each.placed.starts:
        return "the numbers of the vector v"
    if below is None:
        owner = f"the {each.placed.part}'s" if each.placed.part else "the network's"
        return "the vocabulary" if isinstance(layer, Embedding) else f"{channels}{owner} input"
    read = below.layer
    if not isinstance(read, Cell) or not read.bidirectional:
        return f"{channels or 'the output of '}{below.name}"
    joined = read.merge or "concat"
    one = below.outputs // 2 if joined == "concat" else below.outputs
    return f"the output of {below.name}, its two directions of {one:,} joined by {joined}"


ACROSS = 100
"""The width of a picture, in cells, that is readable on a sheet of paper."""


def _or_why(title: str, parts: Callable[[str], Iterable[Sheet | Picture]]) -> Iterator[Sheet | Picture]:
    """Yield a title and the parts below it, or the reason if they are refused."""
    try:
        yield from parts(title)
    except RefusedError as refused:
        yield Sheet(columns=(), rows=(), title=title, notes=(f"{refused}.",))
