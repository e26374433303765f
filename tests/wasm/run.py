"""Runs every command, and the tests that can, under Pyodide: CPython 3.14 on WebAssembly, by Node.

`python tests/wasm/run.py [ARGUMENTS of pytest]`; it needs Node and npm.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copy

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STACK = 400
"""Megabytes of stack for Node: Python frees deeply nested lists on it, which its own 1 MB is too small for."""


def main(args: list[str]) -> int:
    """Return the exit code of what ran."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            copy(HERE / name, folder)
        subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=folder, check=True)
        zipped = Path(folder, "site.zip")
        subprocess.run([sys.executable, HERE / "bundle.py", zipped, HERE / "requirements.txt"], check=True)
        resource.setrlimit(resource.RLIMIT_STACK, (2 * STACK * 2**20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        command = ["node", f"--stack-size={STACK * 2**10}", str(HERE / "run.mjs")]
        command += [f"{folder}/node_modules/pyodide/pyodide.mjs", str(zipped), str(ROOT), *args]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
