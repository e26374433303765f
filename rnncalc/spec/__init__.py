"""From a spec file or flags to a Network, every problem gathered with its place."""

from __future__ import annotations

import os

from rnncalc.model.network import Network
from rnncalc.spec.flags import override, tree
from rnncalc.spec.reader import read_network


def load(path: str | os.PathLike[str], **overrides: str | None) -> Network:
    """Return the network that a spec file describes.

    `overrides` stand in place of the file's own steps, topology or convention, each as written in a spec.
    Raises SpecError with every problem of the file, or OSError when it cannot be read.
    """
    source = os.fspath(path)
    with open(source, "rb") as file:
        return parse(file.read(), source, os.path.splitext(os.path.basename(source))[0], **overrides)


def parse(data: bytes, source: str, name: str, **overrides: str | None) -> Network:
    """Return the network that the bytes of a spec describe; `source` names them in problems, `name` is the default.

    Raises SpecError with every problem there is.
    """
    from rnncalc.spec.document import read_document  # yaml comes with it, and flags do without

    root, problems = read_document(data, source)
    override(root, overrides)
    return read_network(root, source, name, problems)


def from_flags(
    input: str | None,
    layers: tuple[str, ...],
    output: str | None,
    **others: str | None,
) -> Network:
    """Return the network in flags, each as typed. Raises SpecError with every problem, located by its flag."""
    return read_network(tree(input=input, layers=layers, output=output, **others), "", "network", [])
