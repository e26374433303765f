"""`answer`: judges a learner's count or shapes; `search.py` finds the mistakes that give a wrong number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING, Any

from rnncalc.answers import reading
from rnncalc.answers.forms import unmarked
from rnncalc.answers.judgement import Answer, Judgement, Mistake
from rnncalc.answers.reading import Given, GivenNumber, GivenShape
from rnncalc.answers.worksheet import NamedPart, Portion
from rnncalc.bounds import MOST_EXPLAINED, MOST_RESTS
from rnncalc.conventions.formula import Expression, folded_sum, substituted, value
from rnncalc.errors import CallError, SpecError
from rnncalc.expressions import formula_in
from rnncalc.layers.layer import Dense, Layer, Output
from rnncalc.layers.options import Size
from rnncalc.letters import LETTER, has_letters
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.printable import escape
from rnncalc.questions import network_of, plain, word
from rnncalc.questions.count import count
from rnncalc.words import all_of

if TYPE_CHECKING:
    from rnncalc.answers.labels import Labels
    from rnncalc.answers.search import Search
    from rnncalc.answers.tensors import TensorGrader

SHOWN = 4
"""The most sizes of a list that a message shows."""

_ROLES = ("biases", "input weights", "recurrent weights")
"""The parts that a learner may count for one gate alone."""

_OF_GATES = r"(?i)\b(?:gat|block)"
_LETTER = re.compile(r"(?:[^\W\d_]{3,}:? )?[(\[]?([A-Za-z])(?:[)\].:]{0,2}|[)\].:]{1,2} ?(.+))")
"""Words for gates, and the letter of a choice, as `c`, `(c) 1685` or `Option C`, with what is beside it."""


def _plain(answer: Given) -> Any:
    """Return the value of an answer, however it is written."""
    return answer.number if isinstance(answer, GivenNumber) else answer.sizes


def number_of_tensors(network: Network) -> int:
    """Return how many tensors a network has."""
    return sum(len(placed.layout.tensors) for placed in network.spelled)


class Grader:
    """Judges answers about a quantity of one network. What several answers need is computed once, at its first use.

    hint: whether a message must not say which tensors there are. Raises RefusedError if the quantity is unknown.
    """

    choices: Sequence[Sequence[Any]] = ()
    """The choices of each answer, as an exercise lists them, if a letter chooses one."""

    asks = ""
    """What an exercise asks for: the total, a number for each of the layers, or shapes of the tensors."""

    def __init__(self, network: Network, quantity: str = "params", *, hint: bool = False) -> None:
        self.network, self.hint, self.quantity, self.of_params = network, hint, quantity, quantity == "params"
        if self.of_params:
            self.counts: Sequence[Any] = [placed.params for placed in network.stack]
        else:
            from rnncalc.answers.asked import counts_of  # most answers are about parameters

            self.counts = counts_of(network, quantity)

    @cached_property
    def sizes(self) -> Mapping[str, Any]:
        """The letters of an answer: those of the network, or of its layers, None for one that has several sizes."""
        if self.network.letters:
            return self.network.letters
        sizes: dict[str, Any] = {}
        for known in (self.network.sizes or {}, *(placed.sizes for placed in self.network.stack)):
            for name, size in known.items():
                sizes[name] = size if sizes.get(name, size) == size else None
        if not self.of_params and (steps := self.network.steps):
            sizes.setdefault("T", steps)
        return sizes

    @cached_property
    def formula(self) -> Expression | None:
        """The count as a formula, if it has letters."""
        if self.of_params:
            return count(self.network).in_letters
        return self.total if has_letters(self.total) else None

    @cached_property
    def search(self) -> Search:
        """The search for the mistakes behind wrong numbers; a correct answer does without."""
        from rnncalc.answers.search import Search

        return Search(self.network, self.quantity, self.counts)

    @cached_property
    def right_answer(self) -> Any:
        """The right answer of an exercise, as its JSON has it; None if there is none."""
        if self.asks == "tensors":
            return [[*tensor.plain_shape] for placed in self.network.spelled for tensor in placed.tensors]
        if self.asks == "layers":
            return [self.counts[place] for place in self.counted]
        if not has_letters(self.total):
            return self.total if self.asks else None
        from rnncalc.polynomial import in_order  # most answers are numbers

        return str(in_order(self.total))

    def titles(self, columns: Sequence[str]) -> Sequence[str]:
        """Return what the answers in columns of a file are named by: the titles."""
        return columns

    def chosen(self, place: int, text: str) -> str:
        """Return the choice whose letter an answer is, with or without what is beside it, else the answer.

        Raises CallError for a letter without a choice, or beside another one.
        """
        match = _LETTER.fullmatch(text)
        choices = self.choices[place] if place < len(self.choices) else ()
        if not (match and choices):
            return text
        number, beside = ord(match[1].casefold()) - ord("a"), match[2]
        if number >= len(choices):
            if beside:
                return text
            raise CallError(f"expected a choice from a to {chr(ord('a') + len(choices) - 1)}, got '{escape(text)}'")
        choice = choices[number]
        choice = str(tuple(choice) if isinstance(choice, list) else choice)
        if beside and len({_plain(reading.read_answer(each)) for each in (beside, choice)}) > 1:
            raise CallError(f"expected the letter of one choice, got '{escape(text)}': {match[1]} is {choice}")
        return choice

    def read(self, text: str, *, decimal: str = "", title: str = "") -> list[Any]:
        """Return the answers in a text. decimal: the decimal sign, if it is known. title: that of its column."""
        return [*reading.read_answers(text, sizes=self.sizes, decimal=decimal, quantity=self.quantity)]

    def judge(self, answers: Sequence[Given]) -> Answer:
        """Judge an answer: the total, a number for each layer or tensor, or a shape for each tensor.

        A number may be a formula in the letters of the network; if the network has none, in the letters of each layer's
        formula. All are in order, the output layer last; layers without parameters may be left out. Raises CallError
        for a wrong number of numbers or shapes.
        """
        answers = self.of_gates(self.apart(self.listed(answers)))
        judgements = tuple(map(self.with_sign, self.judgements(answers)))
        shapes = [each.answer for each in judgements if isinstance(each.answer, GivenShape)]
        in_order = any(isinstance(each, GivenShape) and not each.name for each in answers)
        if not in_order or all(each.right for each in judgements):
            return Answer(self.network, judgements, None, self.quantity)
        from rnncalc.answers.tensors import right_in  # most answers are numbers

        return Answer(self.network, judgements, right_in(self.network, shapes), self.quantity)

    def explained(
        self,
        judged: Sequence[Judgement],
        portions: Sequence[Portion | None],
        parts: Sequence[tuple[Any, Mistake]] = (),
    ) -> tuple[Judgement, ...]:
        """Return numbers, the wrong ones with explanations, as `Search.claims` does; some follow from earlier ones."""
        judged = [_followed(each, judged[:at]) for at, each in enumerate(judged)]
        wrong = any(portion and not each.right for each, portion in zip(judged, portions, strict=True))
        return tuple(self.search.claims(judged, portions, parts) if wrong else judged)

    def listed(self, answers: Sequence[Given]) -> Sequence[Given]:
        """Return the numbers of one answer in brackets, as (3552, 150), if one of them is that of its layer.

        Raises CallError for a wrong number with commas that may be between those of the layers.
        """
        layers = [*map(self.counts.__getitem__, self.counted)]
        if answers[1:] or not layers[1:] or answers[0].name:
            return answers
        (answer,) = answers
        if isinstance(answer, GivenShape) and len(answer.sizes) in (len(layers), len(layers) + 1):
            several = number_of_tensors(self.network) > 1 and self.asks != "tensors"
            correct = [size == count for size, count in zip(answer.sizes, layers, strict=False)]
            return [GivenNumber(size, text=f"{size}") for size in answer.sizes] if several and any(correct) else answers
        text = answer.text if isinstance(answer, GivenNumber) else ""
        if re.fullmatch("[0-9]{1,3}(?:,[0-9]{3}){2,}", text) and answer != self.total:
            first, *others = text.split(",")
            for joints in combinations((",", "; "), repeat=len(others)):
                apart = first + "".join([f"{joint}{each}" for joint, each in zip(joints, others, strict=True)])
                numbers = [int(each.replace(",", "")) for each in apart.split("; ")]
                if numbers[: len(layers)] == layers:
                    raise CallError(f"'{text}' may be one number or several; write '{apart}' for several")
        return answers

    def apart(self, answers: Sequence[Given]) -> Sequence[Given]:
        """Return the equations of an answer as answers, if they have labels, or there is one for each layer.

        An equation for the total may follow those of the layers. Equations in which the number of another one is used
        are steps to the total, unless all are correct. Beside labels of parts, one without a label is the total. Raises
        CallError if the last has a label that names nothing.
        """
        equations = answers[0].apart if isinstance(answers[0], GivenNumber) else ()
        if answers[1:] or not equations:
            return answers
        try:
            claims = self.claims(equations)
        except CallError:
            if equations[-1].name:
                raise
            return answers
        if any(each.name and not (part and part.is_total) for each, part in claims):
            others = all(not part or part.place is None for _, part in claims)
            unnamed = others and [bool(each.name) for each in equations].count(False) == 1
            return [each if each.name or not unnamed else each._replace(name="total") for each in equations]
        numbers = [each for each in reading.as_calculations(equations) if isinstance(each, GivenNumber)]
        layers = len(self.counted)
        counts = [*map(self.counts.__getitem__, self.counted), self.total]
        if layers == 1 or len(numbers) not in (layers, layers + 1):
            return answers
        correct = [each.rounds(count) for each, count in zip(numbers, counts, strict=False)]
        used = [re.findall("[0-9]+", re.sub("(?<=[0-9])[,.'](?=[0-9]{3})", "", each.text)) for each in numbers[:layers]]
        steps = any(str(each.number) in later for at, each in enumerate(numbers) for later in used[at + 1 :])
        total = numbers[-1].rounds(self.total) and self.asks != "layers"
        of_layers = any(correct[:layers]) if numbers[layers:] else not total
        return equations if all(correct) or (of_layers and not steps) else answers

    def of_gates(self, answers: Sequence[Given]) -> Sequence[Given]:
        """Return the product of a number for each gate, as 888 each gate × 4, as that of a layer with gates."""
        first = answers[0]
        if answers[1:] or not isinstance(first, GivenNumber) or first.name or not (self.of_params and self.counted[1:]):
            return answers
        product = re.search(_OF_GATES, first.text) and not re.search(r"[-+−]", re.sub(r"\([^()]*\)", "", first.text))
        if not product or self.asks or first.rounds(self.total):
            return answers
        return [first._replace(name="all gates")] if frozenset(["all", "gates"]) in self.labels.known else answers

    def judgements(self, answers: Sequence[Given]) -> tuple[Judgement, ...]:
        """Return the judgement of each number or shape of an answer."""
        network = self.network
        reading.check_number_of_answers(len(answers))
        if any(each.name for each in answers):
            return self.labelled(answers)
        tensors = number_of_tensors(network) if self.of_params else 0
        if len(answers) != tensors:
            answers = reading.as_calculations(answers)
        numbers = [each for each in answers if isinstance(each, GivenNumber)]
        if self.of_params and (self.asks == "tensors" or len(numbers) < len(answers)):
            if self.hint and len(answers) != tensors:
                raise CallError(f"expected another number of shapes, one for each tensor in order, got {len(answers)}")
            return self.tensors.shapes(answers)
        alone, counted = len(numbers) == len(answers) == 1, self.counted
        if alone and not (self.asks == "layers" and counted[1:]):
            return (self.total_of(numbers[0]),)
        empty = [number.number for number, count in zip(numbers, self.counts, strict=False) if not count]
        for places in (counted if any(empty) else [*range(len(network.stack))], counted):
            if len(numbers) == len(answers) == len(places):
                return self.layers(numbers, places)
        *parts, last = numbers or [GivenNumber(0)]
        summed = last.number == sum([each.number for each in parts])
        if len(parts) == len(counted) > 1 and len(numbers) == len(answers) and (summed or len(numbers) != tensors):
            return self.numbers([*zip(parts, map(self.layer_part, counted), strict=True), (last, self.total_part)])
        if len(numbers) == tensors and not (summed and last.rounds(self.total)):
            return self.tensors.in_order(numbers)
        if len(numbers) == len(answers) > 2 and self.asks != "layers" and summed:
            judged = self.tensors.in_order(parts) if len(parts) == tensors else ()
            return self.explained((*judged, self.total_of(last)), [None for _ in (*judged, last)])
        together = " ".join(each.text for each in numbers)
        cure = f"; write '{together}' for one number" if re.fullmatch("[1-9][0-9]{,2}( [0-9]{3})+", together) else ""
        several = [f"{len(counted)}{' numbers' * (self.asks == 'layers')}, one for each layer,"] if counted[1:] else []
        each = "one for each tensor," if self.hint else f"{tensors}, one for each tensor,"
        several += [each] if tensors not in (0, 1, len(counted)) and self.asks != "layers" else []
        total = ["1 number, the total,"] if self.asks != "layers" else []
        wanted = " or ".join([*total, *several]) + " in order" if several else "1 number"
        raise CallError(f"expected {wanted}, got {len(answers)}{cure}")

    def with_sign(self, judged: Judgement) -> Judgement:
        """Return a judgement with the first sign that no sizes of its letters make true, those of its layer first."""
        number = judged.answer
        if isinstance(number, GivenShape) or self.network.letters:
            return judged
        known = {**self.sizes, **(self.network.sizes or {})}
        layer_sizes = next((placed.sizes for placed in self.network.stack if placed.name == judged.layer), {})
        for one, other, sign, of_whole in number.unsure:
            formula, value = (one.number, other) if has_letters(one.number) else (other.number, one)
            if formula in self.in_letters and value.rounds(self.total):
                continue
            sizes = [
                {layer_sizes[each]} if each in layer_sizes else {*self.sizes_of(each), known.get(each)} - {None}
                for each in formula.letters
            ]
            if prod(map(len, sizes)) <= MOST_RESTS and not any(
                value.rounds(formula.at(dict(zip(formula.letters, each, strict=True)))) for each in combinations(*sizes)
            ):
                before = None if has_letters(one.number) else one.number
                return judged._replace(answer=number._replace(untrue=sign, before=before, of_whole=of_whole))
        return judged

    @cached_property
    def in_letters(self) -> Sequence[Any]:
        """The formulas of the layers in their own letters, added; the input of an output layer is m or h."""
        from rnncalc.polynomial import letter  # most answers are numbers

        stack = self.network.stack
        return [
            sum(
                [
                    value(
                        each.layout.params,
                        {name: letter(name if "h" in each.sizes or name != "m" else m) for name in each.sizes},
                    )
                    for each in stack
                ]
            )
            for m in "mh"
        ]

    @cached_property
    def counted(self) -> Sequence[int]:
        """The places of the layers that have a number; all if none has."""
        everything = [*range(len(self.network.stack))]
        return [place for place in everything if self.counts[place]] or everything

    @cached_property
    def labels(self) -> Labels:
        """What the labels of numbers name."""
        from rnncalc.answers.labels import Labels

        return Labels(self.network, self.counts, self.total, self.sizes, tensors=self.of_params)

    @cached_property
    def tensors(self) -> TensorGrader:
        """The grader of shapes and numbers of tensors."""
        from rnncalc.answers.tensors import TensorGrader  # most answers are numbers of layers

        return TensorGrader(self.network)

    def missing(self, judged: Sequence[Judgement]) -> list[str]:
        """Return the layers whose numbers are asked for and are not among those that are judged."""
        names = [self.network.stack[place].name for place in self.counted if self.asks == "layers" and self.counted[1:]]
        return [name for name in names if name not in [each.layer for each in judged if not each.tensor]]

    def in_order(self, answers: Sequence[Given]) -> bool:
        """Return whether answers have no labels but those of the whole, so that several differ in their order."""
        return all(part.is_total if part else not each.name for each, part in self.claims(answers))

    def claims(self, answers: Sequence[Given]) -> list[tuple[Any, NamedPart | None]]:
        """Return answers with what their labels name; None for that of an array, and of none."""
        from rnncalc.answers.labels import as_numbered, words_of  # few answers have labels

        apart = {word for each in answers for word in words_of(each.name)}
        names = as_numbered([each.name for each in answers])
        answers = [each._replace(name=name) for each, name in zip(answers, names, strict=True)]
        parts = [self.labels.part(each, self.tensors, apart=apart) if each.name else None for each in answers]
        numbers = [*zip(reading.as_calculations(answers), parts, strict=True)]
        right = [part for each, part in numbers if part and isinstance(each, GivenNumber) and each.rounds(part.count)]
        last, part = numbers[-1]
        right += [self.total_part] if not part and isinstance(last, GivenNumber) and last.rounds(self.total) else []
        roles = [at for at, part in enumerate(parts) if part and part.portion.taken in _ROLES and part not in right]
        if roles[1:] and any(part.portion.whole for part in right):  # beside a correct total they may be of one gate
            of_gates = [self.labels.of_gate(answers[at], self.tensors) for at in roles]
            if all(of_gates):
                for at, part in zip(roles, of_gates, strict=True):
                    parts[at] = part
        return [
            (each.calculation if part and isinstance(each, GivenShape) else each, part)
            for each, part in zip(answers, parts, strict=True)
        ]

    def labelled(self, answers: Sequence[Given]) -> tuple[Judgement, ...]:
        """Return the judgements of numbers and shapes with labels, each of what its label names, the total last.

        The last one may be the total without a label. Raises CallError for a label that names nothing, and if only some
        of the others have one.
        """
        claims = self.claims(answers)
        if all(part.is_total if part else not each.name for each, part in claims):
            kinds = [part.kind if part else "" for _, part in claims]
            unnamed = [each._replace(name="") for each, _ in claims]
            apart = claims[1:] and not self.counted[1:] and all(each.name for each, _ in claims)
            judged = tuple(map(self.total_of, unnamed)) if apart else self.judgements(unnamed)
            return tuple(map(lambda each, kind: each._replace(kind=kind), judged, kinds))
        places = {part.place for _, part in claims if part} - {None}
        (last,) = reading.as_calculations(answers[-1:])
        if claims[2:] and places in (set(), {*self.counted}) and not last.name and isinstance(last, GivenNumber):
            claims[-1] = last, NamedPart(None, None, self.total)
        if not all(each.name or part for each, part in claims):
            return self.partly_labelled(claims)
        named = {each.name: (each, part) for each, part in claims if part and each.name in ("U", "W")}
        if named.keys() == {"U", "W"}:
            (u, of_u), (w, of_w) = named["U"], named["W"]
            if not u.rounds(of_u.count) and u.rounds(of_w.count) and w.rounds(of_u.count):
                cure = "write input weights and recurrent weights, or add --notation uvw"
                raise CallError(
                    f"here W is the input's matrix and U the state's, and these are the other way round; {cure}"
                )
        arrays = [each for each, part in claims if part is None]
        if arrays and not self.of_params:
            raise CallError(f"expected {self.quantity} of the network or of a layer, got {escape(arrays[0].name)}")
        claims = sorted(claims, key=lambda claim: bool(claim[1] and claim[1].is_total))
        tensors = iter(self.tensors.by_name(arrays, shapes=self.asks == "tensors") if arrays else ())
        of_parts = self.numbers([(each, part or next(tensors)) for each, part in claims], self.labels.numbers)
        *parts, last_part = of_parts
        added = sum([each.answer.number for each in parts if isinstance(each.answer, GivenNumber) and each.right])
        whole = claims[-1][0].name == "sum" and not last_part.right and all(each.right for each in parts)
        if whole and added == claims[-1][0].number:
            raise CallError(f"{added:,} is the sum of these parts, and not of the whole network; give its total too")
        whole = places == {*self.counted} or any(each.is_total for each in of_parts)
        if self.asks not in ("", "layers", "tensors") and not whole:
            raise CallError("expected the total, got a number or a shape of a part of the network")
        return of_parts

    def partly_labelled(self, claims: Sequence[tuple[Any, NamedPart | None]]) -> tuple[Judgement, ...]:
        """Return the judgements of numbers of which some have labels, if these are in the order of the layers.

        Raises CallError if they are not, or if the last number may be the total or that of a layer.
        """
        numbers = reading.as_calculations([each._replace(name="") for each, _ in claims])
        ordered = zip(claims, [*self.counted, None], strict=False)
        in_order = all(not each.name or (part and part.place == place) for (each, part), place in ordered)
        layers = len(self.counted)
        if in_order and len(claims) in (layers, layers + 1):
            judged = self.judgements(numbers)
            total = isinstance(numbers[-1], GivenNumber) and numbers[-1].rounds(self.total)
            if judged[-1].right or claims[layers:] or not total:
                return judged
        raise CallError("expected a label for each number or for none, got both; the total is labelled total")

    @property
    def total_part(self) -> NamedPart:
        """The whole network."""
        return NamedPart(None, None, self.total)

    def layer_part(self, place: int) -> NamedPart:
        """Return the layer at a place."""
        return NamedPart(self.network.stack[place].name, None, self.counts[place], Portion((place,)))

    def numbers(
        self, claims: Sequence[tuple[Any, NamedPart | Judgement]], parts: Sequence[tuple[Any, Mistake]] = ()
    ) -> tuple[Judgement, ...]:
        """Return the judgements of numbers, each of a part of the network; one of an array is judged already.

        parts: as of `Search.claims`.
        """
        judged = [(part, None) if isinstance(part, Judgement) else self.number(each, part) for each, part in claims]
        return self.explained([each for each, _ in judged], [portion for _, portion in judged], parts)

    def number(self, number: Any, part: NamedPart) -> tuple[Judgement, Portion | None]:
        """Compare a number with that of a part of the network; also return where its mistake is looked for."""
        in_letters, whole = has_letters(number.number) and not self.network.letters, not part.name
        if in_letters and part.is_total:
            return self.total_of(number)._replace(kind=part.kind), None
        if in_letters and whole and self.of_params:
            return self.formula_of_layer(part.portion.places[0], number)._replace(kind=part.kind), None
        placed = self.network.stack[part.portion.places[0]] if part.layer else None
        sizes = self.network.letters or {**self.sizes, **(placed.sizes if placed else {})}
        check_letters(number, sizes)
        if in_letters and None not in map(sizes.get, number.number.letters):
            number = number._replace(number=number.number.at(sizes))
        formula = part.count if has_letters(part.count) else None
        if whole and self.of_params:
            formula = placed.in_letters if placed else self.formula
        judged = Judgement(part.layer, number, part.count, part.name, formula=formula, kind=part.kind)
        known = whole or (not judged.right and part.portion.count(self.search.worksheet) == part.count)
        return judged, part.portion if known else None

    def total_of(self, number: GivenNumber) -> Judgement:
        """Judge the total, which may be a formula in the letters of the layers."""
        if self.network.letters or not has_letters(number.number):
            return self.whole(number)
        if len(self.counted) == 1 and self.of_params:
            return self.layers([number], self.counted)[0]
        if judged := self.formula_of(number):
            return judged
        check_letters(number, self.sizes)
        letter, sizes = next((each, self.sizes_of(each)) for each in number.number.letters if self.sizes[each] is None)
        each = all_of([f"{size:,} in {escape(name)}" for size, name in [*sizes.items()][:SHOWN]])
        cure = "write the sizes as numbers, or a formula for each layer in its own letters"
        raise CallError(f"'{escape(number.text)}': {letter} is {each}; {cure}")

    def sizes_of(self, letter: str) -> dict[Any, str]:
        """Return the sizes that a letter has in the layers, each with the name of the first that has it."""
        sizes: dict[Any, str] = {}
        for placed in self.network.stack:
            if letter in placed.sizes:
                sizes.setdefault(placed.sizes[letter], placed.name)
        return sizes

    @cached_property
    def grader_in_names(self) -> Grader:
        """The grader of the same network in the letters of its named sizes."""
        from rnncalc.network.named_sizes import in_letters

        network = self.network
        return Grader(network.with_parts(in_letters(network.sizes or {}, network.parts)).replace(sizes=None))

    def _in_names(self, answer: GivenNumber) -> GivenNumber:
        """Return a formula in those named sizes that are made of no others."""
        from rnncalc.network.named_sizes import multiplied_out

        return answer._replace(number=multiplied_out(answer.number, self.network.sizes or {}))

    def formula_of(self, answer: GivenNumber) -> Judgement | None:
        """Judge a formula for the total of a network whose sizes are numbers.

        Of the sizes that a letter has in several layers it has those that give the total. Return None if none does.
        """
        sizes = {**self.sizes, **(self.network.sizes or {})}  # of two meanings of a letter that of a named size
        unsure = [letter for letter in answer.number.letters if sizes.get(letter) is None]
        several = [[*self.sizes_of(letter)] for letter in unsure]
        if prod(map(len, several)) > MOST_RESTS:
            return None
        meanings = [{**sizes, **dict(zip(unsure, each, strict=True))} for each in combinations(*several)]
        correct = (each for each in meanings if answer.number.at(each) == self.total)
        meant = next(correct, meanings[0] if meanings and unsure in ([], ["m"]) else None)  # m is the network's input
        if meant is None:
            return None
        sizes = meant
        if not self.network.sizes or not self.of_params or _has_size(answer, sizes):
            return self.whole(answer._replace(number=answer.number.at(sizes)))
        judged = self.grader_in_names.whole(self._in_names(answer))
        formulas = [substituted(each.layout.params, each.names or each.sizes) for each in self.network.stack]
        return _with_sizes(judged._replace(formula=folded_sum(formulas)), answer, sizes, self.total)

    def formula_of_layer(self, place: int, answer: GivenNumber) -> Judgement:
        """Judge a formula for a layer of a network whose sizes are numbers, in its letters or in named sizes."""
        placed = self.network.stack[place]
        name = placed.name if len(self.network.stack) > 1 else None
        if not has_letters(answer.number):
            return Judgement(name, answer, placed.params)
        from rnncalc.polynomial import letter  # most answers are numbers

        letters = {name: letter(name) for name in placed.sizes if re.fullmatch(LETTER, name)}
        right, sizes = value(placed.layout.params, letters), {name: placed.sizes[name] for name in letters}
        judged = Judgement(name, answer, right, formula=placed.layout.params)
        if placed.names and not judged.right:
            (in_names,) = self.grader_in_names.layers([self._in_names(answer)], [place])
            if in_names.right or not letters.keys() >= {*answer.number.letters}:
                known = {**placed.sizes, **(self.network.sizes or {})}
                check_letters(answer, known)
                in_names = in_names._replace(layer=name, formula=substituted(placed.layout.params, placed.names))
                return _with_sizes(in_names, answer, known, placed.params)
        check_letters(answer, sizes)
        judged = _with_sizes(judged, answer, sizes, placed.params)
        alone = None if judged.right else _alone(self.network, placed, right, letters)
        return judged._replace(diagnoses=Grader(alone).whole(answer).diagnoses) if alone else judged

    @property
    def total(self) -> Any:
        """The correct total."""
        return self.network.params if self.of_params else sum(self.counts)

    def whole(self, number: GivenNumber) -> Judgement:
        """Judge the total."""
        return self.numbers([(number, self.total_part)])[0]

    def layers(self, numbers: Sequence[GivenNumber], places: Sequence[int]) -> tuple[Judgement, ...]:
        """Judge a number or a formula for each of the layers at these places."""
        return self.numbers([*zip(numbers, map(self.layer_part, places), strict=True)])


def _followed(judged: Judgement, earlier: Sequence[Judgement]) -> Judgement:
    """Return a number with the label of the first wrong one before it that it adds up, or is a multiple of, if any.

    The number is then wrong by as much as its parts are together, or as many times.
    """
    if not earlier or judged.right or not (judged.is_total or len(earlier) < MOST_EXPLAINED) or not _is_plain(judged):
        return judged
    off, label = 0, judged.follows
    for each in reversed(earlier):
        inside = judged.is_total or (each.tensor and not judged.tensor and each.layer in (None, judged.layer))
        if not inside or each.right or not _is_plain(each):
            continue
        off += each.difference
        times, rest = divmod(judged.params, each.params)
        if off == judged.difference or (times and not rest and judged.difference == times * each.difference):
            label = each.label
    return judged._replace(follows=label)


def _is_plain(judged: Judgement) -> bool:
    """Return whether an answer is an exact number without letters."""
    return isinstance(judged.answer, GivenNumber) and not (
        judged.answer.unit > 1 or has_letters(judged.answer.number) or has_letters(judged.params)
    )


def check_letters(answer: GivenNumber, known: Mapping[str, Any]) -> None:
    """Raise CallError for letters of a formula that are those of other layers, or that a quantity has none of."""
    if has_letters(answer.number) and (unknown := [name for name in answer.number.letters if name not in known]):
        raise CallError(f"expected {formula_in(known)}, got {all_of(unknown)} in '{escape(answer.text)}'")


def _with_sizes(judged: Judgement, answer: GivenNumber, sizes: Mapping[str, Any], count: int) -> Judgement:
    """Judge a wrong formula by its number, if it is correct and has sizes instead of letters.

    It lacks a letter of the correct formula then, or has the number of a size.
    """
    correct, written = (getattr(each, "letters", ()) for each in (judged.params, _plain(judged.answer)))
    lacks = {*correct} - {*written}
    if judged.right or answer.number.at(sizes) != count or not (lacks or _has_size(answer, sizes)):
        return judged
    return Judgement(judged.layer, answer._replace(number=count), count)


def _has_size(answer: GivenNumber, sizes: Mapping[str, Any]) -> bool:
    """Return whether a formula has the number of a size instead of its letter."""
    return not {*map(str, sizes.values())}.isdisjoint(re.findall("[0-9]+", answer.text))


def _alone(network: Network, placed: Placed, right: Any, letters: Mapping[str, Any]) -> Network | None:
    """Return a network of this layer alone, its sizes the values of its letters; None if its count differs."""
    from rnncalc.polynomial import letter

    layer: Layer = placed.layer
    if isinstance(layer, Output):
        layer = Dense(units=layer.units, bias=layer.bias)
    layer = layer.replace(**{option: layer.defaults[option] for option in ("name", "repeat", "extra_inputs", "path")})
    allowed = {key: layer.option(key).allowed for key, value in layer.values().items() if value}
    sizes = [key for key, each in allowed.items() if isinstance(each, Size) and each.letters]
    marks = {key: letter(f"h_{number}") for number, key in enumerate(sizes)}
    marked = layer.replace(**marks).sizes(placed.inputs)  # the letter of a size is where its mark is
    options = {key: letters[name] for key, mark in marks.items() for name, size in marked.items() if size == mark}
    try:
        layer = layer.replace(**options)
        alone = Network(input=letters.get("m", letter("m")), layers=[layer], convention=network.convention)
    except SpecError:
        return None
    return alone if alone.params == right else None


def answer(network: Network, *answers: int | str | tuple[int, ...] | list[int], quantity: str = "params") -> Answer:
    """Judge a learner's answer: the total, or a number for each layer or each tensor, in order.

    answers: numbers, or text with separators or rounded, such as `1.6k`; or the shape of each tensor, such as (20, 10).
    quantity: what they count, one of OF.
    Raises CallError if one is neither a number nor a shape, or if there are too few or too many; RefusedError if the
    quantity is unknown.
    """
    from rnncalc.answers.asked import OF  # the commands know the quantity

    if not answers:
        raise CallError("give an answer: the total, or a number or a shape for each tensor")
    grader = Grader(network_of(network, letters=True), word("quantity", quantity, OF))
    if all(isinstance(each, str) for each in answers):
        answers = tuple(unmarked([str(each) for each in answers]))
    readings = [each for text in answers for each in _read(text, grader)]
    tensors = number_of_tensors(grader.network)
    match readings:
        case [GivenShape(sizes)] if tensors > 1 and isinstance(plain(answers[0]), list):
            each = ", ".join([*map(str, sizes[:SHOWN]), *(["..."] if len(sizes) > SHOWN else [])])
            cure = f"give each by itself, as in answer(network, {each})"
            raise CallError(f"expected numbers, or a shape for each of {tensors} tensors, got one list; {cure}")
    return grader.judge(readings)


def _read(answer: object, grader: Grader) -> list[Given]:
    """Return the answers in a text, or a shape in a tuple or a list. Raises CallError if it is none."""
    answer = plain(answer)
    if not isinstance(answer, tuple | list):
        return grader.read(str(answer))
    if not answer or any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in answer):
        raise CallError(f"expected a shape, such as (20, 10), got {escape(str(answer))}")
    return [GivenShape(tuple(answer))]
