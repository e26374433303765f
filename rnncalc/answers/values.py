"""`answer --of values`: judges the numbers of a pass that was worked by hand.

A pass is recorded once, each value with the operation that made it. What a mistake makes of it, and what follows from a
wrong value, is the same pass done again with a few of its values changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import isfinite, prod
from string import ascii_uppercase
from typing import Any, NamedTuple

from rnncalc.answers.circuit import Change, Circuit, Element, Fixed, Key, Numbers, Values, in_order, key_of
from rnncalc.answers.grading import Grader
from rnncalc.answers.judgement import Answer, Diagnosis, JudgedValue, Judgement, Mistake
from rnncalc.answers.reading import GivenShape, check_number_of_answers
from rnncalc.answers.value_reading import GivenArray, last_side, meanings, read_array, read_values, with_step_below
from rnncalc.answers.value_table import TABLE
from rnncalc.conventions.tensor import WAYS
from rnncalc.errors import CallError
from rnncalc.expressions import RealValue
from rnncalc.forward.arrays import flat
from rnncalc.layers.cell import Cell
from rnncalc.network.data import Data
from rnncalc.network.network import Network
from rnncalc.printable import escape
from rnncalc.questions.backward import loss_name, with_loss
from rnncalc.questions.spelling import turned
from rnncalc.questions.work import work
from rnncalc.words import all_of, bracketed, one_of

UNITS_OFF = 2
"""How many units of its last digit a correct value may be off, because steps in between were rounded."""
COARSEST = 0.05
"""The coarsest unit of the last digit for that; a value of one digit must be the correct one, rounded."""
FEW_DIGITS = 3
"""A mistake that explains fewer digits than this, in one value alone, is a guess."""
BY_CHANCE = 1 / 64
"""A mistake is a guess if a value has one as likely, or likelier, with a higher probability than this."""
MOST_FOLLOWED, MOST_PAIRS, MOST_LISTED = 20, 200, 3
"""The most wrong values in which mistakes are looked for beside those before, pairs of mistakes, and those listed."""
_COMMON = ("no-bias", "no-product", "no-start", "no-activation")
"""The mistakes of which one is in each pair."""
_STATES = (
    ("cell state|zellzustand|état de (?:la )?cellule|estado de (?:la )?celda|estado da célula|stato della cella", "c"),
    (
        "(?:hidden|verborgene[rn]?|versteckte[rn]?|verdeckte[rn]?) (?:state|zustand)"
        "|(?:état|estado|stato) (?:caché|oculto|nascosto)|state|zustand|état|estado|stato",
        "h",
    ),
)
_BEFORE_SYMBOL = r"(?= [^\W\d]{1,2}(?:[_^\d({₀-₉\[]| ))"
_OF = "of|von|des?|di|wrt|with respect to|bezüglich|nach|par rapport à|respecto a"
_WORDS = (
    (r"(?i)(?<=\A )(?:(?:and|so|then|thus|hence|therefore|also|daher|donc|the|der|die|das|le|la|el|il) )+", " "),
    (r"(?i)\b(?:prediction|out|vorhersage|ausgabe|sortie|salida|uscita|saída)\b", "output"),
    (
        rf"(?:\b[gG]rad(?:ient)?[eo]?(?: (?:{_OF}))?\b|∇_?)\s*(\S.*)",
        r"∂L/∂\1",
    ),
    (r" ?/ ?(?=\\?(?:partial|[d∂]))", "/"),
    (r"(\S+)\.grad\b", r"∂L/∂\1"),
)
_MEANT = (
    ("[chCH]\u0303|ñ", "g"),
    ("[chCH]\u0303|ñ", "n"),
    ("ŷ", "y"),
    ("[\u0302-\u0304\u0307]|(?<=y)_?hat", ""),
    (r"\Ad(?=[A-Za-z])", "∂L/∂"),
    *((rf"\A{letter}(?=[0-9]*\Z)", letter.lower()) for letter in ascii_uppercase),
    (r"(?i)\A(?:loss|e|j|cost|error|verlust|fehler|kosten|perte|coût|erreur|pérdida|perdita|perda|costo)\Z", "L"),
    (r"\Ay(?=[0-9]*\Z)", "p"),
    (r"\A(∂L/∂)w(?=[a-z]*(?:step[0-9]+)?\Z)", r"\1W"),
    (r"\A(∂L/∂W)(?:x|in|ih|hx)(?=(?:step[0-9]+)?\Z)", r"\1xh"),
    (r"\A(∂L/∂W)(?:h|rec)(?=(?:step[0-9]+)?\Z)", r"\1hh"),
    (r"\A(∂L/∂)(?:V|W(?:y|yh|out))(?=(?:step[0-9]+)?\Z)", r"\1Why"),
)
_NO_INDEX = r"\A(∂L/∂[WUVb]|δ)(?=(?:(?:step)?[0-9]+)?\Z)"
"""Words for states, each with its letter; a symbol behind them, which they only explain; other words of names; what a
name, as it is looked up, may also mean: the candidate of books, the last output, a matrix by what it reads; and an
array without an index, which is that of a network that has only one."""


class Claim(NamedTuple):
    """A value as it was written, and which one of the pass it is."""

    text: str
    element: Element
    shape: tuple[int, ...]
    numbers: tuple[RealValue, ...]

    @property
    def key(self) -> Key:
        """The layer of the value, and its name as it is looked up."""
        return self.element.key

    @property
    def one_digit(self) -> bool:
        """Whether a single digit was written, which is too few to look for a mistake."""
        return sum(each.digits for each in self.numbers) == 1

    @property
    def floats(self) -> list[float]:
        """Its numbers."""
        return [each.value for each in self.numbers]


Explanation = tuple[int, float]
"""The place of a mistake in the list of all, and the probability of coming so near to its value by chance."""


class ValueGrader(Grader):
    """Judges values of a pass. data: its weights, inputs, and the targets of a loss.

    loss: as in `backward`. asked: the names of the values that are asked for, in order, if answers have none.
    """

    def __init__(
        self, network: Network, data: Data, loss: str | None = None, *, hint: bool = False, asked: Sequence[str] = ()
    ) -> None:
        super().__init__(network, hint=hint)
        self.quantity, self.of_params, self.data, self.loss, self.asked = "values", False, data, loss, asked
        if data.weights is None or data.inputs is None:
            lack = [key for key in ("weights", "inputs") if getattr(data, key) is None]
            raise CallError(f"values are those of a pass with numbers: give {all_of(lack)} in the spec")
        self._mistakes: dict[bool, list[tuple[Mistake, Change, Values]]] = {}

    @cached_property
    def forward(self) -> Circuit:
        """The pass without its gradients."""
        data = {key: each for key, each in self.data._asdict().items() if key != "targets"}
        return Circuit(work(with_loss(self.network, loss_name(self.loss, self.data.targets)), **data))

    @cached_property
    def both(self) -> Circuit:
        """The pass with its gradients."""
        return Circuit(work(self.network, **self.data._asdict(), backward=True, loss=self.loss))

    def read(self, text: str, *, decimal: str = "", title: str = "") -> list[Any]:
        """Return the values in a text; title: what is above it in a file, the name of one without a name."""
        layers = [*(re.escape(placed.name) for placed in self.network.stack), "layer [1-9]", *WAYS]
        values = read_values(re.sub(rf"(?<!\w)({'|'.join(layers)})\s*:\s*(?=[^\W\d]|[\\∂$])", r"\1 ", text))
        if len(values) == 1 and not values[0].name and title and self._find(title):
            values = [values[0]._replace(name=title)]
        return values

    @cached_property
    def right_answer(self) -> Any:
        return [*map(written, self.exact)] or None

    @property
    def exact(self) -> list[Numbers]:
        """The shapes and the numbers of the values that are asked for."""
        circuit, elements = self.circuit_of(self.asked)
        return [numbers for each in elements if (numbers := each.of(circuit.exact))]

    def titles(self, columns: Sequence[str]) -> Sequence[str]:
        in_order = len(columns) == len(self.asked) and not all(map(self._find, columns))
        return self.asked if in_order else columns

    def in_order(self, answers: Sequence[Any]) -> bool:
        return not all(each.name for each in answers)

    def missing(self, judged: Sequence[Judgement]) -> list[str]:
        keys = {each.value.element.key for each in judged if each.value}
        elements = self.circuit_of(self.asked)[1]
        return [name for name, element in zip(self.asked, elements, strict=True) if element.key not in keys]

    def judge(self, answers: Sequence[Any]) -> Answer:
        """Judge values, each with its name or in the order in which they are asked for."""
        if self.asked[1:] and len(answers) == 1 and not answers[0].name:  # all in one field
            answers = [GivenArray("", piece) for piece in re.split("[;\n]", answers[0].text) if piece.strip()]
        check_number_of_answers(len(answers))
        names = [each.name for each in answers]
        if not any(names) and len(names) == len(self.asked):
            names = [*self.asked]
        if not all(names):
            wanted = f"{one_of([*self.asked])} = …" if self.asked else "h_1 = 0.76"
            raise CallError(
                f"expected each value with its name, as in {wanted}, got '{escape(answers[names.index('')].text)}'"
            )
        circuit, elements = self.circuit_of(names, [each.text for each in answers])
        claims: list[Claim] = []
        for each, element in zip(answers, elements, strict=True):
            size = 1 if element.at is not None else len(circuit.exact[element.key][1])
            if any(element.key == other.key and element.at in (other.element.at, None) for other in claims):
                raise CallError(f"{circuit.text(element)} is given twice; remove one")
            claims.append(Claim(each.text, element, *read_array(each.text, size)))
        return Answer(self.network, tuple(_Judge(self, circuit, claims).judgements()), None, "values")

    def circuit_of(self, names: Sequence[str], texts: Sequence[str] = ()) -> tuple[Circuit, list[Element]]:
        """Return the pass that has the named values, with its gradients if one is such, and which each is.

        texts: the values as they were written, by which y_2 may be a number of y. Raises CallError for a name that the
        pass does not have.
        """
        matches = []
        for at, name in enumerate(names):
            if not (match := self._find(name, texts[at] if texts else "")):
                shown = [*dict.fromkeys([each.text for each in self.forward.names.values()])]
                more = f", L and gradients such as ∂L/∂{shown[-1]}"
                if key_of(name).startswith("∂L/∂"):
                    gradients = [each.text for each in self.both.names.values()]
                    shown, more = [each for each in gradients if re.fullmatch("∂L/∂[WUVbc](_[a-z]+)?", each)], ""
                listed = f"{', '.join(shown[:12])}{', …' * (len(shown) > 12)}{more}"
                raise CallError(f"'{escape(name)}' is no value of this pass; there are {listed}")
            matches.append(match)
        return self._pass(any(backward for backward, _ in matches)), [each for _, each in matches]

    def _find(self, name: str, text: str = "") -> tuple[bool, Element] | None:
        """Return whether a named value needs the backward pass, and which it is; None for a name that is none.

        text: the value as it was written. Raises CallError if several values may be meant.
        """
        whole = self._value(name)
        count = len(self._exact(whole)[1]) if whole else 0
        if whole and (count == 1 or not text or len(read_array(text, count)[1]) > 1):
            return whole[0], Element(whole[1])
        matches: dict[Element, bool] = {}
        outside = ""
        for base, places in meanings(name):
            if not (value := self._value(base)):
                continue
            circuit, (shape, numbers) = self._pass(value[0]), self._exact(value)
            count = 1 if places else len(numbers)
            if text and len(read_array(text, count)[1]) != count:
                continue
            sizes = shape if len(places) == len(shape) else (len(numbers),)
            if not places:
                matches[Element(value[1])] = value[0]
            elif len(places) == len(sizes) and all(0 <= at < size for at, size in zip(places, sizes, strict=True)):
                at = places[0] if not places[1:] else places[0] * sizes[1] + places[1]
                matches[Element(value[1], at if numbers[1:] else None)] = value[0]
            elif "[" in name:
                last = circuit.text(Element(value[1], len(numbers) - 1))
                outside = f"no number of {circuit.text(Element(value[1]))}; its last number is {last}, counted from 0"
        if len(matches) > 1:
            texts = [self._pass(backward).text(each) for each, backward in matches.items()]
            raise CallError(f"'{escape(name)}' may be one of several numbers; write {one_of(texts)}")
        for element, backward in matches.items():
            return backward, element
        if outside:
            raise CallError(f"'{escape(name)}' is {outside}")
        return (whole[0], Element(whole[1])) if whole else None

    def _pass(self, backward: bool) -> Circuit:
        return self.both if backward else self.forward

    def _exact(self, value: tuple[bool, Key]) -> Numbers:
        return self._pass(value[0]).exact[value[1]]

    def _value(self, name: str) -> tuple[bool, Key] | None:
        """Return whether a value as a whole needs the backward pass, and its key; None for a name that is none."""
        layers = [placed.name for placed in self.network.stack]
        recurrent = [placed.name for placed in self.network.stack if isinstance(placed.layer, Cell)]
        layer, way, rest = "", "", f" {with_step_below(name)} "
        for words, letter in (*self._words_of_gates, *_STATES):  # forget gate, and forget gate f_1
            pattern = rf"(?i)\b(?:{words})(?![^\W_])"
            rest = re.sub(pattern, f" {letter}", re.sub(pattern + _BEFORE_SYMBOL, "", rest))
        for words, plain in _WORDS:
            rest = re.sub(words, plain, rest)
        for each in sorted(layers, key=len, reverse=True):
            if match := re.search(rf"(?<![\w]){re.escape(each)}(?![\w])", rest):
                layer, rest = each, rest.replace(match[0], " ", 1)
                break
        level = r"[(\[]?([1-9])[)\]]?" if self.network.spelling.above else r"[(\[]([1-9])[)\]]"
        if match := re.search(rf"\blayer ([1-9])\b|\^\s*\{{?{level}\}}?", rest):
            place = int(match[1] or match[2]) - 1
            rest = rest.replace(match[0], " ", 1)
            layer = layer or (recurrent[place] if place < len(recurrent) else "?")
        if match := re.search(rf"\b({'|'.join(WAYS)})\b", rest):
            way, rest = f"{match[1]}/", rest.replace(match[0], " ", 1)
        rest = re.sub(r"\b(?:the|value|of|in|layer)\b|\(\s*\)|(?<=\s)[.:/]|[.:/](?=\s)", " ", rest)
        steps = self.network.steps or len(next(iter((self.data.inputs or {}).values()), []))
        keys = _meant(f"{way}{key_of(rest)}", steps)
        last = dict([*self.forward.names])  # of each layer
        if layer in last if "" in keys else {"y", "output"} & {*keys} and not {"y", "p"} & {*last.values()}:
            return False, (layer or layers[-1], last[layer or layers[-1]])
        for backward in (False, True) if any(re.search("[∂δL]", key) for key in keys) else (False,):
            names = self._pass(backward).names
            for key in keys:
                pattern = re.sub(_NO_INDEX, r"\1[a-z]+", re.escape(key))
                named = [each for each in names if layer in ("", each[0])]
                among = [each for each in named if each[1] == key]
                among = among or [each for each in named if re.fullmatch(pattern, each[1])]
                if len(among) > 1 and not key.startswith(("x", "y", "p")):
                    texts = [names[each].text for each in among]
                    several = texts if len({*texts}) > 1 else [f"{each}.{texts[0]}" for each, _ in among]
                    raise CallError(f"'{escape(name)}' may be one of several values; write {one_of(several)}")
                if among:
                    return backward, among[0 if key.startswith("x") else -1]
        return None

    @cached_property
    def _words_of_gates(self) -> Sequence[tuple[str, str]]:
        """The names of the gates, each with its letter."""
        cells = [(placed.layer, placed.inputs) for placed in self.network.stack if isinstance(placed.layer, Cell)]
        gates = [gate for cell, inputs in cells for gate in cell.gates(inputs)]
        return [(re.escape(gate.name), self.network.spelling.letter(gate.letter)) for gate in gates]

    def mistakes(self, circuit: Circuit) -> list[tuple[Mistake, Change, Values]]:
        """Return every mistake of the table in a pass, with the values that it gives."""
        mistakes = self._mistakes.setdefault(circuit is self.forward, [])
        if not mistakes:
            different = [circuit.exact]
            for row in TABLE:
                for change in row.change(circuit):
                    if (values := _values(circuit, change)) and values not in different:  # the likeliest of equals
                        different.append(values)
                        mistakes.append((row.filled(change.words), change, values))
        return mistakes


def _meant(key: str, steps: int) -> list[str]:
    """Return the names that a name, as it is looked up, may mean, in the order in which they are tried."""
    keys = [key]
    last = [(rf"\A([^∂]*[a-z]){steps}\Z", r"\1"), (r"T\Z", f"{steps}")]  # y, and y_T, of the last step
    only = [(r"\A(?!∂)(.*?)t?\Z", r"\g<1>1")] if steps == 1 else []
    for pattern, plain in (*_MEANT, *last, *only):
        keys = [*dict.fromkeys([*keys, *(re.sub(pattern, plain, each) for each in keys)])]
    return keys


def _values(circuit: Circuit, change: Change, fixed: Fixed | None = None) -> Values:
    """Return the values of a changed pass; none if it cannot be done: a number overflows, or is made of itself."""
    try:
        return circuit.again(change, fixed)
    except (ArithmeticError, ValueError):
        return {}


class _Judge:
    """Judges the values of one answer."""

    def __init__(self, grader: ValueGrader, circuit: Circuit, claims: Sequence[Claim]) -> None:
        self.grader, self.circuit, self.claims = grader, circuit, claims
        self.fixed: dict[tuple[int, bool], Sequence[float]] = {}

    def judgements(self) -> Iterator[Judgement]:
        """Yield the judgement of each value, in the order in which they were written."""
        in_time = sorted(self.claims, key=lambda claim: self.circuit.order[claim.key])
        judged: dict[Element, Judgement] = {}
        shared: dict[Element, list[Explanation]] = {}  # of each value with a mistake of its own
        agreed: dict[Element, int] = {}
        groups: dict[Element, list[Element]] = {}  # each with the values that follow from it
        for claim in in_time:
            exact = self.exact(claim)
            each = self.compared(claim, exact)
            if not each.right and self.follows(claim):
                sources = [first for first, keys in groups.items() if not self.follows(claim, keys)] or [*groups]
                if source := next(iter(sources), None):
                    each = each._replace(follows=self.label(source))
                    groups[source].append(claim.element)
                    for first, explained in shared.items():
                        agreed[first] += any(self.near(claim, self.changed(at, claim)) for at, _ in explained[:1])
                elif each.value:
                    each = each._replace(value=each.value._replace(right=True, rounded=True))
            if not each.right and not each.follows:
                matches = self.explanations(claim)
                for first, explained in shared.items():
                    common = [(at, chance * other) for at, chance in explained for same, other in matches if at == same]
                    if common:
                        shared[first], agreed[first] = common, agreed[first] + 1
                        each = each._replace(follows=self.label(first), repeats=True)
                        break
                else:
                    shared[claim.element], agreed[claim.element] = matches, 0
                groups[claim.element] = [claim.element]
            judged[claim.element] = each
            if len(claim.numbers) == len(exact[1]) and (target := self.circuit.targets.get(claim.key)):
                self.fixed[target] = self.whole(claim)
        for claim in in_time:
            if claim.element in shared:
                matches, count = shared[claim.element], agreed[claim.element]
                judged[claim.element] = self.diagnosed(judged[claim.element], claim, matches, count)
        yield from (judged[claim.element] for claim in self.claims)

    def whole(self, claim: Claim) -> Sequence[float]:
        """Return the numbers of the whole value: those written, or a single one among those known before it."""
        if (at := claim.element.at) is None:
            return claim.floats
        whole = self.fixed.get(self.circuit.targets[claim.key])
        whole = whole or self.following().get(claim.key, self.circuit.exact[claim.key])[1]
        return [*whole[:at], *claim.floats, *whole[at + 1 :]]

    def exact(self, claim: Claim) -> Numbers:
        """Return the correct shape and numbers of a value."""
        return claim.element.of(self.circuit.exact) or ((), ())

    def following(self, without: Sequence[Element] = ()) -> Values:
        """Return the values that follow from those that were written before, or from all but some of them."""
        left_out = [self.circuit.targets.get(each.key) for each in without]
        fixed = {target: numbers for target, numbers in self.fixed.items() if target not in left_out}
        return _values(self.circuit, Change({}, None), fixed)

    def follows(self, claim: Claim, without: Sequence[Element] = ()) -> bool:
        """Return whether a value follows from those that were written before, or from all but some of them."""
        return bool(self.fixed) and self.near(claim, claim.element.of(self.following(without)))

    def label(self, element: Element) -> str:
        """Return a value by its name, with its layer if several have it."""
        (layer, key), text = element.key, self.circuit.text(element)
        return f"{layer} {text}" if layer and sum(each[1] == key for each in self.circuit.names) > 1 else text

    def compared(self, claim: Claim, exact: Numbers) -> Judgement:
        """Compare a value with the correct one."""
        decimals = max([4, *(_decimals(each) for each in claim.numbers)])
        same = len(claim.numbers) == len(exact[1]) and _fits(claim.shape, exact[0])
        pairs = [*zip(claim.numbers, exact[1], strict=True)] if same else []
        right = same and all(_is_exact(*pair) for pair in pairs)
        rounded = same and not right and self.near(claim, exact)
        coarse = same and all(real.digits == 1 and abs(real.value - number) > 1e-9 for real, number in pairs)
        numbers = last_side(claim.text), _listed(claim.shape, claim.floats), written(exact, decimals), _listed(*exact)
        value = JudgedValue(claim.element, *numbers, right or rounded, rounded, coarse)
        name = self.circuit.text(claim.element)
        return Judgement(claim.key[0] or None, GivenShape((), name=name), 0, name, value=value)

    def near(self, claim: Claim, numbers: Numbers | None) -> bool:
        """Return whether a value is another one, up to two units of its last digits if steps in between are rounded."""
        if numbers is None or len(numbers[1]) != len(claim.numbers) or not _fits(claim.shape, numbers[0]):
            return False
        return all(
            _is_exact(real, number) or (_may_be_off(real, number) and self.rounds(claim, real.error))
            for real, number in zip(claim.numbers, numbers[1], strict=True)
        )

    def rounds(self, claim: Claim, error: float) -> bool:
        """Return whether a value, or one that it is made of, has more digits than those down to a unit."""
        unit, value = 2 * error, self.circuit.names[claim.key].value
        nodes = in_order([value]) if value else self.circuit.nodes
        numbers = (number for node in nodes if node.row for number in node.numbers)
        return any(isfinite(number) and abs(number / unit - round(number / unit)) > 1e-6 for number in numbers)

    # The mistakes behind a wrong value

    def changed(self, at: int, claim: Claim) -> Numbers | None:
        return claim.element.of(self.grader.mistakes(self.circuit)[at][2])

    def explanations(self, claim: Claim) -> list[Explanation]:
        """Return the mistakes that give a value, in a pass of their own or from the values written before."""
        matches: list[Explanation] = []
        if claim.one_digit:
            return matches
        for at, (_, change, values) in enumerate(self.grader.mistakes(self.circuit)):
            numbers = claim.element.of(values)
            if not self.near(claim, numbers) and self.fixed and len(self.fixed) <= MOST_FOLLOWED:
                numbers = claim.element.of(_values(self.circuit, change, self.fixed))
            if numbers and self.near(claim, numbers) and (chance := self.chance(claim, numbers)) < 1.0:
                matches.append((at, chance))
        return matches

    def chance(self, claim: Claim, numbers: Numbers) -> float:
        """Return the probability that a random value comes as near to another one; 1 if that is the correct one."""
        chance = 1.0
        for real, number, exact in zip(claim.numbers, numbers[1], self.exact(claim)[1], strict=True):
            error = max(real.error, 1e-9)
            if abs(number - exact) > error:
                chance *= min(1.0, max(error, abs(number - real.value)) / max(1.0, abs(exact)))
        return chance

    def refuted(self, at: int) -> bool:
        """Return whether a mistake gives another number for a value that is correct."""
        correct = [claim for claim in self.claims if self.near(claim, self.exact(claim))]
        return not all(self.near(claim, self.changed(at, claim)) for claim in correct)

    def rank(self, claim: Claim, at: int) -> int:
        """Return how many different wrong values the mistakes up to a place give."""
        error = max(min(each.error for each in claim.numbers), 1e-9)
        exact, different = self.exact(claim)[1], set()
        for place in range(at + 1):
            if (numbers := self.changed(place, claim)) and numbers[1] != exact:
                different.add(tuple([round(each / (2 * error)) for each in numbers[1]]))
        return max(1, len(different))

    def diagnosed(self, judged: Judgement, claim: Claim, matches: list[Explanation], agreed: int) -> Judgement:
        """Return a wrong value with the mistakes that give it, and which of them are guesses."""
        diagnoses: list[Diagnosis] = []
        matches = [each for each in matches[1:] and matches if not self.refuted(each[0])] or matches
        matches = sorted(matches, key=lambda each: each[1] * self.rank(claim, each[0]))
        digits = sum(
            each.digits
            for each, exact in zip(claim.numbers, self.exact(claim)[1], strict=False)
            if not _is_exact(each, exact)
        )
        for at, chance in matches:
            row, change, _ = self.grader.mistakes(self.circuit)[at]
            guess = chance * self.rank(claim, at) > BY_CHANCE or (digits < FEW_DIGITS and not agreed)
            diagnoses.append(self.diagnosis(claim, (row,), change.layer, guess))
        others = [] if diagnoses else [*self.of_claim(claim, digits), *self.pairs(claim, digits)]
        diagnoses = sorted([*diagnoses, *others], key=lambda each: each.by_chance)[:MOST_LISTED]
        return judged._replace(diagnoses=tuple(diagnoses), by_chance=bool(diagnoses) and diagnoses[0].by_chance)

    def diagnosis(self, claim: Claim, rows: tuple[Mistake, ...], layer: str | None, guess: bool) -> Diagnosis:
        alone = (layer, layer) if layer not in (None, claim.key[0]) else None
        return Diagnosis(rows, claim.key[0] or None, alone, 0, 0, guess)

    def of_claim(self, claim: Claim, digits: int) -> Iterator[Diagnosis]:
        """Yield what else a value may be: one of a wrong shape or sign, another value, or the gradient of one step."""
        shape, numbers = self.exact(claim)
        if len(claim.numbers) != len(numbers) or not _fits(claim.shape, shape):
            yours, correct = (bracketed(each) if each else "one number" for each in (claim.shape, shape))
            shapes = "" if self.grader.hint else f": {yours} instead of {correct}"
            text = f"has a wrong shape{shapes}"
            yield self.diagnosis(claim, (Mistake("value", "shape", text),), None, guess=False)
            return
        if claim.one_digit:
            return
        others: list[tuple[str, str, Numbers]] = [
            ("sign", "has the wrong sign", (shape, tuple([-each for each in numbers])))
        ]
        if len(shape) == 2 and shape[0] == shape[1] > 1:
            others.append(
                ("transposed-value", "is the transpose", (shape, tuple(flat(turned(_listed(shape, numbers))))))
            )
        name, whole = self.circuit.names[claim.key].text, len(self.circuit.exact[claim.key][1])
        for key, other in self.circuit.exact.items():
            text = self.circuit.names[key].text
            alike = key[0] == claim.key[0] and len(other[1]) == whole and _related(name, text)
            beside = range(whole) if key == claim.key and claim.element.at is not None else ()
            for element in [Element(key, claim.element.at)] * alike + [Element(key, at) for at in beside]:
                alone = " alone" * (text.startswith("∂L/∂") and "(" in text)
                exact = element.of(self.circuit.exact) or ((), ())
                others.append(("other-value", f"is {self.circuit.text(element)}{alone}", exact))
        rank = len(self.grader.mistakes(self.circuit))
        different = {tuple(each[1]) for *_, each in others}
        for name, text, other in others:
            if self.near(claim, other) and (chance := self.chance(claim, other)) < 1.0:
                guess = chance * (len(different) + min(rank, 10)) > BY_CHANCE or digits < FEW_DIGITS
                yield self.diagnosis(claim, (Mistake("value", name, text),), None, guess)

    def pairs(self, claim: Claim, digits: int) -> Iterator[Diagnosis]:
        """Yield two mistakes that give a value together, as guesses."""
        of_forward = digits >= FEW_DIGITS and self.circuit.names[claim.key].value
        mistakes = self.grader.mistakes(self.circuit) if of_forward else []
        alone = [each for each in mistakes if claim.element.of(each[2]) != self.exact(claim)]
        tried = 0
        for (one, first, _), (other, second, _) in combinations(alone, 2):
            if one.id == other.id or not {one.id, other.id} & {*_COMMON}:
                continue
            tried += 1
            if tried > MOST_PAIRS:
                return
            edited = {id(each.value) for each in first.edits} & {id(each.value) for each in second.edits}
            both = Change({}, None, [*first.edits, *second.edits])
            if not edited and self.near(claim, claim.element.of(_values(self.circuit, both))):
                yield self.diagnosis(claim, (one, other), None, guess=True)


def _related(name: str, other: str) -> bool:
    """Return whether a value may be taken for another: one of its letter, of its step, or of its gradient."""
    if other == name or other.startswith("∂L/∂") != name.startswith("∂L/∂"):
        return name[:1] == "∂" and other == f"δ_{name.removeprefix('∂L/∂').replace('_', ',')}"
    (letter, _, step), (letter_of_other, _, step_of_other) = name.partition("_"), other.partition("_")
    if "(" in other:
        return other.partition(" (")[0] == name
    return step == step_of_other or letter == letter_of_other


def _fits(shape: tuple[int, ...], exact: tuple[int, ...]) -> bool:
    """Return whether a shape is another one, or both are of one vector: a row, a column or a list of its numbers."""
    return shape == exact or all(sum(axis > 1 for axis in each) < 2 for each in (shape, exact))


def _is_exact(real: RealValue, number: float) -> bool:
    """Return whether a number, rounded to the digits that were written, is the one that was."""
    return abs(real.value - number) <= real.error * (1 + 1e-9) + 1e-9 * max(1.0, abs(number))


def _may_be_off(real: RealValue, number: float) -> bool:
    """Return whether a number is within two units of the last digit of what was written, which is not too coarse."""
    unit = 2 * real.error
    near = abs(real.value - number) <= (UNITS_OFF + 0.5) * unit * (1 + 1e-9)
    return near and 0 < unit <= COARSEST * max(1.0, abs(number))


def _decimals(real: RealValue) -> int:
    return next((places for places in range(16) if 10.0**-places <= 2 * real.error * 1.01), 0) if real.error else 0


def _listed(shape: tuple[int, ...], numbers: Sequence[float]) -> Any:
    """Return numbers as lists of a shape, or one number."""
    if prod(shape) == 1:
        return numbers[0]
    each = len(numbers) // shape[0] if shape[0] else 0
    return [_listed(shape[1:], numbers[at * each : (at + 1) * each]) for at in range(shape[0])]


def written(array: Numbers, decimals: int = 4) -> str:
    """Return an array as text: `0.4888`, `(0.1974, -0.6044)`, `((0.1, 0.2), (0.3, 0.4))`."""

    def text(nested: Any) -> str:
        if isinstance(nested, list):
            return f"({', '.join(map(text, nested))})"
        rounded = round(nested, decimals) + 0.0  # no −0
        plain, short = f"{rounded:.{decimals}f}" if abs(nested) < 1e15 else f"{nested:g}", f"{rounded:g}"
        return short if abs(float(short) - nested) < 1e-12 else plain

    return text(_listed(*array))
