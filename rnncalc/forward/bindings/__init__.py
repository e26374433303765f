"""The bindings by the names of their conventions: the one list that a framework's binding is named in."""

from rnncalc.errors import DeclarationError, RefusedError
from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings.binding import Binding, Bound
from rnncalc.layers.cell import Cell
from rnncalc.layers.kinds import imported

BINDINGS: dict[str, str | Binding] = {
    "textbook": "rnncalc.forward.bindings.textbook",
    "pytorch": "rnncalc.forward.bindings.pytorch",
    "keras": "rnncalc.forward.bindings.keras",
    "flax-linen": "rnncalc.forward.bindings.flax_linen",
    "flax-nnx": "rnncalc.forward.bindings.flax_nnx",
    "onnx": "rnncalc.forward.bindings.onnx",
}
"""The module whose BINDING each is, or the binding itself."""


def binding(convention: str) -> Binding:
    """Return the binding of a convention.

    Raises RefusedError where nobody has written one; its `cell` does, for a cell that nobody has written into it.
    """
    found = BINDINGS.get(convention)
    if found is None:
        message = f"the convention {convention} has no binding by hand, so its weights cannot be run"
        raise RefusedError(f"{message}; write one in forward/bindings, or count without running")
    if isinstance(found, str):
        where = f"{convention}: in rnncalc/forward/bindings/__init__.py, {found!r}"
        loaded = imported(where, found).get("BINDING")
        if not isinstance(loaded, Binding):
            raise DeclarationError(f"{where}: no binding is there; write BINDING = Binding(...) in it")
        BINDINGS[convention] = found = loaded
    bound = found.cell

    def cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> Bound:
        try:
            return bound(arrays, layer, inputs, backward)
        except KeyError as error:
            if error.args != (layer.kind,):  # a table by the kinds of cells lacks this one; another key is a mistake
                raise
            message = f"the binding by hand of the convention {convention} has no {layer.kind}, so it cannot be run"
            raise RefusedError(f"{message}; write it in forward/bindings, or count without running") from None

    return found._replace(cell=cell)
