"""Forms in which people hand in several numbers, rewritten as labels with numbers: tables, summaries, sums of parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rnncalc.errors import CallError
from rnncalc.expressions import Parser, tokens_of
from rnncalc.printable import escape

if TYPE_CHECKING:
    from rnncalc.expressions import Known

NO_FACTOR = (
    r"(?![*×·⋅+/^,;)\]]|\\(?:times|cdot|ast|div)(?![a-z])"
    r"|(?:[xX]|times|by|mal|fois|veces|vezes|volte|por|per)(?:\s?[0-9(\\{]|\s[^\W\d_](?![^\W\d_])))"
)
MARK = "[1-9][0-9]?|[a-z]|[ivx]{2,4}"
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
"""What the 1 of `(1) 3552` has behind it, and that of `(1) × 8` has not; the numbers of a list."""
_EMPHASIS = r"(?<![\w)\]}*])\*\*(?=[^\s*])([^*\n]*[^\s*])\*\*(?![\w(*])"
_GROWTH = (
    r"(?<![,;.(\s])[,;.(\s]*(?:(?:so|thus|hence|which is|which grows as|it is|i\.e\.|also|daher|donc|[=≈~∈→⇒]|=>"
    r"|\\(?:in|approx|sim))[,\s]*)?"
    r"\$?((?:\\mathcal\{O\}|[OΘ]|\\Theta)\s?(?:\\left)?\([^()]*(?:\([^()]*\)[^()]*)*\))\$?\)?"
    r"(?: (?:in|for|with)\b[ \w]{1,40})?[.\s]*\Z"
)
"""A bold text, and an order of growth at the end of an answer, so O(h²), which is no number."""
_SUMMARY = re.compile(r"Param #|Total params: ?[0-9][^\n]*\n\W*Trainable params")
_FOOT = r"\W*(?:Total|Trainable|Non|Layer|Model|Optimizer|Input|Forward|Params|Estimated)\b"
_SUMMARY_ROW = re.compile(
    r"[\s│┃|├└─]*(?P<name>[^\W\d][\w.]*)(?: \((?P<kind>[^\W\d]\w*)\)?|: [0-9]+-[0-9]+|-[0-9]+)?\s"
    r".*?(?<![\w.,])(?P<number>[0-9][0-9,]*)[\s│┃|]*"
)
_PRINTED = re.compile(r"\W*\w+ \([^\W\d]\w*\)[\s│┃|]+[(\[].*[)\]][\s│┃|]+[0-9][0-9,]*\W*")
_SUMMARY_TOTAL = re.compile(r"\W*Total params: ?(?P<number>[0-9][0-9,]*)(?: \([^()]*\))?\W*")
_EMPTY = "input|drop|flat|activ|relu|soft|repeat|reshape|mask|permut|pool|lambda|select|last"
"""The parts of a printed summary of Keras, torchinfo or torchsummary, and the layers that have no parameters."""
_HTML = (
    (r"(?i)(?:<br ?/?>|</(?:p|div|li|tr)>)\s*", "\n"),
    (r"(?i)<sup>([^<>]*)</sup>", r"^{\1}"),
    (r"(?i)<sub>([^<>]*)</sub>", r"_{\1}"),
    (r"(?i)</t[dh]>\s*(?=<t[dh])", " | "),
    (r"(?i)</?(?:p|b|i|u|em|strong|span|div|code|pre|[uo]l|li|table|tbody|tr|t[dh])(?: [^<>]*)?>", ""),
)
"""The tags of HTML, with what stays of them."""
_RULE = r"[-:=|+\s─━]*"
_TITLE = r"(?i)param|total|sum|gesamt|anzahl|count|nombre|n[úu]mero|numero|answer|#"
_TEX_ROWS = r"\\(?:begin|end)\{[a-z]+\*?\}(?:\{[lcr| ]+\})?|\\(?:hline|toprule|midrule|bottomrule)"
_TEX_CELL = r"\\text[a-z]*\{([^{}]*)\}"
_TITLES = r"[^\s=]+(?:(?: [^\W\d][^\s=:]*| [\\∂$][^\s=:]*)+|(?: [0-9]{1,2})+)"
_NUMBERS = r"(?:[-−+]?[0-9][0-9.,]*(?=:? )|[^\s=]+(?=(?::? [^ ]+){2})):?(?: [-−+]?[0-9][0-9.,]*)+"
"""A line of a table without cells; titles of the column with the numbers; what is around rows and cells in LaTeX;
and the titles and the rows of a table of numbers with single blanks between them."""
_REST = r"(?:[\w .'’/-]|\([^\W\d]\))*"
_NEXT = r"(?<=[0-9)])\s*\n\s*(?=\\?(?:[^\W\d_]{2}|[^\W\d]_?[0-9])[^\n=:&]*?(?:[=:→⇒]|->))"
_WORDS = rf"(?:[^\W\d_]{{2}}|[WUVb]_?){_REST}"
_AMOUNT = r"[0-9(](?:[0-9]|(?!\w\w)[^,;:\n0-9]|,(?=[0-9]))*?"
_BEHIND = re.compile(
    rf"(?P<number>{_AMOUNT}) ?(?:[(\[](?P<inside>{_WORDS})[)\]]|(?<=[)\s])(?P<label>[^\W\d_]{{2}}{_REST}))"
)
_BEFORE = re.compile(
    rf"(?P<label>{_WORDS}?) ?(?::|\(|[-–—]|(?<= )(?=[0-9][0-9.,]+(?:\)?\Z| ?[×*]))) ?(?P<number>{_AMOUNT})\)?"
)
_LABELLED = re.compile(rf"{_WORDS} ?[:=] ?[0-9(]")
_CONJUNCTION = r"\b(?:times|mal|fois|veces|vezes|volte|and|und|et|y|e|or|oder|ou|o|with|where|if)\b|[0-9]{3}"
_OTHERS = r"(?i)\b(?:bytes?|octets?|[kmg]i?b|\w*flops?|macs?|multiply.adds?|activations?|operations?|ops)\b"
_OTHERS += r"|(?i:\Apar[aáâ]m\w*\Z)"
_TOTAL_WORDS = r"(?i)\btotal|\bsum|gesamt|somm"
_UNIT = r"(?:(?:trainable|learnable) )?par[aáâ]m[^\W\d]*\.?(?= [^\W\d])"
_ORDINAL = r"(?<![\w.,])([1-9])(?:(?:st|nd|rd|th|ère|er|ème|e|ª|º|\.[ªº]?)[ -]?|\. ?)(?=[^\W\d]{3})"
_TOTAL = r" ?= ?([0-9(][^=]*)\Z"
_SHAPE = r"(?:shape|size|dimensions?|form|größe|forme|taille|dimensión|tamaño|dimensione)"
_IS_A = r"(?:is|ist|est|es)(?: an?| eine| une| una)"
_AXES = r"(?=[(\[]?[0-9]+ ?[x×,] ?[0-9])"
_SAID = r"(?i)\A(?:i (?:get|got|think|found|have)|ich (?:bekomme|erhalte|habe)|je trouve|j.obtiens) (?=[0-9])"
_REWRITTEN = (
    (_EMPHASIS, r"\1"),
    (r"\n[-─━=_ ]{3,}(?=\n)", ""),
    (r"\A'([^']*[0-9)])'?\Z", r"\1"),
    (_SAID, ""),
    (r"\b(?:self|model)\.(?=\w+ ?[:=0-9])", ""),
    (
        r"[ (]{0,2}\b(?:(?:with|mit|avec|con|com|of) )?[0-9]+ (?:hidden )?"
        r"(?:units?|neuron\w*|einheiten|unités|unidades|unità)\b\)?(?=\W)",
        "",
    ),
    (r"\ball ([1-9]) (?=gates|blocks)", r"all \1"),
    (r" \([0-9] (?:gates|blocks|gatter|blöcke|portes|blocs|puertas|bloques|porte|portas)\)(?= ?:)", ""),
    (r"(?:\A|(?<=[\n;,] ))([1-9]) (?=(?:gate|block|layer|direction)s?\b[^:=\n0-9]*[:=])", r"the \1"),
    (
        r"(?i)\b(?:weights|gewichte|poids|pes[oi]s?) (?:and|und|et|y|e|[+&/]) (?:bia[is]\w*|sesgos|vieses)\b",
        "parameters",
    ),
    (r"\A(?=[^=]*(?:param|numel))[a-z][\w.]*\(.*\) ?(?:==?|->|→) ?(?=[0-9][0-9,.]*\Z)", ""),
    (r"\(['\"]([\w.]+)['\"], ?([0-9]+)\)", r"\1: \2"),
    (r"(?i)\A([0-9][0-9,.]*) (bia[is]\w*|sesgos|vi[eé]s\w*)\W*\Z", r"\2: \1"),
    (r"(?<!\w)([0-9][0-9,.]*) weights(?=,.*bia[is]| and [0-9].*bia[is])", r"weights: \1"),
    (r"(?i)\A(?:>>>|#+|out ?\[[0-9]+\]:?) (?=[0-9])|[,;(] ?0 non-trainable(?: params?| parameters)?\)?\.?\Z", ""),
    (r"(?i)\A(?:in total|insgesamt|zusammen|en total|au total),? (?:has|hat|haben|tiene|a) ", "total: "),
    (r"(?<=[0-9)])\s+#\s*(?=[0-9][0-9,.]*\Z)", " = "),
    (r"(?i)(?<=[0-9]) (?:of them|davon|of these|d.entre eux|de ellos) (?=[^\W\d])", " "),
    (
        r"(?i)\A([^,;:=\n]*[0-9])(?: par\w*)?,? (?:of which|davon|dont|de los cuales|di cui|dos quais) (?=[0-9])(.*)\Z",
        r"\2; total: \1",
    ),
    (r"(?<=\w):0'? shape=", " = "),
    (r"\b(?:torch\.Size|(?:tf\.)?TensorShape)\(\[([0-9]+),?\]\)", r"(\1,)"),
    (r"\b(?:torch\.Size|(?:tf\.)?TensorShape)\(\[([0-9, ]+)\]\)", r"(\1)"),
    (rf"(?i) (?:(?:has|of|hat|tiene|ha|tem)(?: the| a| die| la)? {_SHAPE}:?|{_IS_A}) {_AXES}", " = "),
    (rf"(?i)(?:\A|(?<= ))(?:the )?{_SHAPE} (?:of|von|de) (?:the )?(?=\w+:? [(\[])", ""),
    (r"(?i)(?<=[0-9])[- ](?:matrix|matrice|matriz)\b|\A(?:the )?(?:matrix|matrice|matriz) (?=\w+ =)", ""),
    (r"\A\\?\{ ?([0-9][^{}=:]*,[^{}=:]*)\}\Z", r"[\1]"),
    (r"(?<=[0-9)]) (?:gives|makes|yields|equals|ergibt|ergeben|macht|donne|fait) (?=[0-9])", " = "),
    (r"\A\[ ?(\([^()]*\),.*\)),? ?\]\Z", r"\1"),  # [(1, 36), (9, 36), (36,)]
    (r"([*·×+^²(][^\n]{0,200}[0-9)\]])\s*\n\s*(?==\s*[0-9(])", r"\1 "),
    (r"(?i)\b(layer|lstm|gru|rnn|dense) ([1-9]) (?=[^\W\d]{2}[\w ]*[:=])", r"\1_\2 "),
    (r"(?i)\b(layer|lstm|gru|rnn|dense) \(([1-9])\)(?= ?[:=])", r"\1_\2"),
    (r",\s*(?=[×*] ?[0-9]|x ?[0-9])|(?<=[0-9])[,;]\s*(?=(?:plus|\+) ?[0-9])", " "),
    (
        r"\A([^=+0-9]{2,}= )[^=0-9]*[^\W\d]{2}[^=0-9]*\+[^=0-9]*[^\W\d]{2}[^=0-9]*= (?=[0-9(])",
        r"\1",
    ),  # P = A + B = 3552 + 150
    (
        r"\A([0-9][0-9,.]*) = (?=[^=]*[^\W\d]{2})(?=[^=]*\+)(.*[^.\s])\W*\Z",
        r"\2 = \1",
    ),  # 3702 = 3552 (LSTM) + 150 (Dense)
    (r"\A([0-9(][^+]*,[^+]*[^\W\d]\)) = ([0-9][0-9,.]*)\W*\Z", r"\1; total: \2"),
    (r"(?<=[0-9)])\s*\n\s*(?=(?:[A-Za-z]_\{?[A-Za-z]+\}?|[NPS]) ?=)", "; "),
)
_SPLIT = (
    r"\s*(?:[\n;|]|,(?=\s)|\s/\s|\.(?=\s+[^\W\d])|\s(?:and|und|et|y|e|plus|&)\s"
    r"|(?<=[0-9]): (?=[0-9])|(?<=[0-9)]) ?\+ ?(?=[^\W\d]{2})|(?<=[0-9)]) (?=[^\W\d]{3,} [0-9]))\s*"
)
_SPOKEN = (
    (r"[{}\"`]|(?<!\w)'|'(?!\w)|\*\*|\b(?:nn|torch|layers|keras|tf)\.", ""),
    (r"(?<=\w)\((?:[0-9]+|[a-z_]+=)[^()]*\)(?=\s*(?:[:=→-]|has\b))", ""),
    (r"(?<=[0-9]) \((?=[^()]*[0-9])[^()]*[^\W\d]{2}[^()]*\)", ""),
    (r"(?i)\b(layer|schicht|couche|capa|strato|camada|l?stm|gru|rnn|dense) ([1-9])(?=\W*[^\W\d]|\s*[:=→])", r"\1_\2"),
    (r"\b([1-9]) (?=(?:gates?|blocks?|layers?|directions?)\b)", r"\1_"),
)
_NO_LABEL = (
    (r"(?i)\b(?:per|pro|je|par|por)\b", "each"),
    (r"(?i)\b(?:there|are|is|has|have|hat|haben|ist|in|of|which|so|soit|thus|hence|therefore|en|ha|tem|tiene)\b", " "),
    (r"(?:[\s:=→⇒()\[\]*•–-]|(?<!\b[WUb])_)+|(?<=\s)>", " "),
    (r"\A ?(?=[1-9])", "the "),
)
_OF_LAYER = (
    r"(?i)layer|schicht|couche|capa|strat|camada|lstm|[gms]ru\b|mgu|rnn|dense|linear|fc\b|output(?! gate)|embed|coder"
    "|richt|ausg|sortie|salida|uscita|saída"
)
_HALF = r"(?i)[ck]od(?:er|eu|if)"
_FORGET = r"(?i)forget|vergess|oubli|olvido|esquec|diment"
_HEADING = rf"{_OF_LAYER}|gate|gatter|tor\b|port[ea]|puerta|candid|kandidat|reset|update|{_FORGET[4:]}"
_KIND_FIRST = (
    r"(?i)((?:lstm|gru|rnn|dense|linear)(?:[_ ][1-9])?) "
    r"(?=[WUVb](?:_|\b)|kernel|recur|input|weight|bia[is]|forget|gewicht|poids|pes[oi]|sesgo)"
)
_CLAIMS = r"\s*(?:\n|[;,](?=\s)|\+(?=\s*[^\W\d]))\s*(?:(?:and|und|et|y|e)\s)?|\s(?:and|und|et|y|e)\s"
_HEADED = re.compile(r"(?P<heading>[^\W\d][^:=\n]*):\s*(?P<claim>(?:[^\W\d].*)?)")
_CLAIM = re.compile(
    r"(?P<label>[^\W\d][^:=\n(+*×·^]{0,80}?)\s*(?:(?:[:=→⇒]|[-=]>)\s*|\s(?![0-9]{1,2} \([0-9][0-9.,]*\)))"
    r"(?P<number>[0-9(](?:[^:\n](?<![\w)]\s[^\W\d]{2})(?<![^\W\d]{3}))*)(?:\spar[aáâ]m\w*\.?)?"
)
_DIGITS = r"\(?[0-9][0-9,.]*\)?"
_SUM_OF_NUMBERS = r"(?<!\w)[(\[]*[0-9](?:(?:[0-9\s.,+*/^()\[\]=≈²³×·⋅∗−-]|(?<=[0-9]) ?x ?(?=[0-9]))*[0-9)\]²³])?(?!\w)"
"""What a sentence of claims is: a title before it, what is between them, what is left out in them or joined, what names
a layer, a half of an encoder-decoder, the forget gate, a layer or a gate above its parts, a layer before a part of it,
what is between claims below a heading, a claim with its heading, one alone, digits, and a number or a calculation."""


def without_html(text: str) -> str:
    """Return a text without the tags and entities of HTML, as quiz systems export it: 16² for 16<sup>2</sup>."""
    if re.search(r"<[A-Za-z/]|&#?\w+;", text):
        from html import unescape  # few answers have any

        for tags, plain in _HTML:
            text = re.sub(tags, plain, text)
        text = unescape(text)
    return text


def claims_in(text: str) -> list[str]:
    """Return the claims of a text in words, each with one number, as `label: number`; [] if it is something else.

    A line without a number is the label of the next one, and a sum at the end is the total.
    """
    for words, plain in _SPOKEN:
        text = re.sub(words, plain, text)
    claims: list[str] = []
    heading, pieces = "", [piece.strip(" .") for piece in re.split(_SPLIT, text) if piece.strip(" .")]
    for at, piece in enumerate(pieces):
        numbers = [*re.finditer(_SUM_OF_NUMBERS, piece)]
        whole = re.search(r"[^\W\d]\W* = \Z", piece[: numbers[1].start()]) if len(numbers) == 2 else None
        if not numbers and not heading and at + 1 < len(pieces):
            heading = piece
            continue
        if len(numbers) != 1 and not (whole and piece == pieces[-1]):
            return []
        before, end = piece[: numbers[0].start()], numbers[1].start() if whole else len(piece)
        before = before.partition("=")[0] if "+" in before.partition("=")[2] else before
        label = f"{heading} {before} {piece[numbers[0].end() : end]}"
        for words, plain in _NO_LABEL:
            label = re.sub(words, plain, label)
        label = re.sub(r"(?i)\A *par[aáâ]m\w*[. ]*\Z", "total", label)
        if not re.search(r"[^\W\d]", label) or re.search(_OTHERS, label.strip()):
            return []
        claims.append(f"{label.strip()}: {numbers[0][0].strip()}")
        claims += [f"total: {numbers[1][0]}"] if whole else []
        heading = ""
    return claims if claims[1:] and not heading else []


def _under_headings(text: str, sizes: Known) -> str:
    """Return a text whose claims have a heading, or are added up, with both in labels: GRU: W 6144, b 192 = 6336.

    A heading is that of the claims up to one that names another layer.
    """
    lines: list[str] = []
    heading, numbers, has_colon, changed = "", list[Any](), False, False
    pieces = [re.sub(r"\A\s*[-*•]\s+|[\s.*]+\Z", "", each) for each in pieces_of(text, _CLAIMS)]
    pieces = [each for each in pieces if each]
    for at, piece in enumerate(pieces):
        last, headed = at == len(pieces) - 1, _HEADED.fullmatch(piece)
        if headed and re.search(_HEADING, headed["heading"]):
            heading, piece, numbers, has_colon = headed["heading"].strip().replace(" ", "_"), headed["claim"], [], True
            if not piece:
                continue
        if last and re.fullmatch("[0-9][0-9,.]*", piece):
            lines.append(piece)
            continue
        if not (claim := _CLAIM.fullmatch(piece)):
            return text
        label, sides = claim["label"], re.split(r"\s*(?:=>|->|[=→⇒])\s*", claim["number"].strip())
        values = [_value(each, sizes) for each in sides]
        if heading and label.casefold() == "output" and any(re.search(_FORGET, line) for line in lines):
            label = f"{heading} output"
        elif re.search(_TOTAL_WORDS, label) and (values[-1] == sum(numbers) or (not last and heading)):
            label = heading or label
        elif first := re.match(_KIND_FIRST, label):
            heading, numbers, has_colon = first[1], [], False
        elif re.search(_HALF, heading) and re.search(_OF_LAYER, label) and not re.search(_HALF, label):
            label, changed = f"{heading} {label}", True
        elif re.search(_OF_LAYER, label) or re.search(_TOTAL_WORDS, label):
            heading, numbers = "", [] if heading else numbers
        elif heading:
            label, changed = f"{heading} {label}", True
        whole = sides[1:] and all(values[-2:]) and values[-2] != values[-1]
        numbers.append(values[-2 if whole else -1])
        if whole and sum(numbers) != values[-1]:
            if not (heading and has_colon):
                return text
            whole = re.search(rf"[^\W\d]|\A{_DIGITS}\Z", sides[-2])  # a product may be an equation that is not true
        lines.append(f"{label}: {' = '.join(sides[:-1] if whole else sides)}")
        if whole:
            changed = True
            lines += [f"{heading or 'sum'}: {sides[-1]}"] * bool(heading or last)  # the sum of some parts is true
            heading, numbers = "", []
    return "\n".join(lines) if changed and lines[1:] else text


def _value(side: str, sizes: Known) -> Any:
    """Return the value of a side of an equation, a polynomial if its letters have no sizes; 0 if it is not read."""
    if re.fullmatch(_DIGITS, side):
        return int(re.sub(r"\D", "", side))
    with suppress(CallError):
        parser = Parser(side, tokens_of(side, sizes), sizes)
        parser.numbers = {letter: size for letter, size in (sizes or {}).items() if size is not None}
        return parser.chain().number
    return 0


def pieces_of(text: str, between: str) -> Iterator[str]:
    """Yield what is between separators that are not in brackets."""
    begin = depth = 0
    for match in re.finditer(rf"(?P<open>[(\[{{])|(?P<close>[)\]}}])|{between}", text):
        depth += (match.lastgroup == "open") - (match.lastgroup == "close")
        if not (depth or match.lastgroup):
            yield text[begin : match.start()]
            begin = match.end()
    yield text[begin:]


def rewritten(text: str, sizes: Known) -> str:
    """Return a text whose table, summary or sum of labelled parts is written as lines `label: number`.

    sizes: the letters that may be used, as in `read_answer`.
    """
    for words, plain in _REWRITTEN:
        text = re.sub(words, plain, text)
    if re.fullmatch(r"[0-9]+(?:,[0-9]+){2,}", text) and re.search("[0-9]{4}", text):
        return text.replace(",", ", ")
    if _SUMMARY.search(text) or all(map(_PRINTED.fullmatch, text.splitlines())):
        return "\n".join(_of_summary(text))
    if rows := _rows(text):
        return "\n".join(rows)
    text = _under_headings(text, sizes)
    lines = [line.strip(" *#:") for line in text.splitlines() if line.strip()]
    headings = [re.search(r"[^\W\d]", line) and not re.search("[=:]|[0-9]{2}", line) for line in lines[::2]]
    if lines[1::2] and len(lines) % 2 == 0 and all(headings) and all(map(_is_amount, lines[1::2])):
        return "\n".join(map(": ".join, zip(lines[::2], lines[1::2], strict=True)))
    text = re.sub(r"(?<=\))\s*\n\s*(?=[^\W\d]_?\w? ?= ?[0-9])", ", ", re.sub(_NEXT, "; ", text))  # sizes
    parts = re.split(r" \+ (?![^()\[\]{}]*[)\]}])", text)
    label, sign, _ = parts[0].partition("=")
    if parts[1:] and sign and re.search(_TITLE, label):
        text = re.sub(r"(?<=[0-9)]) \([^\W\d]{2}[\w ]*\)(?= [+=]|\W*\Z)", "", text)
    elif parts[1:]:
        last = re.search(_TOTAL, parts[-1])
        parts[-1] = parts[-1][: last.start()] if last else parts[-1]
        lines = [label_first(part.strip(" $.\n")) for part in parts]
        if all(map(_LABELLED.match, lines)):
            whole = last[1] if last else " + ".join(re.split(" ?[:=] ?", line, maxsplit=1)[1] for line in lines)
            return "\n".join([*lines, f"sum: {whole}"])
    if match := re.fullmatch(r"([^()]*[0-9])(?: (?i:par\w*))? ?(?:\(| ?: (?=[0-9]))([^()]+)\)?\W*", text):
        lines = [label_first(part.strip()) for part in re.split(r" ?[,;+] | (?:and|und|et|y|e) ", match[2])]
        if lines[1:] and all(map(_LABELLED.match, lines)):
            return "\n".join([*lines, match[1] if re.match(r"[^\W\d]", match[1]) else f"total: {match[1]}"])
    return text


def without_growth(text: str) -> tuple[str, str]:
    """Return an answer without an order of growth at its end, and that order: 3702 and O(h²) of 3702, so O(h²)."""
    match = re.search(_GROWTH, text)
    return (text[: match.start()], match[1]) if match else (text, "")


def label_first(text: str) -> str:
    """Return a number with a label in words behind it, in brackets or not, as `label: number`; else the text."""
    text = re.sub(_ORDINAL, r"nd \1 ", text)
    if re.match(r"[1-9][0-9]? [^\W\d]{2}[\w ]*[:=]", text):
        return f"the {text}"
    if match := _BEHIND.fullmatch(text.rstrip(" .")):
        label = re.sub(rf"\A{_UNIT}", "", match["inside"] or match["label"]).strip()
    elif match := _BEFORE.fullmatch(text.rstrip(" .")):
        label = match["label"].strip()
    if not match or re.search(_CONJUNCTION, label) or re.search(_OTHERS, label) or len(label) < 2:
        return text
    return f"{label}: {match['number'].strip()}"


def _of_summary(text: str) -> Iterator[str]:
    """Yield the layers of a printed summary by their kinds, numbered if several are of one kind, and the total.

    Raises CallError for a row that is not read.
    """
    lines = [line for line in text.splitlines() if re.search(r"[0-9][\s│┃|]*\Z", line) and not re.match(_FOOT, line)]
    rows = [*map(_SUMMARY_ROW.fullmatch, lines)]
    if None in rows:
        raise CallError(f"expected a row of a summary, got '{escape(lines[rows.index(None)].strip())}'")
    layers = [
        (row["kind"] or re.sub("_[0-9]*", "", row["name"]), row["number"])
        for row in filter(None, rows)
        if not (row["number"] == "0" and re.search(_EMPTY, row[0], re.IGNORECASE))
    ]
    kinds = [kind for kind, _ in layers]
    for at, (kind, number) in enumerate(layers):
        yield f"{kind} {kinds[: at + 1].count(kind)}: {number}" if kinds.count(kind) > 1 else f"{kind}: {number}"
    yield from [f"total: {match['number']}" for match in map(_SUMMARY_TOTAL.fullmatch, text.splitlines()) if match][-1:]


def table_in(text: str) -> list[list[str]]:
    """Return the cells of a table in Markdown, LaTeX or with tabs or columns; [] if it is none."""
    latex = "&" in text and not re.search(r"&\s*[-+=]|=\s*&", text)
    plain = re.sub(_TEX_ROWS, "", re.sub(_TEX_CELL, r"\1", text)) if latex else text
    lines = [line for line in re.split(r"\\\\|\n" if latex else "\n", plain) if not re.fullmatch(_RULE, line)]
    columns: tuple[str, ...] = ("\t", " {2,}", r"(?<=[^\W\d]), ?(?=[0-9.]+\Z|[^\W\d]+\Z)") if lines[1:] else ("\t",)
    if lines[1:] and re.fullmatch(_TITLES, lines[0]) and all(re.fullmatch(_NUMBERS, line) for line in lines[1:]):
        columns = ("\t", ":? ")
    signs = (r"(?<!\\)&",) if latex else (r"[|┃│]", *columns)
    sign = next((sign for sign in signs if all(re.search(sign, line.strip()) for line in lines)), "\t")
    lines = [line.strip() for line in lines]
    for bar in (r"\A[|┃│]", r"[|┃│]\Z"):  # a bar at one end of some lines is beside an empty cell
        lines = [re.sub(bar, "", line) for line in lines] if all(re.search(bar, line) for line in lines) else lines
    table = [[cell.strip(" $`*") for cell in re.split(sign, line)] for line in lines]
    return table if len({len(row) for row in table} - {1}) == 1 == len({*map(len, table)}) else []


def _rows(text: str) -> list[str]:
    """Return the rows of a table as lines; [] if it is none."""
    if not (table := table_in(text)):
        return []
    if all(_is_amount(cell) for row in table for cell in row):
        return [cell for row in table for cell in row]
    titles, body = ([], table) if any(map(_is_amount, table[0][1:])) else (table[0], table[1:])
    if titles and len(body) == 1 and all(map(_is_amount, body[0])):  # the titles are the labels
        return [": ".join(each) for each in zip(titles, body[0], strict=True)]
    named = [at for at, title in enumerate(titles) if re.search(_TITLE, title)]
    rows = []
    twice = len({row[0] for row in body}) < len(body)  # the rows are parts of layers
    for row in body:
        numbers = [at for at in range(1, len(row)) if _is_amount(row[at])]
        plain_numbers = [at for at in numbers if re.fullmatch("[0-9.,' ]+", row[at])]
        place = named[-1] if named else numbers[-1] if numbers and len(plain_numbers) < 2 else 0
        labels = [cell for cell in row[:place] if re.search(r"[^\W\d]{2}|\w_\w|h[0-9]" + r"|\A[WUb]\Z" * twice, cell)]
        label = " ".join(labels[: 1 + twice])
        if not (place and label and _is_amount(row[place])) or re.search("= ?[0-9]", label):
            return []
        if not (row[place] == "0" and re.search(_EMPTY, label, re.IGNORECASE)):
            rows.append(f"{label}: {row[place]}")
    return rows


def _is_amount(cell: str) -> bool:
    """Return whether a cell of a table is a number or a calculation."""
    return bool(re.match("[0-9(]", cell)) and not re.search(r"[^\W\d]{2}", cell)


def unmarked(texts: Sequence[str]) -> list[str]:
    """Return answers without their numbers or letters in a list, as (1) and (2), if each has its own."""
    if not texts[1:]:
        return [*texts]
    marks = [re.match(rf"\s*[(\[]?({MARK})[)\]][.:]?\s+{NO_FACTOR}(?=\S)", text) for text in texts]
    counted = in_order([mark and mark[1] for mark in marks])
    return [text[mark.end() :] for text, mark in zip(texts, marks, strict=True) if mark] if counted else [*texts]


def in_order(marks: Sequence[str | None]) -> bool:
    """Return whether marks of a list are 1, 2, 3, or a, b, c, or i, ii, iii."""
    count = range(len(marks))
    return [*marks] in ([str(at + 1) for at in count], [chr(ord("a") + at) for at in count], [*_ROMAN[: len(marks)]])
