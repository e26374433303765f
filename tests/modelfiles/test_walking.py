"""What a pickle may hold in a name, a key, a shape or a storage: each is looked at before it is used."""

import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from modelfiles.made import Called, Stored, archive, parameter, pickled, tensor

from rnncalc.errors import SpecError
from rnncalc.modelfiles import read
from rnncalc.modelfiles.model import Role, Sign
from rnncalc.modelfiles.pickled import unpickled
from rnncalc.modelfiles.walking import found_in

FOUR = struct.pack("<4f", 1, 2, 3, 4)
DEEP = b")" + b"\x85" * 100_000
"""A tuple in a tuple, and so on."""
WIDE = b")" + b"q\x00h\x00h\x00\x86" * 60
"""A tuple that holds the one before twice, and so on: written out it would have 2 to the 60th pieces."""


def text(data: bytes) -> bytes:
    return b"X" + struct.pack("<I", len(data)) + data


def raw(folder: Path, data: bytes, method: int = zipfile.ZIP_STORED) -> str:
    path = folder / "a.pt"
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("archive/data.pkl", b"\x80\x02" + data)
        file.writestr("archive/data/0", FOUR)
    return str(path)


@pytest.mark.parametrize("name", [DEEP, WIDE, b"K\x01", b"N", b"]", text(b"x" * 2_000)])
def test_a_name_that_is_no_name(tmp_path: Path, name: bytes) -> None:
    """As the module, or as what is looked for in it."""
    for both in (name + text(b"x"), text(b"x") + name):
        with pytest.raises(SpecError, match="a pickle with a name that is no text, or longer than any"):
            read(raw(tmp_path, both + b"\x93)R."))


@pytest.mark.parametrize("storage", [DEEP, WIDE, b"K\x01", b"N", text(b"x"), b"}"])
def test_a_storage_that_is_none(tmp_path: Path, storage: bytes) -> None:
    """A tensor whose numbers are kept in something that has no name."""
    of = b"(" + text(b"storage") + storage + text(b"0") + text(b"cpu") + b"K\x04tQ"
    made = b"ctorch._utils\n_rebuild_tensor_v2\n(" + of + b"K\x00K\x04\x85K\x01\x85\x89NtR"
    with pytest.raises(SpecError, match="says of w nothing that a tensor can be"):
        read(raw(tmp_path, b"}" + text(b"w") + made + b"s."))


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
    with pytest.raises(SpecError, match=r"says of w nothing that a tensor can be$"):
        read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR})))


@pytest.mark.parametrize("shape", [[4], Called("torch", "Size", (4,)), Called("torch", "Size", [4])])
def test_a_shape_in_another_form(tmp_path: Path, shape: Any) -> None:
    """A list, and torch.Size."""
    storage, start, _, _, *rest = tensor("0", (4,)).args
    of = Called("torch._utils", "_rebuild_tensor_v2", storage, start, shape, shape, *rest)
    of.args = (storage, start, shape, (1,), *rest)
    assert read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR}))).params == 4


def test_a_parameter_of_a_parameter_is_no_tensor(tmp_path: Path) -> None:
    """Nothing writes one, and 100,000 of them in each other end as any other file does."""
    of = parameter(parameter(tensor("0", (4,))))
    (remark, *_) = read(str(archive(tmp_path / "a.pt", {"w": of}, {"0": FOUR}))).remarks
    assert (remark.sign, remark.names) == (Sign.NOT_READ, ("w",))
    chain = b"ctorch._utils\n_rebuild_parameter\nq\x00" + b"h\x00" * 100_000 + b")" + b"\x85R" * 100_000
    assert not read(raw(tmp_path, chain + b".")).tensors


def test_a_key_that_is_no_word_has_a_number() -> None:
    """The same in every call: it is no address of this process."""
    data = pickled({(1, 2): tensor("0", (4,)), (3, 4): tensor("1", (4,))})
    assert [*found_in(unpickled(data)).tensors] == ["#0", "#1"]


def test_a_long_key_of_many_dicts_is_cut_once(tmp_path: Path) -> None:
    """A name of a million characters over 100,000 values is cut before it is joined: 10¹¹ characters are not made."""
    key = text(b"k" * 1_000_000) + b"q\x000"
    path = raw(tmp_path, key + b"](" + b"}h\x00]s" * 100_000 + b"e.", zipfile.ZIP_DEFLATED)
    assert not read(path).tensors
    with pytest.raises(SpecError, match="a name of more than 1,000 characters"):
        read(raw(tmp_path, key + b"}h\x00" + pickled(tensor("0", (4,)))[2:-1] + b"s."))


def test_more_than_may_be_of_what_is_not_read(tmp_path: Path) -> None:
    """One sparse tensor in a list 60,000 times."""
    made = b"ctorch._utils\n_rebuild_sparse_tensor\n)Rq\x000"
    with pytest.raises(SpecError, match="more than 50,000 tensors"):
        read(raw(tmp_path, made + b"(" + b"h\x00" * 60_000 + b"l."))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("broken", [False, True])
def test_an_archive_that_is_packed_as_none_is(tmp_path: Path, method: int, broken: bool) -> None:
    """Frameworks store and deflate; what is packed otherwise is not unpacked, broken or not."""
    path = Path(raw(tmp_path, b"}" + text(b"a" * 50) + b"Ns.", method))
    data = path.read_bytes()
    path.write_bytes(data[:70] + bytes(8) + data[78:] if broken else data)
    with pytest.raises(SpecError, match=r"packs archive/data\.pkl in a way that no framework does"):
        read(str(path))


def quantised(*numbers: Called) -> Called:
    """Return an LSTM's weights as PyTorch 2.13 pickles them after quantize_dynamic: they are no tensor's arguments."""
    return Called("torch", "ScriptObject", state=(("quantized_dynamic", [*numbers]), "__torch__.torch.classes.rnn"))


def test_quantised_weights_are_said(tmp_path: Path) -> None:
    """In a state dict, and in a module whose own fields they are: not counted, and named."""
    packed = quantised(tensor("0", (4,)))
    q = Called("torch._utils", "_rebuild_qtensor", 1)
    state = {"emb.weight": tensor("0", (2, 2)), "rnn.param": packed, "fc.packed": (q, None)}
    file = read(str(archive(tmp_path / "a.pt", state, {"0": FOUR})))
    assert (Sign.QUANTISED, ("rnn.param", "fc.packed.0")) in file.remarks
    assert file.params == 4
    inner = {"_parameters": {}, "_buffers": {}, "_modules": {}, "param": packed, "other": [1]}
    whole = Called("theirs", "Model", state={"_parameters": {}, "_modules": {"rnn": Called("a", "b", state=inner)}})
    file = read(str(archive(tmp_path / "b.pt", whole, {"0": FOUR})))
    assert [(remark.sign, remark.names) for remark in file.remarks] == [(Sign.QUANTISED, ("rnn.param",))]
    assert not [tensor for tensor in file.tensors if tensor.role is Role.PARAMETER]
