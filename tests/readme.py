"""Reads the README's console blocks, and writes the real output under their commands: `python tests/readme.py`."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)


def output_of(command: str) -> str:
    """Return what a command prints into a pipe, standard error after standard output."""
    words = shlex.split(command)
    if words[0] == "rnncalc":
        words[:1] = [sys.executable, "-m", "rnncalc"]
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}  # a pipe has no width
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.stdout + done.stderr


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    text = BLOCK.sub(lambda block: f"```console\n$ {block['command']}\n{output_of(block['command'])}```", text)
    README.write_text(text, encoding="utf-8")
