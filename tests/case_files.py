"""Cases that are files: YAML, read quickly, in which a text that begins with `= ` is the arithmetic of its number."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent


def cases(path: Path | str) -> list[Any]:
    """Return the documents of a file of cases, or the elements of its one list."""
    documents = [*yaml.load_all((ROOT / "tests" / path).read_text(encoding="utf-8"), yaml.CSafeLoader)]
    return documents[0] if isinstance(documents[0], list) else documents


def worked_out(value: Any) -> Any:
    """Return what a case expects, its arithmetic done."""
    if isinstance(value, list):
        return [worked_out(each) for each in value]
    if isinstance(value, dict):
        return {key: worked_out(each) for key, each in value.items()}
    return eval(value[2:]) if isinstance(value, str) and value.startswith("= ") else value
