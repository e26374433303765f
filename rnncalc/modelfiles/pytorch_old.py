"""PyTorch's files from before version 1.6, pickles in a row: refused, since their numbers hang on what is run."""

from __future__ import annotations

from typing import NoReturn

from rnncalc.modelfiles.model import BadFileError


def read(path: str) -> NoReturn:
    """Refuse a file, and say what to do with it."""
    del path
    raise BadFileError(
        "is a plain pickle, as PyTorch wrote before 1.6: load it where you trust it, and save it again with"
        " safetensors.torch.save_file(model.state_dict(), ...)"
    )
