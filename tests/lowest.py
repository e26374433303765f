"""Prints, as pip's constraints, the lowest versions that pyproject.toml allows: `python tests/lowest.py > lowest.txt`.

Of what the package needs to be built and to run, that is; the tools of the tests may be of any version.
"""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest() -> list[str]:
    """Return a constraint for each need; a need without a lower bound would be tested at no version of its own."""
    read = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    needs = dict.fromkeys([*read["build-system"]["requires"], *read["project"]["dependencies"]])
    without = [need for need in needs if ">=" not in need]
    if without:
        raise SystemExit(f"without a lowest version: {', '.join(without)}")
    return [need.replace(">=", "==") for need in needs]


if __name__ == "__main__":
    print(*lowest(), sep="\n")
