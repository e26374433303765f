"""Feeds rnncalc model files that no one would save: `python tests/fuzz/models.py --seconds 60 --seed 1`.

Bytes are changed anywhere, and where it matters: in a header, in a pickle within its archive, in lengths. What holds of
specs holds here: 0, 1 or 2, within 2 s and 300 MB, no traceback, nothing written, started or printed that acts.
"""

import argparse
import io
import random
import struct
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.run import HOSTILE, ROOT, SPEC, fault, flip
from modelfiles.messages import attribute, field, graph, node, onnx, tensor

TAGGER = str(ROOT / "specs" / "pytorch" / "tagger.yaml")
CALLS = [
    *(["read", SPEC, "-f", form] for form in ("yaml", "table", "json", "csv")),
    ["check", TAGGER, "--model", SPEC],
    ["check", TAGGER, "--model", SPEC, "-f", "github"],
    ["run", TAGGER, "--weights", SPEC, "--max-multiply-adds", "100k"],
    ["run", TAGGER, "-c", "onnx", "--weights", SPEC, "--max-multiply-adds", "100k"],
    ["count", SPEC],
]
NUMBERS = [struct.pack("<Q", value) for value in (0, 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1)]
Bytes = Callable[[random.Random, bytes], bytes]


def cut(chance: random.Random, data: bytes) -> bytes:
    """Leave the end away, or double it."""
    at = chance.randrange(len(data) + 1)
    return data[:at] if chance.random() < 0.7 else data + data[at:]


def lying(chance: random.Random, data: bytes) -> bytes:
    """Put a number somewhere that may be taken for a length, or words that act for a name."""
    at = chance.choice([0, chance.randrange(len(data) + 1), chance.randrange(min(len(data), 400) + 1)])
    size = chance.choice([1, 2, 4, 8])
    put = chance.choice(
        [*(number[:size] for number in NUMBERS), chance.choice(HOSTILE).encode("utf-8", "surrogatepass")]
    )
    return data[:at] + put + data[at + len(put) :]


def within(chance: random.Random, data: bytes) -> bytes:
    """Change what is in an archive, or the header of a safetensors file, so that the rest still fits."""
    change = chance.choice([flip, cut, lying])
    if data[:2] == b"PK":
        out = io.BytesIO()
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as new:
                names = archive.namelist()
                at = next((name for name in names if name.endswith(".pkl")), names[0])
                for name in names:
                    new.writestr(name, change(chance, archive.read(name)) if name == at else archive.read(name))
        except (zipfile.BadZipFile, ValueError, IndexError, NotImplementedError, EOFError, RuntimeError):
            return data
        return out.getvalue()
    if len(data) > 8 and (length := int.from_bytes(data[:8], "little")) < len(data):
        header = change(chance, data[8 : 8 + length])
        return struct.pack("<Q", len(header)) + header + data[8 + length :]
    return data


MUTATIONS: tuple[Bytes, ...] = (flip, cut, lying, within, within)


def seeds(folder: Path) -> dict[str, bytes]:
    """Return small files of each format, by the names they are saved under."""
    body = graph(node("MatMul", "x k", "y"), tensors=[tensor("k", (3, 2))])
    parts = [
        node("LSTM", "x w r b", "y", name="rnn"),
        node("Gemm", "y m c", "z", attribute("transB", field(3, 1))),
        node("If", "q", "o", attribute("then_branch", field(6, body))),
    ]
    shapes = {"w": (1, 12, 4), "r": (1, 12, 3), "b": (1, 24), "m": (5, 3), "c": (5,)}
    made = onnx(folder / "a.onnx", *parts, tensors=[tensor(name, shape) for name, shape in shapes.items()])
    models = [ROOT / "specs" / "models" / name for name in ("tagger.pt", "tagger.safetensors")]
    found = {path.name: path.read_bytes() for path in (*models, made)}
    index = b'{"weight_map": {"a": "a.safetensors", "b": "b.bin"}}'
    return {**found, "a.safetensors.index.json": index, **hdf5(folder)}


def hdf5(folder: Path) -> dict[str, bytes]:
    """Return a small file of Keras, where h5py is there to make it."""
    try:
        import h5py
    except ImportError:
        return {}
    path = folder / "a.weights.h5"
    with h5py.File(path, "w") as file:
        for number, shape in enumerate([(4, 12), (3, 12), (12,)]):
            file.create_dataset(f"layers/lstm/cell/vars/{number}", shape, "f4")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("config.json", '{"config": {"layers": [{"class_name": "LSTM", "config": {"name": "lstm"}}]}}')
        archive.writestr("model.weights.h5", path.read_bytes())
    return {"a.keras": out.getvalue(), path.name: path.read_bytes()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    sys.dont_write_bytecode = True
    for module in ("rich.console", "rich.table", "yaml", "zipfile", "rnncalc.cli", "rnncalc.modelfiles.pytorch"):
        import_module(module)  # what every child would import anew
    import resource  # not on every system

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = ROOT / "tests" / "fuzz" / "found"
    tried = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        files = seeds(Path(folder))
        until = time.monotonic() + options.seconds
        while time.monotonic() < until:
            name = chance.choice([*files])
            data = files[name]
            for _ in range(chance.choice([1, 1, 2, 3])):
                data = chance.choice(MUTATIONS)(chance, data)
            call = chance.choice(CALLS)
            tried += 1
            if told := fault(data[:999_999], call, Path(folder), name=f"fuzzed-{name}"):
                wrong += 1
                found.mkdir(exist_ok=True)
                (found / f"{options.seed}-{tried}-{name}").write_bytes(data)
                print(f"{options.seed}-{tried}-{name}: rnncalc {' '.join(call)}: {told}", flush=True)
    print(f"{tried:,} files, seed {options.seed}: {wrong:,} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
