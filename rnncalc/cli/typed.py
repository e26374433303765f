"""The call that was meant, if a network is typed as other programs take it: `gru 10 20`, `--hidden 20`, `-h 20`.

Imported only for a call that is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import click

from rnncalc.cli.output import call_text
from rnncalc.expressions import read_number
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import OPTIONS
from rnncalc.spec.aliases import IN_FLAGS, TYPED, meanings, meant
from rnncalc.text import LETTER, all_of

_UNITS = "{}"
"""What is in a layer that is typed without its number."""


def call_meant(context: click.Context | None) -> str:
    """Return the whole call that was meant, with a remark on the numbers it lacks; empty if that is not known."""
    call = _Call(context) if context and context.obj else None
    return call.text() if call and call.read([*call.typed]) else ""


def single(command: click.Command) -> list[click.Option]:
    """Return the flags of a command that may be given once."""
    return [option for option in command.params if isinstance(option, click.Option) and not option.multiple]


class _Call:
    """The words of a call, as they were typed and as they are meant.

    A kind without a colon begins a layer. The numbers behind it are the inputs, the units and the outputs, as far as no
    flag has them; of solve the last one is the budget.
    """

    def __init__(self, context: click.Context) -> None:
        self.path, self.command = context.command_path, context.command
        self.typed: list[str] = context.obj
        self.options = {
            name: each for each in context.command.params if isinstance(each, click.Option) for name in each.opts
        }
        self.solves, self.answers = (self.path.endswith(name) for name in ("solve", "answer"))
        self.inputs = self.units = self.repeat = self.bidirectional = self.dropped = ""
        self.layers: list[str] = []
        self.numbers: list[str] = []
        self.others: list[str] = []
        self.has_file = False

    def read(self, left: list[str]) -> bool:
        """Take the words from left to right; return whether all are known."""
        while left:
            word = left.pop(0)
            name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if word == "--":
                self.others += [word, *left]
                break
            if word == "-h" and left and _is_size(left[0]):
                self.units = left.pop(0)
            elif option := self.options.get(name):
                value = value or ("" if option.is_flag or not left else left.pop(0))
                if option.name == "input" and not self.inputs:
                    self.inputs = value
                elif option.name == "layers":
                    if not (layer := _layer(value)):
                        return False
                    self.layers.append(layer)
                else:
                    self.others += [name, value] if value else [name]
            elif word.startswith("-") and word != "-":
                if not self._replace(name, value, left):
                    return False
            elif self.others[-2:-1] == ["--kinds"] and word in KINDS:
                self.others[-1] += f",{word}"
            elif not os.path.exists(word) and (layer := _layer(word)):
                self.layers.append(layer)
            elif self.layers and word.lstrip(",").partition("=")[0] in OPTIONS:
                self.layers[-1] = f"{self.layers[-1].rstrip(',')},{word.lstrip(',')}"
            elif (_is_size(word) or re.fullmatch(LETTER, word)) and (
                self.solves or any(_UNITS in layer for layer in self.layers)
            ):
                self.numbers.append(word)
            elif self.answers or os.path.exists(word):
                self.has_file |= os.path.exists(word)
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
        flags = [flag for flag in meanings(key) if f"--{flag}" in self.options]
        ours = set(flags or (key, *meanings(key)))
        rows = {**TYPED, **{f"--{flag} {{number}}": flag for flag in flags if not self.options[f"--{flag}"].is_flag}}
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
                self.layers.append(fields[field])
            else:
                setattr(self, first, behind if field else first)
            return True
        return False

    def text(self) -> str:
        """Return the call in our flags; empty if it is the one that was typed, or has more than one meaning."""
        missing: list[str] = []
        words = [*self._words(missing)]
        twice = any(sum(map(words.count, option.opts)) > 1 for option in single(self.command))
        if twice or self.numbers or words in ([], self.typed) or (self.layers and self.has_file):
            return ""
        remark = f", with your number{'s' * (len(missing) > 1)} for {all_of(missing)}" if missing else ""
        return f"{call_text([*self.path.split(), *words])}{remark}"

    def _words(self, missing: list[str]) -> Iterator[str]:
        """Yield the words behind the command; note the numbers that are missing."""
        if self.solves and self.numbers and not {"--params", "--bytes", "--match"} & {*self.others}:
            self.others += ["--params", self.numbers.pop()]
        if self.solves and not any("?" in word for word in (*self.layers, *self.numbers)):
            self.units = "?"
        full = [layer.partition(":")[0] for layer in self.layers if _UNITS not in layer]
        if full and not self.numbers:  # gru -l gru:20
            self.layers = [
                layer for layer in self.layers if layer.removesuffix(f":{_UNITS}") not in full or layer in full
            ]
        if (self.units or self.repeat or self.bidirectional) and not self.layers:
            self.layers = [f"lstm:{_UNITS}"]
        elif self.units and not any(_UNITS in layer for layer in self.layers):
            self.layers[-1] = re.sub("^([^:,]+)(:[^,]*)?", rf"\1:{_UNITS}", self.layers[-1])
        if self.layers:
            self.layers[-1] += f",repeat={self.repeat}" if self.repeat else ""
            self.layers = [f"{layer},bidirectional" if self.bidirectional else layer for layer in self.layers]
            inputs = self.inputs or (self.numbers.pop(0) if self.numbers else "INPUT")
            missing += [inputs] * (inputs == "INPUT")
            yield from ("-i", inputs)
        elif self.inputs:
            yield from ("-i", self.inputs)
        for layer in self.layers:
            name = kind(layer.partition(":")[0]).number.upper() if _UNITS in layer else ""
            number = self.units or (self.numbers.pop(0) if self.numbers and name else "?" if self.solves else name)
            missing += [number] * (number == name != "")
            yield from ("-l", layer.replace(_UNITS, number))
        if self.answers:
            yield from self.numbers
            self.numbers = []
        elif self.numbers and not {"-o", "--output"} & {*self.others}:
            yield from ("-o", self.numbers.pop(0))
        yield from self.others


def _is_size(word: str) -> bool:
    return word == "?" or isinstance(read_number(word), int)


def _layer(word: str) -> str:
    """Return a layer, with a place for its number if it lacks one; empty if a word is none."""
    name, colon, behind = re.findall("([^:=]*)(:?)=?(.*)", word.replace("=", ":", ":" not in word))[0]
    name = name.lower()
    if name in KINDS:
        return f"{name}:{behind if colon else _UNITS}" if colon or kind(name).number else name
    number = f":{behind.partition(',')[0] if colon else _UNITS}"
    written = next(iter(meant(name, KINDS, IN_FLAGS | {"number": number})), " ")
    return "" if re.search("[ N]", written) else written
