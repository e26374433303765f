"""The README as PyPI shows it: its links lead to the repository, since there are no files beside it."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    """Make the links to files those of the tag of the version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Take part in the making of the metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        files = f"{metadata['urls']['Source']}/blob/v{metadata['version']}/"
        linked = re.sub(r"\]\((?!https?:|#)", f"]({files}", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": linked}
