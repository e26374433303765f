"""The calls that follow the cure of a message to the letter, made from the call that was refused."""

import re
import shlex
from collections.abc import Iterator

NUMBERS = r"(?<!-)\b(INPUT|UNITS|HEADS|FILTERS|WINDOW|TIMES|N|M|K|T|STEPS)\b"
"""What stands for a number of the reader's in a cure."""


PROSE = "(a|an|each|it|its|one|another|their|the) "
"""How a cure begins that is no word to write."""


def followed(words: list[str], message: str) -> Iterator[list[str]]:
    """Yield the calls that a line of a refusal says to write; of a cure in words that are not known here, none."""
    line = re.sub(r" \(see rnncalc [a-z ]*--help\)$", "", message.rstrip("\n"))
    place = re.match(r"(--[a-z-]+)(?: ([0-9]+))?: ", line)
    flag, number = (place[1], int(place[2] or 1)) if place else ("", 0)
    if match := re.search(r"write rnncalc (.*?)(, with your numbers? for .*|, or expect: .*)?$", line):
        cure = shlex.split(re.sub(NUMBERS, "1", match[1]).replace("NAME", "keras"))
        missing = re.match("(?:rnncalc: )?'([^']+)': no such file", line)
        yield cure + (words[words.index(missing[1]) + 1 :] if missing else [])
    elif match := re.match(r"rnncalc: No such option '(.+?)'; write (--\S+)( \S+)?$", line):
        yield from _replaced(words, rf"{match[1]}(?=$|=)", match[2], match[3])
    elif match := re.match(r".* as in (-l|-o) ([^ ,]*),(\S+)$", line):
        yield ["-i", "10", "-l", "lstm:20", match[1], re.sub(NUMBERS, "3", f"{match[2]},{match[3]}")]
    elif match := re.match(r".* as in (-i .*)$", line):
        yield match[1].split()
    elif match := re.match(r"(?:.*'(.+?)'[^']*|.*: (\S+): unknown .*)did you mean (?:the command )?'(.+)'\?$", line):
        yield from _replaced(words, re.escape(match[1] or match[2]), match[3])
    elif "is given twice; remove one" in line and flag not in ("", "--layer"):
        yield _without(words, flag)
    elif match := re.match(r"(--\S+): needs (.*); add (?:it|one), or remove \S+$", line):
        added = re.split(", | or ", match[2])[0]
        values = {"--model": ["specs/models/tagger.pt"], "--baseline": ["specs"], "--from": ["class.csv"]}
        yield [*words, *added.split(), *values.get(added, [])]
        yield _without(words, match[1])
    elif match := re.match(r".*: remove (--\S+)$", line):
        yield _without(words, match[1])
    elif flag == "--layer":
        yield from _in_layer(words, number, line.split(": ", 1)[1])
    elif match := re.match(r".* got (?:'(.*?)'|(\S+)); (?:.*: )?write ([^;]+)", line):
        cures, _, beside = match[3].split(", and ")[0].partition(", with ")
        for each in re.split(", or | or |, (?=[a-z-]+(?:, | or ))", cures):
            if not re.match(PROSE, each):
                flags, got = "^.*" * each.startswith("-"), re.escape(match[1] or match[2])
                first, *more = each.split(" for ")[0].split(maxsplit=1 if flags else 0)
                yield from _replaced(words, f"{flags}{got}$", first, *more, *beside.split())


def _replaced(words: list[str], pattern: str, *by: str | None) -> Iterator[list[str]]:
    """Yield the words with the one that fits replaced, with its beginning and end."""
    first, *more = [each.strip() for each in by if each]
    for place, word in enumerate(words):
        if re.search(pattern, word):
            yield [*words[:place], re.sub(pattern, lambda _: first, word), *more, *words[place + 1 :]]
            return


def _without(words: list[str], flag: str) -> list[str]:
    """Return the words without the last of a flag, and without its value."""
    from rnncalc.cli.commands import COMMANDS, cli

    name = words[0] if words[0] in COMMANDS else "count"
    command = cli.get_command(None, name)  # type: ignore[arg-type]  # the context is not read
    assert command
    option = next(each for each in command.params if flag in each.opts)
    short = tuple(each for each in option.opts if len(each) == 2)
    ends = [place for place, word in enumerate(words) if word.split("=")[0] in option.opts or word.startswith(short)]
    joined = "=" in words[ends[-1]] or words[ends[-1]] not in option.opts or getattr(option, "is_flag", False)
    return [*words[: ends[-1]], *words[ends[-1] + (1 if joined else 2) :]]


def _in_layer(words: list[str], number: int, message: str) -> Iterator[list[str]]:
    """Yield the call that follows a cure in a layer."""
    places = [at + 1 for at, word in enumerate(words) if word in ("-l", "--layer")]
    if number > len(places):  # a layer of --network
        return
    place = places[number - 1]
    before, (first, *options), after = words[: place - 1], words[place].split(","), words[place + 1 :]
    key, unknown = re.split("[=:]", message)[0], "unknown kind" in message
    others = [each for each in options if re.split("[=:]", each)[0] != key]
    if match := re.search(r"; (?:for .*, )?write (-[il] .*?)(?: for it| for another|, .*|: .*)?$", message):
        replaced = unknown or (key.isdecimal() and "another" not in message)
        layer = [] if replaced else ["-l", ",".join([first, *others])]
        yield [*before, *layer, *re.sub(NUMBERS, "4", match[1]).replace(" and ", " ").split(), *after]
    elif re.search("; (remove it|leave it out)", message):
        kept = [first.partition(":")[0], *options] if "got" in message else [first, *others]
        yield [*before, *([] if unknown else ["-l", ",".join(kept)]), *after]
    elif match := re.search(
        r"; (?:.*: )?write (?:a comma before an option: )?(\S+?)(?:, and (-c \S+), .*|[;,] .*| for .*)?$", message
    ):
        cure = re.sub(NUMBERS, "3", match[1])
        got = re.search(r"got '?(.*?)'?; ", message)
        if got:
            whole = words[place].replace(got[1], cure)
        elif unknown:
            written = {"units", *(each.partition("=")[0] for each in cure.split(","))}
            whole = ",".join([cure, *(each for each in options if re.sub("_size|=.*", "", each) not in written)])
        else:
            name = cure.partition("=")[0]
            others = [each for each in others if each.partition("=")[0] != name]
            whole = ",".join([first, *others, cure])
        yield [*before, "-l", whole, *after, *(match[2] or "").split()]


def mended(text: str, message: str) -> Iterator[str]:
    """Yield a spec in which the cure of a message with a line and a column is followed."""
    if not (place := re.match(r"[^:]*:([0-9]+):([0-9]+): (.*)$", message)):
        return
    line, column, said = int(place[1]) - 1, int(place[2]) - 1, place[3]
    lines = text.splitlines() or [""]
    if line >= len(lines):
        return
    before, rest = lines[line][:column], lines[line][column:]

    def written(was: str, cure: str) -> Iterator[str]:
        if was in rest:
            yield "\n".join(
                [*lines[:line], before + rest.replace(was, re.sub(NUMBERS, "3", cure), 1), *lines[line + 1 :]]
            )

    key = re.match(r"[\w.\[\]]*?(\w+): unknown key; ", said)
    if match := re.search(r"got '(.+?)'; (?:some readers .*: )?write ([^;]+)$", said):
        for cure in re.split(", or | or ", match[2]):
            if not re.match(PROSE, cure) and ", " not in cure and not cure.startswith(("-", "steps", "input")):
                yield from written(match[1], cure)
    elif match := re.search(r"(?:got '(.+?)'|(\w+): unknown .*); did you mean '(.+)'\?$", said):
        yield from written(match[1] or match[2], match[3])
    elif key and (match := re.search(r"; write (\w+)$", said)):
        yield from written(key[1], match[1])
    elif key and (match := re.search(r"; write (\w+: [^;,]+)$", said)):
        yield from written(rest, match[1])
    elif key and re.search("; (remove it|leave it out)", said) and lines[line].strip().startswith(key[1]):
        yield "\n".join([*lines[:line], *lines[line + 1 :]])


def places_apart(message: str) -> str:
    """Return a message without its file and its numbers, which another line may have."""
    return re.sub("[0-9]", "", re.sub(r"^[^:]*:[0-9]+:[0-9]+: ", "", message))
