"""What comments, docstrings and documents name is there: files, and things in modules of the package."""

import re
from pathlib import Path

import pytest
from documents import DOCUMENTS, ROOT, prose
from sources import source

WRITTEN = {folder: sorted((ROOT / folder).rglob("*.py")) for folder in ("rnncalc", "tests", "docs")}
TREE = {f"/{path.relative_to(ROOT).as_posix()}" for paths in WRITTEN.values() for path in paths}
FILE = re.compile(r"(?<![\w./:-])\w[\w./-]*\.py\b(?!, line)")
"""A file by its name or the end of its path; not one in a message, `(own.py, line 7)`, nor part of an address."""
ELSEWHERE = {"torch/_utils.py": "PyTorch", "torch/_export/serde/schema.py": "PyTorch", "server.py": "PrairieLearn"}
ELSEWHERE |= {"flax/serialization.py": "Flax", "RNN_mnist.py": "lowrank-gru", "hparams.py": "Tacotron 2"}
"""Files of other programs."""
DOTTED = re.compile(r"`((?:\w+\.)+(?!py`)\w+)`")


def written(text: str) -> list[str]:
    """Return the comments of a source, and the strings that are statements."""
    parts = source(text)
    return [*parts.statements, *parts.comments]


def absent(text: str) -> list[str]:
    """Return the files, and the names in modules of the package, that a text names and that are not there."""
    files = [name for name in FILE.findall(text) if name not in ELSEWHERE]
    found = [name for name in files if not any(path.endswith(f"/{name}") for path in TREE)]
    for name in DOTTED.findall(text):
        module, _, last = name.removeprefix("rnncalc.").rpartition(".")
        path = ROOT / "rnncalc" / f"{module.replace('.', '/')}.py"
        if path.is_file() and not re.search(rf"^(class |def |){last}\b", path.read_text("utf-8"), re.MULTILINE):
            found.append(name)
    return found


@pytest.mark.parametrize("paths", [*WRITTEN.values(), DOCUMENTS], ids=[*WRITTEN, "documents"])
def test_what_a_text_names_is_there(paths: list[Path]) -> None:
    """In the package, the tests and the documents."""
    found = []
    for path in paths:
        text = path.read_text("utf-8")
        texts = written(text) if path.suffix == ".py" else [prose(text)]
        found += [(path.name, name) for each in texts for name in absent(each)]
    assert found == []


def test_the_test_can_fail() -> None:
    """A file that was moved, in a comment or a docstring, and a name that a module lacks."""
    assert absent("see `absent.py` and layers/nowhere.py, not layers/cell.py or cell.py") == [
        "absent.py",
        "layers/nowhere.py",
    ]
    assert absent("`layers.cell.Operations` and `layers.cell.Operation_`") == ["layers.cell.Operation_"]
    assert [*written('"""a"""\nx = "b"  # c')] == ["a", "# c"]
