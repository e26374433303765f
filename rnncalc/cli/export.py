"""`rnncalc export`."""

from __future__ import annotations

import sys
from typing import Unpack

from rnncalc.cli.commands import command
from rnncalc.cli.flags import NetworkFlags, out_flag, spec_flags, word_flag
from rnncalc.cli.inputs import read_each
from rnncalc.cli.output import AllAtOnce, check_suffix, write_text, write_utf8
from rnncalc.network.network import Network
from rnncalc.programs import SPELLINGS, source


@command("rnncalc export specs/lstm.yaml --to pytorch", "rnncalc export -i 4 -l gru:3 --to keras --out model.py")
@spec_flags
@word_flag("--to", words=lambda: SPELLINGS, needed=True, help="Framework to write for.")
@word_flag("--loss", words="rnncalc.questions.backward:LOSSES", help="Add the function of a loss, as in rnncalc run.")
@out_flag("a .py file")
def export(specs: tuple[str, ...], to: str, loss: str | None, out: str | None, **flags: Unpack[NetworkFlags]) -> None:
    """Write the network as source code for a framework.

    The program is one class; that of a model has a module of each network. When it runs, it prints its parameters. A
    recurrent cell, a decoder's attention or another layer that the framework lacks is a class of its own, written out
    from its equations.
    """
    with AllAtOnce() as at_once:
        if out is not None:
            at_once.ask(check_suffix, out, [".py"])
        read = at_once.ask(read_each, specs, flags, lambda spec: spec.described, one=True)
    if not sys.stdout.isatty():
        write_utf8()
    (described,) = read
    if loss and isinstance(described, Network):
        from rnncalc.questions.backward import with_loss  # few programs have a loss

        described = with_loss(described, loss)
    write_text(source(described, to, loss or ""), out)
