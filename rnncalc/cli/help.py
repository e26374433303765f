"""`rnncalc help`: the topics that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import click

from rnncalc.cli.commands import COMMANDS, command, write_allowed_values, write_examples, write_flags
from rnncalc.cli.flags import WordOption, completions, network_flags
from rnncalc.cli.output import write_text
from rnncalc.errors import CallError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.layer import Layer, Output
from rnncalc.layers.options import Choice, Option, Switch, Text, Trainable
from rnncalc.words import in_full, not_among


def _layers(formatter: click.HelpFormatter, _: click.Context) -> None:
    """Write the kinds of layer with their options, and what each option means."""
    formatter.write_text(
        "A layer is -l KIND:NUMBER[,OPTION[=VALUE]]... in flags, and - KIND: NUMBER with its options below in a SPEC. "
        "A kind without a number is written alone, as layer_norm. m is the width that a layer reads."
    )
    with formatter.section(f"Kinds, and their options beside {', '.join(Layer.options())}"):
        rows = []
        for name, number, summary, options in kinds_with_options():
            usage = f"{name}:{number.upper()}" if number else name
            rows.append((usage, f"{summary} Options: {' '.join(options) or 'none'}."))
        formatter.write_dl(rows)
    with formatter.section("Options of a layer"):
        formatter.write_dl(
            [(_usage(name, option), meaning) for name, option, meaning in options_with_meanings(layers_by_kind())]
        )
    write_examples(
        formatter,
        (
            "rnncalc -i 10 -l lstm:20,bidirectional,bias=false -o 5",
            "rnncalc -i 1000 -l embedding:32 -l gru:32,repeat=2 -o 1000,tied",
        ),
    )


def layers_by_kind() -> dict[str, type[Layer]]:
    """Return the class of each kind, and that of the output layer."""
    return {name: kind(name) for name in KINDS} | {"output": Output}


def kinds_with_options() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield each kind with the name of its number, the first line of its manual, and the options that not all have."""
    for name, layer in layers_by_kind().items():
        yield name, layer.number, layer.summary(), [each for each in layer.options() if each not in Layer.options()]


MOST_KINDS = 4
"""The most kinds that are listed before the meaning that an option has in them alone."""


def options_with_meanings(layers: Mapping[str, type[Layer]]) -> Iterator[tuple[str, Option, str]]:
    """Yield each option with its meaning; before it the kinds that have it, if it is one or they are few."""
    kinds: dict[str, dict[Option, list[str]]] = {}
    for name, layer in layers.items():
        for key in layer.options():
            kinds.setdefault(key, {}).setdefault(layer.option(key), []).append(name)
    for key, options in kinds.items():
        for option, names in options.items():
            meaning = option.meaning + "; needed" * all(key in layers[name].needed() for name in names)
            shared = len(layers) == 1 or len(names) > (1 if len(options) == 1 else MOST_KINDS)
            yield key, option, meaning if shared else f"{', '.join(names)}: {meaning}"


def _usage(name: str, option: Option) -> str:
    match option.allowed:
        case Switch():
            return f"{name}[=true|false]"
        case Choice(words=words):
            return f"{name}={'|'.join(words)}"
        case Text():
            return f"{name}={name.upper()}"
        case Trainable():
            return f"{name}={{NAME: false}}"
        case allowed:
            return f"{name}={'X' if allowed.schema.get('type') == 'number' else 'N'}"


def _network(formatter: click.HelpFormatter, context: click.Context) -> None:
    """Write the flags that make a network."""
    formatter.write_text(
        "A network is a SPEC, a YAML file or - for standard input, or it is written in flags. "
        "Beside a SPEC, -T, --topology, -c, --feedback and --notation override its own values. A size N may be a "
        "letter, such as m or h_1: count, explain, answer and draw then give formulas."
    )
    command = click.command()(network_flags(lambda: None))
    options = [option for option in command.params if isinstance(option, click.Option)]
    write_flags(formatter, context, "Flags", options)
    write_allowed_values(formatter, options)
    write_examples(
        formatter,
        (
            "rnncalc -i 4 -l rnn:3 -o 1 -T 3",
            "rnncalc explain specs/lstm.yaml -c pytorch -T 20",
            "rnncalc draw -i 8 -l gru:16 -l dense:4 -o 2 --topology many-to-many",
        ),
    )


def _conventions(formatter: click.HelpFormatter, _: click.Context) -> None:
    """Write the parameters of one LSTM under each convention."""
    from rnncalc.conventions import CONVENTIONS
    from rnncalc.layers.lstm import LSTM
    from rnncalc.network.network import Network

    formatter.write_text(
        "A convention says whose parameters are counted: frameworks name, join and shape them in different ways, and "
        "some have two bias vectors. Set it with -c NAME, or with convention: NAME in a spec. rnncalc count "
        "--all-conventions compares them for your network."
    )
    with formatter.section("An LSTM of 3 units that reads 4 features"):
        for name in CONVENTIONS:
            network = Network(input=4, layers=(LSTM(3),), convention=name)
            (placed,) = network.stack
            tensors = [f"{tensor.name} {'×'.join(map(str, tensor.shape))}" for tensor in placed.tensors]
            formatter.write_dl([(f"{name:<12}", f"{network.params}: {', '.join(tensors)}")])


def _notations(formatter: click.HelpFormatter, _: click.Context) -> None:
    """Write the equations of one network in each notation."""
    from rnncalc.conventions.notation import NOTATION_BY_NAME
    from rnncalc.formats.mathematics import with_shapes
    from rnncalc.layers.rnn import RNN
    from rnncalc.network.network import Network
    from rnncalc.questions.explain import explain
    from rnncalc.reports.explain import ExplanationReport

    formatter.write_text(
        "A notation is how parameters are written. Set it with --notation NAME, or notation: NAME in the spec. It "
        "holds for equations, for the names and shapes of tensors, and for the shapes that answer accepts. Without "
        "one, tensors are the convention's own. With one, the convention's parameters are spelled gate by gate: the "
        "biases and the count stay the convention's. A course's letters are set by --letters FILE."
    )
    for name, notation in NOTATION_BY_NAME.items():
        convention = notation.only or "textbook"
        network = Network(input=4, layers=(RNN(3),), output=1, convention=convention, notation=name)
        with formatter.section(f"{name}, with -c {notation.only} alone" if notation.only else name):
            for sheet in ExplanationReport(explain(network)).sheets():
                for line in sheet.equations:
                    for text in (text for pair in with_shapes(line, formatter.width - 2, {}) for text in pair):
                        formatter.write(f"{'':{formatter.current_indent}}{text}\n")
            if notation.note:
                formatter.write_text(in_full(notation.note))


def _formats(formatter: click.HelpFormatter, context: click.Context) -> None:
    """Write each format with its suffix and the commands that have it."""
    from rnncalc.formats import FORMATS

    formatter.write_text(
        "-f NAME writes an answer in a format; --out FILE writes it to a file in the format of its suffix. If several "
        "formats share the suffix, -f says which. A file is written whole or not at all."
    )
    takers: dict[str, list[str]] = {}
    for name in COMMANDS:
        command = context.command.get_command(context, name) if isinstance(context.command, click.Group) else None
        for option in command.params if command else ():
            for word in option.words() if isinstance(option, WordOption) and option.name == "format_" else ():
                takers.setdefault(word, []).append(name)
    with formatter.section("Formats, their suffixes and their commands"):
        formatter.write_dl(
            [(f"{name:<9} {each.suffix}", ", ".join(takers[name])) for name, each in FORMATS.items() if name in takers]
        )


TOPICS: dict[str, Callable[[click.HelpFormatter, click.Context], None]] = {
    "layers": _layers,
    "network": _network,
    "conventions": _conventions,
    "notations": _notations,
    "formats": _formats,
}
"""What several commands share, by its name."""


@command("rnncalc help layers", "rnncalc help conventions")
@click.argument(
    "topic",
    required=False,
    metavar="[TOPIC]",
    shell_complete=lambda _, __, incomplete: completions((*TOPICS, *COMMANDS), incomplete),
)
@click.pass_context
def help(context: click.Context, topic: str | None) -> None:  # noqa: A001  the name of the command
    """Explain layers, network, conventions, notations or formats.

    These are what several commands share. A TOPIC may also be a command; without one, the commands are listed.
    """
    group = context.parent
    assert group
    assert isinstance(group.command, click.Group)
    if topic is None:
        write_text(f"{group.get_help()}\n")
    elif topic in COMMANDS and (command := group.command.get_command(group, topic)):
        with command.make_context(topic, ["--help"], parent=group):
            pass
    elif topic in TOPICS:
        formatter = context.make_formatter()
        TOPICS[topic](formatter, group)
        write_text(formatter.getvalue())
    else:
        of_layers = topic in KINDS or any(topic in kind(name).options() for name in KINDS)
        cure = "; rnncalc help layers has the kinds of layer and their options" if of_layers else ""
        raise CallError(f"help: {not_among((topic,), (*TOPICS, *COMMANDS))}{cure}")
