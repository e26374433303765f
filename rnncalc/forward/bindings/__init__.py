"""Bindings: which array, by name, a forward pass uses for which weights under one convention; and their list.

Bindings are written by hand, one file for each framework, from its documentation. They are the second witness to the
conventions, so none may import `conventions/`. If the two disagree, a pass reports a missing weight, an unread weight
or a shape that does not fit. A framework's habits concern no tensor and are only in its convention; tests compare them
with numbers worked out by hand and with the frameworks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, Protocol

from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import Arrays, BindingError, Matrix, WeightVector
from rnncalc.layers.cell import Cell
from rnncalc.records import loaded

Product = Matrix | WeightVector | tuple[Matrix, ...]
"""A matrix, the vector of a diagonal one, or the blocks along a diagonal."""


class BoundWeights(Protocol):
    """The weights of one direction of a recurrent layer. Each raises BindingError for what is not declared."""

    def product(self, letter: str, vector: str) -> Product:
        """Return a gate's weights for x or for a state: a matrix, or a vector for a diagonal product."""

    def factor(self, letter: str, vector: str, side: str) -> Matrix:
        """Return the left or the right one of the two matrices whose product is a gate's for a state."""

    def bias(self, letter: str, side: str) -> WeightVector | None:
        """Return the bias on one side of a gate, input or recurrent, if there is one."""

    def matrix(self, letter: str) -> Matrix:
        """Return a matrix beside the gates."""

    def gain(self, letter: str) -> WeightVector:
        """Return the gain that multiplies the normalised sum of a gate."""

    def vector(self, letter: str) -> WeightVector:
        """Return a vector, or a trained number, beside the gates."""

    def state(self, letter: str) -> WeightVector:
        """Return the learned state before the first step."""


class GateWeights(NamedTuple):
    """The weights of one direction, bound at once: products by gate and what is read, biases by gate and side."""

    products: Mapping[tuple[str, str], Matrix | WeightVector]
    biases: Mapping[tuple[str, str], WeightVector] = {}
    matrices: Mapping[str, Matrix] = {}
    states: Mapping[str, WeightVector] = {}

    def product(self, letter: str, vector: str) -> Matrix | WeightVector:
        weights = self.products.get((letter, vector))
        if weights is None:
            raise BindingError(f"gate {letter}'s product of {vector}: needed, but not bound")
        return weights

    def bias(self, letter: str, side: str) -> WeightVector | None:
        return self.biases.get((letter, side))

    def matrix(self, letter: str) -> Matrix:
        if letter not in self.matrices:
            raise BindingError(f"the matrix {letter}: needed, but not bound")
        return self.matrices[letter]

    def factor(self, letter: str, vector: str, side: str) -> Matrix:
        raise BindingError(f"the {side} factor of gate {letter}: needed, but not bound")  # no framework bound has any

    def gain(self, letter: str) -> WeightVector:
        raise BindingError(f"the gain of gate {letter}: needed, but not bound")  # no framework bound here has any

    def vector(self, letter: str) -> WeightVector:
        raise BindingError(f"the weights {letter}: needed, but not bound")  # no framework bound here has any

    def state(self, letter: str) -> WeightVector:
        if letter not in self.states:
            raise BindingError(f"the learned state {letter}: needed, but not bound")
        return self.states[letter]


class TransformNames(NamedTuple):
    """The names of the weights of all layers but the cells, by kind and role; `output` is one if it has its own.

    taps_first: whether a kernel has its steps first, not last; transposed: whether matrices are input by output.
    Roles of one name are the equal parts of one array, in their order.
    others: the names of roles in other kinds, where a role that is not named is its own name; None if it has none.
    heads: the roles whose heads have an axis of their own, and whether these are in the rows of the matrix or in its
    columns.
    """

    names: Mapping[str, Mapping[str, str]]
    taps_first: bool
    transposed: bool = False
    others: Mapping[str, str] | None = None
    heads: Mapping[str, Literal["rows", "columns"]] = {}

    def name(self, kind: str, role: str) -> str | None:
        """Return the name of an array, None if the framework has no such."""
        if kind in self.names or self.others is None:
            return self.names.get(kind, {}).get(role)
        return self.others.get(role, role)


def of_dense(weight: str, bias: str) -> dict[str, str]:
    """Return the names of a decoder's attention by role, where each matrix with its bias is a dense layer."""
    modules = {role: role for role in ("query", "keys", "convolution", "location", "score", "key", "value", "output")}
    matrix = {"kernel": f"matrix{weight}", "bias": f"matrix{bias}", "step_bias": bias[1:]}
    return _of_modules(modules, weight, bias) | matrix


def _of_modules(modules: Mapping[str, str], weight: str, bias: str) -> dict[str, str]:
    """Return the names of matrices and biases by role, each pair in a module."""
    names = {role: f"{module}{weight}" for role, module in modules.items()}
    return names | {f"{role}_bias": f"{module}{bias}" for role, module in modules.items()}


class Binding(NamedTuple):
    """The binding of a framework: how one direction of a cell is bound, and the names of other weights.

    cell: takes the arrays, the layer, its inputs, and whether the direction is the backward one.
    """

    cell: Callable[[Arrays, Cell, int, bool], BoundWeights]
    transforms: TransformNames


def prefix(layer: Cell, backward: bool) -> str:
    """Return the prefix of a direction's tensors, if a framework's own names do not distinguish them."""
    return ("backward/" if backward else "forward/") if layer.bidirectional else ""


def fused(
    arrays: Arrays,
    layer: Cell,
    order: str,
    matrices: Mapping[str, str],
    biases: Mapping[str, str],
    *,
    before: str = "",
    transposed: bool = False,
    reads: Mapping[str, slice] = {},
) -> GateWeights:
    """Return the weights of a direction whose arrays have all gates side by side, in an order.

    matrices: the arrays for x and for the state h; biases: those of the sides. before: what is before each name.
    transposed: whether the gates are columns. reads: the rows that a vector is multiplied by, if not all of the array.
    """
    products = {
        (gate, vector): arrays.matrix(before + name, part, transposed=transposed, reads=reads.get(vector, slice(None)))
        for vector, name in matrices.items()
        for gate, part in arrays.gates(before + name, order, layer.units).items()
    }
    vectors = {
        (gate, side): arrays.vector(before + name, part)
        for side, name in biases.items()
        if layer.bias
        for gate, part in arrays.gates(before + name, order, layer.units).items()
    }
    return GateWeights(products, vectors)


PROJECTIONS = ("query", "key", "value")
"""The projections of attention that its heads share among them."""


def with_heads(output: str) -> dict[str, str]:
    """Return the names of attention whose projections are modules; output: the name of the last."""
    return _of_modules({role: role for role in PROJECTIONS} | {"output": output}, "/kernel", "/bias")


IN_AXES: Mapping[str, Literal["rows", "columns"]] = {
    **dict.fromkeys(PROJECTIONS, "rows"),
    **dict.fromkeys([f"{role}_bias" for role in PROJECTIONS], "rows"),
    "output": "columns",
}
"""The heads of Keras and Flax: what a head makes is an axis before its size, what it reads too."""

BINDINGS: dict[str, str | Binding] = {
    "textbook": "rnncalc.forward.bindings.textbook:BINDING",
    "pytorch": "rnncalc.forward.bindings.pytorch:BINDING",
    "keras": "rnncalc.forward.bindings.keras:BINDING",
    "flax-linen": "rnncalc.forward.bindings.flax_linen:BINDING",
    "flax-nnx": "rnncalc.forward.bindings.flax_nnx:BINDING",
    "onnx": "rnncalc.forward.bindings.onnx:BINDING",
    "mlx": "rnncalc.forward.bindings.mlx:BINDING",
    "equinox": "rnncalc.forward.bindings.equinox:BINDING",
    "haiku": "rnncalc.forward.bindings.haiku:BINDING",
    "paddle": "rnncalc.forward.bindings.paddle:BINDING",
    "tfjs": "rnncalc.forward.bindings.tfjs:BINDING",
}
"""The bindings by convention, or the module and name of each."""


def binding(convention: str) -> Binding:
    """Return the binding of a convention.

    Raises RefusedError if there is none; its `cell` does, for a cell that the binding lacks.
    """
    if convention not in BINDINGS:
        message = f"the convention {convention} has no binding by hand, so its weights cannot be run"
        raise RefusedError(f"{message}; write one in forward/bindings, or count without running")
    entry = loaded(BINDINGS, convention)
    bound = entry.cell

    def cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> BoundWeights:
        try:
            return bound(arrays, layer, inputs, backward)
        except KeyError as error:
            if error.args != (layer.kind,):  # any other missing key is an error of the binding
                raise
            message = f"the binding by hand of the convention {convention} has no {layer.kind}, so it cannot be run"
            raise RefusedError(f"{message}; write it in forward/bindings, or count without running") from None

    return entry._replace(cell=cell)
