"""Files of 1 and of 10 MB that are legal, or wrong, at great length: no call may take long or much memory over them."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Call

MB = 1_000_000
LAYERS = "input: 512\nlayers:\n"
FLOW = "input: 512\nlayers: ["


def items(item: str, head: str = LAYERS, tail: str = "", most: int = 10**9) -> Callable[[int], str]:
    """Return what writes a file of at most so many bytes: an item again and again, with its number where `@` stands."""

    def written(size: int) -> str:
        count = min(most, (size - len(head) - len(tail)) // len(item.replace("@", "1234567")))
        return head + "".join(item.replace("@", str(n)) for n in range(1, count + 1)) + tail

    return written


TEXTS: dict[str, Callable[[int], str]] = {
    "all different": items("- lstm: @\n", most=99_000),
    "all named": items("- {rnn: 3, name: n@}\n", most=99_000),
    "repeated": lambda _: "input: 5\nlayers: [{lstm: 5, repeat: 100000, bidirectional: true, peepholes: true}]\n",
    "expects": items("55, ", "input: 5\nlayers: [{rnn: 5, repeat: 100000}]\nexpect: {layers: [", "]}\n"),
    "all wrong": items("- lstm: x@\n"),
    "all unknown": items("k@: 3\n", "input: 512\n"),
    "of one key": items("a,", "{", "}"),
    "no layers": items("~,", FLOW, "]"),
    "empty layers": items("{},", FLOW, "]"),
    "pairs": items("a: b,", FLOW, "]"),
    "unknown options": items("k@: 3, ", "input: 512\nlayers: [{rnn: 3, ", "}]"),
    "unknown kinds": items("- lsmt@: 3\n"),
    "merges": lambda size: items("- {rnn: @, merge: sum}\n")(size // 2) + items("k@: 3\n", "")(size // 2),
    "same names": items("- {rnn: 3, name: n}\n"),
    "tags": items("- !x y\n"),
    "sizes to find": items("- rnn: ?\n"),
    "wrong counts": items("x,", "input: 5\nlayers: [rnn: 3]\nexpect: {layers: [", "]}"),
    "a long number": lambda size: f"input: {'1_' * (size // 2 - 20)}1\nlayers: [rnn: 3]\n",
    "a long name": lambda size: f"input: 4\nname: {'x' * (size - 40)}\nlayers: [rnn: 3]\n",
    "numbers": items("1,", "input: 5\nlayers: [rnn: 3]\ninputs: [[", "]]"),
    "cut short": items("rnn: 3,", FLOW),
}
CALLS = (
    ("all different", "count -f csv"),
    ("all named", "count"),
    ("repeated", "count -f json"),
    ("repeated", "check -f junit"),
    ("expects", "check"),
    ("all wrong", "check -f json"),
    ("all unknown", "count -f csv"),
    ("numbers", "run"),
    ("all different", "explain"),
    ("all different", "explain -f json"),
    ("repeated", "explain --only foo"),
    *((name, "check") for name in TEXTS),
)


def used(words: list[str]) -> tuple[int, int, float]:
    """Return the exit code, the kilobytes and the seconds of a call in a process of its own."""
    watch = (
        "import resource, subprocess, sys; done = subprocess.run([sys.executable, '-m', 'rnncalc', *sys.argv[1:]],"
        "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); usage = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(done.returncode, usage.ru_maxrss, usage.ru_utime)"
    )
    done = subprocess.run([sys.executable, "-c", watch, *words], capture_output=True, check=True)
    code, kilobytes, seconds = done.stdout.split()
    return int(code), int(kilobytes), float(seconds)


FEW = ("of one key", "merges", "pairs", "empty layers", "sizes to find")
"""What is not called for anything but a check, and is read in other ways than the rest."""

WHOLE = [pytest.param(*call, MB, 300_000, marks=pytest.mark.slow, id=f"{' '.join(call)}, whole") for call in CALLS]
THIRDS = [
    pytest.param(name, line, MB // 3, 120_000, id=f"{name} {line}, a third")
    for name, line in CALLS
    if line in ("count", "run", "explain") or name in FEW
]


@pytest.mark.parametrize(("name", "line", "size", "most"), [*THIRDS, *WHOLE])
def test_a_megabyte_costs_little(name: str, line: str, size: int, most: int, tmp_path: Path) -> None:
    """Under 300 MB, and a third of one as much less; and some seconds, where what grows without bound takes minutes."""
    path = tmp_path / "long.yaml"
    path.write_text(TEXTS[name](size))
    assert path.stat().st_size <= size
    code, kilobytes, seconds = used([*line.split(), str(path)])
    assert code in (0, 1, 2)
    assert kilobytes < most
    assert seconds < 10  # 2 s on a machine with nothing else to do


@pytest.mark.slow
@pytest.mark.parametrize("name", ["empty layers", "all different", "all unknown", "of one key", "merges", "numbers"])
def test_ten_megabytes_cost_a_bounded_amount(name: str, tmp_path: Path) -> None:
    """Under 600 MB, whatever there is in them."""
    path = tmp_path / "long.yaml"
    path.write_text(TEXTS[name](10 * MB))
    code, kilobytes, seconds = used(["check", str(path)])
    assert code in (0, 1, 2)
    assert kilobytes < 600_000
    assert seconds < 20  # 4 s on a machine with nothing else to do


def test_many_networks_leave_their_numbers_alone(tmp_path: Path) -> None:
    """Fifty files of a hundred thousand layers are counted one after the other, and none is kept."""
    paths = [tmp_path / f"{number}.yaml" for number in range(50)]
    for path in paths:
        path.write_text("input: 5\nlayers: [{lstm: 5, repeat: 100000, bidirectional: true, peepholes: true}]\n")
    for line in ("check", "compare", "count"):
        code, kilobytes, _ = used([*line.split(), *map(str, paths)])
        assert code == 0
        assert kilobytes < 300_000


@pytest.mark.slow
def test_many_files_leave_their_networks_alone(tmp_path: Path) -> None:
    """Of ten files of half a megabyte nothing is kept but the networks: their words would take 350 MB more."""
    paths = [tmp_path / f"{number}.yaml" for number in range(10)]
    for path in paths:
        path.write_text(TEXTS["numbers"](MB // 2))
    code, kilobytes, _ = used(["count", "-f", "csv", *map(str, paths)])
    assert code == 0
    assert kilobytes < 250_000


@pytest.mark.slow
def test_kinds_are_compared_one_after_the_other(tmp_path: Path) -> None:
    """Twenty thousand different layers as three other kinds: no more than one of these networks is kept."""
    path = tmp_path / "different.yaml"
    path.write_text(LAYERS + "".join(f"- lstm: {number}\n" for number in range(1, 20_001)))
    code, kilobytes, _ = used(["compare", str(path)])
    assert code == 0
    assert kilobytes < 120_000


def test_endless_tensors_are_refused(call: Call) -> None:
    """A row for each of millions of tensors is no answer; JSON has them all."""
    flags = ["-i", 4, "-l", "lstm:4,repeat=100000", "--tensors"]
    message = "rnncalc: network has 1,200,000 tensors, more than the 100,000 that --tensors shows; "
    assert call(*flags) == (2, "", f"{message}leave it out, or take -f json, which has them all\n")


@pytest.mark.slow
def test_what_would_take_long_is_refused_with_another_way(call: Call, tmp_path: Path) -> None:
    """JSON names every tensor, and six conventions are six networks."""
    path = tmp_path / "different.yaml"
    layers = 33_400
    path.write_text(LAYERS + "".join(f"- lstm: {number}\n" for number in range(1, layers + 1)))
    message = f"rnncalc: different has {12 * layers:,} different tensors, more than 400,000, which JSON would name "
    assert call(path, "-f", "json") == (2, "", f"{message}one by one; take -f csv, with a row a layer\n")
    message = f"rnncalc: --all-conventions takes 20,000 layers at most, and different has {layers:,}; "
    assert call(path, "--all-conventions") == (2, "", f"{message}count one convention at a time, with -c\n")


@pytest.mark.slow
def test_equal_layers_cost_little_so_they_pass(call: Call) -> None:
    """However many tensors JSON then names."""
    assert call("-i", 4, "-l", "lstm:4,repeat=33334", "-f", "json").code == 0


@pytest.mark.slow
def test_a_long_explanation_is_refused_with_another_way(call: Call, tmp_path: Path) -> None:
    """Ten thousand different layers are drawn in half a minute, and written as JSON in two seconds; equal ones once."""
    path = tmp_path / "different.yaml"
    path.write_text("input: 3\nlayers:\n" + "".join(f"- rnn: {n % 7 + 1}\n" for n in range(10_000)))
    message = "rnncalc: different has 10,000 layers to explain, more than the 500 that tables are drawn for; "
    assert call("explain", path) == (2, "", f"{message}name some with --only, or take -f json\n")
    assert call("explain", path, "--only", "rnn_9999").code == 0
    assert call("explain", "-i", 4, "-l", "rnn:3,repeat=100000").code == 0
    path.write_text("input: 3\nlayers:\n" + "".join(f"- rnn: {n % 7 + 1}\n" for n in range(20_001)))
    message = "rnncalc: different has 20,001 layers to explain, more than 20,000; name some with --only\n"
    assert call("explain", path, "-f", "json") == (2, "", message)


def test_a_name_among_very_many_is_not_held_against_them_all(call: Call, tmp_path: Path) -> None:
    """The message names a few; a thousand misspelt names among twenty thousand are told as a hundred problems."""
    code, _, error = call("explain", "-i", 4, "-l", "rnn:3,repeat=100000", "--only", "foo")
    assert code == 2
    assert "rnn_9, rnn_10 or 99,990 more, got 'foo'" in error
    assert len(error) < 500
    path = tmp_path / "misspelt.yaml"
    names = "".join(f"  lstn_{n}: 3\n" for n in range(1_000))
    path.write_text(f"input: 3\nsteps: 2\nlayers: [{{lstm: 3, repeat: 20000}}]\nweights:\n{names}")
    code, kilobytes, seconds = used(["run", str(path)])
    assert code == 2
    assert kilobytes < 300_000
    assert seconds < 10  # 1 s on a machine with nothing else to do


@pytest.mark.slow
def test_very_many_wrong_numbers_are_searched_for_together(tmp_path: Path) -> None:
    """What a mistake makes of two hundred layers is worked out once, not once for each of their numbers."""
    path = tmp_path / "deep.yaml"
    path.write_text("input: 3\nlayers:\n" + "".join(f"- lstm: {n + 1}\n" for n in range(200)))
    code, _, seconds = used(["answer", str(path), *(str(8 * n * n + 15 * n + 16) for n in range(200))])
    assert code == 1
    assert seconds < 10  # 1.5 s on a machine with nothing else to do
