"""Cases that are files: YAML, read quickly, in which a text that begins with `= ` is the arithmetic of its number.

Functions of `math` may be in it, and `s`, the sigmoid.
"""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # not everywhere is PyYAML made with libyaml
DUMPER: type[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def cases(path: Path | str) -> list[Any]:
    """Return the documents of a file of cases, or the elements of its one list."""
    documents = [*yaml.load_all((ROOT / "tests" / path).read_text(encoding="utf-8"), LOADER)]
    return documents[0] if isinstance(documents[0], list) else documents


def worked_out(value: Any) -> Any:
    """Return what a case expects, its arithmetic done."""
    if isinstance(value, list):
        return [worked_out(each) for each in value]
    if isinstance(value, dict):
        return {key: worked_out(each) for key, each in value.items()}
    if isinstance(value, str) and value.startswith("= "):
        return close(eval(value[2:], {**vars(math), "s": lambda x: 1 / (1 + math.exp(-x))}))
    return value


def close(value: Any) -> Any:
    """Return numbers whose fractions need be no more equal than two ways to compute them make them."""
    if isinstance(value, list):
        return [close(each) for each in value]
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
