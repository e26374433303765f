"""The words that complete a value of `--layer`; the rest of completion is click's. Loaded only for completion."""

from __future__ import annotations

from click.shell_completion import CompletionItem

from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import Choice, Switch


def layers(incomplete: str) -> list[CompletionItem]:
    """Return what a value of `--layer` may continue with: a kind, then its options, then their values."""
    name, colon, rest = incomplete.partition(":")
    words: list[str] = []
    if not colon:
        words = [f"{each}:" for each in KINDS]
    elif name in KINDS and "," in rest:
        done, layer = incomplete.rpartition(",")[0], kind(name)
        for option in layer.options():
            match layer.option(option).allowed:
                case Switch():
                    words += [f"{done},{option}", f"{done},{option}=false"]
                case Choice(words=values):
                    words += [f"{done},{option}={value}" for value in values]
                case _:
                    words.append(f"{done},{option}=")
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]
