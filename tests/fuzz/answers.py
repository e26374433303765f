"""Answers whose verdict is known: `python tests/fuzz/run.py answers`.

A network of random layers has letters or numbers for its sizes, and its formula is that of the textbooks, written here
by hand. Right answers are this formula rewritten by identities (a sum in another order, multiplied out, a term added
and taken away, a factor split) and spelt as people spell: signs, brackets and powers of notebooks and LaTeX. Wrong ones
are the formula with a term more, or the number of a known mistake. Parts are the numbers of layers, with labels or in
order, their total beside them or not, each right or off by some, and claims about layers, gates, roles and directions
in lines, sums, tables and printed summaries, of which as many are wrong as were made so; others are a number with what
rounds it. Hostile ones repeat and nest what may be in an answer. A right answer is right, a wrong one is wrong, the
number of a mistake has it among its explanations, and each is read or refused within 2 s and 300 MB.
"""

import random
import re
import resource
import time
import traceback
from collections.abc import Callable
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import NamedTuple

from fuzz.run import KILOBYTES, SECONDS, Try

from rnncalc import CallError, Network
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import read_answers
from rnncalc.spec import spec_in_flags

BLOCKS = {"rnn": 1, "mgu": 2, "gru": 3, "lstm": 4}


class Term(NamedTuple):
    """A whole number times letters: 4·h·m."""

    factor: int
    letters: tuple[str, ...] = ()


class Times(NamedTuple):
    """A product of expressions."""

    factors: tuple["Expression", ...]


class Plus(NamedTuple):
    """A sum of expressions, each added or taken away."""

    terms: tuple[tuple[int, "Expression"], ...]


class Over(NamedTuple):
    """A quotient of an expression and a number that divides it: the expression is written times this number."""

    above: "Expression"
    below: int


Expression = Term | Times | Plus | Over
Sizes = dict[str, int]


def value(expression: Expression, sizes: Sizes) -> int:
    """Return the value of an expression."""
    match expression:
        case Term(factor, letters):
            return factor * prod(sizes[letter] for letter in letters)
        case Times(factors):
            return prod(value(each, sizes) for each in factors)
        case Plus(terms):
            return sum(sign * value(each, sizes) for sign, each in terms)
        case Over(above, below):
            return value(above, sizes) // below


def plus(*terms: Expression) -> Expression:
    return Plus(tuple((1, each) for each in terms))


class Chance(random.Random):
    """A source of chance, with the number of the group that networks are drawn from."""

    group: int = 0


class Asked(NamedTuple):
    """A network, what judges answers about it, its formula by the textbook, and the numbers of its sizes."""

    network: Network
    grader: Grader
    flags: str
    formula: Expression
    sizes: Sizes


def network(chance: Chance, *, in_letters: bool) -> Asked:
    """Draw one of the ten networks of a group: the search for mistakes in one is made once."""
    return numbered(10 * chance.group + chance.randrange(10), in_letters)


@lru_cache(maxsize=20)
def numbered(number: int, in_letters: bool) -> Asked:
    """Return a network of one to three layers. Its formula is a sum over the layers, each a product with a bracket."""
    chance = Chance(number)
    names = iter(chance.choice([["h", "k"], ["n_h", "n_y"], ["h_1", "h_2"], ["d_model", "H"], ["α", "λ_1"]]))
    sizes = {"m": chance.randint(2, 30)}
    width: Expression = Term(1, ("m",))
    layers, sums = [], []

    def size(name: str) -> str:
        return name if in_letters else str(sizes[name])

    for _ in range(chance.randint(1, 2)):
        name, kind, both = next(names), chance.choice([*BLOCKS]), chance.random() < 0.25
        sizes[name] = chance.randint(2, 40)
        layers.append(f"{kind}:{size(name)}{',bidirectional' if both else ''}")
        units, times = Term(1, (name,)), BLOCKS[kind] * (2 if both else 1)
        sums.append(Times((Term(times), units, plus(width, units, Term(1)))))
        width = Term(2, (name,)) if both else units
    output = None
    if chance.random() < 0.5:
        sizes["p"] = chance.randint(1, 20)
        output = size("p")
        sums.append(Times((Term(1, ("p",)), plus(width, Term(1)))))
    spec = spec_in_flags(size("m"), tuple(layers), output).checked()
    flags = " ".join(["-i", size("m"), *(f"-l {layer}" for layer in layers), *(["-o", output] if output else [])])
    return Asked(spec.network, Grader(spec.network), flags, sums[0] if len(sums) == 1 else plus(*sums), sizes)


# True identities


def rewritten(chance: Chance, expression: Expression) -> Expression:
    """Return the same expression in another form."""
    if chance.random() < 0.1:
        number = chance.randint(2, 4)
        return Over(Times((Term(number), expression)), number)
    match expression:
        case Term(factor, letters):
            split = chance.randrange(6)
            if split == 0 and factor > 1:
                return Times((plus(Term(factor - 1), Term(1)), Term(1, letters)))
            if split == 1 and factor > 1 and factor % 2 == 0:
                return Times((Term(2), Term(factor // 2, letters)))
            if split == 2:
                return plus(expression, Term(0, letters)) if chance.random() < 0.3 else Times((expression, Term(1)))
            return Term(factor, tuple(chance.sample(letters, len(letters))))
        case Times(factors):
            sums = [place for place, each in enumerate(factors) if isinstance(each, Plus)]
            if sums and chance.random() < 0.3:
                place = chance.choice(sums)
                others, bracket = (*factors[:place], *factors[place + 1 :]), factors[place]
                assert isinstance(bracket, Plus)
                return Plus(tuple((sign, Times((*others, each))) for sign, each in bracket.terms))
            shuffled = chance.sample(factors, len(factors))
            return Times(tuple(rewritten(chance, each) for each in shuffled))
        case Plus(terms):
            changed = [(sign, rewritten(chance, each)) for sign, each in terms]
            if chance.random() < 0.3:
                extra = chance.choice(terms)[1]
                changed += [(1, extra), (-1, extra)]
            begin, *rest = changed  # the first stays: a formula does not begin with a minus
            return Plus((begin, *chance.sample(rest, len(rest))))
        case Over(above, below):
            return Over(rewritten(chance, above), below)


# How people write

SIGNS = ("*", "·", "×", " ", "", " * ", " · ", " × ", r"\cdot ", r" \times ", "⋅", " x ", " mal ", " times ")
BRACKETS = (
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    (r"\left(", r"\right)"),
    (r"\{", r"\}"),
    (r"\underbrace{", r"}_{\text{one gate}}"),
)
POWERS = ("²", "^2", "**2", "^{2}")


def spelt(chance: Chance, expression: Expression, sizes: Sizes | None) -> str:
    """Return an expression as somebody may write it; sizes: their numbers, if it is written in numbers."""
    match expression:
        case Term(factor, letters):
            names = [spelt_letter(chance, letter) if sizes is None else str(sizes[letter]) for letter in letters]
            return product(chance, [*([spelt_number(chance, factor)] if factor != 1 or not names else []), *names])
        case Times(factors):
            return product(chance, [bracketed(chance, each, sizes) for each in factors])
        case Plus(terms):
            text = ""
            for sign, each in terms:
                joint = (
                    ("" if sign > 0 else "-") if not text else chance.choice(("+", " + ") if sign > 0 else ("-", " − "))
                )
                written = spelt(chance, each, sizes)
                text += joint + (bracket(chance, written) if sign < 0 and isinstance(each, Plus) else written)
            return text
        case Over(above, below):
            if chance.random() < 0.5:
                return f"\\frac{{{spelt(chance, above, sizes)}}}{{{below}}}"
            return bracket(
                chance, f"{bracket(chance, spelt(chance, above, sizes))}{chance.choice(('/', ' / '))}{below}"
            )


def spelt_letter(chance: Chance, letter: str) -> str:
    """Return a letter as somebody may write it: h_1, h_{1}, h₁ or d_{\\text{model}}; a longer index has braces."""
    name, _, index = letter.partition("_")
    name = chance.choice((name, NAMES.get(name, name)))
    if not index:
        return name
    low = index.translate(LOW) if index.isdigit() else f"_{{\\text{{{index}}}}}"
    return name + chance.choice((f"_{index}", f"_{{{index}}}", low))


NAMES = {"α": r"{\alpha}", "λ": r"\lambda"}
LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def spelt_number(chance: Chance, number: int) -> str:
    """Return a number, with a group of three digits or with decimals that are 0."""
    if number >= 1_000:
        return chance.choice((f"{number:,}", f"{number:_}", f"{number:,}".replace(",", "{,}"), str(number)))
    return chance.choice((str(number), str(number), str(number), f"{number}.0"))


def bracketed(chance: Chance, expression: Expression, sizes: Sizes | None) -> str:
    text = spelt(chance, expression, sizes)
    return bracket(chance, text) if isinstance(expression, Plus) or chance.random() < 0.05 else text


def bracket(chance: Chance, text: str) -> str:
    left, right = chance.choice(BRACKETS)
    return f"{left}{text}{right}"


def product(chance: Chance, factors: list[str]) -> str:
    """Return factors joined; two that are equal may be a square. Digits are not put beside digits."""
    sign = chance.choice(SIGNS)
    if len(factors) > 1 and factors[-1] == factors[-2] and len(factors[-1]) == 1 and chance.random() < 0.5:
        factors = [*factors[:-2], factors[-1] + chance.choice(POWERS)]
    text = factors[0]
    for factor in factors[1:]:
        joint = sign
        if not joint.strip() and factor[:1].isdigit():
            joint = "*"
        elif not joint and re.search("_[A-Za-z][A-Za-z]+$", text):
            joint = " "
        text += joint + factor
    return text


AROUND = (
    *(("", ""), ("", ""), ("", " parameters"), ("= ", ""), (" ", " "), ("$", "$"), ("$$", "$$."), ("", ".")),
    *((r"\(", r"\)"), (r"\[", r"\]"), ("total: ", ""), ("params = ", " weights"), (r"\[P = ", r"\]")),
)


# What is tried


class Trial(NamedTuple):
    """An answer to a network: its text, whether it is right (None if either, or refused), and the mistake's number.

    wrong: how many of its numbers are wrong, if that is known.
    """

    asked: Asked
    text: str
    right: bool | None
    mistaken: bool = False
    wrong: int | None = None


def right_formula(chance: Chance) -> Trial:
    """Return the right formula or sum in another form."""
    asked = network(chance, in_letters=chance.random() < 0.6)
    expression = asked.formula
    for _ in range(chance.randint(0, 3)):
        expression = rewritten(chance, expression)
    text = spelt(chance, expression, None if asked.network.letters else asked.sizes)
    before, after = chance.choice(AROUND)
    return Trial(asked, f"{before}{text}{after}", True)


def wrong_formula(chance: Chance) -> Trial:
    """Return the formula with a term too many."""
    trial = right_formula(chance)
    letters = tuple(chance.choices([*trial.asked.sizes], k=chance.randint(0, 2)))
    more = spelt(
        chance, Term(chance.randint(1, 5), letters), None if trial.asked.network.letters else trial.asked.sizes
    )
    return Trial(
        trial.asked,
        f"{trial.text.rstrip().rstrip('.').removesuffix(' parameters').removesuffix(' weights')} + {more}",
        False,
    )


NUMBERS: tuple[Callable[[int], str], ...] = (
    str,
    lambda number: f"{number:,}",
    lambda number: f"{number:_}",
    lambda number: f"{number:,}".replace(",", " "),
    lambda number: f"{number:,}".replace(",", "'"),
    lambda number: f"{number:,} parameters",
    lambda number: f"= {number}",
    lambda number: f"{number}.0",
    lambda number: f"total: {number:,}",
)


def right_number(chance: Chance) -> Trial:
    """Return the right number."""
    asked = network(chance, in_letters=False)
    return Trial(asked, chance.choice(NUMBERS)(value(asked.formula, asked.sizes)), True)


def wrong_number(chance: Chance) -> Trial:
    """Return the number of a known mistake, or one that is off by some."""
    asked = network(chance, in_letters=False)
    right = value(asked.formula, asked.sizes)
    if chance.random() < 0.5:
        return Trial(asked, chance.choice(NUMBERS)(right + chance.randint(1, 2 * right)), False)
    number = chance.choice([*asked.grader.search.singles()])
    return Trial(asked, chance.choice(NUMBERS)(number), False, mistaken=number > 0)


JOINTS = (", ", "; ", ";", "\n", " and ", " & ", r" \\ ")


def parts(chance: Chance) -> Trial:
    """Return the numbers of the layers, one of them wrong in half of all answers, alone or with their total."""
    asked = network(chance, in_letters=False)
    sums = [each for _, each in asked.formula.terms] if isinstance(asked.formula, Plus) else [asked.formula]
    right = [value(each, asked.sizes) for each in sums]
    numbers, place = [*right, sum(right)], chance.choice([None, *range(len(right) + 1)])
    if place is not None:
        numbers[place] += chance.randint(1, 9)
    labels = [
        chance.choice((placed.name, f"layer {number}", f"Layer {number}", placed.name.upper()))
        for number, placed in enumerate(asked.network.stack, 1)
    ]
    labelled, total = len(right) == 1 or chance.random() < 0.5, chance.random() < 0.5
    if not total:
        numbers.pop()
    verbs = chance.choice((": ", " = ", " has ", "="))
    total_label = chance.choice(("total", "sum", "Total params"))
    labels = [*labels, total_label]
    pieces = [
        f"{labels[at]}{verbs}{number}" if labelled or (at == len(right) and chance.random() < 0.5) else f"{number}"
        for at, number in enumerate(numbers)
    ]
    wrong = place is not None and (place == len(right) if total else place < len(right))
    return Trial(asked, chance.choice(JOINTS).join(pieces), not wrong)


NUMERALS = ("first", "second", "third")
LINES = ("; ", ", ", "\n", r" \\ ", " and ")
GATES = {
    "lstm": ("forget gate", "input gate", "output gate", "each gate", "one block", "je Gate", "porte d'oubli"),
    "gru": ("reset gate", "update gate", "candidate", "each gate", "per block", "Resetgatter"),
}


def labels_of_layers(asked: Asked) -> list[list[str]]:
    """Return for each layer labels that name no other."""
    stack = asked.network.stack
    cells = [placed.kind for placed in stack if placed.kind in BLOCKS]
    labels = []
    for place, placed in enumerate(stack):
        each = [placed.name, f"layer {place + 1}", f"{NUMERALS[place]} layer", f"Schicht {place + 1}"]
        if placed.kind not in BLOCKS:
            each += ["output", "softmax", "FC", "Dense", "Linear", "output layer", "Ausgabeschicht", "couche dense"]
        elif len(cells) == 1:
            each += ["hidden layer", placed.kind.upper(), f"{placed.kind.upper()} layer", "capa oculta"]
        else:
            each += [f"hidden layer {place + 1}", f"h_{place + 1}", f"h{place + 1}"]
            each += [] if cells.count(placed.kind) > 1 else [placed.kind.upper(), f"{placed.kind.upper()}-Schicht"]
        labels.append(each)
    return labels


def claims(chance: Chance) -> Trial:
    """Return numbers with labels in one of the forms of people and programs, some of them wrong."""
    asked = network(chance, in_letters=False)
    stack, names = asked.network.stack, labels_of_layers(asked)
    sums = [each for _, each in asked.formula.terms] if isinstance(asked.formula, Plus) else [asked.formula]
    right = [value(each, asked.sizes) for each in sums]
    made = [(chance.choice(labels), number) for labels, number in zip(names, right, strict=True)]
    total, placed = sum(right), stack[0]
    if chance.random() < 0.3 and not (len(stack) > 1 and stack[1].kind in BLOCKS):  # parts of the one cell instead
        both = 2 if "bidirectional" in asked.flags else 1
        h, m, blocks = placed.units, placed.inputs, BLOCKS[placed.kind]
        assert h is not None
        kinds = [("biases", blocks * h), ("input weights", blocks * h * m), ("recurrent weights", blocks * h * h)]
        made = [(f"{placed.kind.upper()} {role}", both * number) for role, number in kinds]
        if both == 1 and placed.kind in GATES:
            made.append((chance.choice(GATES[placed.kind]), h * (m + h + 1)))
        if both == 2:
            made += [("forward", right[0] // 2), ("each direction", right[0] // 2)]
        made = chance.sample(made, chance.randint(1, len(made)))
    wrong = {at for at in range(len(made)) if chance.random() < 0.2}
    made = [(label, number + (at in wrong) * chance.randint(1, 9)) for at, (label, number) in enumerate(made)]
    layers = made[0][0] in names[0] and len(made) == len(stack)
    off = chance.choice((0, 0, chance.randint(1, 9)))
    off *= total + off != sum(number for _, number in made)  # the sum of these parts alone is refused
    whole = total + off if chance.random() < 0.6 else None
    text = form(chance, made, whole, [each.kind for each in stack] if layers else [])
    is_right = not off if whole is not None else not wrong
    return Trial(asked, text, is_right, wrong=len(wrong) + bool(whole is not None and off))


def form(chance: Chance, made: list[tuple[str, int]], whole: int | None, kinds: list[str]) -> str:
    """Return claims and a total as people write them. kinds: those of the layers, if each has a claim, in order."""
    way = chance.randrange(14)
    spell = chance.choice((str, lambda number: f"{number:,}"))
    total = [(chance.choice(("total", "Total", "Summe", "sum", "Total params")), whole)] if whole is not None else []
    pairs = [(label, spell(number)) for label, number in (*made, *total)]
    if kinds and len(kinds) > 1 and way == 0:
        numbers = [str(number) for _, number in made]
        end = f"{chance.choice((' → ', ', so ', ' -> '))}{whole}" if whole is not None else ""
        return ", ".join(numbers) + end
    if kinds and way == 1:
        return summary(chance, kinds, [number for _, number in made], whole)
    verb = chance.choice((": ", " = ", " -> ", " has ", " - ", ":"))
    if (way in (2, 5) or verb == " - ") and any(re.match("h_?[0-9]", label) for label, _ in made):
        way = 3
    if way == 2 and whole is not None and len(made) > 1:
        beside = chance.choice(("{1} ({0})", "{1} [{0}]", "{0} ({1})", "{1} {0}"))
        return " + ".join(beside.format(label, number) for label, number in made) + f" = {whole}"
    if way == 3:
        rows = [f"| {label} | {number} |" for label, number in pairs]
        return "\n".join(["| Layer | Params |", "|---|---:|", *rows])
    if way == 4 and len(pairs) > 1:
        rows = [f"{label} & {number} \\\\" for label, number in pairs]
        begin, end = chance.choice((("", ""), ("\\begin{tabular}{lr}\n\\hline\n", "\n\\hline\n\\end{tabular}")))
        return begin + "\n".join(rows) + end
    if way == 5:
        behind = chance.choice(("{1} for the {0}", "{1} ({0})", "{1} in the {0}", "{1} parameters in {0}", "{1} {0}"))
        return chance.choice(LINES).join(behind.format(*pair) for pair in pairs)
    if way == 6:
        return chance.choice(LINES).join(f"**{label}:** {number}" for label, number in pairs)
    if way == 7:
        return chance.choice(LINES).join(rf"\text{{{label}}} = {number}" for label, number in pairs)
    if way == 10:
        return "\n".join(f"{label}\n{number}" for label, number in pairs)
    if way == 11 and len(pairs) > 1:
        return f"{{{', '.join(f'{chr(34)}{label}{chr(34)}: {number}' for label, number in pairs)}}}"
    if way == 12 and len(pairs) > 1:
        return chance.choice((" | ", " / ")).join(
            f"{label}{chance.choice((' = ', ': '))}{number}" for label, number in pairs
        )
    if way == 13 and len(pairs) > 1:
        sentences = [f"the {label} has {number} parameters" for label, number in pairs]
        return f"{', '.join(sentences[:-1])}{chance.choice((' and ', ', and ', '. So '))}{sentences[-1]}."
    joint = chance.choice(LINES if verb != " - " else ("\n", "; "))
    growth = chance.choice(("", "", ", so O(h²)")) if verb in (": ", " = ") else ""
    return joint.join(f"{label}{verb}{number}" for label, number in pairs) + growth


def summary(chance: Chance, kinds: list[str], numbers: list[int], whole: int | None) -> str:
    """Return what Keras 3, Keras 2 or torchinfo prints of a network."""
    style = chance.randrange(3)
    classes = {"output": "Linear" if style == 2 else "Dense", "rnn": "SimpleRNN", "mgu": "MGU"}
    rows = []
    for at, (kind, number) in enumerate(zip(kinds, numbers, strict=True), 1):
        name, shape = classes.get(kind, kind.upper()), f"(None, {at})"
        row = (f"│ {name.lower()}_{at} ({name})", f" {name.lower()}_{at} ({name})", f"├─{name}: 1-{at}")[style]
        rows.append(
            f"{row:<34} {'│ ' * (style == 0)}{shape:<20} {'│ ' * (style == 0)}{number:>14,}{' │' * (style == 0)}"
        )
    lines = ['Model: "sequential"', " Layer (type)      Output Shape     Param # ", "=" * 60, *rows, "=" * 60]
    return "\n".join([*lines, *([f"Total params: {whole:,}", "Trainable params: 0"] if whole is not None else [])])


def rounded(chance: Chance) -> Trial:
    """Return a number, right or off by some, and what rounds it."""
    asked = network(chance, in_letters=False)
    right = value(asked.formula, asked.sizes)
    number = right + chance.choice((0, chance.randint(1, 9)))
    about = chance.choice((f" ≈ {number / 1000:.1f}k", f" = {number / 1000:.2f}k", f" ≈ {round(number, -2)}", ""))
    return Trial(asked, f"{chance.choice(('', 'P = ', 'total: '))}{number}{about}", number == right)


WORDS = r"""
( [ { ) ] } ^9 ^ **9 ² a a_1 ab 1 9 0 , . + - * · x × = _ / k M e9 e99 1,000 (a+b) (a+b+c+d)^9 W= W_xh=(3,
\cdot \left( \right) \frac{a}{b} parameters None B h_n=( ²³ ₁₂ a+ a* 1+ 9* (( )) (1+ x1 1'000 torch.Size([ ｈ é 𝟜
\text{ \alpha $ \( = \underbrace{ }_{ }^{\text{ a/9 +a/97 h/2+
"""
PIECES = (
    *(*WORDS.split(), " ", "\t", "\u202f", "params ", "about ", "1 000", "\x00", "\ud800", "total "),
    *(" mal ", " (=", " (gates)", "1 (", ", ", "; ", "total: ", " biases: 1", "gru_1: 5 ", " and ", "½", " → "),
)


def hostile(chance: Chance) -> Trial:
    """Return pieces of answers that are repeated and nested."""
    asked = network(chance, in_letters=chance.random() < 0.5)
    text = ""
    for _ in range(chance.randint(1, 5)):
        text += chance.choice(PIECES) * chance.choice((1, 1, 2, 3, 10, 100, 1_000, 10_000))
    if chance.random() < 0.3:
        depth = chance.choice((1, 5, 29, 30, 31, 100, 1_000))
        text = "(" * depth + text + ")" * depth
    if chance.random() < 0.3:
        text += chance.choice(PIECES) * chance.choice((1, 30_000))
    return Trial(asked, text, None)


TRIALS = (
    right_formula,
    right_formula,
    wrong_formula,
    right_number,
    wrong_number,
    parts,
    claims,
    claims,
    claims,
    rounded,
    hostile,
    hostile,
)


def fault(trial: Trial) -> str:
    """Return what is wrong with the verdict on an answer, nothing when nothing is."""
    began = time.process_time()  # of this process alone, however busy the machine is
    try:
        answer = trial.asked.grader.judge(read_answers(trial.text, sizes=trial.asked.grader.sizes))
    except CallError as error:
        if trial.right is not None:
            return f"refused: {error}"
        if len(str(error)) > 1_000:
            return f"a message of {len(str(error))} characters"
        answer = None
    except Exception:
        return traceback.format_exc()
    took = time.process_time() - began
    if took > SECONDS:
        return f"took {took:.1f} s"
    if answer and trial.right is not None and answer.right != trial.right:
        return f"called {'wrong' if trial.right else 'right'}; the right one is {answer.judged[-1].params}"
    if answer and trial.wrong is not None and sum(not each.right for each in answer.judged) != trial.wrong:
        return f"has {trial.wrong} wrong numbers, not {[each.params for each in answer.judged if not each.right]}"
    if answer and trial.mistaken and not answer.judged[0].diagnoses:
        return "has no mistake"
    return ""


def kilobytes() -> int:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def answers(_: Path) -> Try:
    """Return what judges an answer to one of ten networks, which are others after 5,000 answers."""
    group, tried = 0, 0

    def attempt(source: random.Random) -> str:
        nonlocal group, tried
        if tried % 5_000 == 0:
            group = source.randrange(10**6)
        tried += 1
        chance = Chance(source.random())
        chance.group = group
        trial = chance.choice(TRIALS)(chance)
        before = kilobytes()
        told = fault(trial)
        if kilobytes() > max(before, KILOBYTES):
            told = told or f"took {kilobytes() // 1000:,} MB"
        text = trial.text if len(trial.text) < 400 else f"{trial.text[:200]}… ({len(trial.text):,} characters)"
        return f"rnncalc answer {trial.asked.flags} -- {text!r}: {told}" if told else ""

    return attempt
