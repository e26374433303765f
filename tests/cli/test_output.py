"""What a call writes to a file: whole or not at all, and never over what must stay."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Call, file_at, refusal
from examples import examples, formats

from rnncalc.cli.commands import COMMANDS
from rnncalc.formats import FORMATS

SPEC = "input: 2\nsteps: 2\nlayers: [rnn: 1]\n"
WEIGHTS = "rnn_1: {W_xh: [[1, 2]], W_hh: [[3]], b_h: [4]}\n"
WRITING = {
    "run": (["run", "--save-weights"], ".yaml", "--save-weights"),
    "draw": (["draw", "--out"], ".svg", "--out"),
    "export": (["export", "--to", "keras", "--out"], ".py", "--out"),
}
"""What writes a file: the call, its suffix, and the flag that messages name."""

needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@needs_fifos
@pytest.mark.parametrize("command", WRITING)
def test_only_a_regular_file_is_written_over(command: str, call: Call, tmp_path: Path) -> None:
    """A named pipe, a device and links in a circle stay what they are."""
    words, suffix, flag = WRITING[command]
    pipe, device, loop = (tmp_path / f"{name}{suffix}" for name in ("pipe", "device", "loop"))
    os.mkfifo(pipe)
    device.symlink_to("/dev/null")
    loop.symlink_to(loop)
    irregular = "is not a regular file; name another file"
    for path, why in {pipe: irregular, device: irregular, loop: "cannot be written: too many levels"}.items():
        result = call(*words, path, "-i", 2, "-l", "rnn:1", "-T", 2)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert result.err.startswith(f"rnncalc: {flag} '{path}': {why}")
    assert pipe.is_fifo()
    assert Path("/dev/null").is_char_device()
    assert loop.is_symlink()


@pytest.mark.parametrize("command", WRITING)
def test_a_spec_is_not_written_over_by_its_own_call(command: str, call: Call, tmp_path: Path) -> None:
    """Under none of its names, in a folder or by itself; a file of another call may be."""
    words, suffix, flag = WRITING[command]
    spec = tmp_path / "folder" / "spec.yaml"
    spec.parent.mkdir()
    spec.write_text(SPEC)
    linked, hard = tmp_path / f"linked{suffix}", tmp_path / f"hard{suffix}"
    linked.symlink_to(spec)
    os.link(spec, hard)
    for path in (linked, hard):
        for spec_path in (spec, spec.parent, path):
            result = call(*words, path, spec_path)
            refused = f"{flag} '{path}': is read by this call; name another file\n"
            assert (result.code, result.out) == (2, "")
            assert result.err in (refused, f"rnncalc: {refused}")
            assert spec.read_text() == SPEC
    assert call(*words, linked, "-i", 2, "-l", "rnn:1", "-T", 2).code == 0
    assert spec.read_text() != SPEC
    assert linked.is_symlink()


@pytest.mark.parametrize(("flag", "text"), [("--weights", WEIGHTS), ("--inputs", "[[1, 2]]"), ("--start", "{}")])
def test_numbers_of_a_run_are_not_written_over(flag: str, text: str, call: Call, tmp_path: Path) -> None:
    """What `--save-weights` names is read by the same call."""
    path = file_at(tmp_path / "numbers.yaml", text)
    err = refusal(call, "run", "-i", 2, "-l", "rnn:1", flag, path, "--save-weights", path)
    assert err == f"rnncalc: --save-weights '{path}': is read by this call; name another file\n"
    assert path.read_text() == text


def test_a_model_file_is_not_written_over(call: Call, tmp_path: Path) -> None:
    """Its weights would be replaced by those of one network, as YAML."""
    model = tmp_path / "lstm-12.safetensors"
    shutil.copy("specs/models/lstm-12.safetensors", model)
    spec = file_at(tmp_path / "spec.yaml", call("read", model).out)
    args = ("run", spec, "-T", 1, "--weights", model, "--save-weights")
    assert "is read by this call" in refusal(call, *args, model)
    assert model.read_bytes() == Path("specs/models/lstm-12.safetensors").read_bytes()
    assert call(*args, tmp_path / "weights.yaml").code == 0


def test_what_standard_input_reads_is_not_written_over(tmp_path: Path) -> None:
    """`- < spec.yaml` reads it too."""
    spec = file_at(tmp_path / "spec.yaml", SPEC)
    command = [sys.executable, "-m", "rnncalc", "run", "-", "--save-weights", str(spec)]
    with spec.open() as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is read by this call" in done.stderr
    assert spec.read_text() == SPEC


def test_a_later_call_may_write_what_an_earlier_one_read(call: Call, tmp_path: Path) -> None:
    """In one process too, as in a notebook."""
    path = tmp_path / "weights.yaml"
    args = ("run", "-i", 2, "-l", "rnn:1", "-T", 1)
    for flags in (("--save-weights", path), ("--weights", path), ("--save-weights", path)):
        assert call(*args, *flags).code == 0


def test_what_another_write_left_behind_is_in_no_ones_way(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of any name that a killed process of the same number may have had."""
    (tmp_path / f".rnncalc-{os.getpid()}.tmp").write_text("half")
    assert call("run", "-i", 2, "-l", "rnn:1", "-T", 1, "--save-weights", tmp_path / "a.yaml").code == 0
    monkeypatch.setattr(os, "fsync", lambda _: os._exit(9))
    for _ in range(2):
        if not (child := os.fork()):
            call("run", "-i", 2, "-l", "rnn:1", "-T", 1, "--save-weights", tmp_path / "b.yaml")
        os.waitpid(child, 0)
    monkeypatch.undo()
    assert call("run", "-i", 2, "-l", "rnn:1", "-T", 1, "--save-weights", tmp_path / "b.yaml").code == 0


@pytest.mark.broad
@needs_fifos
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_write_that_is_ended_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    """And the process ends as it would have."""
    code = (
        "import os, signal, sys, time\n"
        "from rnncalc.cli import main\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # tests that run under nohup inherit that it is ignored
        "os.fsync = lambda _: (print('writing', flush=True), time.sleep(60))\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "run", "-i", "2", "-l", "rnn:1", "-T", "1"]
    command += ["--save-weights", str(tmp_path / "w.yaml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        assert process.stdout.readline() == b"writing\n"
        assert len([*tmp_path.iterdir()]) == 1
        process.send_signal(number)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.broad
@pytest.mark.parametrize("name", [name for name in COMMANDS if formats(name)])
def test_a_file_holds_what_would_be_printed(name: str, call: Call, tmp_path: Path) -> None:
    """In the format of its suffix, or, of several, the one that -f says; and nothing is printed."""
    bare = [words[: words.index("-f")] if "-f" in words else words for words in examples(name) if "--out" not in words]
    offered = {word: FORMATS[word].suffix for word in formats(name)}
    for form, suffix in offered.items():
        path = tmp_path / f"answer{suffix.upper()}"
        calls = ((words, call(*words, "-f", form)) for words in bare)
        shown = next((pair for pair in calls if pair[1].code != 2), None)
        if shown is None:  # the curves of --vary alone are svg, and no example has one
            continue
        words, printed = [*shown[0], "--out", path], shown[1]
        alone = [*offered.values()].count(suffix) == 1 or form == next(iter(offered))
        assert call(*words, *([] if alone else ["-f", form]))[:2] == (printed.code, "")
        assert path.read_text("utf-8") == printed.out
        assert [*tmp_path.iterdir()] == [path]
        path.unlink()


def test_a_suffix_of_several_formats_needs_the_format(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless one of them is the format by default."""
    monkeypatch.setitem(FORMATS, "csv", FORMATS["csv"]._replace(suffix=".json"))
    path = tmp_path / "a.json"
    refused = call("specs/lstm.yaml", "--out", path)
    assert refused.err == f"rnncalc: --out '{path}': the suffix may mean json or csv; say which with -f\n"
    assert call("specs/lstm.yaml", "--out", path, "-f", "csv").code == 0
    assert path.read_text() == call("specs/lstm.yaml", "-f", "csv").out


def test_what_fails_is_told_beside_a_file(call: Call, tmp_path: Path) -> None:
    """People see the verdict of `check` wherever its report goes."""
    path = tmp_path / "a.txt"
    done = call("check", "specs/lstm.yaml", "--max-params", 1, "--out", path)
    assert (done.code, done.out) == (1, "")
    assert "1,600" in done.err
