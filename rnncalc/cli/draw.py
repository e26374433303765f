"""`rnncalc draw`."""

from __future__ import annotations

from typing import Unpack

from rnncalc.cli.commands import command
from rnncalc.cli.flags import NetworkFlags, notation_flag, option, report_flags, spec_flags, word_flag
from rnncalc.cli.inputs import chosen, read_each
from rnncalc.cli.output import AllAtOnce, Destination, needs_numbers, write
from rnncalc.reports.draw import VIEWS, Drawing
from rnncalc.reports.draw import draw as question


@command("rnncalc draw specs/lstm.yaml", "rnncalc draw -i 4 -l gru:3 -o 1 -T 5 --out gru.svg")
@spec_flags
@word_flag(
    "--view",
    words=lambda: VIEWS,
    default=next(iter(VIEWS)),
    show_default=True,
    help="What to draw: the network unrolled in time, a cell, or how parameters grow with the steps.",
)
@option("--only", multiple=True, metavar="NAME", help="Draw the layer of this name alone; may be repeated.")
@option("--bare", help="Leave out the title and the legend.")
@option("--standalone", help="Write TikZ as a complete LaTeX document.")
@notation_flag
@report_flags(Drawing)
def draw(
    specs: tuple[str, ...],
    view: str,
    only: tuple[str, ...],
    bare: bool,
    standalone: bool,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> None:
    """Draw a network: unrolled, a cell, or its growth.

    In characters, as wide as the terminal; in a pipe, at most 152. With --out, as SVG, TikZ, HTML or text in a file.
    """
    with AllAtOnce() as at_once:
        if standalone and destination.format != "tikz":
            at_once.refuse("--standalone: writes a document in TikZ; add -f tikz, or --out FILE.tex")
        if flags.get("notation") and view != "cell":
            at_once.refuse("--notation: only the picture of a cell shows parameters; add --view cell")
        read = at_once.ask(read_each, specs, flags, lambda spec: spec.described, one=True)
    with needs_numbers(f"--view {view}"):
        drawings = [question(each, view=view, only=layers, bare=bare) for each, layers, _ in chosen(read, only)]
        write([drawing.replace(standalone=standalone) for drawing in drawings], destination)
