"""A spec and a model file: compares them, or reads the spec's weights from the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnncalc.cli.inputs import is_drafted
from rnncalc.cli.progress import progress_of
from rnncalc.errors import Problem, SpecError, first
from rnncalc.layers.layer import External
from rnncalc.printable import escape, escape_path
from rnncalc.spec import Spec

if TYPE_CHECKING:
    from rnncalc.models.files.model import ModelFile
    from rnncalc.models.matching import Match
    from rnncalc.network.data import Inputs, Weights
    from rnncalc.network.network import Network


def model_of(path: str) -> ModelFile | None:
    """Return the contents of a model file, None if its name and its first bytes are not a model file's."""
    if not is_drafted(path):
        return None
    from rnncalc.models.files import read

    with progress_of(None, "reading"):
        return read(path, "--weights")


def matched_with(spec: Spec, file: ModelFile, network: Network | None = None) -> Match:
    """Compare a spec with a model file. network: that of the spec with the steps of a run.

    Raises SpecError, with the place in the spec, if a layer matches several of the file's, or if the two use different
    conventions.
    """
    from rnncalc.models.matching import match, of_sequences

    if spec.described.convention not in (None, file.framework) and file.framework == spec.own_convention:
        message = f"the file has the tensors of {file.framework}; leave this flag out"
        raise SpecError((Problem((), message, "--convention"),))
    try:
        with progress_of(None, "comparing"):
            comparison = match(network or spec.described, file)
            return comparison._replace(tensors=(*comparison.tensors, *of_sequences(spec.described, file, comparison)))
    except SpecError as error:
        source, problems = escape_path(spec.source), []
        for problem in error.problems:
            line, column = (None if is_drafted(spec.source) else spec.place(problem.path)) or (None, None)
            problems.append(problem._replace(source=source, line=line, column=column))
        raise SpecError(tuple(problems)) from None


def weights_within(
    spec: Spec, file: ModelFile, inputs: Inputs | None = None, most_multiply_adds: int | None = None
) -> Weights:
    """Return the weights of each layer from a model file; nothing is read for a pass that is refused.

    most_multiply_adds: of the pass; None if there is none. The whole model of a network is compared with the file.
    Raises SpecError if a tensor does not match the spec.
    """
    from rnncalc.models.matching import weights_of
    from rnncalc.questions.price import refuse_pass
    from rnncalc.questions.run import with_steps_to_run
    from rnncalc.reports.read import cured, differences, messages, name

    whole, within = spec.above or (spec, None)
    timed = with_steps_to_run(spec.network, inputs)
    if most_multiply_adds is not None:
        refuse_pass(timed, most_multiply_adds)
    matched = matched_with(whole, file, None if within else timed)
    where, written = f"'{escape_path(file.path)}'", not is_drafted(whole.source)
    checks = enumerate(zip(matched.tensors, messages(matched), strict=True))
    wrong = [(key, message) for key, message, *_ in differences(matched)]
    wrong += [(name(each), text) for number, (each, text) in checks if text and number not in matched.explained]
    for placed in spec.network.stack:
        if isinstance(placed.layer, External) or placed.layer.extra_inputs:
            extra = "" if isinstance(placed.layer, External) else "reads extra inputs, and "
            wrong.append((escape(placed.name), f"{extra}is not computed here: a run differs from the model's"))
    if wrong:
        raise SpecError(first([Problem((), f"{key}: {cured(message, written)}", where) for key, message in wrong]))
    stack = [placed for placed in whole.described.stack if placed.network == within]
    with progress_of(lambda: sum(placed.params for placed in stack), "reading") as progress:
        return weights_of(stack, file.path, matched, progress)
