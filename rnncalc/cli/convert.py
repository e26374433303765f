"""`rnncalc convert`."""

from __future__ import annotations

from typing import Any, Unpack

from rnncalc.cli.commands import command
from rnncalc.cli.flags import NetworkFlags, file_flag, option, report_flags, spec_flags, word_flag
from rnncalc.cli.inputs import read_each, read_file
from rnncalc.cli.models import model_of, weights_within
from rnncalc.cli.output import AllAtOnce, Destination, check_file, write, write_file
from rnncalc.conventions import CONVENTIONS
from rnncalc.errors import CallError
from rnncalc.layers.options import WholeNumber
from rnncalc.models.files.written import WRITERS, Stored
from rnncalc.questions.convert import Converted, with_weights
from rnncalc.reports.convert import ConvertReport
from rnncalc.spec import Spec, parse_data, read_value
from rnncalc.words import one_of

RECIPES = ("onnx", "tfjs")
"""The conventions whose arrays are part of a graph or of a folder, so that no file of arrays alone is theirs."""


@command(
    "rnncalc convert -i 8 -l gru:16 -c pytorch --to keras",
    "rnncalc convert specs/models/tagger.pt --to mlx --save-weights a.safetensors",
)
@spec_flags
@word_flag("--to", words=lambda: CONVENTIONS, needed=True, help="Framework to convert to.")
@file_flag("--weights", help="YAML of {LAYER: {TENSOR: nested lists}}, or a model file.")
@file_flag("--save-weights", help=f"Write the arrays, by the suffix {one_of([*WRITERS])}.")
@option("--max-multiply-adds", metavar="N", default="1G", help="Compare no passes of more multiply-adds.")
@option("--only", metavar="NAME", help="The network to convert, of a model of several.")
@report_flags(ConvertReport)
def convert(
    specs: tuple[str, ...],
    to: str,
    weights: str | None,
    save_weights: str | None,
    max_multiply_adds: str,
    only: str | None,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Convert a network's weights to another framework.

    The network is a model file, a spec or flags. The recipe says what each array of the other framework is made of. If
    there are weights, a pass under both conventions compares the outputs; exit code 1 if they differ.
    """
    with AllAtOnce() as at_once:
        most = at_once.ask(read_value, "--max-multiply-adds", max_multiply_adds, WholeNumber(suffixes=True))
        suffix = at_once.ask(_suffix, save_weights, to) if save_weights is not None else ""
        read = at_once.ask(read_each, specs, flags, Spec.checked, one=True)
        if read and save_weights is not None and only is None and read[0].described.networks:
            at_once.refuse("--save-weights: a file has the arrays of one network; name it with --only")
        model = at_once.ask(model_of, specs[0]) if read and specs else None
        if weights is not None and model is not None:
            at_once.refuse("--weights: the model file has the weights; give one of the two")
        elif weights is not None:
            model = at_once.ask(model_of, weights)
        file = at_once.ask(read_file, weights, flag="--weights") if weights is not None and model is None else None
        if save_weights is not None:
            at_once.ask(check_file, save_weights, "--save-weights")
    (whole,) = read
    reports = []
    for spec in whole.each(only):
        numbers: Any = weights_within(spec, model) if model else parse_data(spec, file, None, None, None).weights
        if save_weights is not None and numbers is None:
            raise CallError("--save-weights needs weights: give a model file, or --weights FILE")
        done = with_weights(spec.network, to, numbers, most)
        if save_weights is not None and done.agrees:
            write_file(save_weights, _bytes(done, suffix), "--save-weights")
        saved = save_weights if save_weights and done.agrees else ""
        reports.append(ConvertReport(done, saved, spec.above[1] if spec.above else None))
    differences = tuple(report.converted.largest_difference for report in reports)
    write([report.replace(differences=differences) for report in reports], destination)
    return 0 if all(report.converted.agrees for report in reports) else 1


def _suffix(path: str, to: str | None) -> str:
    """Return the suffix of a file of arrays. Raises CallError for another, and for a framework without such files."""
    if to in RECIPES:
        raise CallError(f"--save-weights: no file of arrays is read by {to}; leave it out, and follow the recipe")
    suffix = next((each for each in WRITERS if path.lower().endswith(each)), None)
    if suffix is None:
        raise CallError(f"--save-weights: expected the suffix {one_of([*WRITERS])}; name such a file")
    ours = [each for each in WRITERS if (each == ".weights.h5") == (to == "keras")]
    if to and suffix not in ours:
        raise CallError(f"--save-weights: no call of {to} loads a file {suffix}; write {one_of(ours)}")
    return suffix


def _bytes(done: Converted, suffix: str) -> bytes:
    """Return the file of the arrays."""
    from rnncalc.programs.saved import saved_names

    names, numbers = saved_names(done.target, hdf5=suffix == ".weights.h5"), done.numbers or {}
    arrays = (
        Stored(
            names[each.placed.name, each.tensor.name], each.tensor.shape, numbers[each.placed.name][each.tensor.name]
        )
        for each in done.conversions
    )
    try:
        return WRITERS[suffix](arrays, done.target.convention)
    except CallError as error:
        raise CallError(f"--save-weights: {error}") from None
