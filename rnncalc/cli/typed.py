"""The call that was meant, if a network is typed as other programs take it: `gru 10 20`, `--hidden 20`, `-h 20`.

Imported only for a call that is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import click

from rnncalc.cli.flags import GOES_WITH, OF_NETWORK, WordOption
from rnncalc.cli.output import call_text, noted
from rnncalc.errors import SpecError
from rnncalc.expressions import read_number
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer
from rnncalc.layers.options import OPTIONS, Switch
from rnncalc.letters import LETTER
from rnncalc.spec import spec_in_flags
from rnncalc.spec.aliases import IN_FLAGS, TABLE, layer_called, our_words, spelled, without_module
from rnncalc.words import all_of

_UNITS = "{}"
"""What is in a layer that is typed without its number."""


def call_meant(context: click.Context | None) -> str:
    """Return `write` and the whole call that was meant, with a remark on the numbers it lacks; empty if not known.

    If the call that was meant is not valid, its first problem is returned.
    """
    call = _Call(context) if context and context.obj else None
    return call.text() if call and call.read([*call.typed]) else ""


def spec_meant() -> str:
    """Return `write` and the spec of a network that is typed where a file belongs; empty if that is not known."""
    import json

    from rnncalc.network.writer import spec_of

    context, missing = click.get_current_context(silent=True), list[str]()
    call = _Call(context) if context and context.obj else None
    if not call or not call.read([*call.typed]) or not call.layers:
        return ""
    call.others = []
    words = [*call.words(missing)]
    pairs = [*zip(words[::2], words[1::2], strict=True)]
    flags, layers = dict(pairs), tuple(value for flag, value in pairs if flag == "-l")
    beside = {"convention": flags.get("-c"), "steps": flags.get("-T"), "topology": flags.get("--topology")}
    try:
        spec = spec_of(spec_in_flags(flags["-i"], layers, flags.get("-o"), **beside).network)
    except SpecError:
        return ""
    spec_text = json.dumps({key: spec[key] for key in spec if key != "name"})
    return "" if missing or call.numbers else call.unclear or f"write {spec_text} into one, and give its PATH"


def single(command: click.Command) -> list[click.Option]:
    """Return the flags of a command that may be given once."""
    return [option for option in command.params if isinstance(option, click.Option) and not option.multiple]


def _problems(command: click.Command, words: list[str], size: int | None) -> list[object]:
    """Return the problems of a call's flags and of the network in them. size: the value of a size that is sought."""
    problems: list[object] = []
    try:
        with command.make_context(command.name or "", words) as context:
            problems += noted(context)
            flags = {key: value for key, value in context.params.items() if key in OF_NETWORK}
            if flags.get("layers"):
                spec_in_flags(**flags).sized(size)
    except click.UsageError as error:
        return [error.message]
    except SpecError as error:
        problems += error.problems
    return problems


class _TypedLayer:
    """A layer of a call: the value of its -l, with {} for a number that it lacks, and the numbers typed behind it.

    reads, flags: its input and other flags, if it is typed as a framework's program makes it. in_flag: whether by -l.
    """

    def __init__(self, text: str, reads: str = "", flags: Mapping[str, str] = {}, *, in_flag: bool = False) -> None:
        self.text, self.reads, self.flags, self.in_flag = text, reads, flags, in_flag
        self.numbers: list[str] = []

    @property
    def kind(self) -> type[Layer]:
        return kind(re.split("[:,]", self.text)[0])

    @property
    def is_cell(self) -> bool:
        return issubclass(self.kind, Cell)

    @property
    def lacks_number(self) -> bool:
        return _UNITS in self.text

    def with_options(self, options: Iterable[str], number: str) -> str:
        """Return the value of its -l with more options, and with a number if it lacks its own."""
        return ",".join((self.text.replace(_UNITS, number), *options))


class _Call:
    """The words of a call, as they were typed and as they are meant.

    A kind without a colon begins a layer. The numbers behind it are the inputs, the units and the outputs, as far as no
    flag has them; of solve the last one is the budget. Several recurrent layers of compare are compared.
    """

    def __init__(self, context: click.Context) -> None:
        self.path, self.command, self.noted = context.command_path, context.command, {*noted(context)}
        self.typed: list[str] = context.obj
        self.options = {
            name: each for each in context.command.params if isinstance(each, click.Option) for name in each.opts
        }
        self.solves, self.answers, self.compares = (self.path.endswith(name) for name in ("solve", "answer", "compare"))
        self.inputs = self.units = self.repeat = self.dropped = ""
        self.layers: list[_TypedLayer] = []
        self.numbers: list[str] = []  # those before the layers; when all words are read, all of them
        self.of_layers: list[str] = []  # options that are typed as flags
        self.others: list[str] = []
        self.stacked = any(re.match("-l|--layer($|=)", word) for word in self.typed)
        self.unclear = ""  # why there is no call
        self.has_file = False

    def read(self, left: list[str]) -> bool:
        """Take the words from left to right; return whether all are known."""
        while left:
            word = left.pop(0)
            name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if word == "--":
                self.others += [word, *left]
                break
            if "(" in word and any(")" in each for each in left):  # nn.LSTM(10, 20)
                while word.count("(") > word.count(")") and left:
                    word += f" {left.pop(0)}"
            if word == "-h" and left and _is_size(left[0]):
                self.units = left.pop(0)
            elif option := self.options.get(name):
                if not self._takes(option, name, value or ("" if option.is_flag or not left else left.pop(0))):
                    return False
            elif word.startswith("-") and word != "-":
                if not self._replace(name, value, left):
                    return False
            elif not self._takes_words(word):
                return False
        if self.compares:
            return True
        for lower, layer in pairwise(self.layers):  # gru 8 16 lstm 16 32
            if lower.numbers and layer.numbers[1:] and lower.numbers[-1] == layer.numbers[0]:
                del layer.numbers[0]
        return True

    def _takes(self, option: click.Option, name: str, value: str) -> bool:
        """Take a flag of the command, and its value; return whether that is known."""
        if option.name == "layers":
            return self._begins(_layer(value), in_flag=True)
        if option.name == "input" and not self.inputs:
            self.inputs = value
            return True
        if isinstance(option, WordOption) and value not in (words := [*option.words()]):
            value = next(iter([each for each in spelled(value, words) if " " not in each]), value)
        self.others += [name, value] if value else [name]
        return True

    def _begins(self, text: str, *, in_flag: bool = False) -> bool:
        """Add a layer; return whether there is one."""
        self.layers += [_TypedLayer(text, in_flag=in_flag)] * bool(text)
        return bool(text)

    def _takes_words(self, word: str) -> bool:
        """Take a word that is no flag; return whether it is known."""
        is_file = os.path.exists(word)
        if self.others[-2:-1] == ["--kinds"] and word in KINDS:
            self.others[-1] += f",{word}"
        elif not is_file and (called := layer_called(word)):
            reads, text, flags = called
            self.layers.append(_TypedLayer(text, reads, flags))
        elif not ((self.answers and self.stacked) or is_file) and self._begins(_layer(word)):
            pass
        elif self.layers and word.lstrip(",").partition("=")[0] in OPTIONS:
            self.layers[-1].text = f"{self.layers[-1].text.rstrip(',')},{word.lstrip(',')}"
        elif (_is_size(word) or re.fullmatch(LETTER, word)) and (
            self.solves or any(layer.lacks_number for layer in self.layers)
        ):
            (self.layers[-1].numbers if self.layers else self.numbers).append(word)
        elif self.answers or is_file:
            self.has_file |= is_file
            self.others.append(word)
        else:
            return False
        return True

    def _replace(self, name: str, value: str, left: list[str]) -> bool:
        """Take a flag of another program, and the word behind it if that is its value; return whether it is known."""
        key = name.strip("-").replace("-", "_").lower()
        behind = value or "".join(left[:1])
        fields = {
            "number": behind if _is_size(behind) else "",
            "layer": _layer(behind) if ":" in behind else "",
            "": " ",
        }
        flags = [flag for flag in our_words(key) if f"--{flag}" in self.options]
        ours = set(flags or (key, *our_words(key)))
        valued = [flag for flag in flags if not self.options[f"--{flag}"].is_flag]
        rows = {f"{self._needed(flag)}--{flag} {{number}}": flag for flag in valued} | TABLE["flag"]
        for row, words in rows.items():
            first = row.split()[0]
            field = row.partition("{")[2].removesuffix("}")
            known = first[0] != "-" or first in self.options
            if not (known and fields[field]) or ours.isdisjoint(words.split()):
                continue
            if field and not value:
                del left[0]
            if first[0] == "-":
                left[:0] = row.format(**fields).split()
            elif first == "layer":
                self._begins(fields[field])
            else:
                setattr(self, first, behind if field else first)
            return True
        return self._takes_option(key, value, left) or self._takes_word(behind, not value, left)

    def _needed(self, flag: str) -> str:
        """Return the first switches without which a flag says nothing, unless some of them are typed."""
        needed = [each for each in GOES_WITH.get(f"--{flag}", ()) if {*each.split()} <= self.options.keys()]
        return f"{needed[0]} " if needed and not {*" ".join(needed).split()} & {*self.typed} else ""

    def _takes_option(self, key: str, value: str, left: list[str]) -> bool:
        """Take the option of a layer that is typed as a flag; return whether it is one."""
        off = key.startswith("no_")
        key = key.removeprefix("no_")
        ours = (row for row, others in TABLE["anywhere"].items() if key in others.split())
        name = next(
            (each for each in (key, *ours) if each in OPTIONS and each not in ("name", "path", "dtype", "units")), ""
        )
        switch = bool(name) and isinstance(OPTIONS[name].allowed, Switch)
        if not name or (off and (value or not switch)):
            return False
        value = "false" if off else value
        if not value and left and (left[0].lower() in ("true", "false") if switch else not left[0].startswith("-")):
            value = left.pop(0)
        value = value.lower() if switch else value
        if not (switch or value):
            return False
        self.of_layers.append(name if switch and value in ("", "true") else f"{name}={value}")
        return True

    def _takes_word(self, word: str, follows: bool, left: list[str]) -> bool:
        """Take a word behind an unknown flag as the value of the flag that has it; return whether there is one."""
        others = [each for each in {*self.options.values()} if each.name not in OF_NETWORK]
        options = [each for each in others if isinstance(each, WordOption) and word in each.words()]
        if len(options) != 1 or {*options[0].opts} & {*self.typed}:
            return False
        self.others += [options[0].opts[-1], word]
        if follows:
            del left[0]
        return True

    def text(self) -> str:
        """Return the call in our flags; empty if it is the one that was typed, or has more than one meaning."""
        missing: list[str] = []
        words = [*self.words(missing)]
        twice = any(sum(map(words.count, option.opts)) > 1 for option in single(self.command))
        network = self.layers or self.has_file or not self.answers
        if self.unclear:
            return self.unclear
        if not network or twice or self.numbers or words in ([], self.typed) or (self.layers and self.has_file):
            return ""
        filled = [re.sub(rf"\b(?:{'|'.join(missing)})\b", "1", word) if missing else word for word in words]
        size = 1 if "--params" in self.options else None
        problems = [each for each in _problems(self.command, filled, size) if each not in self.noted]
        if problems:
            return "" if self.of_layers else str(problems[0])
        missing = [*dict.fromkeys(missing)]
        remark = f", with your number{'s' * (len(missing) > 1)} for {all_of(missing)}" if missing else ""
        return f"write {call_text([*self.path.split(), *words])}{remark}"

    def words(self, missing: list[str]) -> Iterator[str]:
        """Yield the words behind the command; note the numbers that are missing."""
        self.numbers += [number for layer in self.layers for number in layer.numbers]
        budget = self.solves and not {"--params", "--bytes", "--match"} & {*self.others}
        if budget and self.numbers and self.numbers[-1].isdecimal():
            self.others += ["--params", self.numbers.pop()]
        if self.solves and not any("?" in word for word in (*self.numbers, *(layer.text for layer in self.layers))):
            self.units = "?"
        if not self.numbers:  # gru -l gru:20
            full = [(f"{each.kind.kind}:{_UNITS}", each.in_flag) for each in self.layers if not each.lacks_number]
            self.layers = [layer for layer in self.layers if (layer.text, not layer.in_flag) not in full]
        if self.compares and len(self.layers) > 1 and (networks := self._compared(missing)):
            yield from (*networks, *self.others)
            return
        if (self.units or self.repeat or self.of_layers) and not self.layers:
            self.layers = [_TypedLayer(f"lstm:{_UNITS}")]
        elif self.units and not any(layer.lacks_number for layer in self.layers):
            layer = self._meant(self.units, "")
            layer.text = re.sub("^([^:,]+)(:[^,]*)?", rf"\1:{_UNITS}", layer.text)
        if self.layers:
            self._meant(self.repeat, "repeat=").text += f",repeat={self.repeat}" if self.repeat else ""
            inputs = self.inputs or self.layers[0].reads or (self.numbers.pop(0) if self.numbers else "INPUT")
            self._compare_sizes(inputs)
            missing += [inputs] * (inputs == "INPUT")
            yield from ("-i", inputs)
        elif self.inputs:
            yield from ("-i", self.inputs)
        for layer in self.layers:
            name = layer.kind.number.upper() if layer.lacks_number else ""
            number = self.units or (self.numbers.pop(0) if self.numbers and name else "?" if self.solves else name)
            missing += [number] * (number == name != "")
            yield from ("-l", layer.with_options(self._options_of(layer), number))
        if self.answers:
            if {"multiply-adds", "flops", "saved"} & {*self.others} and not {"-T", "--steps"} & {*self.others}:
                missing += ["STEPS"]
                yield from ("-T", "STEPS")
            yield from self.numbers
            self.numbers = []
        elif self.numbers and not {"-o", "--output"} & {*self.others}:
            yield from ("-o", self.numbers.pop(0))
        yield from self.others
        last = [layer for layer in self.layers if layer.is_cell or layer.kind.time.ends][-1:]
        flags = [(flag, value, layer) for layer in self.layers for flag, value in layer.flags.items()]
        implied = {flag: value for flag, value, layer in flags if layer in last or flag != "--topology"}
        yield from self._implied(implied)

    def _implied(self, flags: Mapping[str, str]) -> Iterator[str]:
        """Yield those flags of frameworks' layers that the command has and that are not typed."""
        for flag, value in flags.items():
            if flag in self.options and not {*self.options[flag].opts} & {*self.others}:
                yield from (flag, value)

    def _meant(self, number: str, key: str) -> _TypedLayer:
        """Return the layer that a number typed as a flag is for: the recurrent one, else the last."""
        cells = [layer for layer in self.layers if layer.is_cell]
        if cells[1:] and number not in ("", "?"):
            each = f"{self.layers[-1].text.split(',')[0]},repeat={number}" if key else f"lstm:{number}"
            self.unclear = f"write {key or 'the number '}{number} in the layer that it is for, as in -l {each}"
        return (cells or self.layers)[-1]

    def _compare_sizes(self, inputs: str) -> None:
        """Note a size in a framework's layer that is not that of the call or of the layer below."""
        typed = next((after for each, after in pairwise(self.others) if each in ("-T", "--steps")), "")
        lengths = [layer.flags["-T"] for layer in self.layers if "-T" in layer.flags]
        sizes = [("the first layer has", size, "steps, and -T is", typed) for size in lengths if typed]
        texts = tuple([layer.with_options(self._options_of(layer), _UNITS) for layer in self.layers])
        length = typed or next(iter(lengths), None)
        try:
            stack = spec_in_flags(inputs.replace("INPUT", "1"), texts, None, steps=length).network.stack
        except SpecError:
            stack = ()  # the call has this problem
        reaching = [each.inputs - each.layer.extra_inputs for each in stack if not (each.starts or each.copy)]
        for place, (layer, width) in enumerate(zip(self.layers, [inputs, *map(str, reaching[1:])], strict=False)):
            if layer.reads:
                source = f"and {f'layer {place} outputs' if place else '-i is'}"
                sizes.append((f"layer {place + 1} reads", layer.reads, source, width))
        for this, size, that, other in sizes:
            if size != other and not self.unclear:
                self.unclear = f"{this} {size}{',' * that.startswith('and')} {that} {other}; change one of the two"

    def _options_of(self, layer: _TypedLayer) -> list[str]:
        """Return the options that are typed as flags, of those that a layer has; all of them if it is the only one."""
        options = layer.kind.options()
        return [each for each in self.of_layers if each.partition("=")[0] in options or len(self.layers) == 1]

    def _compared(self, missing: list[str]) -> list[str]:
        """Return the flags of networks that are named one after the other; those of several kinds are one network."""
        numbers = [layer.numbers for layer in self.layers]
        kinds = [layer.text.removesuffix(f":{_UNITS}") for layer in self.layers]
        cells = [layer.is_cell for layer in self.layers]
        if not any(numbers[:-1]) and all(cells) and {*kinds} <= {*KINDS}:
            self.layers = self.layers[:1]
            self.others += ["--kinds", ",".join(kinds)]
            return []
        if not any(numbers[:-1]):  # bilstm gru 8 16
            numbers = [numbers[-1]] * len(kinds)
        if {*map(len, numbers)} != {2} and (self.numbers or self.stacked or not all(cells)):
            if not self.stacked and sum(cells) != 1 and not any(layer.lacks_number for layer in self.layers):
                self.unclear = "write each network as one flag, as in --network '-i 10 -l lstm:20 -o 5'"
            return []
        networks = []
        at = next((at for at, each in enumerate(self.others[:-1]) if each in ("-o", "--output")), len(self.others))
        output, self.others = self.others[at : at + 2], [*self.others[:at], *self.others[at + 2 :]]
        for place, (layer, pair) in enumerate(zip(self.layers, numbers, strict=True), 1):
            inputs, units = pair or (self.inputs or layer.reads or "INPUT", self.units or "UNITS")
            if self.units and not layer.lacks_number:
                self.unclear = f"write the number {self.units} in the network that it is for"
            if layer.reads not in ("", inputs):
                self.unclear = f"network {place} reads {layer.reads}, and -i is {inputs}; change one of the two"
            missing += ["INPUT"] * (inputs == "INPUT") + ["UNITS"] * (units == "UNITS" and layer.lacks_number)
            options = [*self._options_of(layer), *([f"repeat={self.repeat}"] if self.repeat else [])]
            words = ["-i", inputs, "-l", layer.with_options(options, units), *output, *self._implied(layer.flags)]
            networks += ["--network", call_text(words)]
        self.layers, self.numbers = [], []
        return networks


def _is_size(word: str) -> bool:
    return word == "?" or isinstance(read_number(word), int)


def _layer(word: str) -> str:
    """Return a layer, with a place for its number if it lacks one; empty if a word is none."""
    name, colon, behind = re.findall("([^:=]*)(:?)=?(.*)", word.replace("=", ":", ":" not in word))[0]
    name = without_module(name).lower()
    key, equals, number = behind.partition("=")
    behind = number if equals and "units" in (key, *our_words(key)) else behind  # lstm:units=20
    if name in KINDS:
        return f"{name}:{behind if colon else _UNITS}" if colon or kind(name).number else name
    units, comma, options = behind.partition(",")
    number = f":{units if colon else _UNITS}"
    layer = next(iter(spelled(name, KINDS, IN_FLAGS | {"number": number})), " ")
    return "" if re.search("[ N]", layer) else f"{layer}{comma}{options}"
