"""What the tests of the hook and of the action share: repositories, and checkouts that are full of traps."""

import os
import subprocess
import sys
from pathlib import Path

GOOD = "input: 4\nlayers:\n  - rnn: 3\noutput: 1\nexpect: 28\n"
BAD = GOOD.replace("28", "29")
DASHED = ["--baseline=evil.yaml", "-h.yaml", "--help", "-f=json.yaml"]
"""Names of files that look like flags."""


def shell(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))}
    env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "PYTHONUTF8": "1", "PIP_NO_COMPILE": "1"}
    env |= environment
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", check=False)


def git(folder: Path, *args: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]
    done = shell("git", *who, *args, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def committed(folder: Path) -> str:
    """Make a repository of a folder's files, and return its commit."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "files")
    return git(folder, "rev-parse", "HEAD")


TRAPS = (
    *("venv", "pip", "ensurepip", "rnncalc", "click", "yaml", "rich", "hatchling", "site", "sitecustomize"),
    *("usercustomize", "encodings", "codecs", "os", "re", "json", "runpy", "subprocess", "typing", "fractions"),
)
"""What Python, its installer or rnncalc import; in the root of a checkout, each would be run in place of the real."""


def trapped(folder: Path) -> None:
    """Put the traps into the root of a checkout, each to tell when it is run."""
    for name in TRAPS:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'sprung')!r}, 'a').write(__name__ + ' ')\n")
