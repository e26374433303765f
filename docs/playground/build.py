"""Builds the playground into a folder that a plain web server can serve: `python docs/playground/build.py OUT`.

It needs npm, for Pyodide of the version that the tests pin, and pip, for rnncalc's own wheel and what it needs.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copy

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
WASM = ROOT / "tests" / "wasm"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
FETCHED = (*(f"pyodide/{name}" for name in PYODIDE[2:]), "rnncalc.zip", "session.py")
"""What the worker fetches at once; the bar on the page needs their sizes."""
PAGE = ("index.html", "*.css", "*.mjs", "session.py")


def build(out: Path) -> None:
    """Write the page, Pyodide, rnncalc and the examples."""
    (out / "pyodide").mkdir(parents=True, exist_ok=True)
    for pattern in PAGE:
        for path in HERE.glob(pattern):
            copy(path, out)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            copy(WASM / name, folder)
        subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=folder, check=True)
        for name in PYODIDE:
            copy(Path(folder, "node_modules", "pyodide", name), out / "pyodide")
    subprocess.run([sys.executable, WASM / "bundle.py", out / "rnncalc.zip"], check=True)
    subprocess.run(["node", HERE / "compile.mjs", out], check=True)
    sizes = {name: (out / name).stat().st_size for name in FETCHED}
    (out / "sizes.mjs").write_text(f"export default {json.dumps(sizes)};\n", encoding="utf-8")
    (out / "examples.json").write_text(json.dumps(examples(), indent=1), encoding="utf-8")


def examples() -> list[dict[str, str]]:
    """Return the worked examples, each with its name and its spec."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "specs").glob("*.yaml"))]
    named = [{"name": str(yaml.safe_load(text)["name"]), "text": text} for text in texts]
    return sorted(named, key=lambda each: each["name"].casefold())


if __name__ == "__main__":
    build(Path(sys.argv[1]))
