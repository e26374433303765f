"""PyTorch's archives: state dicts, checkpoints, pickled modules and TorchScript, and what must not happen there."""

import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import pytest
from models.files.made import Called, Stored, archive, lstm, named, parameter, pickled, state_dict, tensor

from rnncalc.errors import SpecError
from rnncalc.models.files import read
from rnncalc.models.files.model import Remark, RemarkKind, TensorRole
from rnncalc.models.files.pickles import unpickled
from rnncalc.models.files.pytorch import PickledTensors

FOUR = struct.pack("<4f", 1, 2, 3, 4)


def text(data: bytes) -> bytes:
    return b"X" + struct.pack("<I", len(data)) + data


def of_opcodes(folder: Path, data: bytes, method: int = zipfile.ZIP_STORED) -> str:
    path = folder / "a.pt"
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("archive/data.pkl", b"\x80\x02" + data)
        file.writestr("archive/data/0", FOUR)
    return str(path)


def test_a_state_dict(tmp_path: Path) -> None:
    """Its tensors in their order, with their numbers; two names for the same numbers are counted once."""
    file = read(str(state_dict(tmp_path / "a.pt", {"b": (2, 2), "a": (1,)})))
    assert [(tensor.name, tensor.shape, tensor.dtype) for tensor in file.tensors] == [
        ("b", (2, 2), "float32"),
        ("a", (1,), "float32"),
    ]
    assert file.tensors[0].read() == [[1 / 64, 2 / 64], [3 / 64, 4 / 64]]
    assert file.ordered
    both = read(str(archive(tmp_path / "b.pt", {"a": tensor("0", (2, 2)), "b": tensor("0", (2, 2))}, {"0": FOUR})))
    assert [(tensor.params, tensor.shared_with) for tensor in both.tensors] == [(4, None), (0, "a")]


@pytest.mark.parametrize(("key", "average"), [("optimizer_state_dict", "exp_avg"), ("o", "sum")])
def test_a_checkpoint_holds_a_state_dict_among_other_things(tmp_path: Path, key: str, average: str) -> None:
    """An epoch, losses, and an optimizer under any key, whose states are as large as the weights."""
    weights = OrderedDict(w=tensor("0", (4,)))
    states = {"state": {0: {"step": tensor("1", ()), average: tensor("2", (4,))}}, "param_groups": [{"lr": 0.1}]}
    value = {"epoch": 3, "model_state_dict": weights, key: states, "losses": [0.5, 0.25]}
    file = read(str(archive(tmp_path / "a.ckpt", value, {"0": FOUR, "1": FOUR, "2": FOUR})))
    assert {tensor.name: tensor.role for tensor in file.tensors} == {
        "model_state_dict.w": TensorRole.PARAMETER,
        f"{key}.state.0.step": TensorRole.OPTIMIZER,
        f"{key}.state.0.{average}": TensorRole.OPTIMIZER,
    }
    assert file.params == 4


def test_the_noise_of_a_bayesian_layer_is_no_parameter(tmp_path: Path) -> None:
    """blitz 0.2.8 with torch 2.13.0: 3,200 numbers, each under two names, and the noise of the last sample."""
    shapes = {"weight_ih": (8, 64), "weight_hh": (16, 64), "bias": (64,)}
    value: dict[str, Any] = {}
    data: dict[str, bytes] = {}
    for name, shape in shapes.items():
        for part in ("mu", "rho", "eps_w"):
            key = f"{len(data)}"
            data[key] = bytes(4 * prod(shape))
            value |= {f"{name}_{part}": tensor(key, shape)} if part != "eps_w" else {}
            value[f"{name}_sampler.{part}"] = tensor(key, shape)
    file = read(str(archive(tmp_path / "a.pt", value, data)))
    assert file.params == 2 * (8 * 64 + 16 * 64 + 64)
    assert [each.name for each in file.tensors if not each.is_parameter] == [f"{name}_sampler.eps_w" for name in shapes]


def module(parameters: dict[str, Any], buffers: dict[str, Any], modules: dict[str, Any], **fields: Any) -> Called:
    """Return a module of a class of somebody's own, as pickle writes it."""
    state = {"_parameters": parameters, "_buffers": buffers, "_modules": modules, "training": True, **fields}
    return Called("their_code", "Model", state=state)


def test_a_pickled_module(tmp_path: Path) -> None:
    """Its parameters told from its buffers, frozen ones from trained ones; its class is never asked for."""
    inner = module({"w": parameter(tensor("0", (4,)), trained=False)}, {"scale": tensor("1", (4,))}, {})
    outer = module({"v": parameter(tensor("2", (2, 2)))}, {}, {"inner": inner}, _flat_weights=[tensor("2", (2, 2))])
    file = read(str(archive(tmp_path / "a.pt", outer, {"0": FOUR, "1": FOUR, "2": FOUR})))
    assert [(tensor.name, tensor.role, tensor.frozen) for tensor in file.tensors] == [
        ("v", TensorRole.PARAMETER, False),
        ("inner.w", TensorRole.PARAMETER, True),
        ("inner.scale", TensorRole.BUFFER, None),
    ]
    assert RemarkKind.ROLES_BY_NAME not in {remark.kind for remark in file.remarks}


def test_heads_of_a_pickled_module(tmp_path: Path) -> None:
    """Which are in its fields, or in those of a module around it; what is no number says nothing."""
    weights = {"in_proj_weight": parameter(tensor("0", (4,)))}
    for heads, settings in ((2, {"num_heads": 2}), (["2"], {})):
        inner = module(weights, {}, {}, num_heads=heads)
        outer = module({}, {}, {"self_attn": inner}, norm_first=True, activation_relu_or_gelu=2)
        (part,) = read(str(archive(tmp_path / "a.pt", outer, {"0": FOUR}))).modules
        assert (part.path, part.settings) == (
            "self_attn",
            {"norm_first": True, "activation_relu_or_gelu": 2, **settings},
        )


def test_the_classes_of_pickled_modules(tmp_path: Path) -> None:
    """PyTorch's own alone; a dropout between a matrix and its activation in a Sequential changes nothing."""
    words = ["linear.Linear", "dropout.Dropout", "activation.Tanh", "sparse.Embedding", "linear.Mine"]
    parts = dict(enumerate(words))
    inner = {}
    for number, word in parts.items():
        tensors = {} if "t.D" in word or "n.T" in word else {"weight": parameter(tensor("0", (2, 2)))}
        module_name = "their" if "Mine" in word else f"torch.nn.modules.{word.partition('.')[0]}"
        inner[str(number)] = Called(module_name, word.partition(".")[2], state={"_parameters": tensors, "_modules": {}})
    outer = Called("torch.nn.modules.container", "Sequential", state={"_parameters": {}, "_modules": inner})
    file = read(str(archive(tmp_path / "a.pt", outer, {"0": FOUR})))
    expected = [("0", "Linear", {"activation": "tanh"}), ("3", "Embedding", {}), ("4", "", {})]
    assert [(part.path, part.kind, part.settings) for part in file.modules] == expected


def test_numbers_that_lie_at_steps(tmp_path: Path) -> None:
    """A transposed matrix, and a row of it from its second number on."""
    value = {"t": tensor("0", (2, 2), strides=(1, 2)), "r": tensor("0", (2,), start=1, strides=(2,))}
    turned, row = read(str(archive(tmp_path / "a.pt", value, {"0": FOUR}))).tensors
    assert turned.read() == [[1, 3], [2, 4]]
    assert row.read() == [2, 4]


def scripted(
    path: Path, code: str, value: Any = (), constants: Any = (), files: Mapping[str, bytes] | None = None
) -> str:
    """Write an archive of TorchScript with its code, and files beside it."""
    archive(path, value, {"0": FOUR}, constants_pkl=pickled(constants))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("archive/code/__torch__/net.py", code)
        for name, data in (files or {}).items():
            file.writestr(f"archive/{name}", data)
    return str(path)


CLASS = 'class Net(Module):\n  __parameters__ = ["w", ]\n  __buffers__ = ["b", ]\n  w : Tensor\n'


def test_the_code_of_torchscript_tells_parameters_from_buffers(tmp_path: Path) -> None:
    """What it lists as neither is kept, and not trained; so is what asks for no gradient."""
    tensors = {name: tensor("0", (4,), start=0) for name in "wbx"}
    value = Called("__torch__.net", "Net", state=tensors)
    file = read(scripted(tmp_path / "a.pt", CLASS, value))
    roles = [(each.name, each.role, each.frozen) for each in file.tensors]
    assert roles == [("w", TensorRole.PARAMETER, True), ("b", TensorRole.BUFFER, None), ("x", TensorRole.BUFFER, None)]
    assert RemarkKind.ROLES_BY_NAME not in {remark.kind for remark in file.remarks}


FROZEN = """class Net(Module):
  __parameters__ = []
  __buffers__ = []
  def forward(self: __torch__.net.Net, x: Tensor) -> Tensor:
    weights = [CONSTANTS.c0, CONSTANTS.c1]
    _0 = "torch.linear(x, CONSTANTS.c3, None)"
    y, _1, _2 = torch.lstm(x, [torch.zeros([1, 1])], weights, False, 1, 0., False, False, True)
    return torch.linear(torch.linear(y, CONSTANTS.c2, None), CONSTANTS.c2, None)
"""


def test_frozen_torchscript(tmp_path: Path) -> None:
    """Constants are named by the operators that read them, in lists and calls within calls; text is none."""
    shapes = [(4, 1), (4, 1), (1, 1), (2, 2)]
    constants = tuple(tensor(str(key), shape) for key, shape in enumerate(shapes))
    data = {f"constants/{key}": FOUR for key in range(4)}
    file = read(scripted(tmp_path / "a.pt", FROZEN, {}, constants, data))
    assert [(each.name, each.shape) for each in file.tensors] == [
        *(("lstm.weight_ih_l0", (4, 1)), ("lstm.weight_hh_l0", (4, 1))),
        *(("linear.weight", (1, 1)), ("constant_3", (2, 2))),
    ]
    assert [module.kind for module in file.modules] == ["LSTM", "Linear", ""]
    assert file.remarks[0].kind is RemarkKind.SCRIPT
    assert file.tensors[0].read() == [[1.0], [2.0], [3.0], [4.0]]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("f(" * 101, "nested more than 100 levels deep"),
        ("#" * 8_000_001, "of 8,000,001 bytes; at most 8,000,000 are read"),
        ("x = torch.lstm(CONSTANTS.c0)\n", ""),
        ("x = torch.lstm(x, h, [CONSTANTS.c0], True, 9" + "9" * 400 + ", 0., False, False)\n", ""),
        ("x = torch.linear(]]))([CONSTANTS.c0\n", ""),
    ],
)
def test_code_that_is_none(tmp_path: Path, code: str, message: str) -> None:
    """It is refused if there is too much of it; else a constant that no known operator reads has its number."""
    path = scripted(tmp_path / "a.pt", code, {}, (tensor("0", (4,)),), {"constants/0": FOUR})
    if message:
        with pytest.raises(SpecError, match=message):
            read(path)
    else:
        assert read(path).params == 4


def test_classes_of_other_programs_are_named(tmp_path: Path) -> None:
    """A hundred at most; PyTorch's and Python's own are none."""
    others = [Called("theirs", f"Class{number}") for number in range(200)]
    value = {"w": tensor("0", (4,)), "others": others, "path": Called("pathlib", "PosixPath", "a")}
    (remark,) = (
        each
        for each in read(str(archive(tmp_path / "a.pt", value, {"0": FOUR}))).remarks
        if each.kind is RemarkKind.FOREIGN
    )
    assert remark.names == tuple(f"theirs.Class{number}" for number in range(100))


def test_nothing_that_a_pickle_names_is_called(tmp_path: Path) -> None:
    """Neither os.system nor eval nor an import; and Python's own unpickler would have."""
    mark = tmp_path / "called"
    calls = [
        Called(module, name, f"open({str(mark)!r}, 'w')")
        for module, name in (("builtins", "eval"), ("builtins", "exec"))
    ]
    command = Called("os", "system", f"touch {mark}")
    path = archive(tmp_path / "a.pt", {"w": tensor("0", (4,)), "x": [command, *calls]}, {"0": FOUR})
    before = {*sys.modules}
    assert [tensor.name for tensor in read(str(path)).tensors] == ["w"]
    assert not mark.exists()
    assert "their_code" not in {*sys.modules} - before
    pickle.loads(pickled(command))
    assert mark.exists()


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    """TorchScript may keep any bytes in a text, and protocol 3 writes the name of a class in UTF-8."""
    odd = b"}" + text(b"\xff") + "ctheirs\nKlasse\u00e4\n".encode() + b")Rs"
    path = of_opcodes(tmp_path, odd + text(b"w") + pickled(tensor("0", (4,)))[2:-1] + b"s.")
    assert [tensor.name for tensor in read(path).tensors] == ["w"]


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (tensor("0", (5,)), "w needs 20 bytes, and there are 16 bytes"),
        (tensor("0", (1,), start=4), "w needs 20 bytes"),
        (tensor("0", (2, 2), strides=(2**40, 1)), "is truncated"),
        (tensor("1", (1,)), "and there are none"),
        (tensor("../0", (1,)), "and there are none"),
        (tensor("0", (2**60,), strides=(0,)), "is not a tensor"),
        (tensor("0", (2,), strides=()), "is not a tensor"),
        (tensor("0", (1,), storage="QInt8Storage"), "QInt8Storage, which is not read here; save it as float32"),
        (Called("torch._utils", "_rebuild_tensor_v2"), "is not a tensor"),
        (Called("torch._utils", "_rebuild_tensor_v2", 1, 2, 3, 4), "is not a tensor"),
        (Called("numpy._core.multiarray", "_reconstruct", 1), r"such as w; save torch.from_numpy\(array\)"),
    ],
)
def test_a_tensor_that_lies(tmp_path: Path, of: Called, said: str) -> None:
    """About where its numbers are, and how many."""
    with pytest.raises(SpecError, match=said):
        read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR})))


def test_a_packed_archive_that_grows_is_refused(tmp_path: Path) -> None:
    """A thousand times as long when it is unpacked."""
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", bytes(70_000_000))
    with pytest.raises(SpecError, match="of 70,000,000 bytes; at most 64,000,000 are read"):
        read(str(path))


def test_a_policy_of_stable_baselines(tmp_path: Path) -> None:
    """It is an archive within another; the optimizer's is not read."""
    inner = state_dict(tmp_path / "policy.pth", lstm(4, 8, "lstm_actor")).read_bytes()
    with zipfile.ZipFile(tmp_path / "ppo.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in {"data": b"{}", "policy.pth": inner, "policy.optimizer.pth": inner}.items():
            file.writestr(name, data)
    one, other = read(str(tmp_path / "policy.pth")), read(str(tmp_path / "ppo.zip"))
    assert [(each.name, each.read()) for each in other.tensors] == [(each.name, each.read()) for each in one.tensors]


DEEP = b")" + b"\x85" * 100_000
"""A tuple in a tuple, and so on."""
WIDE = b")" + b"q\x00h\x00h\x00\x86" * 60
"""A tuple that holds the one before twice, and so on: written out it would have 2 to the 60th pieces."""
SPARSE = b"ctorch._utils\n_rebuild_sparse_tensor\n)Rq\x000"


def stored_in(storage: bytes) -> bytes:
    """Return a tensor whose numbers are kept in something."""
    of = b"(" + text(b"storage") + storage + text(b"0") + text(b"cpu") + b"K\x04tQ"
    return b"}" + text(b"w") + b"ctorch._utils\n_rebuild_tensor_v2\n(" + of + b"K\x00K\x04\x85K\x01\x85\x89NtRs."


BAD: dict[str, list[bytes]] = {
    "pickle": [
        *(b"", b".", b"X\xff\xff\xff\x7fa.", b"\x8d" + b"\xff" * 8 + b"a.", b"\x96" + b"\xff" * 7 + b"\x7fa."),
        *(b"\x8b\xff\xff\xff\x7f1.", b"}(K\x01u.", b"h\x05.", b"R.", b"\x87.", b"u.", b"\xff.", b"cos\nsystem"),
    ],
    "has w, which is not a tensor": [*map(stored_in, (DEEP, WIDE, b"K\x01", b"N", text(b"x"), b"}"))],
    "more than 50,000 tensors": [SPARSE + b"(" + b"h\x00" * 60_000 + b"l."],
}
"""Opcodes that are cut off, lack what they need, have lengths that are not there, or are none; a storage that has no
name; and one sparse tensor in a list 60,000 times."""
NAMES = (DEEP, WIDE, b"K\x01", b"N", b"]", text(b"x" * 2_000))
BROAD = {
    "has 1 array, none of them a plain tensor": [
        *(b"(" * 100_000 + b"l" * 100_000 + b".", b")" + b"\x85" * 100_000 + b".", b"]q\x00h\x00a."),
    ],
    "a pickle with a name that is no text, or longer than any": [
        both + b"\x93)R." for name in NAMES for both in (name + text(b"x"), text(b"x") + name)
    ],
}
"""Lists within lists to any depth, and one that holds itself; what is no name, as a module or as what is in it."""


@pytest.mark.parametrize(
    ("opcodes", "said"),
    [
        *(pytest.param(each, said, id=f"{said[:20]} {at}") for said in BAD for at, each in enumerate(BAD[said])),
        *(
            pytest.param(each, said, id=f"{said[:20]} {at}", marks=pytest.mark.broad)
            for said in BROAD
            for at, each in enumerate(BROAD[said])
        ),
    ],
)
def test_a_pickle_that_is_none(tmp_path: Path, opcodes: bytes, said: str) -> None:
    """It is refused in one line."""
    with pytest.raises(SpecError, match=said):
        read(of_opcodes(tmp_path, opcodes))


def test_a_pickle_of_many_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are taken."""
    monkeypatch.setattr("rnncalc.models.files.pickles.MOST_OPCODES", 1_000)
    with pytest.raises(SpecError, match="more than 1,000 steps"):
        read(of_opcodes(tmp_path, b"]" * 1_001 + b"."))


ODD: tuple[Any, ...] = (None, 3, 1.5, "4", b"4", {}, {0: 4}, (4.0,), ("4",), (None,), ((4,),), [[4]], (True,), (-1,))


@pytest.mark.parametrize("odd", [*ODD, Called("torch", "Size"), Called("torch", "Size", 4), Stored("a", "b", "c")])
@pytest.mark.parametrize("place", range(4))
def test_what_a_tensor_is_made_of(tmp_path: Path, odd: Any, place: int) -> None:
    """Its storage, its start, its shape and its strides: one that is of another type is refused in a line."""
    args: list[Any] = [*tensor("0", (4,)).args]
    args[place] = odd
    of = Called("torch._utils", "_rebuild_tensor_v2", *args)
    if (place, odd) == (1, 3):
        of.args = (args[0], 3, (1,), (1,))  # a start that can be
        assert read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR}))).params == 1
        return
    with pytest.raises(SpecError, match=r"has w, which is not a tensor$"):
        read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR})))


@pytest.mark.parametrize("shape", [[4], Called("torch", "Size", (4,)), Called("torch", "Size", [4])])
def test_a_shape_in_another_form(tmp_path: Path, shape: Any) -> None:
    """A list, and torch.Size."""
    storage, start, _, _, *rest = tensor("0", (4,)).args
    of = Called("torch._utils", "_rebuild_tensor_v2", storage, start, shape, shape, *rest)
    of.args = (storage, start, shape, (1,), *rest)
    assert read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR}))).params == 4


@pytest.mark.broad
def test_a_parameter_of_a_parameter_is_no_tensor(tmp_path: Path) -> None:
    """Nothing writes one, and 100,000 of them in each other end as any other file does."""
    of = parameter(parameter(tensor("0", (4,))))
    with pytest.raises(SpecError, match=r"has no plain tensors, but .* such as w; save"):
        read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR})))
    (remark, *_) = read(str(archive(tmp_path / "a.pt", {"w": of, "v": tensor("0", (4,))}, {"0": FOUR}))).remarks
    assert (remark.kind, remark.names) == (RemarkKind.NOT_READ, ("w",))
    chain = b"ctorch._utils\n_rebuild_parameter\nq\x00" + b"h\x00" * 100_000 + b")" + b"\x85R" * 100_000
    with pytest.raises(SpecError, match="has no plain tensors"):
        read(of_opcodes(tmp_path, chain + b"."))


def test_a_key_that_is_no_word_has_a_number() -> None:
    """The same in every call: it is no address of this process."""
    data = pickled({(1, 2): tensor("0", (4,)), (3, 4): tensor("1", (4,))})
    assert [*PickledTensors(unpickled(data)).tensors] == ["#0", "#1"]


def test_a_long_key_of_many_dicts_is_cut_once(tmp_path: Path) -> None:
    """A name of a million characters over 10,000 values is cut before it is joined: 10¹⁰ characters are not made."""
    key = text(b"k" * 1_000_000) + b"q\x000"
    path = of_opcodes(tmp_path, key + b"](" + b"}h\x00]s" * 10_000 + b"e.", zipfile.ZIP_DEFLATED)
    with pytest.raises(SpecError, match="has 1 array, none of them a plain tensor"):
        read(path)
    with pytest.raises(SpecError, match="a name of more than 1,000 characters"):
        read(of_opcodes(tmp_path, key + b"}h\x00" + pickled(tensor("0", (4,)))[2:-1] + b"s."))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("broken", [False, True])
def test_an_archive_that_is_packed_as_none_is(tmp_path: Path, method: int, broken: bool) -> None:
    """Frameworks store and deflate; what is packed otherwise is not unpacked, broken or not."""
    path = Path(of_opcodes(tmp_path, b"}" + text(b"a" * 50) + b"Ns.", method))
    data = path.read_bytes()
    path.write_bytes(data[:70] + bytes(8) + data[78:] if broken else data)
    with pytest.raises(SpecError, match=r"packs archive/data\.pkl in a way that no framework does"):
        read(str(path))


def test_quantised_weights_are_said(tmp_path: Path) -> None:
    """As torchao 0.18 and fp16 dynamic quantisation of PyTorch 2.13 name them: not counted, and named."""
    kind = named("torchao.quantization", "Int8Tensor")
    wrapped = (
        named("torch._utils", "_rebuild_wrapper_subclass"),
        kind,
        (kind, named("torch", "float32"), (2, 4), (4, 1)),
    )
    parts = {"qdata": tensor("0", (2, 4), storage="CharStorage"), "scale": tensor("0", (2, 1))}
    packed = Called("torch", "ScriptObject", state=(("quantized_dynamic", [tensor("0", (4,))]), "__torch__.classes"))
    state = {
        "fc.weight": Called("torch._tensor", "_rebuild_from_type_v2", *wrapped, parts),
        "fc.bias": tensor("0", (2,)),
        "out.scale": tensor("0", ()),
        "out.zero_point": tensor("0", (), storage="LongStorage"),
        "out._packed_params.0": tensor("0", (2, 2)),
    }
    file = read(str(archive(tmp_path / "a.pt", state, {"0": FOUR})))
    assert Remark(RemarkKind.QUANTISED, ("fc.weight",), (2 * 4,)) in file.remarks
    assert [tensor.name for tensor in file.tensors if tensor.is_parameter] == ["fc.bias", "out._packed_params.0"]
    inner = {"_parameters": {}, "_buffers": {}, "_modules": {}, "param": packed, "other": [1]}
    whole = Called("theirs", "Model", state={"_parameters": {}, "_modules": {"rnn": Called("a", "b", state=inner)}})
    file = read(str(archive(tmp_path / "b.pt", whole, {"0": FOUR})))
    assert [(remark.kind, remark.names) for remark in file.remarks] == [(RemarkKind.QUANTISED, ("rnn.param",))]
