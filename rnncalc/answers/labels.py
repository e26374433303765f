"""What the label of a learner's number names: the network, a layer, a half of the network, or some of its tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from rnncalc.answers.judgement import Mistake
from rnncalc.answers.reading import Given, GivenNumber, GivenShape
from rnncalc.answers.worksheet import NamedPart, Portion
from rnncalc.conventions.tensor import BIASES, Role, Tensor
from rnncalc.errors import CallError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Output
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.printable import escape
from rnncalc.words import one_of

if TYPE_CHECKING:
    from rnncalc.answers.tensors import TensorGrader

MOST_LABELS = 24
"""The most labels that a message names."""

_WORDS = {
    # what a part is called, in the six languages that are read
    "dense": "linear fc connected densa denso timedistributed",
    "rnn": "simplernn",
    "output": "softmax head readout classifier logits out ausgabe ausgangs sortie salida uscita saída",
    "embedding": "embeddings emb lookup einbettung",
    "recurrent": "hidden rekurrent rekurrente verdeckte cachée récurrente récurrents récurrent oculta recurrente "
    "recurrentes recorrente recorrentes nascosto ricorrente ricorrenti",
    "bias": "biases biais sesgo sesgos viés vieses",
    "weight": "weights matrix matrices kernel gewicht gewichte poids peso pesos pesi",
    "input": "inputs eingang eingangs entrée entrada ingresso",
    "gates": "blocks",
    "gate": "block gatter tor bloc bloque bloco blocco porte puerta porta",
    "forget": "vergess oubli olvido esquecimento dimenticanza",
    "update": "aktualisierungs actualización atualização aggiornamento",
    "reset": "relevance rücksetz réinitialisation reinicio reinício ripristino",
    "candidate": "candidat candidato kandidat new",
    "direction": "directions richtung sens dirección direzione direção forward backward fwd bwd vorwärts rückwärts",
    "encoder": "enc kodierer encodeur codeur codificador codificatore",
    "decoder": "dec dekodierer dekoder décodeur decodificador decodificatore",
    "projection": "proj projektion proyección proiezione projeção",
    "peephole": "peepholes guckloch",
    "attention": "aufmerksamkeit atención attenzione atenção",
    "1": "first erste premier première primera primer prima primo primeira",
    "2": "second zweite deuxième seconde segunda segundo seconda secondo",
    "3": "third dritte troisième tercera tercer terza terzo terceira",
    # what the whole is called, and what is beside a part
    "total": "totals tot sum summe somme suma somma soma gesamt insgesamt overall answer antwort réponse respuesta "
    "risposta resposta result ergebnis résultat resultado risultato solution lösung final num nb nr theta network net "
    "netz netzwerk réseau red rete rede model modell modèle modelo modello number count anzahl nombre número numero "
    "zusammen ans σ θ size memory trainable learnable macs mac flops bytes operations adds multiply activations saved "
    "state anything everything alles tout todo tutto",
    "layer": "layers cell cells schicht schichten zelle couche couches cellule capa capas celda strato strati cella "
    "livello livelli camada camadas célula",
    "question": "q aufgabe exercise exercice ejercicio esercizio exercício task problem",
    "the": "a an in on of for to from by is are has have had get we it there this that so its my our i "
    "one single fully from belong at im der die das den dem des ein eine einer von für es sind le la "
    "les l un une du de d di il y el los las del al dans en pour para por hay lo gli uno una o os as um uma no na do "
    "da dos e et und and st nd rd nel nella vector vectors vektor vektoren hat haben ist nn torch keras tf so "
    "soit au plus also thus em tem tiene ha together "
    "itself part teil partie parte nell dell dall table",
    "alone": "only just nur allein solo sólo sola seulement seul seule apenas",
    "with": "incl including mit inklusive avec con com",
    "each": "per every jede jedes jeder pro je chaque cada ogni both",
}
_MEANT = {spelling: word for word, spellings in _WORDS.items() for spelling in (word, *spellings.split())}
_WHOLE = {"total", "question"}
_NO_PART = {"the", "alone", "with", "each", "layer", "unbiased", *_WHOLE}
_OF_WHOLE = {*"pnθaxstq", *_WHOLE}
_LETTERS = {"W": "input weight", "U": "recurrent weight", "V": "output weight", "b": "bias", "kernel": "input weight"}
_BIASES = r"(?: \w{1,3}){0,2} (?:bia[is]|sesgo|vi[eé]s)\w*"
_WITHOUT = r"\b(?:w/o|without|except(?: for)?|not (?:counting|including)|excl(?:uding)?"
_WITHOUT += r"|ohne|außer|sans|sauf|sin|senza|sem)\b\.?"
_NO = r"\bno\b(?!\.| of\b| ?[0-9])"
_BOTH = r"\b(?:both|beiden?|deux|dos|ambas|ambos|entramb[ei]|due)(?: \w{1,3})? (?:dire[ckçz]|richtung|sens)\w*"
_LAYERS = r"(?:\w+ )?(?:layers|schichten|couches|capas|strati|camadas)\b"
_SEVERAL = rf"(?= (?:{_LAYERS}|gates\b|blocks\b|gatter\b|blöcke\b|portes\b|puertas\b|porte\b|directions\b))"
_BETWEEN = (
    ("i(?:nput)?", "h(?:idden)?", "input weight"),
    ("h(?:idden)?", "h(?:idden)?", "recurrent weight"),
    ("h(?:idden)?", "o(?:utput)?", "output weight"),
)
_REPLACEMENTS = (
    (r"\bno\b(?=.*(?:camada|parâm|pesos|vi[eé]s))|((?:camada|par[âa]metros|pesos|vi[eé]s).*) no\b", r"\1 "),
    (f"(?:{_WITHOUT}|{_NO}){_BIASES}", " weights unbiased "),
    (r"\b(?:with|incl(?:uding)?|mit|avec|con|com)\b\.?" + _BIASES, " "),
    (_WITHOUT, " without "),
    (_NO, " not "),
    (rf"{_BOTH}|\A(?:both|beide|les deux)\Z", " bidirectional "),
    (r"\bbi(?:\b|-?(?=lstm|gru|rnn))", "bidirectional "),
    (r"\b([ih])2([ho])\b", r"\1 to \2"),
    (r"\b(lstm|gru|rnn)s\b", r"\1 layers"),
    (rf"\b(?:two|zwei){_SEVERAL}", "2"),
    (rf"\b(?:three|drei|trois){_SEVERAL}", "3"),
    (rf"\b(?:four|vier|quatre|cuatro|quattro){_SEVERAL}", "4"),
    (r"\b[12] (?=bia[is])", ""),
    (rf"\b(?:both|beide|deux|dos|ambas|due|duas) (?={_LAYERS})", "2 "),
    (rf"\b([2-9]|all|alle|todas|tutti) (?={_LAYERS})", r"all \1 "),
    (r"\bh_?(?=[0-9])", "recurrent "),
    *((rf"\b{one}(?:\W+to\W+|\W){other}\b", role) for one, other, role in _BETWEEN),
    (r"\bmise à jour\b", "update"),
    (r"(?<=[a-zäöü]{4})(?=gewicht|gatter|schicht|gate\b|tor\b)", " "),
)
"""The words of labels by their spellings; those of the whole alone; those that say nothing of a part; and what the
letters of Wx + Uh + b and Vh are for; what is not counted, what is, both directions, and joined words of German."""


class Labels:
    """The parts of a network by their labels.

    counts, total: the correct numbers. sizes: what letters are. tensors: whether the tensors are what is counted.
    """

    def __init__(
        self, network: Network, counts: Sequence[Any], total: Any, sizes: Mapping[str, Any], *, tensors: bool
    ) -> None:
        self.network, self.counts, self.total, self.sizes, self.tensors = network, counts, total, sizes, tensors

    def part(self, answer: Given, tensors: TensorGrader, *, apart: Set[str]) -> NamedPart | None:
        """Return what the label of an answer names; None for an array, whose shape may be given too.

        apart: the words of all labels: biases and an output layer may have numbers of their own. Raises CallError if it
        names no part, or several.
        """
        number = answer.calculation if isinstance(answer, GivenShape) else answer
        if number is None or tensors.place(answer.name) is not None:
            return None
        head, _, last = answer.name.rpartition(" ")
        first, likely = (
            f"{head} {self.role_of(self.gates.get(last, last), sure=sure)}".strip() for sure in (True, False)
        )
        number = number._replace(number=self.value(number))
        try:
            part = self._find(first, number, apart=apart)
        except CallError:
            if tensors.is_tensor(answer.name):
                return None  # what is told of it then are the arrays
            if likely == first:
                raise
            part = self._find(likely, number, apart=apart)
            if not number.rounds(part.count):
                raise
        from rnncalc.answers.returned import is_returned  # few answers have labels

        if part.name == "each gate" and not number.rounds(part.count):
            place = part.portion.places[0]
            layer = NamedPart(part.layer, None, self.counts[place], Portion((place,)))
            if has_letters(number.number) or has_letters(part.count):
                times = number.rounds(layer.count)
            else:
                each, rest = divmod(number.number, max(1, layer.count // part.count))
                times = not rest and bool(re.search(rf"(?<![0-9]){each}(?![0-9])", number.text))
            part = layer if times else part  # each gate 888 × 4
        other = isinstance(answer, GivenShape) and not number.rounds(part.count)
        return None if other and is_returned(self.network, answer.name) else part

    def of_gate(self, answer: Given, tensors: TensorGrader) -> NamedPart | None:
        """Return the part that a label names in each gate, if an answer is its number."""
        answer = answer._replace(name=f"{answer.name} of each gate")
        try:
            part = self.part(answer, tensors, apart=set())
        except CallError:
            return None
        number = answer.calculation if isinstance(answer, GivenShape) else answer
        return part if part and number and number.rounds(part.count) else None

    def role_of(self, name: str, *, sure: bool = True) -> str:
        """Return what an array of a textbook is for, as W_hh of an LSTM is its recurrent weights; else the name.

        sure: whether it must not be an array of the candidate alone, which W_hh of a GRU may be.
        """
        of_gate = re.fullmatch(r"([WUb])_?\{?([a-gi-wz])\}?", name) if self.tensors else None
        if of_gate and (of_gate[2] == "c" or frozenset(of_gate[2]) in self.known):
            return f"{of_gate[1]} of each gate"
        if self.tensors and re.fullmatch("[firoz]_t|(?:[chCH]\u0303|[gn])_t", name):
            return name[0] if name[0] in "firoz" else "candidate"
        if not (array := re.fullmatch(r"([WUb]|weight|bias)_?\{?(xh|ih|hh|hy|yh|x|h|y)\}?", name)):
            return "output" if name == "y" and self.tensors else name
        cells = [placed for placed in self.network.stack if isinstance(placed.layer, Cell)]
        blocks = {1 if each.kind == "rnn" else 4 if each.kind == "lstm" else 0 for each in cells}
        side = "output" if "y" in array[2] else "input" if {*array[2]} & {*"xi"} else "recurrent"
        if sure and 0 in blocks and side != "output" and not array[1][1:]:
            return name
        return f"{side} {'bias' if array[1][0] == 'b' else 'weight'}"

    def value(self, number: GivenNumber) -> Any:
        """Return a number with the sizes of its letters, if all have one."""
        letters = getattr(number.number, "letters", ())
        return number.number.at(self.sizes) if letters and None not in map(self.sizes.get, letters) else number.number

    def _find(self, label: str, number: GivenNumber, *, apart: Set[str]) -> NamedPart:
        """Return what a label names; of several parts the one with this number."""
        stack, whole = self.network.stack, NamedPart(None, None, self.total)
        words = tuple(words_of(label))
        of_gates = "forget" in apart and "gate" not in apart  # in which output is a gate too
        if (place := self.places.get(words)) is not None and not (of_gates and words == ("output",)):
            return NamedPart(stack[place].name, None, self.counts[place], Portion((place,)))
        if (beside := self._beside(words, number, apart)) is not None:
            return beside
        key = frozenset(word for word in words if word not in _NO_PART and (word[1:] or word.isdecimal()))
        if "each" in words and "gates" in key:
            key = frozenset(["gate"])
        kinds = key & {*KINDS}
        if of_gates and key - kinds <= {"input", "output"} and (key - kinds or not kinds or label.endswith(" cell")):
            key = (key and key | {"gate"}) if "layer" not in words else kinds | {"candidate"}
        biases_apart = "bias" in apart or "unbiased" in words
        key -= {word for word in key if word.isdecimal() and "question" in words}
        plain = re.sub(r"[()\[\],:./^]|(?<=\b[WUVb])_?(?=[0-9]\b)", " ", label)
        letters = re.findall(r"(?<!\S)[WUVb](?!\S)|(?<!recurrent )(?<!\w)kernel\Z", plain) if self.tensors else []
        if letters:
            role = key - {"weight"} | {*_LETTERS[letters[0]].split()}
            parts = [*self.known.get(role, self.known.get(key, ()) if letters[0] == "kernel" else ())]
            only = letters[0] == "W" and not {"u", "recurrent"} & apart  # of [h, x]
            if only or (letters[0] in "Wkernel" and not parts and key - {"weight"}):  # or of a dense layer
                parts += self.known.get(key | {"weight"}, ())
            parts = [] if letters[1:] else parts
        elif key and self.tensors and re.search(r" [ACDEFGHIJKLMOQRSTXYZ]\Z", plain):
            parts = []  # the letter is no array's, as W, U, V and B are, nor the number's, as N and P are
        elif key == {"weight", "bias"} or (key == {"weight"} and not biases_apart):
            parts = [whole]
            others = () if "bias" in key or number.rounds(whole.count) else self.known.get(key, ())
            if any(number.rounds(part.count) for part in others):
                cure = "write 'total' for all parameters, or 'weights without biases'"
                raise CallError(f"{escape(label)}: {escape(number.text)} is the number without biases; {cure}")
        elif not key:
            alone = [label.casefold()] if len(label) == 1 and label not in self.sizes else words
            gates = _OF_WHOLE if apart.isdisjoint("rzifo") else _OF_WHOLE - {"n"}
            letters = [word for word in alone if not word[1:] and word not in gates] if self.tensors else []
            unknown = _WHOLE.isdisjoint(words) and ("each" in words or letters)
            size = label in self.sizes and number.text.isdecimal()
            array = re.match(r"(?![NPnp]_)[^\W\d][._]", label)
            several = "layer" in words and _WHOLE.isdisjoint(words) and sum(map(bool, self.counts)) > 1
            of_gate = self.known.get(frozenset(letters), ()) if letters else ()
            parts = [*of_gate] if size or array or several or unknown else [whole]
        else:
            parts = [*self.known.get(key, self.known.get(key | {"weight"}, ()))]
            if "weight" in key and not biases_apart and not key & {"input", "recurrent"}:
                parts += self.known.get(key - {"weight"}, ())  # the weights of a layer may be all its parameters
            if "output" in apart and key in ({"encoder"}, {"decoder"}):
                parts += self.known.get(key | {"recurrent"}, ())  # the half without its output layer
            if all(map(str.isdecimal, key)):  # a table before the layers may not be counted as one
                parts += [part for part in self.known.get(key | {"recurrent"}, ()) if number.rounds(part.count)]
            # the LSTM has 3702, and nothing else has a number
            of_all = apart - {"the"} <= {*words} and "alone" not in words
            parts += [whole] if parts and key <= {*KINDS} - {"dense"} and of_all else []
            parts = parts or [whole] * bool(_WHOLE & {*words} and key.isdisjoint([*_WORDS, *KINDS]))
        if not parts:
            names = {part.name: 0 for each in self.known.values() for part in each if part.name}
            shown = [name for name in names if not (name.endswith("layers") or " of " in name)]
            labels = ["total", *[escape(placed.name) for placed in stack][: MOST_LABELS // 2], *shown][:MOST_LABELS]
            label = re.sub(r"\Athe [0-9](?=[^\W\d])", r"\g<0> ", label)  # as a number in it is written
            raise CallError(f"{escape(label)}: this network has no such part; the labels are {one_of(labels)}")
        right = [part for part in parts if number.rounds(part.count)]
        layers = list(dict.fromkeys([escape(part.layer) for part in parts if part.layer]))
        if layers[1:] and not right and parts[0].layer:
            cure = one_of([f"{layer} {parts[0].name or ''}".strip() for layer in layers[: MOST_LABELS // 2]])
            raise CallError(f"{escape(label)}: several layers have this name; write {cure}")
        parts = right or parts
        alike = [part for part in parts if part[:2] == parts[0][:2]]  # in one direction, and in both
        comparable = alike[1:] and not any(map(has_letters, (number.number, *(part.count for part in alike))))
        part = min(alike, key=lambda part: abs(part.count - number.number)) if comparable else alike[0]
        return whole._replace(kind=part.kind) if part.place is not None and part.count == self.total else part

    def _beside(self, words: Sequence[str], number: GivenNumber, apart: Set[str]) -> NamedPart | None:
        """Return a part without some layers, or with them: `without the output layer`; None for other words."""
        signs = [word for word in words if word in ("without", "with")]
        if len(signs) != 1 or words[-1] in signs:
            return None
        (sign,) = signs
        at = words.index(sign)
        behind = words[at + 1 :]
        behind = ("all", *behind) if frozenset(["all", *behind]) in self.known else behind
        first, other = (self._find(" ".join(each), number, apart=apart) for each in (words[:at], behind))
        if other.is_total or not (first.portion.whole and other.portion.whole):
            return None
        everything = range(len(self.network.stack))
        places = {*(first.portion.places or everything)} - {*other.portion.places}
        places |= {*other.portion.places} if sign == "with" else set()
        if places == {*everything}:
            return NamedPart(None, None, self.total)
        count = sum([self.counts[place] for place in places])
        if len(places) == 1:
            return NamedPart(self.network.stack[min(places)].name, None, count, Portion(tuple(places)))
        name = f"{'the network' if first.is_total else first.text} {sign} {other.text}"
        return NamedPart(None, name, count, Portion(tuple(sorted(places))))

    @cached_property
    def gates(self) -> dict[str, str]:
        """The names of the gates that have letters of a course, by these."""
        spelling, cells = self.network.spelling, [each for each in self.network.stack if isinstance(each.layer, Cell)]
        gates = [gate for each in cells for gate in cast("Cell", each.layer).gates(each.inputs)]
        return {spelling.letter(gate.letter): gate.name for gate in gates if gate.letter in spelling.letters}

    @cached_property
    def places(self) -> dict[tuple[str, ...], int]:
        """The places of the layers by the words of their names."""
        return {tuple(words_of(placed.name)): place for place, placed in enumerate(self.network.stack)}

    @cached_property
    def numbers(self) -> list[tuple[Any, Mistake]]:
        """The correct numbers of all parts, each as what another part's may be taken for; those of layers first."""
        parts = sorted({part: None for each in self.known.values() for part in each}, key=lambda part: bool(part.name))
        return [
            (part.count, Mistake("parts", "other-part", f"is the number of {part.text}"))
            for part in parts
            if not part.kind
        ]

    @cached_property
    def known(self) -> dict[frozenset[str], dict[NamedPart, None]]:
        """The parts that a label may name, by its words."""
        known: dict[frozenset[str], dict[NamedPart, None]] = {}

        def add(words: str, *parts: NamedPart) -> None:
            known.setdefault(frozenset(words.split()), {}).update({part: None for part in parts if part.count})

        stack = self.network.stack
        layers = [
            NamedPart(placed.name, None, self.counts[place], Portion((place,))) for place, placed in enumerate(stack)
        ]
        kinds: dict[str, list[int]] = {}
        names = [[str(place), " ".join(words_of(placed.name))] for place, placed in enumerate(stack, 1)]
        for place, placed in enumerate(stack):
            output = isinstance(placed.layer, Output) or (place == len(stack) - 1 and isinstance(placed.layer, Dense))
            names[place] += [placed.kind, *["output"] * output, *([placed.part] if placed.part else [])]
            names[place] += ["recurrent"] * isinstance(placed.layer, Cell)
            for each in names[place][2:]:
                kinds.setdefault(each, []).append(place)
        cells = kinds.get("recurrent", [])
        kinds.setdefault("rnn", cells)
        for each in KINDS if len(cells) == 1 else ():
            if each not in kinds and issubclass(kind(each), Cell):
                add(each, layers[cells[0]]._replace(kind=each))
        for each, places in kinds.items():
            half, count = each in ("encoder", "decoder"), sum([self.counts[place] for place in places])
            name = each if half else f"{each} layers"
            several = [NamedPart(None, name, count, Portion(tuple(places)))] * bool(places[1:])
            of_layers = [] if half and several else [layers[place] for place in places]
            add(each, *(several if half or each == "recurrent" else ()), *of_layers, *several)
            for words in (f"all {each}", f"all {each} {len(places)}"):
                add(words, *(several or of_layers))
            for number, place in enumerate(places, 1):
                units = stack[place].units
                beside: list[Any] = ["recurrent"] * isinstance(stack[place].layer, Cell)
                beside += ["output"] * (place in kinds.get("output", ()))
                beside += [units] if units not in range(len(places) + 1) else []
                for word in (number, stack[place].kind, *beside):
                    add(f"{each} {word}", layers[place])
                    if getattr(stack[place].layer, "directions", 1) == 2:
                        add(f"{each} {word} bidirectional", layers[place])
        for words in ("all", f"all {len(layers)}", f"all {sum(map(bool, self.counts))}"):
            add(words, NamedPart(None, None, self.total))
        both = [place for place, placed in enumerate(stack) if getattr(placed.layer, "directions", 1) == 2]
        for number, place in enumerate(both, 1):
            add(f"bidirectional {number}", layers[place])
        for place, layer in enumerate(layers):
            add(str(place + 1), layer)
            for each in ("", *names[place]) if getattr(stack[place].layer, "directions", 1) == 2 else ():
                add(f"{each} bidirectional", layer)
        if self.tensors:
            tensors = [placed.tensors for placed in stack]
            for words, part in roles(None, (), [*chain(*tensors)]):
                add(words, part)
            for place in cells:
                blocks = len(cast("Cell", stack[place].layer).gates(stack[place].inputs))
                for words in ("gates", "all gates", f"gates {blocks}", f"all gates {blocks}"):
                    add(words, layers[place])
            for place, placed in enumerate(stack):
                for words, part in (
                    *roles(placed.name, (place,), tensors[place]),
                    *parts_of(placed, place, tensors[place]),
                ):
                    for each in ("", *names[place]):
                        add(f"{each} {words}", part)
        return known


def as_numbered(names: Sequence[str]) -> list[str]:
    """Return labels of which lstm and lstm_1, as Keras names two layers, are lstm_1 and lstm_2."""
    kind_twice = r"(?i)\A(lstm|gru|dense)(?:[_ ]([0-9]+))? \1\Z"  # lstm_1 (LSTM)
    names = [re.sub(kind_twice, lambda each: "_".join(filter(None, each.groups())), name) for name in names]
    bases = {name.casefold() for name in names} & {
        name.casefold().removesuffix("_1") for name in names if name.endswith("_1")
    }
    numbered = []
    for name in names:
        base, _, number = name.casefold().partition("_")
        numbered.append(f"{base}_{int(number or 0) + 1}" if base in bases and number in ("", *"123456789") else name)
    return numbered


def words_of(label: str) -> Iterator[str]:
    """Yield the words of a label, each as it is in the table; num_params and Gesamtparameter are the whole."""
    label = label.casefold()
    for words, plain in _REPLACEMENTS:
        label = re.sub(words, plain, label)
    for word in re.findall(r"[^\W\d_]+|[0-9]+", label):
        yield "total" if re.search("par[aáâ]m|gesamt|total", word) else _MEANT.get(word, word)


def roles(layer: str | None, places: tuple[int, ...], tensors: Sequence[Tensor]) -> Iterator[tuple[str, NamedPart]]:
    """Yield what the tensors of the layers at these places are for, each with its words."""
    for words, name, counted in (
        ("bias", "biases", {*BIASES}),
        ("weight", "weights", {*Role} - {*BIASES}),
        ("input weight", "input weights", {Role.INPUT}),
        ("input recurrent weight", "input weights", {Role.INPUT}),
        ("recurrent weight", "recurrent weights", {Role.RECURRENT}),
        *([("input bias", "input biases", {Role.BIAS})] * any(each.role is Role.RECURRENT_BIAS for each in tensors)),
        ("recurrent bias", "recurrent biases", {Role.RECURRENT_BIAS}),
        ("projection", "projection", {Role.PROJECTION}),
        ("peephole", "peepholes", {Role.PEEPHOLE}),
    ):
        count = sum([tensor.params for tensor in tensors if tensor.role in counted])
        yield words, NamedPart(layer, name, count, Portion(places, name))


def parts_of(placed: Placed, place: int, tensors: Sequence[Tensor]) -> Iterator[tuple[str, NamedPart]]:
    """Yield the gates and the directions of a recurrent layer, each with its words."""
    layer = placed.layer
    if not isinstance(layer, Cell):
        return
    counts: dict[str, Any] = {}
    letters: dict[str, str] = {}
    for gate in layer.gates(placed.inputs):
        held = [(tensor.params * tensor.gates.count(gate.letter), len(tensor.gates)) for tensor in tensors]
        counts[gate.name] = sum([divmod(number, all_)[0] for number, all_ in held if all_])
        letters[gate.name] = gate.letter
    if len({*counts.values()}) == 1:
        counts["gate"] = next(iter(counts.values()))
    for words, part in roles(placed.name, (place,), tensors) if counts.get("gate") else ():
        each, rest = divmod(part.count, len(letters) * layer.directions)
        if letters.keys() - {"gate"} and not rest:
            for gate_name in ("each gate", *letters):
                name = f"{part.name} of {gate_name}"
                part_of_gate = NamedPart(placed.name, name, each, Portion((place,), name, layer.directions == 2))
                yield f"{gate_name.removeprefix('each ')} {words}", part_of_gate
    for name, count in counts.items():
        label = "each gate" if name == "gate" else name
        for one_way in (False, True)[: layer.directions]:
            number = divmod(count, layer.directions)[0] if one_way else count
            alone = name.removesuffix(" gate")
            update = ("update gate", "update") if name == "input gate" else ()  # as the letters of a course may call it
            for words in (name, letters.get(name, name), name if alone in ("input", "output") else alone, *update):
                yield words, NamedPart(placed.name, label, number, Portion((place,), label, one_way))
    if layer.directions == 2:
        one = divmod(placed.params, 2)[0]
        yield "direction", NamedPart(placed.name, "one direction", one, Portion((place,), one_way=True))
