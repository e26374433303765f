"""The README as PyPI shows it: its links lead to the repository, since there are no files beside it."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    """Make the links to files, and those to pictures, those of the tag of the version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Take part in the making of the metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source, tag = metadata["urls"]["Source"], f"v{metadata['version']}"
        text = re.sub(r"(!\[[^]]*\]\()(?!https?:)", rf"\1{source}/raw/{tag}/", text)
        linked = re.sub(r"\]\((?!https?:|#)", f"]({source}/blob/{tag}/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": linked}
