"""Skips a test when it asks for what its platform lacks: a process under Pyodide, a FIFO or bash on Windows, say."""

import importlib.util
import os
import subprocess
import sys
from types import ModuleType
from typing import Any, NoReturn

import pytest

MODULES = ("fcntl", "jsonschema", "pty", "resource", "termios")
"""Modules that some platforms lack, imported by tests at their top; part of jsonschema is native code."""

FUNCTIONS = {
    "emscripten": (
        *("os.fork", "os.link", "os.mkfifo", "os.system", "signal.alarm"),
        *("pty.openpty", "subprocess.Popen.__init__", "threading.Thread.start"),
    ),
    "win32": ("os.fork", "os.mkfifo", "signal.alarm"),
}
"""What is missing, or there and always fails."""


def skipping(what: str) -> Any:
    """Return a function that skips the test which calls it."""

    def skip(*_: object, **__: object) -> NoReturn:
        pytest.skip(f"needs {what}, which {sys.platform} lacks", allow_module_level=True)

    return skip


class Lacking(ModuleType):
    """A module that is not there: who uses a part of it is skipped."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return skipping(f"{self.__name__}.{name}")


def skip_what_is_lacking() -> None:
    """Put in its place what skips."""
    if sys.platform not in FUNCTIONS:
        return
    for name in MODULES:
        if name not in sys.modules and importlib.util.find_spec(name) is None:  # the second call finds the first
            sys.modules[name] = Lacking(name)
    for path in FUNCTIONS[sys.platform]:
        module, *owners, name = path.split(".")
        owner: Any = importlib.import_module(module)
        for each in owners:
            owner = getattr(owner, each)
        setattr(owner, name, skipping(path.removesuffix(".__init__")))
    if sys.platform == "win32":  # `bash` is the one of another system there, which may not be installed
        real = subprocess.run

        def run(command: Any, *args: Any, **named: Any) -> Any:
            program = command if isinstance(command, str | os.PathLike) else command[0]
            return (skipping("bash") if program == "bash" else real)(command, *args, **named)

        subprocess.run = run
