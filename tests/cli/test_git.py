"""`check --baseline git:REF`: the specs as they were at a commit, and nothing that a commit could do to its reader."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from checkouts import git
from conftest import Call, refusal


def spec(params: int) -> str:
    return f"input: 1\nlayers: [external: {params}]\n"


def commit(folder: Path, files: dict[str, str]) -> str:
    """Write and commit some files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "files")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with two commits."""
    folder = tmp_path_factory.mktemp("original")
    git(folder, "init", "-q", "-b", "main")
    files = {"specs/a.yaml": spec(1), "specs/sub/a.yaml": spec(2), "specs/gone.yml": spec(3), "other.yaml": spec(4)}
    commit(folder, files | {"specs/b ü.yaml": spec(5), "specs/.hidden/h.yaml": spec(6), "specs/ci.yaml": "on: push\n"})
    git(folder, "tag", "old")
    (folder / "specs" / "gone.yml").unlink()
    commit(folder, {"specs/a.yaml": spec(9), "specs/sub/a.yaml": spec(9), "specs/new.yaml": spec(9)})
    return folder


@pytest.fixture
def repository(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of it, and be in it."""
    folder = shutil.copytree(original, tmp_path / "repository ü")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    return folder


def before(call: Call, *args: object) -> dict[str, Any]:
    data = json.loads(call("check", *args, "-f", "json").out)["reports"]
    return {
        report["file"]: report["baseline"]["before"] if report["baseline"] else report["problems"][0]["message"]
        for report in data
    }


@pytest.mark.usefixtures("repository")
def test_specs_are_read_as_they_were_at_a_commit(call: Call) -> None:
    """Paired by their paths in the repository; what was there and is no more is removed."""
    for ref in ("old", "HEAD~1", "main^", "refs/tags/old", "@~", "main@{0}~1"):
        assert before(call, "specs", "--baseline", f"git:{ref}") == {
            "specs/a.yaml": 1,
            "specs/b ü.yaml": 5,
            "specs/new.yaml": None,
            "specs/sub/a.yaml": 2,
            "specs/gone.yml": 3,
        }


def test_a_commit_is_compared_from_any_folder(
    repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Files given one by one, the whole repository, a folder below it, a link to it: each file has its own past."""
    assert before(call, "specs/sub/a.yaml", "other.yaml", "--baseline", "git:old") == {
        "specs/sub/a.yaml": 2,
        "other.yaml": 4,
    }
    assert len(before(call, ".", "--baseline", "git:old")) == 6
    (tmp_path / "elsewhere").symlink_to(repository / "specs")
    assert before(call, tmp_path / "elsewhere", "--baseline", "git:old")[str(tmp_path / "elsewhere" / "a.yaml")] == 1
    monkeypatch.chdir(repository / "specs" / "sub")
    assert before(call, "..", "--baseline", "git:old")["../a.yaml"] == 1
    assert before(call, "../gone.yml", "--baseline", "git:old") == {"../gone.yml": "no such file"}
    (tmp_path / "link").symlink_to(repository)
    monkeypatch.chdir(tmp_path / "link")
    assert before(call, "specs/a.yaml", tmp_path / "link" / "other.yaml", "--baseline", "git:old") == {
        "specs/a.yaml": 1,
        str(tmp_path / "link" / "other.yaml"): 4,
    }


@pytest.mark.usefixtures("repository")
def test_growth_since_a_commit_is_limited(call: Call) -> None:
    """9 in place of 1 and 2."""
    assert call("check", "specs", "--baseline", "git:old", "--max-growth", 8).code == 0
    result = call("check", "specs", "--baseline", "git:old", "--max-growth", 7)
    assert result.code == 1
    assert "specs/a.yaml: --max-growth: expected at most 7 more than before, got +8 (+800.00%): 1 before" in result.out
    assert "parameters against git:old" in result.out


def test_networks_in_files_are_those_of_the_commit(
    repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is beside the spec now; a file that the commit did not have leaves the earlier count unknown."""
    for folder in ("", "ü/"):
        models = {f"{folder}m.yaml": "networks: {a: part/a.yaml}", f"{folder}n.yaml": "networks: {a: later.yaml}"}
        commit(repository, models | {f"{folder}part/a.yaml": spec(7)})
        (repository / folder / "part" / "a.yaml").write_text(spec(9))
        (repository / folder / "later.yaml").write_text(spec(9))
        result = call("check", f"{folder}m.yaml", "--baseline", "git:main", "--max-growth", 1)
        assert (result.code, "got +2 (+28.57%): 7 before, 9 now" in result.out) == (1, True)
        unknown = f"git:main:{folder}n.yaml:1:15: networks.a: 'later.yaml': no such file; the earlier count is unknown"
        assert unknown in call("check", f"{folder}n.yaml", "--baseline", "git:main").out
        monkeypatch.chdir(repository / folder / "part")
        assert before(call, "../m.yaml", "--baseline", "git:main") == {"../m.yaml": 7}
        monkeypatch.chdir(repository)


def test_what_a_commit_has_that_cannot_be_read_is_remarked(repository: Path, call: Call) -> None:
    """A broken spec, a link, and one that is too large; other YAML is none of it."""
    (repository / "specs" / "link.yaml").symlink_to("a.yaml")
    ref = commit(repository, {"specs/broken.yaml": "input: xx\n", "specs/large.yaml": "input: 1\n" + "#" * 10_000_001})
    result = call("check", "specs/a.yaml", "specs", "--baseline", f"git:{ref}")
    for text in (
        f"baseline git:{ref}:specs/broken.yaml:1:1: layers: missing; give at least one layer, such as lstm: 512",
        f"baseline git:{ref}: specs/link.yaml is a link; the earlier count is unknown",
        f"baseline git:{ref}: specs/large.yaml is too large; the earlier count is unknown",
    ):
        assert text in result.out
    assert "ci.yaml" not in result.out


@pytest.mark.parametrize(
    "ref",
    [
        *("", "-h", "--help", "--output=x", "a b", "a..b", "a\nb", "a:specs/a.yaml", ":/files", "a?", "a*", "a[", "\\"),
        *("^main", "main^{/files}", "x" * 300, "\x1b[31m"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_what_is_no_name_of_a_commit_never_reaches_git(call: Call, monkeypatch: pytest.MonkeyPatch, ref: str) -> None:
    """No option, no range, no path, no search: refused before git is called."""
    monkeypatch.setattr(subprocess, "run", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    err = refusal(call, "check", "specs", "--baseline", f"git:{ref}")
    assert err.startswith("rnncalc: --baseline: expected git: and a commit, a tag or a branch, got '")
    assert err.count("\n") == 1


@pytest.mark.parametrize("ref", ["nowhere", "0" * 40, "old^{tree}", "@{upstream}"])
@pytest.mark.usefixtures("repository")
def test_a_commit_that_is_not_there_is_told_with_the_cure(call: Call, ref: str) -> None:
    """As in the shallow checkout of a workflow."""
    message = f"rnncalc: --baseline: no commit '{ref}' in this repository; "
    cure = "fetch it first (in a workflow, actions/checkout takes fetch-depth: 0)\n"
    assert call("check", "specs", "--baseline", f"git:{ref}") == (2, "", message + cure)


@pytest.mark.usefixtures("repository")
def test_there_may_be_no_repository_and_no_git(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each; a file of another folder is told apart, and so is standard input."""
    numbers = before(call, "specs/a.yaml", tmp_path, "--baseline", "git:old")
    assert "no regular file" not in numbers
    (tmp_path / "x.yaml").write_text(spec(1))
    numbers = before(call, tmp_path / "x.yaml", "--baseline", "git:old")
    assert numbers == {str(tmp_path / "x.yaml"): "not in the repository of git:old; give a file that is in it"}
    monkeypatch.chdir(tmp_path)
    err = refusal(call, "check", "x.yaml", "--baseline", "git:old")
    assert err.startswith("rnncalc: --baseline: git: not a git repository")
    monkeypatch.setenv("PATH", f".{os.pathsep}{tmp_path}")
    result = call("check", "x.yaml", "--baseline", "git:old")
    assert result == (2, "", "rnncalc: --baseline git: needs git, and there is none on the PATH\n")


def test_a_git_in_the_checkout_is_not_run(repository: Path, monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """Nor one in a folder of the PATH that is a relative one; nor an alias or a pager of the repository's."""
    marker = repository / "ran"
    for name in ("git", "git.exe", "git.bat"):
        (repository / name).write_text(f"#!/bin/sh\ntouch '{marker}'\n")
        (repository / name).chmod(0o755)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    for key in (
        "core.pager",
        "core.fsmonitor",
        "core.sshCommand",
        "diff.x.textconv",
        "filter.x.smudge",
        "alias.ls-tree",
    ):
        git(repository, "config", key, f"touch '{marker}'")
    commit(repository, {".gitattributes": "*.yaml diff=x filter=x\n"})
    marker.unlink(missing_ok=True)
    assert call("check", "specs", "--baseline", "git:old").code == 0
    assert not marker.exists()


def test_names_in_a_commit_act_on_nothing(repository: Path, call: Call) -> None:
    """A path may hold a newline, an escape, and what a shell or a runner would take for a command."""
    names = [
        "specs/$(touch x).yaml",
        "specs/\n::error::x.yaml",
        "specs/\x1b[31m.yaml",
        "specs/-rf.yaml",
        "specs/*.yaml",
    ]
    ref = commit(repository, {name: spec(7) for name in names})
    assert {*before(call, "specs", "--baseline", f"git:{ref}").values()} == {5, 7, 9}
    for name in names:
        (repository / name).unlink()
    result = call("check", "specs", "--baseline", f"git:{ref}", "-f", "github")
    assert result.out.count("in the baseline, but no longer among the specs") == 5
    for line in result.out.splitlines():
        assert line.startswith("::notice file=")
        assert line.isprintable()
    assert not (repository / "x").exists()


def without_object(folder: Path, path: str) -> None:
    """Take a file of the commit `old` out of a repository, as in a partial clone."""
    name = git(folder, "rev-parse", f"old:{path}")
    (folder / ".git" / "objects" / name[:2] / name[2:]).unlink()


def test_a_blob_that_is_not_here_is_one_line(repository: Path, call: Call) -> None:
    """Of a spec that is asked for, or damaged, so that git ends amid its answers; others may be missing."""
    name = git(repository, "rev-parse", "old:specs/sub/a.yaml")
    path = repository / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-6])
    assert "git does not have 'specs/sub/a.yaml' here" in refusal(call, "check", "specs", "--baseline", "git:old")
    without_object(repository, "specs/sub/a.yaml")
    result = call("check", "specs", "--baseline", "git:old")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith("rnncalc: --baseline: git does not have 'specs/sub/a.yaml' here; in a partial clone")
    assert before(call, "other.yaml", "specs/a.yaml", "--baseline", "git:old") == {"other.yaml": 4, "specs/a.yaml": 1}


def test_the_cure_for_a_partial_clone_is_one(
    repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the message says to run gets what was missing."""
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", repository.as_uri(), "partial")
    monkeypatch.chdir(tmp_path / "partial")
    result = call("check", "specs", "--baseline", "git:old")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    command = result.err.strip().rpartition("fetch it first: git ")[2]
    git(tmp_path / "partial", *command.split())
    assert before(call, "specs/a.yaml", "--baseline", "git:old") == {"specs/a.yaml": 1}


def test_a_git_that_knows_nothing_of_lazy_fetching_fetches_nothing(
    repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its remote is a command that leaves a file behind, and its own configuration allows that."""
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec "{shutil.which("git")}" "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    marker = tmp_path / "fetched"
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::touch {marker}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }.items():
        git(repository, "config", key, value)
    without_object(repository, "specs/a.yaml")
    result = call("check", "specs", "--baseline", "git:old")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert not marker.exists()
    subprocess.run(["git", "cat-file", "-e", "old:specs/a.yaml"], check=False, capture_output=True)
    assert marker.exists()  # git by itself does fetch
