"""`rnncalc completion`: the script with which a shell asks for what may follow at the cursor.

The scripts pass the words one per line, up to the one at the cursor, and read one suggestion per line, which
`cli/suggestions.py` writes. The line `file` asks for the shell's own completion of file names.
"""

from __future__ import annotations

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.output import write_text

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
"""The script of each shell."""


@click.command(cls=Command, examples=("rnncalc completion bash",))
@click.argument("shell", type=click.Choice([*SCRIPTS]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Bash and zsh read it with eval "$(rnncalc completion bash)", fish with rnncalc completion fish | source.
    """
    write_text(SCRIPTS[shell])
