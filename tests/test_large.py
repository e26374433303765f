"""Files under 1 MB that are legal, or wrong, at great length: no call may take long or much memory over them."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Call

TEXTS = {
    "all different": "input: 512\nlayers:\n" + "".join(f"- lstm: {n + 1}\n" for n in range(60_000)),
    "all named": "input: 512\nlayers:\n" + "".join(f"- {{rnn: 3, name: n{n}}}\n" for n in range(38_000)),
    "repeated": "input: 5\nlayers: [{lstm: 5, repeat: 100000, bidirectional: true, peepholes: true}]\n",
    "all wrong": "input: 512\nlayers:\n" + "".join(f"- lstm: x{n}\n" for n in range(60_000)),
    "all unknown": "input: 512\n" + "".join(f"k{n}: 3\n" for n in range(90_000)),
    "expects": f"input: 5\nlayers: [{{rnn: 5, repeat: 100000}}]\nexpect: {{layers: [{'55, ' * 100_000}]}}\n",
}
CALLS = (
    ("all different", "count -f json"),
    ("all different", "count --all-conventions"),
    ("all named", "count"),
    ("repeated", "count -f json"),
    ("repeated", "check -f junit"),
    ("all wrong", "check -f json"),
    ("all unknown", "count -f csv"),
    ("expects", "check"),
)


@pytest.mark.parametrize(("name", "line"), CALLS)
def test_length_costs_little(name: str, line: str, tmp_path: Path) -> None:
    """Under 300 MB; and seconds, where what grows without bound takes minutes."""
    path = tmp_path / "long.yaml"
    path.write_text(TEXTS[name])
    assert path.stat().st_size < 1_000_000
    watch = (
        "import resource, subprocess, sys; done = subprocess.run([sys.executable, '-m', 'rnncalc', *sys.argv[1:]],"
        "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); usage = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(done.returncode, usage.ru_maxrss, usage.ru_utime)"
    )
    words = [sys.executable, "-c", watch, *line.split(), str(path)]
    code, kilobytes, seconds = map(float, subprocess.run(words, capture_output=True, check=True).stdout.split())
    assert code in (0, 1, 2)
    assert kilobytes < 300_000
    assert seconds < 15  # a generous bound against the unbounded, no measure of speed


def test_endless_tensors_are_refused(call: Call) -> None:
    """A row for each of millions of tensors is no answer; JSON has them all."""
    flags = ["-i", 4, "-l", "lstm:4,repeat=100000", "--tensors"]
    message = "rnncalc: network has 1,200,000 tensors, more than the 100,000 that --tensors shows; "
    assert call(*flags) == (2, "", f"{message}leave it out, or take -f json, which has them all\n")


def test_what_would_take_long_is_refused_with_another_way(call: Call, tmp_path: Path) -> None:
    """JSON names every tensor, and six conventions are six networks; equal layers cost little, so they pass."""
    path = tmp_path / "different.yaml"
    path.write_text(TEXTS["all different"])
    message = "rnncalc: different has 720,000 different tensors, more than 400,000, which JSON would name one by one; "
    assert call(path, "-f", "json") == (2, "", f"{message}take -f csv, with a row a layer\n")
    message = "rnncalc: --all-conventions takes 20,000 layers at most, and different has 60,000; "
    assert call(path, "--all-conventions") == (2, "", f"{message}count one convention at a time, with -c\n")
    assert call("-i", 4, "-l", "lstm:4,repeat=40000", "-f", "json").code == 0
