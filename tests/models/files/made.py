"""Model files made by hand, byte by byte, with nothing but the standard library: what the formats say they are."""

import io
import json
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

Shape = tuple[int, ...]
Numbers = Sequence[float]


def lstm(inputs: int, units: int, path: str = "rnn", number: int = 0, mark: str = "") -> dict[str, Shape]:
    """Return the shapes of one layer of nn.LSTM, as PyTorch documents them."""
    before = f"{path}." if path else ""
    return {
        f"{before}weight_ih_l{number}{mark}": (4 * units, inputs),
        f"{before}weight_hh_l{number}{mark}": (4 * units, units),
        f"{before}bias_ih_l{number}{mark}": (4 * units,),
        f"{before}bias_hh_l{number}{mark}": (4 * units,),
    }


def counting(shape: Shape) -> list[float]:
    """Return numbers for a tensor, no two alike, each one that float32 holds."""
    return [place / 64 for place in range(1, prod(shape) + 1)]


def safetensors(
    path: Path,
    shapes: Mapping[str, Shape],
    *,
    dtype: str | Mapping[str, str] = "F32",
    data: Mapping[str, bytes] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """Write a file of tensors with counted numbers, or with bytes of one's own."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt", **(metadata or {})}}
    body = b""
    for name, shape in shapes.items():
        piece = (data or {}).get(name) or struct.pack(f"<{prod(shape)}f", *counting(shape))
        letters = dtype if isinstance(dtype, str) else dtype.get(name, "F32")
        header[name] = {"dtype": letters, "shape": [*shape], "data_offsets": [len(body), len(body) + len(piece)]}
        body += piece
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


class Called:
    """Something that is pickled as a call of a function that need not be there."""

    def __init__(self, module: str, name: str, *args: Any, state: Any = None) -> None:
        self.named = named(module, name)
        self.args = args
        self.state = state


def named(module: str, name: str) -> Any:
    return type("Named", (), {"of": (module, name)})()


class Stored:
    """Something that is kept beside the pickle."""

    def __init__(self, *key: Any) -> None:
        self.key = key


_WRITTEN_IN_PYTHON: Any = vars(pickle)["_Pickler"]  # which can be told how to write a name


class _Pickler(_WRITTEN_IN_PYTHON):  # type: ignore[misc]
    def persistent_id(self, obj: Any) -> Any:
        return obj.key if isinstance(obj, Stored) else None

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, Called):
            self._global(obj.named)
            super().save(obj.args)
            self.write(pickle.REDUCE)
            if obj.state is not None:
                super().save(obj.state)
                self.write(pickle.BUILD)
        elif hasattr(obj, "of") and isinstance(obj.of, tuple):
            self._global(obj)
        else:
            super().save(obj, save_persistent_id)

    def _global(self, obj: Any) -> None:
        module, name = obj.of
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())


def pickled(value: Any, protocol: int = 2) -> bytes:
    """Return a pickle as torch.save writes it: protocol 2."""
    file = io.BytesIO()
    _Pickler(file, protocol).dump(value)
    return file.getvalue()


def tensor(
    key: str, shape: Shape, *, storage: str = "FloatStorage", start: int = 0, strides: Shape | None = None
) -> Called:
    """Return a tensor as torch.save pickles it."""
    steps = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape))) if strides is None else strides
    of = Stored("storage", named("torch", storage), key, "cpu", prod(shape))
    return Called(
        "torch._utils", "_rebuild_tensor_v2", of, start, shape, steps, False, Called("collections", "OrderedDict")
    )


def parameter(of: Called, *, trained: bool = True) -> Called:
    """Return a parameter as a pickled module holds it."""
    return Called("torch._utils", "_rebuild_parameter", of, trained, Called("collections", "OrderedDict"))


def archive(path: Path, value: Any, storages: Mapping[str, bytes], *, root: str = "archive", **more: bytes) -> Path:
    """Write a zip archive as torch.save does, of a pickle and what lies beside it."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{root}/data.pkl", pickled(value))
        file.writestr(f"{root}/byteorder", "little")
        for key, data in storages.items():
            file.writestr(f"{root}/data/{key}", data)
        for name, data in more.items():
            file.writestr(f"{root}/{name.replace('_', '.')}", data)
    return path


def state_dict(path: Path, shapes: Mapping[str, Shape], wrap: str = "") -> Path:
    """Write a state dict of tensors with counted numbers, one file of numbers each."""
    tensors = OrderedDict((name, tensor(str(key), shape)) for key, (name, shape) in enumerate(shapes.items()))
    storages = {
        str(key): struct.pack(f"<{prod(shape)}f", *counting(shape)) for key, shape in enumerate(shapes.values())
    }
    return archive(path, {wrap: tensors} if wrap else tensors, storages)
