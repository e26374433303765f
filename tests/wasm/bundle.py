"""Writes rnncalc and what it needs as one zip of pure Python for Pyodide: `python tests/wasm/bundle.py OUT.zip`.

The versions are the action's, so that nothing newer comes in unseen. A requirements file after OUT.zip adds its own.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

ROOT = Path(__file__).parent.parent.parent
PINNED = re.compile(r"^[\w.-]+==[\w.]+", re.MULTILINE)
KEPT = {".py", ".css", ".json", ".txt", ".typed", ""}
"""The suffixes of what is needed; native code, such as PyYAML's, would be that of this machine, and is left out."""


def bundle(out: Path, *requirements: Path) -> None:
    """Install the checkout into a folder of its own, and zip it."""
    with tempfile.TemporaryDirectory() as folder:
        pins, site = Path(folder, "pins.txt"), Path(folder, "site")
        pins.write_text("\n".join(PINNED.findall((ROOT / "action-requirements.txt").read_text(encoding="utf-8"))))
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        install += ["--target", str(site), "--constraint", str(pins)]
        subprocess.run([*install, str(ROOT), *(f"-r{path}" for path in requirements)], check=True)
        with ZipFile(out, "w", ZIP_DEFLATED) as file:
            for path in sorted(site.rglob("*")):
                if path.is_file() and path.suffix in KEPT:
                    file.write(path, path.relative_to(site))


if __name__ == "__main__":
    bundle(*map(Path, sys.argv[1:]))
