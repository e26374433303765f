"""TeX sets the equations of every cell, under every convention and in every notation, without a complaint."""

import io
import subprocess
from pathlib import Path

import pytest
from cells import CELLS, cases, network

from rnncalc import explain
from rnncalc.formats import write
from rnncalc.questions.notation import NOTATIONS
from rnncalc.reports.explain import ExplanationReport

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", CELLS)
def test_latex_is_set(name: str, tmp_path: Path) -> None:
    """One document of all; amsmath alone is loaded."""
    mine = [case for case in cases() if case[0] == name and case[1] == 4]
    reports = [ExplanationReport(explain(network(*case), notation=notation)) for case in mine for notation in NOTATIONS]
    text = io.StringIO()
    write(reports, "latex", text)
    assert text.getvalue().count("\\begin{align*}") >= 2 * len(reports)
    (tmp_path / "all.tex").write_text(text.getvalue(), encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="latin-1", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing" not in done.stdout
    assert (tmp_path / "all.pdf").stat().st_size > 10_000
