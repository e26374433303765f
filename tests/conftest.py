"""What many tests use."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import settings

from rnncalc.cli import call as call_line

settings.register_profile("untimed", deadline=None)  # how long an example takes is no test
settings.load_profile("untimed")


class Result(NamedTuple):
    """What one call printed, and how it ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Result]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in this process."""

    def call(*args: object) -> Result:
        code = call_line([str(arg) for arg in args])
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return call
