"""`--vary` of several commands: sizes, each with its possible values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rnncalc.cli.flags import option
from rnncalc.cli.output import AllAtOnce, needs_numbers
from rnncalc.errors import CallError, SpecError
from rnncalc.layers.options import Size
from rnncalc.printable import escape
from rnncalc.spec import Spec, read_value
from rnncalc.words import all_of

if TYPE_CHECKING:
    from rnncalc.network.model import Described
    from rnncalc.network.network import Network
    from rnncalc.questions.compare import Compared
    from rnncalc.questions.count import Count
    from rnncalc.questions.solve import SizePlace
    from rnncalc.questions.training import Training
    from rnncalc.reports.vary import VaryReport

_RANGE = r"(?P<low>[^.,]+)\.\.(?P<high>[^:]+)(?::(?P<step>.+))?"
_VARIED = re.compile(rf"(?P<size>[^=]+)=(?:{_RANGE}|(?P<values>[^.]+,[^.]+))")

vary_flag = option(
    "--vary",
    multiple=True,
    metavar="SIZE=LO..HI",
    help="Vary input, steps, output or a layer, also as LO..HI:STEP or 64,128,256; repeatable.",
)


def read_vary(texts: Sequence[str], at_once: AllAtOnce) -> dict[str, Sequence[int]]:
    """Return sizes and their possible values, from texts such as `lstm_1=16..64:16`."""
    varied: dict[str, Sequence[int]] = {}
    for name, values in filter(None, [at_once.ask(_read, text) for text in texts]):
        if name in varied:
            at_once.refuse(f"--vary: {escape(name)} is given twice; remove one of them")
        varied[name] = values
    return varied


def _read(text: str) -> tuple[str, Sequence[int]]:
    match = _VARIED.fullmatch(text)
    if not match:
        raise CallError(
            "--vary: expected SIZE=LO..HI, SIZE=LO..HI:STEP or SIZE=A,B,C, as in lstm_1=16..64:16 or lstm_1=16,64, "
            f"got '{escape(text)}'"
        )
    if match["values"]:
        values = {read_value("--vary", each.strip(), Size()) for each in match["values"].split(",")}
        return match["size"].strip(), sorted(values)
    low, high, step = (read_value("--vary", each or "1", Size()) for each in match.group("low", "high", "step"))
    if low > high:
        every = f":{step}" if match["step"] else ""
        raise CallError(f"--vary: expected the smaller size first; write {match['size']}={high}..{low}{every}")
    return match["size"].strip(), range(low, high + 1, step)


def network_varied(spec: Spec, vary: Mapping[str, Sequence[int]]) -> Network:
    """Return the network of a spec whose sizes vary; one written `?` has its first value.

    Raises SpecError with every problem there is, and CallError if another size is written `?`.
    """
    if not (vary and spec.marked):
        return spec.network
    from rnncalc.questions.solve import resized
    from rnncalc.questions.vary import sizes_of  # needed for a size written ? alone

    networks: dict[int, Network] = {}
    refused: SpecError | None = None
    for value in {1, 2, *(end for values in vary.values() for end in (values[0], values[-1]))}:
        try:
            network = spec.sized(value)
            sizes = sizes_of(network)
            for names, values in vary.items():
                places = [sizes[name.strip()] for name in names.split(",") if name.strip() in sizes]
                network = resized(network, places, values[0])
            networks[value] = network
        except SpecError as error:
            refused = refused or error
    if refused and len(networks) < 2:
        raise refused
    first, *others = networks.values()
    if any(network != first for network in others):  # the value that it was read with is still in it
        marked = [
            name
            for name, place in sizes_of(first).items()
            if all(_has(network, place, value) for value, network in networks.items())
        ]
        which = f"{all_of(marked)} {'are' if marked[1:] else 'is'}" if marked else "another size is"
        raise CallError(f"--vary: {which} written '?'; vary {'them' if marked[1:] else 'it'} too, or write a number")
    return first


def _has(network: Network, place: SizePlace, value: int) -> bool:
    """Return whether a size of a network is a value."""
    from rnncalc.questions.solve import resized

    with suppress(SpecError):
        return resized(network, [place], value) == network
    return False


def described_varied(spec: Spec, vary: Mapping[str, Sequence[int]]) -> Described:
    """Return the network of a spec whose sizes vary, or without such sizes what it describes."""
    return network_varied(spec, vary) if vary else spec.described


def varied_report(
    networks: Sequence[Network],
    vary: Mapping[str, Sequence[int]],
    count: Callable[[Sequence[Network], Sequence[str]], Iterable[tuple[str, Count | Compared | Training]]],
    of_training: bool = False,
) -> VaryReport:
    """Return the report on networks with each combination of the values.

    count: returns what is counted, each with a label, from networks and their titles; of_training: that is training.
    """
    from rnncalc.questions.vary import varied  # needed with --vary alone
    from rnncalc.reports.vary import Variation, VaryReport
    from rnncalc.typeset.setting import setting, title

    if len(vary) > 2:
        raise CallError("--vary: a grid has two sizes; join sizes that stay equal by a comma, or remove some")
    with needs_numbers("--vary"):
        combinations = [*varied(networks, vary)]
    titles = [title(first, last) for first, last in zip(combinations[0][1], combinations[-1][1], strict=True)]
    if len({*titles}) < len(titles):
        titles = [f"{number}: {text}" for number, text in enumerate(titles, 1)]
    counted = [Variation(values, *each) for values, changed in combinations for each in count(changed, titles)]
    if of_training and any(each.counted.bytes is None for each in counted):
        message = "not known without the number of steps, and with a part that is counted elsewhere"
        raise CallError(f"--vary: what training needs is {message}; give steps, or -T")
    settings = {setting(network) for network in networks}
    subtitle = "" if len(settings) > 1 or any("steps" in size for size in vary) else settings.pop()
    return VaryReport("; ".join(titles), subtitle, tuple(vary), tuple(counted), of_training)
