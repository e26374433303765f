"""Model files that no one would save: `python tests/fuzz/run.py models`.

Bytes are changed anywhere, and where it matters: in a header, in a pickle within its archive, in lengths. Other files
are written anew, from what a format allows: pickles of any values, virtual arrays, names that come again, numbers in
files beside, which are pipes, devices and links. What holds of specs holds here: 0, 1 or 2, within 2 s and 300 MB, no
traceback, nothing written, started or printed that acts. Nor may a failure be one that no reader knows.
"""

import io
import json
import os
import random
import struct
import zipfile
from collections.abc import Callable
from math import prod
from pathlib import Path

from fuzz.run import HOSTILE, ROOT, SPEC, Attempt, Try, calling, flip
from models.files import (
    test_coreml,
    test_msgpack,
    test_npz,
    test_openvino,
    test_orbax,
    test_pt2,
    test_tesseract,
    test_tfjs,
    test_tflite,
)
from models.files.made import Called, lstm, named, pickled, state_dict
from models.files.messages import attribute, field, graph, node, onnx, tensor

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


BESIDE = {"pipe": "", "zero": "/dev/zero", "tty": "/dev/tty", "out": "/etc/passwd", "loop": "loop", "gone": "nowhere"}
"""Files beside the model by where they lead, the first a pipe; each of them under the suffixes of models too."""


def beside(folder: Path) -> None:
    """Make what lies beside a model, and must not be waited for, or read."""
    for name, target in BESIDE.items():
        for suffix in ("", ".safetensors", ".bin", ".h5"):
            path = folder / f"{name}{suffix}"
            path.symlink_to(target + (suffix if name == "loop" else "")) if target else os.mkfifo(path)


def elsewhere(chance: random.Random) -> str:
    """Return the name of a file beside the model, or a path that leads away."""
    name = chance.choice([*BESIDE, "a", "../pipe", "/dev/zero", ".", "", *HOSTILE[:3]])
    return name + chance.choice(["", ".safetensors", ".bin", ".h5"])


def text(word: str | bytes) -> bytes:
    """Return text as a pickle writes it."""
    data = word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


REBUILT = ("_tensor_v2", "_tensor_v3", "_tensor", "_parameter", "_parameter_with_state", "_qtensor", "_sparse_tensor")
CALLS_OF = [f"ctorch._utils\n_rebuild{name}\n" for name in REBUILT] + ["ctorch._tensor\n_rebuild_from_type_v2\n"]
CALLS_OF += ["ctorch\nSize\n", "ctorch\nScriptObject\n", "ccollections\nOrderedDict\n", "cos\nsystem\n"]
CALLS_OF += ["c__torch__.net\nNet\n", "ctheirs\nClass\n"]
KEYS = ["_parameters", "_buffers", "_modules", "state_dict", "weight_ih_l0", "weight_hh_l0", "rnn", "weight", "ema.x"]
KEYS += ["model", "ema", "optimizer", "_orig_mod", "training", "weight_mask", "weight_orig", "_packed_params", "scale"]


def value(chance: random.Random, depth: int = 0) -> bytes:
    """Return the opcodes of a value: a word, a number, a tensor, or what holds others; shared, nested, or no value."""
    deep = depth > 5

    def some() -> list[bytes]:
        return [value(chance, depth + 1) for _ in range(0 if deep else chance.choice([0, 1, 2, 3]))]

    def key() -> bytes:
        return chance.choice([text(chance.choice(KEYS)), text("k" * chance.choice([5, 50_000])), value(chance, 6)])

    match chance.randrange(13):
        case 0 | 1 | 2 if not deep:
            return b"}(" + b"".join(key() + each for each in some()) + b"u"
        case 3:
            return b"(" + b"".join(some()) + chance.choice([b"t", b"l"])
        case 4 | 5:
            return tensor_opcodes(chance, depth)
        case 6:
            return value(chance, 6) + chance.choice([b"\x85", b"\x85R", b"\x93", b"Q"]) * chance.choice([1, 2, 5_000])
        case 7:
            return value(chance, 6) + b"q\x09h\x09h\x09\x87" * chance.choice([1, 30])
        case 8 if not deep:
            made = (
                chance.choice(CALLS_OF).encode() + value(chance, depth + 1) + chance.choice([b"\x85R", b"R", b"\x81"])
            )
            return made + chance.choice([b"", value(chance, depth + 1) + b"b"])
        case 9:
            return value(chance, 6) + b"q\x07(" + b"h\x07" * chance.choice([3, 20_000]) + chance.choice([b"l", b"t"])
        case 10:
            return value(chance, 6) + value(chance, 6) + b"\x93"
        case _:
            words = [*KEYS, *HOSTILE, "x" * 20_000]
            return chance.choice(
                [b"N", b"K\x04", b"]", b")", b"}", b"G" + bytes(8), text(chance.choice(words)), b"h\x09"]
            )


def tensor_opcodes(chance: random.Random, depth: int) -> bytes:
    """Return the opcodes of a tensor, of which a part may be any value."""
    kind = chance.choice(["FloatStorage", "QInt8Storage", "ComplexFloatStorage", "LongStorage"])
    stored = [text("storage"), f"ctorch\n{kind}\n".encode(), text("0"), text("cpu"), b"K\x04"]
    shape = chance.choice([b"K\x04\x85", b"K\x02K\x02\x86", b")", b"K\x00\x85"])
    if depth < 6 and chance.random() < 0.2:
        stored[chance.randrange(5)] = value(chance, depth + 1)
    parts = [b"(" + b"".join(stored) + b"tQ", b"K\x00", shape, chance.choice([shape, b"K\x01\x85"]), b"\x89", b"N"]
    if depth < 6 and chance.random() < 0.3:
        parts[chance.randrange(6)] = value(chance, depth + 1)
    made = chance.choice(CALLS_OF[:3]).encode() + b"(" + b"".join(parts) + b"tR"
    return chance.choice([made, made, CALLS_OF[3].encode() + b"(" + made + b"\x88NtR"])


CODE = [
    "torch.lstm(",
    "torch.linear(",
    "torch.embedding(",
    "torch.batch_norm(",
    "(",
    "[",
    "]",
    ")",
    ",",
    ", ",
    " = ",
    "\n",
]
CODE += [
    "CONSTANTS.c0",
    "CONSTANTS.c1",
    "CONSTANTS.c999999999999",
    "True",
    "False",
    "1",
    "9" * 5_000,
    "x",
    '"',
    "(" * 200,
]
CODE += ['class Net(Module):\n  __parameters__ = ["weight", "rnn"]\n  __buffers__ = ["scale"]\n']
"""Pieces of the code of TorchScript."""


def pickles(chance: random.Random, _: bytes) -> bytes:
    """Return an archive of PyTorch's, of any values."""
    out = io.BytesIO()
    method = chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo("a/data.pkl"), b"\x80\x02" + value(chance) + b".", method)
        archive.writestr(zipfile.ZipInfo("a/data/0"), struct.pack("<4f", 1, 2, 3, 4))
        for beside in ("a/constants.pkl", "a/archive_format", "a/x.npy") if chance.random() < 0.4 else ():
            archive.writestr(zipfile.ZipInfo(beside), b"\x80\x02" + value(chance) + b".", method)
        code = "".join(chance.choices(CODE, k=chance.choice([0, 5, 50, 5_000])))
        archive.writestr(zipfile.ZipInfo("a/code/__torch__/net.py"), code, method)
        archive.writestr(zipfile.ZipInfo("a/constants/0"), struct.pack("<4f", 1, 2, 3, 4))
    return out.getvalue()


def index(chance: random.Random, _: bytes) -> bytes:
    """Return an index of files that are not there, or not to be read."""
    places = {f"w{number}": elsewhere(chance) for number in range(chance.choice([1, 2, 3]))}
    return json.dumps({"weight_map": places}).encode()


PARTS = ["params", "batch_stats", "cell", "forward_rnn", "backward_rnn", "ii", "if", "if_", "hn", "h", "i", "GRUCell_0"]
PARTS += ["GRUCell_1", "dense_i", "dense_h", "kernel", "kernel", "bias", "bias", "scale", "embedding", "mean", "query"]
PARTS += ["out", "Wx", "bhn", "weight", "weight", "weight_scale", "zero_point", "drop_masks", "weight_u", "module"]
PARTS += ["weight_hh_l0_raw", "weight_ih_l0", "weight_hh_l0", "original0", "original1", "parametrizations", "0", ""]
"""Words of the names of tensors, of parameters and of what is none, in PyTorch, Flax and MLX."""


def header(chance: random.Random, _: bytes) -> bytes:
    """Return a safetensors file of many names, alike or long, and of metadata that names some."""
    start = chance.choice(
        [
            *("m{}.weight", "rnn.weight_ih_l{}", "h.{}.attn.c_attn.weight", "a.{}.attention.self.query.weight"),
            *("{}.in_proj_weight", "{}.self_attn.in_proj_weight", "a{}.wte.weight"),
            *("ema." * 100 + "{}", "ema" * 300 + "{}", "a/" * 400 + "{}", "layers/{}/cell/dense_h/kernel"),
        ]
    )
    many = range(chance.choice([1, 5, 500]))
    of = {
        start.format(place): {"dtype": "F32", "shape": [1], "data_offsets": [4 * place, 4 * place + 4]}
        for place in many
    }
    end = 4 * len(many)
    for name in [
        ".".join(chance.choices(PARTS, k=chance.choice([1, 2, 3, 4]))) for each in range(chance.choice([0, 9, 300]))
    ]:
        shape = [chance.choice([0, 1, 1, 2, 4, 8]) for each in range(chance.choice([0, 1, 1, 2, 2, 3, 40]))]
        dtype, size = chance.choice([("F32", 4), ("F32", 4), ("I8", 1), ("BOOL", 1), ("F8_E4M3", 1)])
        first, end = end, end + min(size * prod(shape), 10_000)
        of[chance.choice([name, name.replace(".", "/")])] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [first, end],
        }
    names = [*of, *KEYS, *HOSTILE[:3]]
    metadata = {chance.choice(names): chance.choice([*names, 3, None]) for _ in many}
    data = json.dumps({"__metadata__": chance.choice([metadata, metadata, [], "x"]), **of}).encode()
    return struct.pack("<Q", len(data)) + data + bytes(end)


KINDS = [
    "LSTM",
    "GRU",
    "MatMul",
    "Gemm",
    "Gather",
    "Identity",
    "Transpose",
    "Add",
    "Tanh",
    "BatchNormalization",
    "Conv",
]
MOVES = ["Slice", "Split", "Concat", "Unsqueeze", "Squeeze", "Reshape", "Cast", "Constant", "Mul", "ConstantOfShape"]
MOVES += ["DynamicQuantizeLSTM", "DequantizeLinear", "MatMulInteger", "FusedGemm", "FusedConv", "Relu", "Flatten"]


def branch(chance: random.Random, names: list[str], depth: int) -> list[bytes]:
    """Return operators, of which an If or a Loop may hold others in turn, and a Constant some numbers."""
    parts = []
    for kind in chance.choices([*KINDS, *MOVES], k=3):
        settings = [
            attribute(chance.choice(["perm", "axis", "axes", "to"]), field(8, chance.choice([0, 1, 9])))
            for _ in range(chance.choice([0, 1]))
        ]
        if kind == "Constant":
            settings = [
                attribute("value", field(5, tensor(chance.choice(names), chance.choice([(1,), (1, 4, 1), ()]))))
            ]
        inputs = " ".join(chance.choices([*names, "x", "y", "-"], k=chance.choice([0, 1, 2, 6])))
        parts += [node(kind, inputs, chance.choice([*names, "y"]), *settings)]
    if depth:
        inner = field(6, graph(*branch(chance, names, depth - 1), tensors=[tensor(chance.choice(names), (1, 4, 1))]))
        kind, sides = chance.choice([("If", ["then_branch", "else_branch"]), ("Loop", ["body"])])
        parts += [
            node(
                kind, "x", "y", *[attribute(side, inner) for side in sides[: chance.choice([1, 2]) if depth < 4 else 1]]
            )
        ]
    return parts


def operators(chance: random.Random, _: bytes) -> bytes:
    """Return an ONNX file whose names come again and again, and whose numbers may be in files beside."""
    times = chance.choice([1, 3, 10_000])
    names = chance.choice([["w"], ["w", "r", "b", "s"], [f"t{number}" for number in range(10)]])
    said = {"location": elsewhere(chance), "offset": "0", "length": chance.choice(["0", "4", "x"])}
    pairs = [field(13, field(1, key) + field(2, word)) for key, word in said.items() if word.isprintable()]
    far = b"".join([field(1, chance.choice([0, 1])), field(2, 1), field(8, names[-1]), *pairs, field(14, 1)])
    parts = branch(chance, names, chance.choice([0, 1, 3, 40]))
    near = [tensor(name, chance.choice([(1,), (1, 4, 1), (1, 1), (0,), ()])) for name in names]
    version = field(8, field(1, "") + field(2, 22))
    tensors = [*near * (times // len(names)), *[far] * chance.choice([0, 1, 1_000])]
    return field(1, 10) + field(7, graph(*parts * (times // 3 + 1), tensors=tensors)) + version


def arrays(chance: random.Random, data: bytes) -> bytes:
    """Return an HDF5 file of virtual arrays, arrays elsewhere, links and odd attributes; unchanged without h5py."""
    try:
        import h5py
    except ImportError:
        return data
    out = io.BytesIO()
    end = h5py.h5s.UNLIMITED
    with h5py.File(out, "w", libver="latest") as file:
        for number in range(chance.choice([1, 3, 30])):
            path = f"layers/{chance.choice(['lstm', 'dense', 'x'])}_{number}/cell/vars/0"
            kind = chance.choice(["f4", "f2", "c8", "S9", "S100000000", "V2", "O", "i8", [("a", "f4")]])
            dtype = h5py.string_dtype() if kind == "O" else kind
            match chance.randrange(6):
                case 0:
                    layout = h5py.VirtualLayout((2, 2), "f4", maxshape=(None, 2))
                    source = h5py.VirtualSource(elsewhere(chance) or ".", "d", (2, 2), maxshape=(None, 2))
                    layout[:end, :] = source[:end, :]
                    made = file.create_virtual_dataset(path, layout)
                case 1:
                    made = file.create_dataset(path, (2,), "f4", external=[(elsewhere(chance) or "x", 0, 8)])
                case 2:
                    file[path] = h5py.ExternalLink(elsewhere(chance) or "x", "/")
                    continue
                case 3:
                    many = chance.choice([1, 10**8])
                    made = file.create_dataset(path, (1,), "f4", maxshape=(None,), chunks=(many,), compression="gzip")
                case _:
                    made = file.create_dataset(path, chance.choice([(), (1,), (4, 12), (2**20, 4)]), dtype)
            word = chance.choice(["bfloat16", "float32", 3, b"x", ["a", "b"], h5py.Empty("S3"), "x" * 50_000])
            (made if chance.random() < 0.7 else made.parent).attrs[chance.choice(["dtype", "name", "layer_names"])] = (
                word
            )
    return out.getvalue()


GROWN: dict[str, Bytes] = {
    "tagger.pt": pickles,
    "tagger.safetensors": header,
    "a.onnx": operators,
    "a.safetensors.index.json": index,
    "a.weights.h5": arrays,
}
"""What writes a file of a format anew."""


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
    return {**found, "a.safetensors.index.json": index, **hdf5(folder), **others(folder)}


def others(folder: Path) -> dict[str, bytes]:
    """Return small files of the formats whose tests write them; what lies beside one is put there."""
    floats = struct.pack("<16f", *range(16))
    series = test_tesseract.several("Series", test_tesseract.INPUT, test_tesseract.lstm(), test_tesseract.SOFTMAX)
    (folder / "fuzzed-orbax").mkdir()
    for name in ("program", "tree"):
        (folder / name).mkdir()
    test_coreml.program(folder / "program")
    data = folder / "program/a.mlpackage/Data/com.apple.CoreML"
    (data / "weights").rename(folder / "weights")
    test_coreml.network(folder / "net.mlmodel")
    test_tesseract.model(folder / "a.traineddata", series)
    test_orbax.checkpoint(folder / "tree", test_orbax.SHAPES)
    test_openvino.lstm(folder)
    (folder / "a.bin").rename(folder / "fuzzed-a.bin")
    test_tfjs.written(folder, test_tfjs.WEIGHTS, one=floats[:30], two=floats[30:])
    (folder / "a.tflite").write_bytes(test_tflite.flatbuffer(test_tflite.dense()))
    test_npz.npz(folder / "a.npz", test_npz.head("<f4", "(2, 8)"), floats)
    leaves = {
        leaf: test_msgpack.array(shape, "float32", floats) for leaf, shape in (("kernel", (2, 8)), ("bias", (16,)))
    }
    (folder / "a.msgpack").write_bytes(test_msgpack.tree(params=test_msgpack.tree(cell=test_msgpack.tree(**leaves))))
    weights = {"x.weight": test_pt2.entry(2, 3), "x.bias": test_pt2.entry(2, start=4)}
    graph = test_pt2.program(test_pt2.LINEAR, test_pt2.GELU)
    test_pt2.pt2(folder / "a.pt2", weights, program=graph)
    (folder / "a.pdparams").write_bytes(paddle(floats))
    inner = state_dict(folder / "policy.pth", lstm(4, 8, "lstm_actor")).read_bytes()
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("policy.pth", inner)
    index = {"weight_map": {"/layers/lstm/cell/vars": "a.weights.h5"}}
    (folder / "b.weights.json").write_text(json.dumps(index))
    names = ("net.mlmodel", "a.traineddata", "a.xml", "model.json", "a.tflite", "a.npz", "a.msgpack", "a.pt2")
    files = {name: (folder / name).read_bytes() for name in (*names, "a.pdparams", "a.zip", "b.weights.json")}
    files["orbax/_METADATA"] = (folder / "tree/_METADATA").read_bytes()
    return files | {"program.mlmodel": (data / "model.mlmodel").read_bytes()}


def paddle(floats: bytes) -> bytes:
    """Return a pickle of NumPy's arrays under PaddlePaddle's names."""
    dtype = Called("numpy", "dtype", "f4", False, True, state=(3, "<", None, None, None, -1, -1, 0))
    kind = named("numpy", "ndarray")

    def array(*shape: int) -> Called:
        state = (1, shape, dtype, False, floats[: 4 * prod(shape)])
        return Called("numpy.core.multiarray", "_reconstruct", kind, (0,), b"b", state=state)

    return pickled({"weight_ih_l0": array(4, 2), "weight_hh_l0": array(4, 1), "bias_ih_l0": array(4)}, 4)


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


def models(folder: Path) -> Try:
    """Return what makes a call on a changed model file, or on one that is written anew."""
    files = seeds(folder)
    beside(folder)

    def draw(chance: random.Random) -> Attempt:
        name = chance.choice([*files])
        data = files[name]
        grown = name in GROWN and chance.random() < 0.5
        if grown:
            data = GROWN[name](chance, data)
        for _ in range(chance.choice([0, 0, 0, 1] if grown else [1, 1, 2, 3])):
            data = chance.choice(MUTATIONS)(chance, data)
        call = chance.choice(CALLS)
        if "/" in name:  # a folder is read, and then the file in it
            call = [str(folder / f"fuzzed-{name}") if word == SPEC else word for word in call]
            call = [word.removesuffix("/_METADATA") for word in call]
        return Attempt(data, call, name=f"fuzzed-{name}")

    return calling(draw, folder)
