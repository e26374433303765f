"""Parts shared by reports on a network: the heading with its setting, and the table of its layers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, groupby
from typing import TYPE_CHECKING, Any

from rnncalc.conventions import convention
from rnncalc.conventions.tensor import BIASES
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.parts import Part, steps_known
from rnncalc.words import all_of, plural

if TYPE_CHECKING:
    from rnncalc.conventions.rules import Convention
    from rnncalc.network.model import Described
    from rnncalc.network.stack import Placed
    from rnncalc.typeset.sheet import Row, Sheet

MOST_LAYERS = 6
"""The most layers in a title; of more, the middle is left out."""


def title(*networks: Described) -> str:
    """Return a network's name, or else its layers: `lstm 20 → dense 5`.

    networks: the same network with several numbers; a number that differs is written `?`.
    """
    network, parts = networks[0], [each.parts for each in networks]
    if network.name != Network.defaults["name"]:
        return network.name
    chains = [" → ".join(_chain([each[name] for each in parts])) for name in network.parts]
    return "; ".join(f"{name}: {chain}" if name else chain for name, chain in zip(network.parts, chains, strict=True))


def _chain(parts: Sequence[Part]) -> list[str]:
    """Return a part's layers in a few words each, equal neighbours as one; parts: with several numbers."""
    placed = [(*part.layers, *([part.output] if part.output else [])) for part in parts]
    texts = [
        (words(*layers), layers[0].repeat)
        if len({layer.repeat for layer in layers}) == 1
        else (f"{words(*layers)} ×?", 1)
        for layers in zip(*placed, strict=True)
    ]
    chain = []
    for text, equal in groupby(texts, key=lambda word: word[0]):
        copies = sum(repeat for _, repeat in equal)
        chain.append(f"{text} ×{copies:,}" if copies > 1 else text)
    return chain if len(chain) <= MOST_LAYERS else [*chain[:3], "…", *chain[-2:]]


BEFORE = {
    ("bidirectional", True): "bidirectional",
    ("recurrence", "diagonal"): "diagonal",
    ("peepholes", True): "peephole",
    ("coupled", True): "coupled",
    ("layer_norm", True): "normalised",
}
"""The words before a layer's kind, by the options and values that they describe."""


def words(layer: Layer, *others: Layer) -> str:
    """Return `diagonal lstm 20`, `lstm 20→10` with a projection, `lstm 20, extra_inputs=?` if another one differs."""
    values = layer.values()
    compared = values.items() if others else ()
    differing = [option for option, value in compared if any(getattr(each, option) != value for each in others)]
    kept = {**values, **dict.fromkeys(differing, "?")} if differing else values
    before = [word for (option, value), word in BEFORE.items() if values.get(option) == value]
    projection = "" if kept.get("projection") is None else f"→{kept['projection']}"
    shown = (layer.number, "projection", "repeat")
    differing = [f", {option}=?" for option in differing if option not in shown]
    number = f" {kept[layer.number]}" if layer.number and kept[layer.number] is not None else ""
    return f"{' '.join([*before, layer.kind])}{number}{projection}{''.join(differing)}"


def written_apart(layer: Layer, others: Iterable[Layer]) -> list[str]:
    """Return the options of a layer, as a spec writes them, that others of its kind have with another value.

    Left out are its name and place, its number, and what `words` says already.
    """
    same_kind = [other for other in others if type(other) is type(layer)]
    shown = {"name", "path", "repeat", "projection", layer.number, *(option for option, _ in BEFORE)}
    values = {option: getattr(layer, option) for option in layer.options() if option not in shown}
    return [
        f"{option}={str(value).lower() if isinstance(value, bool) else value}"
        for option, value in values.items()
        if value is not None and any(getattr(other, option) != value for other in same_kind)
    ]


def steps_of(network: Described) -> int | dict[str, int | None] | None:
    """Return the number of steps: one number, or one for each half of an encoder-decoder; None for a model."""
    if network.networks:
        return None
    if len(network.parts) > 1:
        return {str(name): part.steps for name, part in network.parts.items()}
    return network.parts[None].steps


def flow(network: Described) -> str:
    """Return the topology and the steps in words; of a model how many networks it has, and those words if all agree."""
    if not isinstance(network, Network):
        flows = [flow(member.network) for member in network.networks.values()]
        return "; ".join([plural(len(flows), "network"), *({*flows} if len({*flows}) == 1 else ())])
    steps = [f"{part.steps:,}" if part.steps else "T" for part in network.parts.values()]
    ending = "" if steps == ["1"] else "s"
    return f"{network.topology_name}, {' and '.join(steps)} step{ending}"


def steps_cure(*networks: Described) -> str:
    """Return where to give the number of steps: in the networks of models that lack it, or with a flag."""
    members = [(name, each.network) for network in networks for name, each in network.networks.items()]
    lacking = dict.fromkeys(name for name, network in members if not steps_known(network.parts))
    return f"give steps in {all_of([*lacking])}" if lacking else "give steps, or -T"


def setting(network: Described) -> str:
    """Return the topology, the steps, the convention and the notation if one is named, in words."""
    if network.convention is None:
        conventions = sorted({each.network.convention for each in network.networks.values()})
        return f"{flow(network)}; conventions {all_of([convention(name).title for name in conventions])}"
    row = convention(network.convention)
    note = biases_of(network, row)
    spelled = f"; notation {network.notation}" if network.notation else ""
    return f"{flow(network)}; convention {row.title}{': ' * bool(note)}{note}{spelled}"


def biases_of(network: Described, row: Convention) -> str:
    """Return how many bias vectors the convention has; nothing if no cell has any, and of a plain RNN without gates."""
    cells = [(cell, placed) for placed in network.stack if isinstance(cell := placed.layer, Cell)]
    biased = [pair for pair in cells if any(tensor.role in BIASES for tensor in pair[1].tensors)]
    if any(len(cell.gates(placed.inputs)) > 1 for cell, placed in biased):
        return row.note
    roles = {block.role for _, placed in biased for tensor in placed.tensors for block in tensor.blocks}
    return ("", "one bias vector", "two bias vectors")[len(roles.intersection(BIASES))]


def notation_of(network: Described) -> str | None:
    """Return the notation that its tensors are shown in; None if a framework's names are used."""
    return network.notation or ("w" if network.convention and convention(network.convention).symbols else None)


LEAST_JOINED = 3
"""How many equal rows next to one another are one."""


def joined(rows: Iterable[tuple[Placed, Row]]) -> Iterator[tuple[Placed, Row]]:
    """Yield the rows of layers; several that are equal but for their name are one with their sums."""
    for _, equal in groupby(rows, key=lambda each: (each[0].network, each[0].part, each[1])):
        several = [*equal]
        if (number := len(several)) < LEAST_JOINED:
            yield from several
            continue
        (first, row), (last, _) = several[0], several[-1]
        kind = f"{first.kind} ×{number}"
        cells = (kind if value == first.kind else _times(number, value) for value in row)
        after = "" if first.kind in row else f" ×{number}"
        yield first._replace(name=f"{first.name} … {last.name}{after}"), tuple(cells)


def _times(number: int, value: Any) -> Any:
    """Return a cell of one row for so many equal ones: the product of a number or a formula."""
    from rnncalc.typeset.sheet import Arithmetic

    if isinstance(value, Arithmetic):
        texts = [re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", "", text) for text in (value.letters, value.numbers)]
        sums = ["({})" if re.search(" [+−] ", text) else "{}" for text in texts]
        both = zip(sums, (value.letters, value.numbers), strict=True)
        return Arithmetic(*(f"{number} × {form.format(text)}" for form, text in both))
    return number * value if isinstance(value, int) or has_letters(value) else value


WHOLE = ("In → out", "Output shape", "Shape")
"""The text columns in a table of layers that stay on one line."""


def layer_sheets(
    network: Described,
    words: tuple[str, ...],
    numbers: tuple[str, ...],
    rows: Iterable[tuple[Placed, Row]],
    total: Row,
    notes: Iterable[str] = (),
) -> list[Sheet]:
    """Return a table with a row for each layer, or several, and for a model one with the sums of each network.

    words, numbers: the titles of the columns. rows: each with its layer; the layer's name starts the row, after its
    network in a model, and its half in an encoder-decoder. total: the numbers of the last row.
    """
    # imported here, because programs read no tables
    from rnncalc.typeset.sheet import Column, Sheet, cell, key_columns, number_columns, total_row

    rows, several = [*rows], network.networks
    halves = any(layer.part for layer, _ in rows)
    keys = [*["Network"][: bool(several)], *["Part"][:halves], "Layer"]
    columns = (*key_columns(*keys), *(Column(word, whole=word in WHOLE) for word in words), *number_columns(*numbers))
    attributes = {"Network": "network", "Part": "part", "Layer": "name"}
    cells = [(*(getattr(layer, attributes[key]) or "" for key in keys), *map(cell, row)) for layer, row in rows]
    shown = [not column.right or any(row[place] is not None for row in cells) for place, column in enumerate(columns)]
    called = (
        f"{name}: called {each.calls:,} times; its parameters count once, its work and its states {each.calls:,} times."
        for name, each in several.items()
        if each.calls > 1
    )
    words_around: dict[str, Any] = {"title": title(network), "subtitle": setting(network), "notes": (*notes, *called)}

    def sheet(columns: tuple[Column, ...], cells: list[Row], shown: list[bool], words: Mapping[str, Any]) -> Sheet:
        """Return a table of those columns that are shown."""
        rows = [tuple(compress(row, shown)) for row in (*cells, total_row(columns, *map(cell, total)))]
        return Sheet((*compress(columns, shown),), rows[:-1], rows[-1], **words)

    layers = sheet(columns, cells, shown, words_around)
    if len(several) < 2 or not numbers:
        return [layers]
    settings = {
        "Topology": [flow(each.network) for each in several.values()],
        "Convention": [convention(each.network.convention).title for each in several.values()],
    }
    differing = {word: values for word, values in settings.items() if len({*values}) > 1}
    sums: list[Row] = []
    for name, *values in zip(several, *differing.values(), strict=True):
        by_column = zip(*(row[-len(numbers) :] for layer, row in rows if layer.network == name), strict=True)
        sums.append((name, *values, *(cell(None if None in column else sum(column)) for column in by_column)))
    of_networks = (*key_columns("Network"), *map(Column, differing), *number_columns(*numbers))
    shown = [*[True] * (1 + len(differing)), *shown[-len(numbers) :]]
    return [layers, sheet(of_networks, sums, shown, {"title": "Networks"})]


def in_model(within: str | None, sheets: Iterable[Sheet]) -> Iterator[Sheet]:
    """Yield tables of layers, in a model with the name of the network in their titles: `actor.lstm_1`."""
    for sheet in sheets:
        yield sheet.replace(title=f"{within}.{sheet.title}") if within and sheet.title else sheet


def one_to_many(network: Network) -> str | None:
    """Return a sentence on the later steps of a network that reads one vector; None for other networks."""
    if network.topology != "one-to-many":
        return None
    if network.feedback:
        return "One-to-many: the input is read once, and each output is fed back as the next input."
    return "One-to-many: the input is read once, zeros follow at the later steps; the products with them are counted."


def shape_text(array: Mapping[str, int | None]) -> str:
    """Return a shape for people, `(B, T, 20)`."""
    sizes = [axis if size is None else str(size) for axis, size in array.items()]
    return f"({', '.join(sizes)})"
