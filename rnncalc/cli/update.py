"""The flags that describe a training step; they need `--training`."""

from __future__ import annotations

from typing import TypedDict

import click

from rnncalc.cli.flags import WordOption, together
from rnncalc.cli.problems import AllAtOnce
from rnncalc.errors import Problem, SpecError
from rnncalc.layers.options import Size


class UpdateFlags(TypedDict, total=False):
    """Arguments of `questions.training`; without those that were not given."""

    chunk: int
    batch: int
    optimizer: str


def _optimizers() -> tuple[str, ...]:
    from rnncalc.network.training import OPTIMIZERS

    return tuple(OPTIMIZERS)


training_flags = together(
    click.option(
        "--training", is_flag=True, help="Add what a training step needs: gradients, saved activations, bytes."
    ),
    click.option("--chunk", metavar="K", help="Steps that the gradient passes through; all of them by default."),
    click.option("--batch", metavar="B", help="Sequences in a batch; 1 by default."),
    click.option("--optimizer", cls=WordOption, words=_optimizers, metavar="NAME", help="Optimizer; sgd by default."),
)


def update_of(training: bool, sizes: dict[str, str | None], optimizer: str | None) -> UpdateFlags:
    """Return the arguments of the flags. Raises SpecError for invalid sizes, and for flags without `--training`."""
    given = [flag for flag, text in {**sizes, "--optimizer": optimizer}.items() if text is not None]
    if given and not training:
        message = "goes with --training; add that, or remove this"
        raise SpecError(tuple(Problem((), message, flag) for flag in given))
    with AllAtOnce() as at_once:
        chunk, batch = (None if text is None else at_once.ask(_read, flag, text) for flag, text in sizes.items())
    found: UpdateFlags = {}
    if chunk is not None:
        found["chunk"] = chunk
    if batch is not None:
        found["batch"] = batch
    if optimizer is not None:
        found["optimizer"] = optimizer
    return found


def _read(flag: str, text: str) -> int:
    from rnncalc.spec.flags import read_value  # read only the sizes that are given

    number: int = read_value(flag, text, Size())
    return number
