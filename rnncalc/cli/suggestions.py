"""Shell completion: the script of each shell, and the words that may follow at the cursor.

Loaded only for completion. The scripts pass the words one per line, up to the one at the cursor, and read one
suggestion per line. The line `file` asks for the shell's own completion of file names.
"""

from __future__ import annotations

import os
import re

import click
from click.shell_completion import CompletionItem, ShellComplete

from rnncalc.cli.output import tell, write_text
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import Choice, Switch
from rnncalc.text import one_of

VARIABLE = "_RNNCALC_COMPLETE"
"""The environment variable in which a shell asks for completion."""

SCRIPTS = {
    "bash": """\
_rnncalc() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            file) compopt -o default ;;
            *[:=]) COMPREPLY+=("$line"); compopt -o nospace ;;
            ?*) COMPREPLY+=("$line") ;;
        esac
    done < <(
        export _RNNCALC_WORDS="$(printf '%s\\n' "${COMP_WORDS[@]}")" _RNNCALC_AT=$COMP_CWORD
        _RNNCALC_COMPLETE=bash_complete "$1"
    )
}
complete -o nosort -F _rnncalc rnncalc
""",
    "zsh": """\
#compdef rnncalc
_rnncalc() {
    local line at=$((CURRENT-1))
    for line in "${(@f)$(_RNNCALC_WORDS="${(F)words}" _RNNCALC_AT=$at _RNNCALC_COMPLETE=zsh_complete $words[1])}"; do
        case $line in
            file) _files ;;
            *[:=]) compadd -Q -S '' -- $line ;;
            ?*) compadd -Q -- $line ;;
        esac
    done
}
compdef _rnncalc rnncalc
""",
    "fish": """\
function __rnncalc
    set -l words (commandline -opc)
    set -lx _RNNCALC_AT (count $words)
    set -lx _RNNCALC_WORDS (string join \\n -- $words (commandline -ct) | string collect)
    set -lx _RNNCALC_COMPLETE fish_complete
    for line in ($words[1])
        if test "$line" = file
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete --no-files --command rnncalc --arguments "(__rnncalc)"
""",
}
"""The script of each shell, which `rnncalc completion` prints."""


def complete(program: click.Command, instruction: str) -> int:
    """Answer a shell's script, `bash_complete`, with suggestions. Return the exit code."""
    shell, _, asked = instruction.partition("_")
    if shell not in SCRIPTS or asked != "complete":
        expected = one_of([f"{name}_complete" for name in SCRIPTS])
        tell(f"rnncalc: {VARIABLE}: expected {expected}, got '{instruction}'; rnncalc completion prints the script")
        return 2
    at = int(os.environ.get("_RNNCALC_AT", "1"))
    words = [*os.environ.get("_RNNCALC_WORDS", "").split("\n"), *[""] * at][: at + 1]
    cut = 0
    if shell == "bash":  # bash splits lstm:5,merge=s into five words: join them and complete the last alone
        words = re.sub(r"\n?([:=])\n?", r"\1", "\n".join(words)).split("\n")
        cut = max(words[-1].rfind(":"), words[-1].rfind("=")) + 1
    flag, equals, _ = words[-1].partition("=")
    before = f"{flag}=" if flag.startswith("--") and equals else ""
    items = ShellComplete(program, {}, "rnncalc", VARIABLE).get_completions(words[1:-1], words[-1])
    for line in dict.fromkeys("file" if item.type == "file" else f"{before}{item.value}"[cut:] for item in items):
        write_text(f"{line}\n")
    return 0


def layers(incomplete: str) -> list[CompletionItem]:
    """Return the suggestions for a value of `--layer`: a kind, then its options, then their values."""
    name, colon, rest = incomplete.partition(":")
    if not colon:
        return [CompletionItem(f"{each}:") for each in KINDS if each.startswith(name)]
    if name not in KINDS or "," not in rest:
        return []
    layer = kind(name)
    done, _, last = incomplete.rpartition(",")
    key, equals, word = last.partition("=")
    if equals:
        allowed = layer.option(key).allowed if key in layer.options() else None
        switched = ("true", "false") if isinstance(allowed, Switch) else ()
        values = allowed.words if isinstance(allowed, Choice) else switched
        return [CompletionItem(f"{done},{key}={value}") for value in values if value.startswith(word)]
    written = {option.partition("=")[0] for option in done.split(",")}
    options = {each: layer.option(each) for each in layer.options() if each.startswith(key) and each not in written}
    switches = {each for each, option in options.items() if isinstance(option.allowed, Switch)}
    return [CompletionItem(f"{done},{each}{'' if each in switches else '='}") for each in options]
