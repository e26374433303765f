"""The conventions by name: the one list that a new framework is named in. Each is loaded when it is first used."""

from importlib import import_module

from rnncalc.conventions.convention import Convention

CONVENTIONS: dict[str, str | Convention] = {
    "textbook": "rnncalc.conventions.textbook",
    "pytorch": "rnncalc.conventions.pytorch",
    "keras": "rnncalc.conventions.keras",
    "flax-linen": "rnncalc.conventions.flax_linen",
    "flax-nnx": "rnncalc.conventions.flax_nnx",
    "onnx": "rnncalc.conventions.onnx",
}
"""The module whose CONVENTION each is, or the convention itself."""


def convention(name: str) -> Convention:
    """Return a convention. Raises KeyError for a name that is not in the list."""
    found = CONVENTIONS[name]
    if isinstance(found, str):
        loaded: Convention = import_module(found).CONVENTION
        CONVENTIONS[name] = found = loaded
    return found
