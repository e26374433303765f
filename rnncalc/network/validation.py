"""What can be wrong with a network as a whole: values out of range, options that cannot apply, layers that do not fit.

Also names that two layers share, halves and feedback that do not fit, and impossible counts.

Every check yields problems; none raises. The path of a problem is the path in a spec file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, get_args

from rnncalc.bounds import MAX_LAYERS, MOST_LETTERS, MOST_TENSORS
from rnncalc.conventions import CONVENTIONS, NOTATIONS, convention, lacks
from rnncalc.errors import Path, Problem
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dropout, Embedding, External, Layer, OptionProblem, Output, Shape, Transform
from rnncalc.layers.options import SIZE, Allowed, Choice, Ratio, Size, Switch, Text, WholeNumber
from rnncalc.letters import OWN_LETTER, has_letters, in_ascii
from rnncalc.network.flow import InitialState, Placement, flow, grid_after, shape_of, turns
from rnncalc.network.parts import (
    OUTPUT,
    TOPOLOGIES,
    Expect,
    InitialStates,
    Part,
    Parts,
    Topology,
    TopologyName,
    attending,
    default_topology,
    joins,
    letters_of,
    name_of,
    name_of_start,
    part_of,
)
from rnncalc.printable import escape
from rnncalc.records import Frozen
from rnncalc.words import all_of, did_you_mean, one_of, plural

if TYPE_CHECKING:
    from fractions import Fraction

    from rnncalc.network.budget import Budget
    from rnncalc.network.training import Update


class Description(Frozen):
    """The description of a network, before it is checked."""

    input: int | None = None
    layers: Sequence[Layer] = ()
    output: Output | int | None = None
    steps: int | None = None
    topology: TopologyName | None = None
    encoder: Part | None = None
    decoder: Part | None = None
    feedback: bool = False
    convention: str = "textbook"
    notation: str | None = None
    symbols: Mapping[str, str] = {}
    rate: Fraction | float | None = None
    sizes: Mapping[str, int] | None = None
    name: str = "network"
    source: str | None = None
    expect: Expect | None = None
    budget: Budget | None = None
    training: Update | None = None


KEYS: dict[str, Allowed] = {
    "name": Text(),
    "source": Text(most=10_000),
    "convention": Choice(CONVENTIONS.keys()),
    "notation": Choice(NOTATIONS),
    "topology": Choice(TOPOLOGIES),
    "steps": SIZE,
    "input": SIZE,
    "feedback": Switch(),
    "rate": Ratio(above_zero=True),
}
"""The allowed values of the plain keys of a network or a part."""


PART_VALUES: dict[str, Allowed] = {
    "steps": SIZE,
    "input": Size(0, letters=True),
    "initial_states": Choice(get_args(InitialStates)),
}
"""The allowed values of the plain keys of a half; an input of 0 is a decoder's alone."""

BEGINS, TAKES_LAST = "repeat_vector", "last"
"""The kinds that begin a sequence with one vector, and that end one with its last vector."""


def parts_of(network: Description) -> dict[str | None, Part]:
    """Return the parts of a network that may still be wrong."""
    halves = {"encoder": network.encoder, "decoder": network.decoder}
    if network.encoder or network.decoder:
        return {name: part for name, part in halves.items() if part}
    steps = 1 if network.topology == Topology.ONE_TO_ONE.value else network.steps
    return {None: part_of(network.input or 0, network.layers, network.output, steps)}


def type_problems(network: Description) -> Iterator[Problem]:
    """Yield values of the wrong type."""
    halves = {"encoder": network.encoder, "decoder": network.decoder}
    for name, half in halves.items():
        if half is not None and not isinstance(half, Part):
            yield Problem((name,), f"expected a Part, got {half!r}")
    if not isinstance(network.sizes, Mapping | None):
        yield Problem(("sizes",), f"expected a mapping such as {{'D': 64}}, got {network.sizes!r}")
    letters = network.symbols
    if not isinstance(letters, Mapping) or not all(isinstance(each, str) for pair in letters.items() for each in pair):
        yield Problem(("symbols",), f"expected a mapping such as {{'h': 'a'}}, got {letters!r}")
    parts_at: dict[Path, Description | Part] = {(): network}
    parts_at |= {(name,): half for name, half in halves.items() if isinstance(half, Part)}
    for path, part in parts_at.items():
        if not isinstance(part.layers, Sequence) or isinstance(part.layers, str):
            yield Problem((*path, "layers"), f"expected a list of layers, got {part.layers!r}")
            continue
        fine = all(issubclass(kind, Layer) for kind in {*map(type, part.layers)})
        for place, layer in () if fine else enumerate(part.layers):
            if not isinstance(layer, Layer):
                yield Problem((*path, "layers", place), f"expected a layer, such as LSTM(20), got {layer!r}")
        attention = part.attention if isinstance(part, Part) else None
        if attention is not None and not isinstance(attention, Transform):
            yield Problem((*path, "attention"), f"expected a DecoderAttention, got {attention!r}")
        units = None if isinstance(part.output, Output) else part.output
        if isinstance(units, bool) or not (units is None or isinstance(units, int) or has_letters(units)):
            yield Problem((*path, "output"), f"expected an Output, or its units, got {part.output!r}")


def problems(network: Description) -> Iterator[Problem]:
    """Yield everything that is wrong with a network whose pieces are of the right types."""
    parts = parts_of(network)
    around = any(isinstance(layer, Transform | Embedding) for part in parts.values() for layer in part.layers)
    wrong = [*_problems(network, parts)]
    yield from wrong
    if around and not wrong:  # else no way of a sequence through the layers can be followed
        wrong = [*_unreadable(network, attending(dict(parts)))]
        yield from wrong
    if network.symbols and not wrong:
        yield from _wrong_letters(network, attending(dict(parts)))


def _problems(network: Description, parts: Parts) -> Iterator[Problem]:
    if wrong := [*_values(network, parts)]:
        yield from wrong
        return  # with such values no width can be computed
    too_many = [*_too_many(parts)]
    parts = parts if too_many else attending(dict(parts))
    if network.encoder or network.decoder:
        yield from _encoder_decoder(network)
        if network.encoder and network.decoder and not too_many:
            yield from states_that_do_not_fit(network.encoder, network.decoder)
            yield from _cannot_attend(network.encoder, parts["decoder"])
    else:
        yield from _whole(network)
    if too_many:
        yield from too_many
        return
    for name, part in parts.items():
        many = name is not None or (network.topology or "").endswith("to-many")
        yield from _layers(name, part, network.convention, many=many)
        if part.output and part.output.tied:
            yield from _tied(_at(name, OUTPUT, "tied"), part)
    yield from _tables(parts)
    if any(layer.name for part in parts.items() for _, layer in _layers_at(*part)):
        yield from clashes(parts)  # default names never clash among themselves
    if network.feedback:
        yield from cannot_feed_back(network)
    if network.notation is not None:
        yield from _cannot_spell(network.notation, network.convention)
    if network.expect is not None:
        yield from _expected(network.expect, parts)
    if network.training is not None:
        from rnncalc.network import training

        yield from training.problems_of(network.training)
    if network.budget is not None:
        from rnncalc.network.budget import problems_of

        yield from problems_of(network.budget, (name for _, name, _ in layer_names(parts)))


def _at(part: str | None, *path: str | int) -> Path:
    """Return the path of a place in a part, or in a network without parts."""
    return (part, *path) if part else path


def too_many_layers(number: int) -> str:
    """Return the message for too many layers in a half."""
    return f"expected at most {MAX_LAYERS:,} layers after repeat, got {number:,}; stack fewer"


def _too_many(parts: Parts) -> Iterator[Problem]:
    for name, part in parts.items():
        number = sum(layer.repeat for layer in part.layers)
        if number > MAX_LAYERS:
            yield Problem(_at(name, "layers"), too_many_layers(number), gaps=(number - MAX_LAYERS,))
        externals = [layer for layer in part.layers if isinstance(layer, External)]
        if (number := sum(layer.repeat * len(layer.tensors) for layer in externals)) > MOST_TENSORS:
            message = f"expected at most {MOST_TENSORS:,} tensors of external layers, got {number:,}"
            yield Problem(_at(name, "layers"), f"{message}; write their number of parameters")
    if (number := len(letters_of(parts))) > MOST_LETTERS:
        message = f"expected at most {MOST_LETTERS} different letters, got {number}: no formula with more can be read"
        yield Problem((next(filter(None, parts), "layers"),), f"{message}; give numbers for some sizes")


def _values(network: Description, parts: Parts) -> Iterator[Problem]:
    for key, allowed in KEYS.items():
        value = getattr(network, key)
        if value is not network.defaults[key] and (problem := allowed.problem(value)):
            yield Problem((key,), problem)
    for name, part in parts.items():
        for key in PART_VALUES if name else ():
            value = getattr(part, key)
            allowed = KEYS[key] if key == "input" and name == "encoder" else PART_VALUES[key]
            if (value is not None or key == "input") and (problem := allowed.problem(value)):
                yield Problem((str(name), key), problem)
        for at, layer in _layers_at(name, part):
            for option, problem in layer.value_problems():
                yield Problem((*at, option), problem)


def _layers_at(name: str | None, part: Part) -> Iterator[tuple[Path, Layer]]:
    """Yield the layers of a part with their paths, the output layer last."""
    for place, layer in enumerate(part.layers):
        yield _at(name, "layers", place), layer
    if part.attention:
        yield _at(name, "attention"), part.attention
    if part.output:
        yield _at(name, OUTPUT), part.output


def _whole(network: Description) -> Iterator[Problem]:
    if network.input is None:
        yield Problem(("input",), "missing; give the number of features per step, or the vocabulary of an embedding")
    if not network.layers:
        yield Problem(("layers",), "missing; give at least one layer")
    if network.topology == "one-to-one" and network.steps not in (None, 1):
        message = f"one-to-one has 1 step, got {network.steps}; remove steps, or choose another topology"
        yield Problem(("steps",), message)


def _encoder_decoder(network: Description) -> Iterator[Problem]:
    for key in ("input", "layers", "output", "steps"):
        if getattr(network, key):
            yield Problem((key,), "does not apply beside encoder and decoder; move it into one of them")
    if network.topology is not None:
        yield Problem(("topology",), "does not apply to an encoder-decoder, which is a topology of its own; remove it")
    if network.encoder and network.encoder.attention:
        yield Problem(("encoder", "attention"), "only a decoder attends, to the encoder's outputs; move it there")
    if network.encoder and network.encoder.initial_states != "all":
        yield Problem(("encoder", "initial_states"), "only a decoder starts from the other half; move it there")
    if (decoder := network.decoder) and decoder.input == 0:
        attention = decoder.attention
        joins = attention and attention.joins[0] and attention.context != "added"
        if not (joins and decoder.layers and isinstance(decoder.layers[0], Cell)):
            message = "0: only a decoder whose first layer is recurrent and reads a context has no input of its own"
            yield Problem(("decoder", "input"), f"{message}; write a number, or give it attention")
    if network.encoder and network.encoder.output:
        yield Problem(("encoder", "output"), "only the decoder has an output; move it there")
    for name, part in (("encoder", network.encoder), ("decoder", network.decoder)):
        if part is None:
            yield Problem((name,), "missing; an encoder-decoder has both halves")
        elif not any(isinstance(layer, Cell) for layer in part.layers):
            message = f"the {name} needs a recurrent layer: its state joins the halves"
            yield Problem((name, "layers"), message, follows=True)


def _tables(parts: Parts) -> Iterator[Problem]:
    """Yield why the table of an embedding cannot be the encoder's."""
    for name, part in parts.items():
        first = part.layers[0] if part.layers else None
        at = _at(name, "layers", 0, "tied")
        if not isinstance(first, Embedding) or first.tied is None:
            continue
        encoder = parts.get("encoder")
        if name != "decoder" or not encoder:
            tables = "which the decoder's may be: two tables tied in a circle have no weights" if name else ""
            message = f"is the encoder's own table, {tables}" if name else "there is no encoder"
            yield Problem(at, f"{message}; remove it")
            continue
        table = encoder.layers[0] if encoder.layers else None
        if not isinstance(table, Embedding):
            yield Problem(at, "the encoder's first layer is not an embedding; make it one, or remove tied")
        elif (encoder.input, table.units) != (part.input, first.units):
            one, other = (
                f"{words:,} × {units:,}" for words, units in ((encoder.input, table.units), (part.input, first.units))
            )
            yield Problem(at, f"the encoder's table is {one}, and this one {other}; make them equal, or remove tied")


def _cannot_attend(encoder: Part, decoder: Part) -> Iterator[Problem]:
    """Yield why a decoder's attention cannot read the encoder's outputs, or its context cannot be read."""
    attention, at = decoder.attention, ("decoder", "attention")
    cells = [place for place, layer in enumerate(decoder.layers) if isinstance(layer, Cell)]
    if not attention or not cells:
        return
    for name, part in (("encoder", encoder), ("decoder", decoder)):
        for place, layer in enumerate(part.layers):
            where = (name, "layers", place, layer.kind)
            if layer.grid:
                yield Problem(where, "outputs places, and attention reads vectors; remove one of them")
            elif name == "encoder" and layer.time.ends:
                yield Problem(where, "ends the sequence, and attention reads all of the encoder's outputs; remove it")
            elif name == "decoder" and attention.loops and place <= cells[-1]:
                cure = (
                    "this attention needs the step before; remove this layer, or write query: after and context: output"
                )
                if not layer.time.by_step:
                    yield Problem(where, f"reads or makes several steps at once, and {cure}")
                elif isinstance(layer, Cell) and layer.bidirectional:
                    yield Problem((*where[:-1], "bidirectional"), f"reads later steps first, and {cure}")
    if attention.context == "added":
        context, below = (
            attention.output_width(0),
            next(join.inputs for join in joins(decoder) if join.place == cells[0]),
        )
        if context != below:
            message = f"added: the context has {context:,} numbers, and what it is added to {below:,}"
            yield Problem((*at, "context"), f"{message}; make them equal, or write input")
    after = attention.query == "after"
    query = attention.query_layer(cells)
    if attention.layer == "first" and decoder.layers[query].repeat > 1:
        yield Problem((*at, "layer"), "first: that layer is repeated; write the first of them as a layer of its own")
    if (after or attention.joins[1]) and not decoder.output and query == len(decoder.layers) - 1:
        message = f"no layer after the {attention.layer} recurrent one reads the context"
        option, cure = ("query", "query: before and context: input") if after else ("context", "context: input")
        yield Problem(
            (*at, option), f"{attention.values()[option]}: {message}; give the decoder an output, or write {cure}"
        )


def _spaces(name: str | None, part: Part, *, many: bool) -> Iterator[Problem]:
    """Yield where layers meet that differ in the space of a step. many: whether there is an output at every step."""
    space: tuple[int, ...] = ()
    ended = False  # whether a layer below ends the sequence
    outside = False  # whether the layer below is counted elsewhere, and may output places
    for place, (at, layer) in enumerate(_layers_at(name, part._replace(attention=None))):
        below, space = space, grid_after(layer, space)
        if layer.grid and outside and not below:
            width = next(join.inputs for join in joins(part) if join.place == place)
            places = plural(prod(layer.grid), "place")
            if has_letters(width) and width % prod(layer.grid) != 0:
                message = f"expected a number as the input width, to be divided by {places}, got {width}"
                yield Problem((*at, layer.kind), message, follows=True)
            elif width % prod(layer.grid) != 0:
                message = f"{plural(width, 'number')} per step: expected a multiple of {places}; change one of them"
                yield Problem((*at, layer.kind), message, follows=True)
        elif layer.grid and place and below != layer.grid:
            got = "x".join(map(str, layer.grid))
            cure = f"expected the space of the layer below, {'x'.join(map(str, below))}, got {got}"
            first = "make it the first layer, or put it after a conv_lstm or an external layer"
            message = cure if below else f"reads places; {first}"
            yield Problem((*at, "space" if below else layer.kind), message, follows=True)
        elif layer.output_grid(below) is None:
            shape = " x ".join(map(str, below))
            cure = "put a flatten layer before it"
            if not ended and (many or isinstance(layer, Cell) or layer.time.along):
                cure = "no layer is applied at each place; write it as an external layer"
            elif not ended:
                cure = f"put {TAKES_LAST}, then flatten, before it for the last step, or flatten alone for all steps"
            kind = OUTPUT if isinstance(layer, Output) else layer.kind
            where = at if isinstance(layer, Output) else (*at, layer.kind)
            message = f"{kind} reads a row of features, and the layer below outputs {shape} places; {cure}"
            yield Problem(where, message, follows=True)
        outside = isinstance(layer, External) or (outside and isinstance(layer, Dropout))
        ended = (ended or layer.time.ends) and not layer.time.begins


def _layers(name: str | None, part: Part, framework: str, *, many: bool) -> Iterator[Problem]:
    if any(layer.grid for layer in part.layers):
        yield from _spaces(name, part, many=many)
    for place, (at, layer) in enumerate(_layers_at(name, part)):
        if place and isinstance(layer, Embedding):
            message = "an embedding must be the first layer: it looks up token numbers; move it there"
            yield Problem((*at, "embedding"), message)
        for option, problem in _cured(layer, [*layer.condition_problems(), *layer.option_problems()], framework):
            yield Problem((*at, option), problem, follows=layer is part.attention)  # which other layers' widths are in
        for option, problem in lacks(layer, framework):
            gap = convention(framework).excess(layer) if option == "projection" else 0
            yield Problem((*at, option), problem, follows=gap > 0, gaps=(gap,) if gap else ())


def _cured(layer: Layer, problems: Iterable[OptionProblem], framework: str) -> Iterator[tuple[str, str]]:
    """Yield problems of a layer; an option is a cure too if the convention can express it."""
    for option, message, *others in problems:
        can = [other for other in others if convention(framework).expresses(layer.replace(**{other: 1}))]
        yield option, message + "".join(f", or give it {other}" for other in can)


def _unreadable(network: Description, parts: Parts) -> Iterator[Problem]:
    """Yield the layers that cannot read what reaches them, and an output that is not what the topology says."""
    topology = network.topology or default_topology(network.layers)
    moves = flow(parts, topology, feedback=network.feedback)
    paths = {layer: path for path, layer, _ in layer_names(parts)}
    sizes: list[Shape] = []
    ended: str | None = None  # the layer that ended the sequence
    for move in moves:
        if isinstance(move, Placement) and not isinstance(move, InitialState):
            path, x, layer = paths[move.name], sizes[move.reads[0]], move.layer
            if wrong := [*_not_read(layer, x, ended, topology)]:
                for option, problem in _cured(layer, wrong, network.convention):
                    yield Problem((*path, option), problem, follows=True)
                return
            ended = None if layer.time.begins else layer.kind if layer.time.ends else ended
            if isinstance(layer, Output) and layer.tied:
                units = parts[move.part].layers[0].output_width(1)
                if x[-1] != units:
                    message = f"the last layer must output the embedding's width, {units:,}, got {x[-1]:,}"
                    yield Problem((*path, "tied"), f"{message}; add a dense layer")
        sizes.append(shape_of(move, sizes, moves))
    many = len(sizes[-1]) > 1
    if ended and not many and (parts.keys() == {"decoder", "encoder"} or topology.endswith("to-many")):
        where = "a decoder" if None not in parts else topology
        message = f"{where} has an output at every step, and {ended} ends the sequence"
        cure = "" if None not in parts else "make it many-to-one, or "
        yield Problem(("topology",), f"{message}; {cure}begin it again with {BEGINS}")


def _not_read(layer: Layer, shape: Shape, ended: str | None, topology: str) -> Iterator[OptionProblem]:
    """Yield why a layer cannot read an input of a shape; ended: the kind that ended the sequence below it."""
    sequence = len(shape) > 1
    begin = f"put a {BEGINS} before it"
    if isinstance(layer, Cell) and not sequence and topology != Topology.ONE_TO_ONE:
        below = f"{ended} below it ends the sequence in one vector" if ended else "one vector reaches it"
        yield layer.kind, f"reads a sequence, and {below}; {begin}"
    if layer.time.begins and sequence:
        yield layer.kind, f"reads one vector, and gets a sequence; put a layer {TAKES_LAST} before it"
    elif layer.time.along and not sequence:
        cure = begin if ended else "choose a topology that reads a sequence, or remove it"
        yield layer.kind, f"reads a sequence, and one vector reaches it; {cure}"
    else:
        yield from layer.input_problems(shape)


def _cannot_spell(notation: str, convention: str) -> Iterator[Problem]:
    from rnncalc.conventions.notation import NOTATION_BY_NAME  # imported only for a network with a notation

    only = NOTATION_BY_NAME[notation].only
    if only and only != convention:
        others = one_of([name for name, each in NOTATION_BY_NAME.items() if not each.only])
        message = f"{notation} goes with the convention {only} alone, and the convention here is {convention}"
        yield Problem(("notation",), f"{message}; make the convention {only}, or the notation {others}")


def _wrong_letters(network: Description, parts: Parts) -> Iterator[Problem]:
    """Yield letters of symbols that no layer has, that are no letters, or that another symbol of a layer has too."""
    from rnncalc.conventions.notation import NOTATION_BY_NAME  # imported only for a network with letters of its own
    from rnncalc.network.stack import symbols_of

    plain = NOTATION_BY_NAME[network.notation or "w"]
    fine = {key: word for key, word in network.symbols.items() if re.fullmatch(OWN_LETTER, str(word))}
    moves = flow(parts, network.topology or default_topology(network.layers), feedback=network.feedback)
    layers = dict(symbols_of(moves, convention(network.convention), plain, fine))
    symbols = dict.fromkeys(symbol for pairs in layers.values() for symbol, _ in pairs)
    listed = f"; the symbols are {all_of([*symbols])}"
    for key, word in network.symbols.items():
        at: Path = ("notation", "letters", escape(key))
        if key not in fine:
            yield Problem(at, f"expected a letter, such as a, Γ_u, c̃ or W_F, or a^l, got '{escape(str(word))}'")
        elif key not in symbols and in_ascii(key) not in symbols:
            near = did_you_mean(key, [*symbols])
            yield Problem(at, f"no layer here has this symbol in the notation {plain.name}{near or listed}")
            listed = listed if near else ""  # once
    for name, pairs in layers.items():
        first, wrong = dict[str, str](), dict[str, str]()  # the symbol of a letter, and a message for each key
        for symbol, letter in pairs:
            other = first.setdefault(letter, symbol)
            if other != symbol:
                both = symbol, other, *symbol.partition("_")[2], *other.partition("_")[2]
                key = next((each for each in both if each in fine or in_ascii(each) in fine), next(iter(fine)))
                message = f"{other} and {symbol} of {escape(name)} would both be {letter}; write another letter"
                wrong.setdefault(key, message)
        yield from (Problem(("notation", "letters", escape(key)), message) for key, message in wrong.items())


def _tied(at: Path, part: Part) -> Iterator[Problem]:
    first = part.layers[0] if part.layers else None
    if part.output is None or not isinstance(first, Embedding):
        message = (
            "shares the matrix of an embedding, and the first layer is not an embedding; make it one, or remove tied"
        )
        yield Problem(at, message, follows=True)
        return
    *_, last = joins(part)
    reads = last.outputs + part.output.extra_inputs + part.contexts.get(len(part.layers), 0)
    if part.output.units != part.input:
        message = f"the output must be as wide as the embedding's vocabulary, {part.input:,}, got {part.output.units:,}"
        yield Problem(at, message, follows=True, gaps=(part.output.units - part.input,))
    if reads != first.units and not any(isinstance(layer, Transform) for layer in part.layers):
        what = "the last layer must output" if reads == last.outputs else "the output must read"
        message = f"{what} the embedding's width, {first.units:,}, got {reads:,}"
        message = f"{message}; add a projection or a dense layer"
        yield Problem(at, message, follows=True, gaps=(reads - first.units,))


def clashes(parts: Parts) -> Iterator[Problem]:
    """Yield names that two layers share, each at a given name: default names never clash."""
    owners: dict[str, tuple[Path, bool]] = {}
    messages: dict[Path, str] = {}
    for path, name, has_name in layer_names(parts):
        other, other_given = owners.setdefault(name, (path, has_name))
        if other is not path:
            by_default = "" if has_name and other_given else ", by default"
            messages.setdefault(path if has_name else other, f"another layer is called '{escape(name)}'{by_default}")
    for path, clash in messages.items():
        yield Problem((*path, "name"), f"{clash}; choose another name")


def layer_names(parts: Parts) -> Iterator[tuple[Path, str, bool]]:
    """Yield the path and the name of every layer, the output layer's first, and whether the spec gives that name."""
    for part_name, part in parts.items():
        if part.output:  # one at most, a decoder's if there are two parts
            yield _at(part_name, OUTPUT), OUTPUT, False
    counted: Counter[str] = Counter()
    for part_name, part in parts.items():
        for join in joins(part):
            path = _at(part_name, "layers", join.place)
            name, has_name = name_of(join.layer, join.copy, counted), join.layer.name is not None
            for state in made_states(join.layer):
                yield path, name_of_start(name, state), has_name
            yield path, name, has_name
        if attention := part.attention:
            yield (str(part_name), "attention"), attention.name or "attention", attention.name is not None


def made_states(layer: Layer) -> tuple[str, ...]:
    """Return the states of a layer that a dense layer makes before the first step."""
    return tuple(layer.states) if isinstance(layer, Cell) and layer.initial_state is not None else ()


def states_that_do_not_fit(encoder: Part, decoder: Part) -> Iterator[Problem]:
    """Yield where the decoder's recurrent layers cannot start from the encoder's final states."""
    giving, taking = _recurrent(encoder), _recurrent(decoder)
    if decoder.initial_states != "all":
        giving, taking = giving[-1:], taking[:1] if decoder.initial_states == "last" else []
    elif giving and taking and len(giving) != len(taking):
        message = f"expected {plural(len(giving), 'recurrent layer')}, as in the encoder, got {len(taking)}"
        message += "; change one of the halves, or write initial_states: last or zeros in the decoder"
        yield Problem(("decoder", "layers"), message, follows=True, gaps=(len(taking) - len(giving),))
    distinct: dict[Problem, Problem] = {}
    meetings: Counter[Problem] = Counter()
    for (_, gives), (place, takes) in zip(giving, taking, strict=False):
        for problem in _between(gives, takes, ("decoder", "layers", place)):
            same = problem._replace(gaps=())
            distinct.setdefault(same, problem)
            meetings[same] += 1
    for same, problem in distinct.items():
        yield problem._replace(gaps=(*problem.gaps, meetings[same])) if problem.follows else problem


def _recurrent(part: Part) -> list[tuple[int, Cell]]:
    """Return the recurrent layers, each of a `repeat` by itself, with their places in `layers`."""
    cells = [(place, layer) for place, layer in enumerate(part.layers) if isinstance(layer, Cell)]
    return [(place, cell) for place, cell in cells for _ in range(cell.repeat)]


def _between(gives: Cell, takes: Cell, at: Path) -> Iterator[Problem]:
    """Yield what is wrong where one layer's final state starts the other."""
    if takes.initial_state is not None:  # dense layers make its states from the encoder's
        widths = dict(zip(gives.states, gives.state_widths(), strict=True))
        others = [widths.get(state, gives.state_widths()[0]) for state in takes.states]
        if width := next((width for width in others if width != takes.initial_state), None):
            message = f"expected {width:,}, the width of the encoder's final state, got {takes.initial_state:,}"
            yield Problem((*at, "initial_state"), message, follows=True, gaps=(takes.initial_state - width,))
    elif gives.kind != takes.kind:
        message = f"expected {gives.kind}, whose final state in the encoder starts this layer, got {takes.kind}"
        if "initial_state" in takes.options() and len({*gives.state_widths()}) == 1:
            option = f"initial_state {gives.state_widths()[0]:,}, whose dense layers make its states"
            message = f"{message}; change it to {gives.kind}, or give it {option}"
        yield Problem((*at, takes.kind), message, follows=True)
    elif (wanted := gives.state_widths()) != (taken := takes.state_widths()):
        want, got = (" and ".join(map(str, widths)) for widths in (wanted, taken))
        merged = "" if gives.merge in (None, "concat") else f"; merge: {gives.merge} joins outputs, not states"
        joined = f" (both directions side by side{merged})" if gives.bidirectional else ""
        message = f"expected a state of {want}, as the encoder's final one{joined}, got {got}"
        units, rest = divmod(gives.directions * gives.units, takes.directions)
        if not rest and takes.replace(units=units).state_widths() == wanted:
            message = f"{message}; give it {plural(units, 'unit')}"
        gaps = tuple(width - other for other, width in zip(wanted, taken, strict=True) if width != other)
        yield Problem((*at, takes.kind), message, follows=True, gaps=gaps)
    if takes.learned_state:
        message = "does not apply in a decoder, which starts from the encoder's final state; remove it"
        yield Problem((*at, "learned_state"), message)


def cannot_feed_back(network: Description) -> Iterator[Problem]:
    """Yield the reasons why the output of a step cannot be the next input."""
    at = ("feedback",)
    if network.encoder or network.decoder:
        yield Problem(at, "does not apply to an encoder-decoder, whose decoder reads inputs of its own; remove it")
        return
    if network.topology != Topology.ONE_TO_MANY.value:
        got = network.topology or default_topology(network.layers)
        yield Problem(at, f"applies to one-to-many, where later steps have no input, got {got}; remove it")
        return
    part = part_of(network.input or 0, network.layers, network.output)
    if not part.layers:
        return  # which is a problem of its own
    first = part.layers[0]
    if isinstance(first, Embedding):
        yield Problem(at, "an embedding reads token numbers, and the output is a vector; remove one of them")
        return
    for place, layer in enumerate(part.layers):
        if not layer.time.by_step:
            message = "reads or makes several steps at once, and with feedback there is one at a time; remove it"
            yield Problem(("layers", place, layer.kind), f"{message}, or feedback")
            return
        if isinstance(layer, Cell) and layer.bidirectional:
            message = "reads the inputs backwards, and with feedback a later input is not known yet; remove it"
            yield Problem(("layers", place, "bidirectional"), message)
    begin, _ = turns([join.layer for join in joins(part)], Topology.ONE_TO_MANY)
    if begin:
        message = f"the {first.kind} before the first recurrent layer is applied once, to the one input; remove it"
        yield Problem(("layers", 0, first.kind), f"{message}, or feedback")
        return
    *_, last = joins(part)
    width = part.output.units if part.output else last.outputs
    if width != part.width:
        message = f"the output must be as wide as the input, {part.width:,}, got {width:,}"
        yield Problem(at, message, follows=True, gaps=(width - part.width,))


def _expected(expect: object, parts: Parts) -> Iterator[Problem]:
    """Yield expected counts that are impossible for these parts."""
    if not isinstance(expect, Expect):
        yield Problem(("expect",), f"expected an Expect, such as Expect(total=1600), got {expect!r}")
        return
    for key, value in expect.counts.items():
        if value is not None and (problem := WholeNumber().problem(value)):
            yield Problem(("expect", key), problem)
    if expect.networks:
        yield Problem(("expect", "networks"), "applies to a model of several networks; remove it")
    if expect.tensors is not None:
        yield from _expected_shapes(expect.tensors, parts)
    if expect.layers is not None:
        yield from _expected_counts(expect.layers, parts)


def _expected_counts(counts: object, parts: Parts) -> Iterator[Problem]:
    if not isinstance(counts, Sequence) or isinstance(counts, str):
        yield Problem(("expect", "layers"), f"expected a list of counts, got {counts!r}")
        return
    for place, count in enumerate(counts):
        if problem := WholeNumber().problem(count):
            yield Problem(("expect", "layers", place), problem)
    want = sum(
        sum(layer.repeat * (1 + len(made_states(layer))) for layer in part.layers)
        + bool(part.attention)
        + bool(part.output)
        for part in parts.values()
    )
    if len(counts) != want:
        message = f"expected {plural(want, 'count')}, one for each layer and the output layer last, got {len(counts):,}"
        yield Problem(("expect", "layers"), message, follows=True, gaps=(want - len(counts),))


def _expected_shapes(shapes: object, parts: Parts) -> Iterator[Problem]:
    if not isinstance(shapes, Mapping):
        yield Problem(("expect", "tensors"), f"expected shapes by the names of layers and tensors, got {shapes!r}")
        return
    names = tuple(name for _, name, _ in layer_names(parts)) if shapes else ()
    for layer, tensors in shapes.items():
        at: Path = ("expect", "tensors", escape(str(layer)))
        if layer not in names:
            yield Problem(at, f"no layer has this name{did_you_mean(str(layer), names)}", follows=True)
        if not isinstance(tensors, Mapping):
            yield Problem(at, f"expected shapes by the names of tensors, got {tensors!r}")
            continue
        for name, shape in tensors.items():
            if not isinstance(shape, Sequence) or any(map(Size().problem, shape)):
                yield Problem((*at, escape(str(name))), f"expected a shape, such as (20, 10), got {shape!r}")
