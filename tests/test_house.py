"""The shape of the house: who may import whom, and what a call pays for."""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from sources import MODULES, PACKAGE, source, sources

from rnncalc.cli.commands import COMMANDS

ROOMS = (
    *("layers", "conventions", "step", "network", "spec", "forward", "models", "questions", "answers"),
    *("typeset", "pictures", "reports", "programs", "formats", "cli"),
)
ROOT = {
    *("__init__", "__main__", "bounds", "display", "errors", "expressions", "files", "letters", "polynomial"),
    *("printable", "records", "words"),
}
_NETWORK = {"layers", "conventions", "step", "network"}
_NUMBERS = {*_NETWORK, "forward", "models", "questions", "answers"}
FLOW = {
    "layers": {"layers"},
    "conventions": {"layers", "conventions"},
    "step": {"layers", "conventions", "step"},
    "network": _NETWORK,
    "spec": {"layers", "conventions", "network", "models", "spec"},
    "forward": {*_NETWORK, "forward"},
    "models": {*_NETWORK, "forward", "models"},
    "questions": {*_NETWORK, "forward", "models", "questions"},
    "answers": {*_NETWORK, "forward", "questions", "answers"},
    "typeset": {*_NETWORK, "typeset"},
    "pictures": {*_NETWORK, "questions", "typeset", "pictures"},
    "reports": {*_NUMBERS, "typeset", "pictures", "reports"},
    "programs": {*_NETWORK, "programs"},
    "formats": {"typeset", "reports", "pictures", "formats"},
    "cli": {*ROOMS, "__init__"},
    **{room: set() for room in ROOT},
    "__init__": {*ROOMS},
    "__main__": {"cli"},
}
MAY_IMPORT = {room: {*may, *(ROOT - {"__init__", "__main__"})} for room, may in FLOW.items()}
FLAG = re.compile(r"(?<![\w-])(-[A-Za-z]|--[a-z]{2,})\b")
ONLY_IN = {"yaml": "spec", "rich": "formats", "click": "cli"}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    """Return the name under which a file is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str, modules: frozenset[str] = frozenset()) -> set[str]:
    """Return the modules that a source imports, wherever in it, for its types alone too."""
    found = set()
    for module, names in source(text).imports:
        found |= {f"{module}.{name}" for name in names} & modules or {module}
    return found


def graph() -> dict[str, set[str]]:
    """Return each module of the package with those of the package that it imports."""
    names = {name_of(path): path for path in MODULES}
    return {name: imports(path.read_text("utf-8"), frozenset(names)) & {*names} for name, path in names.items()}


def circle(of: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle, nothing where there is none."""
    try:
        TopologicalSorter(of).prepare()
    except CycleError as error:
        return [*error.args[1]]
    return []


def test_imports_flow_one_way() -> None:
    """spec → network → questions → reports → formats, and yaml, rich and click each in one room."""
    modules = frozenset(map(name_of, MODULES))
    for path in MODULES:
        room = room_of(path)
        for name in imports(path.read_text("utf-8"), modules):
            first, _, rest = name.partition(".")
            if first == "rnncalc":
                assert (rest.split(".")[0] or "__init__") in MAY_IMPORT[room], f"{path} must not import {name}"
            assert ONLY_IN.get(first, room) == room, f"{path} must not import {name}"


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Not even for their types."""
    assert circle(graph()) == []


def test_the_test_of_circles_can_fail() -> None:
    """An import within a function, and one for the types alone, close a circle."""
    below = imports("def f():\n    from rnncalc import spec", frozenset({"rnncalc.spec"}))
    above = imports("if TYPE_CHECKING:\n    from rnncalc.errors import Path", frozenset({"rnncalc.spec"}))
    assert circle({"rnncalc.errors": below, "rnncalc.spec": set()}) == []
    assert {*circle({"rnncalc.errors": below, "rnncalc.spec": above})} == {"rnncalc.errors", "rnncalc.spec"}


def test_a_class_name_stands_for_one_thing() -> None:
    """In the whole package."""
    times = Counter(name for parts in sources().values() for name in parts.classes)
    assert [name for name, number in times.items() if number > 1] == []


def test_there_are_no_other_rooms() -> None:
    """Nothing is at the root but what every room needs."""
    assert {room_of(path) for path in MODULES} == {*ROOMS, *ROOT}


def test_a_module_says_what_it_is_for() -> None:
    """Every file has a docstring."""
    assert [path for path, parts in sources().items() if not parts.docstring] == []


@cache
def loaded_by(*args: str) -> set[str]:
    """Return the modules that a call has loaded when it ends."""
    code = "import sys; from rnncalc.cli import call; call(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return {*done.stderr.split()}


def commands_loaded_by(*args: str) -> set[str]:
    loaded = loaded_by(*args)
    return {name for name in COMMANDS if f"rnncalc.cli.{name}" in loaded}


ASIDE = {"rnncalc.cli.help", "rnncalc.cli.suggestions", "rnncalc.spec.aliases", "click.shell_completion"}
"""What only help, completion and mistakes need."""

FLAGS = ("-i", "4", "-l", "rnn:3", "-o", "1")


@pytest.mark.broad
def test_no_call_pays_for_training_that_does_not_ask_for_it() -> None:
    """Nor for what an update is where a spec says none; one that asks loads both."""
    of_training = {"rnncalc.questions.training", "rnncalc.reports.training", "rnncalc.network.training"}
    for call in (("specs/lstm.yaml",), FLAGS, ("explain", *FLAGS), ("check", "specs/lstm.yaml")):
        assert not of_training & loaded_by(*call)
    assert of_training <= loaded_by(*FLAGS, "--training")


def test_an_answer_pays_for_little_of_the_package() -> None:
    """A correct one not for the search for mistakes; a wrong one not for training, unless the steps are known.

    84 leaves out the biases; 90 has two mistakes, for which each size is tried too.
    """
    correct, wrong, twice = (loaded_by("answer", "-i", "4", "-l", "lstm:3", number) for number in ("96", "84", "90"))
    assert not {"rnncalc.answers.search", "rnncalc.polynomial"} & correct
    aside = ("forward", "cli.exercise", "answers.exercise", "questions.training", "answers.gradebook")
    assert not {name for name in wrong if name.startswith(tuple(f"rnncalc.{each}" for each in aside))}
    numbers = [sum(name.startswith("rnncalc") for name in loaded) for loaded in (correct, wrong, twice)]
    assert all(number <= most for number, most in zip(numbers, (56, 74, 76), strict=True)), numbers
    assert "rnncalc.questions.training" in loaded_by("answer", "-i", "4", "-l", "lstm:3", "-T", "5", "90")


def test_flags_and_json_pay_for_neither_yaml_nor_rich() -> None:
    """What a call does not use it does not import. Colours are for terminals; the width of a text is rich's too."""
    assert not {"yaml", "rich", *ASIDE} & loaded_by(*FLAGS, "-f", "json")
    assert not {"rich.console", "rich.text", "shutil", "fractions"} & loaded_by("specs/lstm.yaml")


def test_a_count_of_parameters_traces_no_step() -> None:
    """What a layer computes is asked for by other questions alone."""
    assert not {name for name in loaded_by("specs/lstm.yaml") if name.startswith("rnncalc.step")}


def test_only_letters_pay_for_polynomials() -> None:
    """Numbers do without."""
    for call in (FLAGS, ("specs/lstm.yaml", "--cost"), ("explain", *FLAGS)):
        assert "rnncalc.polynomial" not in loaded_by(*call)
    assert "rnncalc.polynomial" in loaded_by("-i", "m", "-l", "rnn:3")


def test_the_test_of_the_light_import_can_fail() -> None:
    """The same look at a call that does use them finds them."""
    assert "rich" in loaded_by(*FLAGS)
    assert "yaml" in loaded_by("specs/lstm.yaml", "-f", "json")
    assert {"rnncalc.spec.aliases", "rnncalc.cli.help"} <= loaded_by("-f", "md") | loaded_by("help")


def test_a_model_file_pays_for_its_own_format_alone() -> None:
    """Neither yaml nor rich nor NumPy; a file of names and numbers needs no archive, an archive no JSON."""
    heavy = {"yaml", "rich", "numpy", "h5py"}
    tensors, archive = (loaded_by("read", f"specs/models/tagger.{suffix}") for suffix in ("safetensors", "pt"))
    assert not (heavy | {"zipfile", "rnncalc.models.files.pytorch", "rnncalc.models.files.onnx"}) & tensors
    assert not (heavy | {"rnncalc.models.files.onnx", "rnncalc.models.files.keras"}) & archive
    assert "zipfile" in archive
    for call in (FLAGS, ("specs/lstm.yaml",)):
        assert not any(name.startswith("rnncalc.models.files") for name in loaded_by(*call))


def test_a_command_pays_for_no_other() -> None:
    """A call imports its own command alone, and the list of them imports none."""
    assert commands_loaded_by(*FLAGS) == {"count"}
    assert commands_loaded_by("--help") == set()
    assert commands_loaded_by("cuont") == {"count"}


def test_the_test_of_other_commands_can_fail() -> None:
    """The same look finds another command, and one that a command brings with it."""
    assert commands_loaded_by("explain", *FLAGS) == {"explain"}
    code = "import sys, rnncalc.cli.solve; from rnncalc.cli import call; call(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert "rnncalc.cli.solve" in done.stdout.split()


def flags_said(text: str) -> list[str]:
    """Return the texts of a source that name a flag, docstrings left out."""
    return [string for string in source(text).strings if FLAG.search(string)]


def test_no_room_below_the_reports_names_a_flag() -> None:
    """Python's callers have none: a cure is named, and the command line says it with its flags."""
    below = {"layers", "conventions", "step", "network", "forward", "questions"}
    assert {path.name: flags_said(path.read_text("utf-8")) for path in MODULES if room_of(path) in below} == {
        path.name: [] for path in MODULES if room_of(path) in below
    }


def test_the_test_of_flags_can_fail() -> None:
    """Of a text that names one, wherever it is in it; not of a docstring."""
    assert flags_said('"""--no flag"""\nraise ValueError(f"{x}; take --this")\n') == ["; take --this"]
    assert flags_said('x = "give -T"\ny = "a - b, x-y, −1"\n') == ["give -T"]
