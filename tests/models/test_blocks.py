"""Blocks of a PyTorch file: the modules of one layer, the names that libraries give them, and their numbers."""

from pathlib import Path

import pytest
from conftest import Call
from models.files.made import counting, safetensors
from models.made import Shapes, file, tensor

from rnncalc.layers.attention import Transformer
from rnncalc.layers.layer import Embedding
from rnncalc.models.files import read
from rnncalc.models.files.model import ModelFile, modules_of
from rnncalc.models.sites import sites_of

BERT = (
    *("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
    *("attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"),
)
"""The modules of a block: queries, keys, values, output, norm, up, down, norm; as in transformers 5.24."""


def block(path: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a block of width 4 with 6 units."""
    rows = [(4, 4)] * 4 + [(4,), (6, 4), (4, 6), (4,)]
    pairs = [(f"{path}.{name}", shape) for name, shape in zip(BERT, rows, strict=True)]
    return {
        f"{name}.{end}": shape[: 2 if end == "weight" else 1] for name, shape in pairs for end in ("weight", "bias")
    }


def of_names(shapes: Shapes, **shared: str) -> ModelFile:
    """Return a file of tensors with these names; shared: those that are other tensors, by the last part of the name."""
    tensors = [tensor(name, shape, shared_with=shared.get(name.replace(".", "_"))) for name, shape in shapes.items()]
    return file("pytorch", *modules_of(tuple(tensors)))


def test_blocks_of_a_list() -> None:
    """Each is one layer, numbered in its list; what is beside them stays."""
    shapes = block("encoder.0") | block("encoder.2") | {"fc.weight": (3, 4), "fc.bias": (3,)}
    one, two, last = sites_of(of_names(shapes))
    assert [(site.path, site.number, site.inputs) for site in (one, two)] == [("encoder", 0, 4), ("encoder", 1, 4)]
    assert one.layer == two.layer == Transformer(1, feed_forward=6)
    assert last.path == "fc"


@pytest.mark.parametrize(
    "more", [{"a.0.crossattention.self.query.weight": (4, 4)}, {"a.0.attention.self.distance_embedding.weight": (9, 2)}]
)
def test_a_block_of_more_parts_is_none(more: dict[str, tuple[int, ...]]) -> None:
    """As that of a decoder, which reads an encoder too."""
    assert len(sites_of(of_names(block("a.0") | more))) == 9


def test_a_block_that_shares_a_matrix_is_none() -> None:
    """Queries that are the keys are counted once."""
    shapes = block("a.0")
    shared = of_names(shapes, a_0_attention_self_key_weight="a.0.attention.self.query.weight")
    assert len(sites_of(shared)) == 8


def test_a_table_with_positions() -> None:
    """Which have the table's width; one of another width is a matrix by itself."""
    (table,) = sites_of(of_names({"gpt.wte.weight": (20, 4), "gpt.wpe.weight": (9, 4)}))
    assert (table.path, table.layer, table.inputs) == ("gpt.wte", Embedding(4, positions=9), 20)
    assert len(sites_of(of_names({"gpt.wte.weight": (20, 4), "gpt.wpe.weight": (9, 5)}))) == 2


def test_numbers_of_joined_matrices(tmp_path: Path) -> None:
    """Queries over keys over values; and a GPT-2's, which are input by output, turned."""
    path = safetensors(tmp_path / "a.safetensors", block("a.0"))
    (site,) = sites_of(read(str(path)))
    numbers = counting((4, 4))
    rows = [numbers[start : start + 4] for start in range(0, 16, 4)]
    assert site.tensors["self_attn.in_proj_weight"].read() == rows * 3
    assert site.tensors["self_attn.in_proj_bias"].read() == counting((4,)) * 3
    wide = {"attn.c_attn": (2, 6), "attn.c_proj": (2, 2), "mlp.c_fc": (2, 3), "mlp.c_proj": (3, 2)}
    wide |= {"ln_1": (2, 2), "ln_2": (2, 2)}
    shapes = {f"h.0.{name}.weight": shape[: 1 if "ln" in name else 2] for name, shape in wide.items()}
    shapes |= {f"h.0.{name}.bias": shape[1:] for name, shape in wide.items()}
    (site,) = sites_of(read(str(safetensors(tmp_path / "b.safetensors", shapes))))
    assert site.tensors["linear1.weight"].shape == (3, 2)
    assert site.tensors["linear1.weight"].read() == [[1 / 64, 4 / 64], [2 / 64, 5 / 64], [3 / 64, 6 / 64]]


def test_paths_of_blocks(tmp_path: Path, call: Call) -> None:
    """That of the list for all of them, or of each; and a block by the names of its tensors."""
    path = safetensors(tmp_path / "a.safetensors", block("enc.layer.0") | block("enc.layer.1"))
    spec = tmp_path / "a.yaml"
    one = "{{transformer: 2, feed_forward: 6, path: enc.layer.{}}}"
    tensors = ", ".join(f"{name}: {[*shape]}" for name, shape in block("x").items()).replace("x.", "")
    for layers in (
        "{transformer: 2, feed_forward: 6, path: enc.layer, repeat: 2}",
        "{transformer: 2, feed_forward: 6, repeat: 2}",
        f"{one.format(0)}, {one.format(1)}",
        f"{{external: {{{tensors}}}, path: enc.layer, repeat: 2}}",
        f"{{external: {{{tensors}}}, path: enc.layer.1}}, {one.format(0)}",
    ):
        spec.write_text(f"convention: pytorch\ninput: 4\nlayers: [{layers}]\n")
        assert call("check", spec, "--model", path).code == 0
