"""The tensors of a layer under a convention: the one reading of what a convention says.

A layout is in letters and holds for every width; it takes no notice of the layer's neighbours or of its name.
"""

from typing import NamedTuple

from rnncalc.conventions.arrays import Array
from rnncalc.conventions.cell_tensors import WIDTHS, CellTensors, width_of
from rnncalc.conventions.convention import Convention
from rnncalc.conventions.formula import Expression, Plus, Times, formula, letters
from rnncalc.conventions.tensor import Axis, Role, Tensor
from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Form
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output


class Layout(NamedTuple):
    """The tensors a layer owns, and those it shares with the layer that owns them.

    params: how many parameters it owns, and letters: the same written down.
    multiply_adds: the multiplications in matrix products of one application.
    """

    own: tuple[Tensor, ...]
    shared: tuple[Tensor, ...]
    params: Expression
    letters: str
    multiply_adds: Expression


def layout(layer: Layer, inputs: int, convention: Convention) -> Layout:
    """Return the layout of a layer that reads `inputs` features.

    Raises DeclarationError where the cell, or what the convention says of it, contradicts itself.
    """
    shared: tuple[Tensor, ...] = ()
    multiply_adds: Expression = 0
    match layer:
        case Cell():
            own = tuple(CellTensors(layer, inputs, convention).tensors())
            _check_names(layer, own, convention)
            multiply_adds = _multiply_adds(layer, inputs)
        case Dense():
            dense = (isinstance(layer, Output) and convention.output) or convention.dense
            kernel = _plain(dense.kernel, Role.KERNEL)
            own = (_plain(dense.bias, Role.BIAS),) if layer.bias else ()
            tied = isinstance(layer, Output) and layer.tied
            own, shared = (own, (kernel,)) if tied else ((kernel, *own), ())
            multiply_adds = Times(("n", "m"))
        case Embedding():
            own = (_plain(convention.embedding, Role.EMBEDDING),)
        case External():
            own = (Tensor("external", Role.EXTERNAL, None, "", (Axis(1, "N"),)),)
        case _:
            own = ()
    params = formula(own)
    return Layout(own, shared, params, letters(params), multiply_adds)


def _check_names(layer: Cell, own: tuple[Tensor, ...], convention: Convention) -> None:
    """Refuse two tensors of one name, such as a gate's bias and a trained number of a stranger's that is called so."""
    names = [tensor.name for tensor in own]
    for name in names:
        if names.count(name) > 1:
            message = f"two of its tensors are called {name} under {convention.name}"
            raise DeclarationError(f"{layer.kind}: {message}; give one of its parts another letter")


def _plain(array: Array, role: Role) -> Tensor:
    """Return the tensor of a layer that is no cell."""
    return Tensor(str(array.name[0]), role, None, "", tuple(WIDTHS[width] for width in array.axes))


def _multiply_adds(layer: Cell, inputs: int) -> Expression:
    """Return one for each weight of a full matrix; a matrix that gates share multiplies once."""
    matrices = {
        (product.of, gate.letter if product.matrix is None else product.matrix)
        for gate in layer.gates(inputs)
        for product in gate.products
        if product.form is Form.FULL
    }
    widths = [width_of(layer, of) for of, _ in matrices]
    terms = [Times((layer.directions * widths.count(width), "h", width)) for width in dict.fromkeys(widths)]
    beside = [Times((layer.directions, *weight.widths)) for weight in layer.weights if weight.widths]
    return Plus((*terms, *beside))
