"""Files that are no specs: each `bad_specs/NAME.yaml` is refused with the lines of `NAME.expect`, place and all."""

import re
from pathlib import Path

import pytest
from conftest import Call, file_at, peak_of
from cures import mended, places_apart
from lists import listed

BAD_SPECS = sorted((Path(__file__).parent / "bad_specs").glob("*.yaml"))


@pytest.mark.broad
@pytest.mark.parametrize("path", BAD_SPECS, ids=lambda path: path.stem)
def test_a_bad_spec_is_refused_with_every_problem_and_its_place(path: Path, call: Call) -> None:
    """Exit 2, nothing on standard output, and on standard error exactly the expected lines."""
    expected = listed(path.with_suffix(".expect").read_text(encoding="utf-8")).splitlines()
    assert call(path) == (2, "", "".join(f"{path}:{line}\n" for line in expected))


@pytest.mark.broad
@pytest.mark.parametrize("path", BAD_SPECS, ids=lambda path: path.stem)
def test_a_cure_that_is_followed_in_a_bad_spec_is_accepted(path: Path, call: Call, tmp_path: Path) -> None:
    """The line is not refused again, whatever else is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    said = call(path).err
    for line in said.splitlines():
        for spec in mended(text, line):
            left = [places_apart(each) for each in call(file_at(tmp_path / path.name, spec)).err.splitlines()]
            earlier = [places_apart(each) for each in said.splitlines()]
            assert left.count(places_apart(line)) < earlier.count(places_apart(line)), line
            assert len({*left} - {*earlier}) <= 1, line  # what was behind it


@pytest.mark.broad
@pytest.mark.parametrize("name", ["alias-bomb", "deep", "deep-blocks", "long-number", "latin-1"])
def test_hostile_files_are_refused_at_little_cost(name: str) -> None:
    """Deep nesting, alias bombs, endless digits and stray bytes cost well under a second and 200 MB."""
    # a generous bound against the unbounded, no measure of speed
    code, kilobytes = peak_of(Path(__file__).parent / "bad_specs" / f"{name}.yaml", seconds=10)
    assert (code, kilobytes < 200_000) == (2, True)


def test_brackets_that_the_parser_itself_refuses_are_refused_in_the_same_words(tmp_path: Path, call: Call) -> None:
    """libyaml 0.2.6 stops at 1,000 levels, at the bracket that is one too many; the others leave it to the reader."""
    path = file_at(tmp_path / "deeper.yaml", "input: " + "[" * 50_000)
    code, kilobytes = peak_of(path, seconds=10)
    assert (code, kilobytes < 200_000) == (2, True)
    said = call(path).err
    assert re.fullmatch(rf"{path}:1:(39|1007): (not valid YAML: )?nested deeper than 32 levels; no spec is\n", said)


def test_a_file_over_ten_megabytes_is_refused_by_its_size(tmp_path: Path, call: Call) -> None:
    """No parser sees it."""
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * 10_000_001)
    assert call(path) == (2, "", f"{path}: a spec has at most 10,000,000 bytes, this has more\n")


def test_problems_are_told_up_to_a_hundred(tmp_path: Path, call: Call) -> None:
    """A file of endless mistakes is read no further; one of just a hundred says nothing of more."""
    path = file_at(tmp_path / "wrong.yaml", "input: 3\nlayers:\n" + "".join(f"  - lstm: x{n}\n" for n in range(234)))
    *most, last = call(path).err.splitlines()
    assert len(most) == 100
    assert last == "and more problems than these 100"
    path.write_text("input: 3\nlayers:\n" + "".join(f"  - lstm: x{n}\n" for n in range(100)))
    assert "more" not in call(path).err
    assert len(call(path).err.splitlines()) == 100
