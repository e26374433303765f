"""What `size.py` counts, on sources whose lines are counted by hand."""

from size import Size, room_of, size

SOURCE = '''"""A docstring,
of two lines."""

from os import (
    path,
)  # three lines of an import


class A:
    """Another."""

    # a comment
    text = """a value,
    not a docstring"""
'''


def test_lines_are_told_apart() -> None:
    """Of 14 lines 3 of an import, 1 of a class and 2 of a value are code; docstrings, comments and blanks are not."""
    assert size(SOURCE) == Size(files=1, lines=14, code=6, imports=3, classes=1)


def test_a_room_is_a_folder_of_the_package() -> None:
    """Files below a room belong to it; those of the tests are all one."""
    paths = ["rnncalc/words.py", "rnncalc/cli/run.py", "rnncalc/answers/search.py", "tests/cli/test_run.py"]
    assert [room_of(path) for path in paths] == ["rnncalc", "rnncalc/cli", "rnncalc/answers", "tests"]
