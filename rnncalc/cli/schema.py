"""`rnncalc schema`."""

from __future__ import annotations

from rnncalc.cli.commands import command
from rnncalc.cli.flags import out_flag
from rnncalc.cli.output import check_suffix, write_text
from rnncalc.spec.schema import text


@command("rnncalc schema --out spec.schema.json")
@out_flag("a .json file")
def schema(out: str | None) -> None:
    """Print the JSON Schema of a spec, for editors."""
    if out is not None:
        check_suffix(out, [".json"])
    write_text(f"{text()}\n", out)
