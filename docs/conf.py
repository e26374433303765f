"""The site: Sphinx with Furo and MyST. `sphinx-build -W docs site` builds it from README.md, docs/ and specs/README.md.

Three pages stand outside this folder, so that they are found where they are looked for; and the page of each command,
the one that the README's table of commands links to, ends with the command's help, taken from the program.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TYPE_CHECKING, Any

from rnncalc import __version__
from rnncalc.cli import call

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent

project = "rnncalc"
html_title = "rnncalc"
version = release = __version__
copyright = "the authors of rnncalc, MIT licence"  # noqa: A001  # Sphinx's name for it

extensions = ["myst_nb"]
nb_execution_mode = "off"  # the notebook has its outputs: a test compares them
myst_heading_anchors = 3
nitpicky = True
smartquotes = False  # flags have two dashes

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"

ELSEWHERE = {"README.md": "index.md", "specs/README.md": "specs.md", "CHANGELOG.md": "changelog.md"}
"""The documents outside docs/, and the page that each of them is the text of."""

COMMAND = re.compile(r"^\| \[`rnncalc (?P<name>\w+)`\]\(docs/(?P<page>[\w-]+)\.md", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)(?P<path>[^)#\s]+)")
CONTENTS = re.compile(r"^On this page: .*\n\n", re.MULTILINE)
BADGES = re.compile(r"^\[!\[.*\n\n", re.MULTILINE)
"""Pictures of another server, which no page of the site asks for."""


def pages_of_commands() -> dict[str, list[str]]:
    """Return the commands of each page, as the README's table has them."""
    pages: dict[str, list[str]] = {}
    for row in COMMAND.finditer((ROOT / "README.md").read_text(encoding="utf-8")):
        pages.setdefault(row["page"], []).append(row["name"])
    return pages


def with_links(text: str, folder: str) -> str:
    """Return a document of a folder with the targets of its links as they are seen from docs/."""

    def target(link: re.Match[str]) -> str:
        path = normpath(PurePosixPath(folder, link["path"]).as_posix())
        return ELSEWHERE.get(path) or relpath(path, "docs")

    return LINK.sub(target, text)


def help_of(*words: str) -> str:
    """Return the part of a page that shows what a command prints for `--help`."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call([*words, "--help"])
    title = " ".join(("rnncalc", *words))
    return f"\n\n## `{title} --help`\n\n```text\n{out.getvalue()}```\n"


def complete(_: Sphinx, page: str, source: list[str]) -> None:
    """Give a page the text that stands elsewhere, and its commands their help."""
    for document, name in ELSEWHERE.items():
        if name == f"{page}.md":
            text = (ROOT / document).read_text(encoding="utf-8")
            source[0] = f"{with_links(BADGES.sub('', text), str(Path(document).parent))}\n{source[0]}"
            return
    text = with_links(CONTENTS.sub("", source[0], count=1), "docs")  # Furo has the contents beside the page
    source[0] = text + "".join(help_of(name) for name in pages_of_commands().get(page, ()))


def setup(app: Sphinx) -> dict[str, Any]:
    """Take part in the reading of the pages."""
    app.connect("source-read", complete)
    return {"parallel_read_safe": True}
