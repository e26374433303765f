"""Work that is shared among processes gives what one process gives; run in a process without threads of pytest's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
START = "import os\nfrom rnncalc.cli.shares import in_shares\nparent = os.getpid()\n"


def printed(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_shares_are_in_order_and_each_has_a_process(most: int) -> None:
    """As many as there are cores, at the most."""
    work = "def work(items):\n    return [(item, os.getpid()) for item in items]\n"
    numbers, processes = printed(
        f"{work}found = [*in_shares(work, range(20), {most})]\n"
        "print(*(item for item, _ in found))\nprint(*(process for _, process in found))\n"
    )
    assert numbers == " ".join(map(str, range(20)))
    assert len({*processes.split()}) == min(most, CORES)


def test_a_share_whose_process_fails_is_worked_on_here() -> None:
    """Whatever failed it: an exception, a signal, a result that no pipe carries."""
    for failure in ("1 / 0", "os.kill(os.getpid(), 9)", "items = [print, lambda: 0]"):
        work = f"def work(items):\n    if os.getpid() != parent:\n        {failure}\n    return items\n"
        assert printed(f"{work}print(*in_shares(work, range(9), 4))\n") == [" ".join(map(str, range(9)))]


def test_an_error_of_a_share_is_raised_here() -> None:
    """As one process raises it, after what is before it."""
    work = "def work(items):\n    for item in items:\n        yield 1 / (7 - item)\n"
    loop = "    for each in in_shares(work, range(9), 4):\n        print(each)\n"
    tried = f"try:\n{loop}except ZeroDivisionError as error:\n    print(error)\n"
    assert printed(work + tried)[-2:] == ["1.0", "division by zero"]


def test_many_specs_are_checked_as_few_are(tmp_path: Path) -> None:
    """Those that pass, that fail and that are invalid, in their order."""
    for number in range(250):
        layer = "lstn: 3" if number % 50 == 7 else f"lstm: {number + 1}"
        text = f"input: 4\nlayers:\n  - {layer}\nbudget: {{max_params: 200k}}\n"
        (tmp_path / f"{number:03}.txt").write_text(text, encoding="utf-8")
    files = sorted(map(str, tmp_path.iterdir()))

    def checked(*paths: str) -> list[dict[str, object]]:
        command = [sys.executable, "-m", "rnncalc", "check", "-f", "json", *paths]
        data: list[dict[str, object]] = json.loads(subprocess.run(command, capture_output=True).stdout)["reports"]
        return data

    whole = checked(*files)
    assert {each["status"] for each in whole} == {"passed", "failed", "broken"}
    assert whole == [*checked(*files[:125]), *checked(*files[125:])]
    command = [sys.executable, "-m", "rnncalc", "check", *files, "--out", files[-1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.endswith(": is read by this call; name another file\n")) == (2, True)


def test_a_process_that_nobody_reads_ends() -> None:
    """Or what waits for the end of the output would wait for ever."""
    work = "def work(items):\n    if 0 in items:\n        1 / 0\n    return ['x' * 10**6 for item in items]\n"
    code = f"{START}{work}[*in_shares(work, range(9), 4)]\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize(
    "limited",
    [
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n",
        "def fork():\n    raise OSError\nos.fork = fork\n",
    ],
)
def test_where_no_process_can_start(limited: str) -> None:
    """One works on all shares."""
    assert printed(f"{limited}print(*in_shares(list, range(9), 4))\n") == [" ".join(map(str, range(9)))]


def test_where_the_system_forgets_processes() -> None:
    """Their results are there."""
    forgotten = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    assert printed(f"{forgotten}print(*in_shares(list, range(9), 4))\n") == [" ".join(map(str, range(9)))]


def test_no_items() -> None:
    """Nothing is done."""
    assert printed("print(*in_shares(list, [], 4))\n") == [""]
