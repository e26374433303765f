"""Reports as a LaTeX document, and mathematics in LaTeX for other formats. Needs amsmath, booktabs and longtable.

TeX breaks the lines of words and sums; equations are broken where they are written. No page is narrower than a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TextIO
from unicodedata import normalize

from rnncalc.formats import MOST_OF_A_SUM, shortened, text_of
from rnncalc.formats.mathematics import BREAKS, IN_WORK, POWER
from rnncalc.letters import GREEK as LETTERS
from rnncalc.letters import MATH_ACCENTS, SUPERSCRIPTS, with_accents
from rnncalc.printable import escape
from rnncalc.reports.report import DerivationReport, QuizReport, SheetReport
from rnncalc.typeset.equations import (
    GREEK,
    Block,
    Derivative,
    EquationText,
    Function,
    Line,
    Piece,
    Root,
    Sign,
    Term,
    WorkLine,
    WorkPiece,
    filled,
    parts,
    plain_piece,
)
from rnncalc.typeset.sheet import (
    ANSWERS,
    Arithmetic,
    Bar,
    Column,
    Phrase,
    Quiz,
    QuizQuestion,
    Row,
    Sheet,
    TensorName,
    Value,
)

ESCAPES = {char: f"\\{char}" for char in "&%$#_{}"}
ESCAPES |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
ESCAPES |= {"<": r"\textless{}", ">": r"\textgreater{}", "–": "--", "…": r"\dots{}", "∂": r"$\partial$", "′": "$'$"}
_GREEK = {letter: f"\\{name}" for name, letter in LETTERS.items()} | {"ο": "o"}
ESCAPES |= {letter: f"${command}$" for letter, command in _GREEK.items()} | {"ο": "o"}
ESCAPES |= {sign: f"$^{power}$" for power, sign in enumerate(SUPERSCRIPTS)}
ESCAPES |= {"×": r"$\times$", "·": r"$\cdot$", "∘": r"$\circ$", "÷": r"$\div$", "−": "$-$", "≠": r"$\neq$"}
ESCAPES |= {"→": r"$\to$", "⇄": r"$\leftrightarrow$", "⋯": r"$\cdots$", "✓": r"$\surd$", "✗": r"$\times$"}

_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": "."}
_ACCENTS |= {"\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c"}
"""The commands that set accents in TeX's own fonts; others need fonts of their own."""

_LETTERS = {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i"}
"""The commands that set letters."""

_LATEX_NAMES = {name: f"\\{name}" for name in GREEK} | {"omicron": "o", "⋯": r"\cdots", "above": r"\mathrm{above}"}
"""The commands by name; TeX has none for a letter that looks like a Latin one."""

_LATEX_SIGNS: dict[str, str] = {sign: sign.value for sign in Sign}
_LATEX_SIGNS |= {Sign.EQUALS: " &= ", Sign.MINUS: " - ", Sign.ELEMENTWISE: r" \circ ", Sign.TIMES: r" \cdot "}
_LATEX_SIGNS |= {Sign.CONVOLVED: r" \ast ", Sign.APPLIED: r" \, ", Sign.COMMA: r",\, ", Sign.SEMICOLON: r";\, "}
_LATEX_SIGNS |= {Sign.TRANSPOSED: r"^\top", "·": r" \cdot "}
_LATEX_FUNCTIONS = {"σ": r"\sigma", **{name: f"\\{name}" for name in ("tanh", "min", "max", "exp")}}
"""The functions with a command in TeX; others are written as words."""

_MATH = {"×": r"\times", "·": r"\cdot ", "−": "-"}  # × is between spaces, · beside letters
_MATH |= {letter: f"{command} " for letter, command in _GREEK.items()}
_SCRIPT = re.compile(rf"_([A-Za-z0-9α-ωΑ-Ω]+)|([{SUPERSCRIPTS}]+)")
"""A subscript or a power, in a sum of letters."""

_HEAD = r"""\documentclass{article}
\usepackage{amsmath}
\allowdisplaybreaks
\setlength{\textwidth}{WIDTH}
\setlength{\oddsidemargin}{0pt}
\newcommand{\derived}[2]{\par\smallskip\noindent
  \parbox[t]{0.4\linewidth}{\raggedright\hangindent=1em #1\strut}\hfill
  \parbox[t]{0.58\linewidth}{\raggedright\hangindent=1em #2\strut}}
"""
"""`\\derived{what it is:}{$its sum$}` is a line of a derivation; either breaks where it is too long."""

_PAPER = r"""\setlength{\paperwidth}{WIDTH}
\ifdefined\pagewidth\setlength{\pagewidth}{\paperwidth}\else\setlength{\pdfpagewidth}{\paperwidth}\fi
"""
"""Paper as wide as a matrix needs, for LuaTeX and for the others."""

_MARGINS = 2 * 72.27

_LONG = 24
"""Longer words may be broken."""

_SHORT = 16
"""The longest answer that is beside its feedback in a column."""

PAGE = 450.0
"""The width of the text on a page."""

QUAD = 10.0
"""The indent of a line that continues the one above."""

SMALL = 0.8
"""The size of a subscript."""

_WIDE = {
    **dict.fromkeys("+−=×⋅-", 8.0),
    **dict.fromkeys("mw", 9.0),
    **dict.fromkeys(".,;·", 3.0),
    **dict.fromkeys("()[]", 5.0),
    **dict.fromkeys("0123456789/", 5.0),
    " ": 2.5,  # beside a sign
}

MOST_ROWS = 40
"""The most rows of a table that is on one page."""

_COLUMNS = 12.0
"""The space between the columns of a table."""

_BRACKETS, _BETWEEN, _GROWN = 12.0, 10.0, 4.0
"""The widths of a matrix's brackets and of the space between columns, and by how much brackets grow beside one."""


def write(reports: Iterable[SheetReport | QuizReport], file: TextIO) -> None:
    """Write one document with all reports."""
    reports = [*reports]
    if quizzes := [report.quiz() for report in reports if isinstance(report, QuizReport)]:
        works = [sheet for quiz in quizzes for sheet in chain(*quiz.tasks.values(), *quiz.work.values())]
        file.write(_QUIZ_HEAD + (_wide_enough(works) if works else "") + "\\begin{document}\n\\raggedright\n")
        for quiz in quizzes:
            file.writelines([*(_sheets(quiz) if quiz.sheet else ()), *(_key(quiz) if quiz.key else ())])
        file.write("\\end{document}\n")
        return
    tables = [report for report in reports if isinstance(report, SheetReport)]
    sheets = [(sheet, isinstance(report, DerivationReport)) for report in tables for sheet in report.sheets()]
    widths = [_widest(sheet.work) for sheet, _ in sheets if sheet.work]
    for columns in (_cells(sheet)[1] for sheet, derived in sheets if not derived):
        widths += [sum([max(map(_text_width, map(text_of, column))) + _COLUMNS for column in columns])]
    width = max([PAGE, *widths])
    file.write(_HEAD.replace("WIDTH", f"{width:.0f}pt"))
    if width > PAGE:
        file.write(_PAPER.replace("WIDTH", f"{width + _MARGINS:.0f}pt"))
    if not all(derived for _, derived in sheets):
        file.write("\\usepackage{booktabs,longtable}\n")
    file.write("\\begin{document}\n\\raggedright\n")
    for sheet, derived in sheets:
        _write_sheet(sheet, derived, file)
    file.write("\\end{document}\n")


def _write_sheet(sheet: Sheet, derived: bool, file: TextIO) -> None:
    if sheet.title:
        file.write(f"\n\\section*{{{_words(text_of(sheet.title))}}}\n")
    if sheet.subtitle:
        file.write(f"\n{_words(text_of(sheet.subtitle))}.\n")
    file.writelines(f"{equations}\n" for equations in displayed(sheet, "align*"))
    rows = [*sheet.rows, *([sheet.total] if sheet.total else [])]
    if rows:
        file.writelines([*(map(_line, rows) if derived else _table(sheet)), "\\par\\medskip\n"])
    for note in sheet.notes:
        file.write(f"\n{_inline(note)}\n")


def _cells(sheet: Sheet) -> tuple[list[Column], list[list[Value]]]:
    """Return the columns of a table with their cells, the title's first; the lengths of bars are in other columns."""
    rows = [*shortened(sheet), *([sheet.total] if sheet.total else [])]
    columns = zip(sheet.columns, zip(*rows, strict=True), strict=True)
    kept = [(column, cells) for column, cells in columns if not any(isinstance(cell, Bar) for cell in cells)]
    return [column for column, _ in kept], [[column.title, *cells] for column, cells in kept]


def _table(sheet: Sheet) -> Iterator[str]:
    """Yield the lines of a table, its numbers aligned on the right; one that is longer than a page is broken."""
    columns, cells = _cells(sheet)
    head, *rows = (" & ".join(map(_inline, row)) + " \\\\\n" for row in zip(*cells, strict=True))
    if sheet.total:
        rows.insert(-1, "\\midrule\n")
    environment = "longtable" if len(rows) > MOST_ROWS else "tabular"
    yield "\n\\noindent\n"
    yield f"\\begin{{{environment}}}{{{''.join('r' if column.right else 'l' for column in columns)}}}\n\\toprule\n"
    yield from (head, "\\midrule\n", *rows, f"\\bottomrule\n\\end{{{environment}}}\n")


def _line(row: Row) -> str:
    """Return a row as a line: its label and the sides of its sum; it may be broken before each side."""
    equation = next((value for value in row if isinstance(value, Arithmetic)), None)
    if equation is None:
        return f"\\derived{{{_label(*row)}}}{{}}\n"
    *labels, number = (value for value in row if value is not equation)
    sides = dict.fromkeys([_sum(equation.letters), _sum(equation.numbers), _sum(text_of(number).replace(",", ""))])
    return f"\\derived{{{_label(*labels)}}}{{${'$ $= '.join(sides)}$}}\n"


def _label(*what: Value) -> str:
    return f"{', '.join(_inline(value) for value in what if value != '')}:"


def _inline(value: Value) -> str:
    """Return the name of a tensor as mathematics has it, a phrase with its mathematics, anything else in words."""
    match value:
        case TensorName():
            return tensor_name(value)
        case Arithmetic():
            return " = ".join(f"${_sum(side)}$" for side in dict.fromkeys([value.letters, value.numbers]))
        case Phrase():
            return "".join(_words(part) if isinstance(part, str) else inline(part) for part in value.parts)
        case _:
            return _words(text_of(value))


def _words(text: str) -> str:
    """Return words, with places to break the long ones."""
    parts = re.split(rf"(\S{{{_LONG}}}(?=\S))", text)
    return "".join(typeset(part) + r"\allowbreak{}" * (number % 2) for number, part in enumerate(parts))


def _sum(text: str) -> str:
    """Return arithmetic in LaTeX, anything else in it escaped."""
    pieces = []
    for place, piece in enumerate(_SCRIPT.split(escape(text, MOST_OF_A_SUM))):
        if place % 3 == 0:
            pieces += [_MATH.get(char) or typeset(char) for char in piece]
        elif piece:
            power = "".join(str(SUPERSCRIPTS.index(char)) for char in piece if char in SUPERSCRIPTS)
            pieces.append(f"^{{{power}}}" if power else f"_{{{_mathematical(piece)}}}")
    return "".join(pieces).replace(" _", "_")  # \alpha_{1}


def displayed(sheet: Sheet, environment: str) -> Iterator[str]:
    """Yield the equations of a sheet in LaTeX, their signs aligned; one that is too wide goes on in the line below.

    Those in letters come first, then those with numbers; of these, one with columns has a line for each of its sides.
    """
    room = PAGE - max((_width(_left_side(line)) for line in sheet.work), default=0.0)
    in_letters = [row for line in sheet.equations for row in _fitting(line)]
    for rows in (in_letters, [_work_line(line, room) for line in sheet.work]):
        body = " \\\\\n".join(f"  {row}" for row in rows)
        if rows:
            yield f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _fitting(line: Line) -> Iterator[str]:
    """Yield an equation in as many lines as it needs on a page."""
    later = PAGE - _line_width(line[:2]) - QUAD
    first, *others = filled(parts(line, BREAKS), lambda row, first: _line_width(row) <= (PAGE if first else later))
    yield latex(first)
    yield from (f"&\\quad {latex(row)}" for row in others)


def latex(line: Line) -> str:
    """Return an equation in LaTeX, each term with its shape below, the sign of equality an alignment mark."""
    return "".join(map(_latex, line))


def inline(line: Line) -> str:
    """Return mathematics among words, between dollars, without alignment marks."""
    plain_signs = (Sign.EQUALS, Sign.APPLIED)
    return f"${''.join(str(piece) if piece in plain_signs else _latex(piece) for piece in line)}$"


def tensor_name(name: TensorName) -> str:
    """Return the name of a tensor as mathematics has it, the mark of a direction before it in words."""
    before = f"{name.before.rstrip('/')} " if name.before else ""
    return f"{typeset(before)}${symbol(name.letter, name.below, name.above)}$"


def typeset(text: str) -> str:
    """Return escaped text for LaTeX, in ASCII, with ? for characters that TeX's own fonts lack."""
    return "".join(ESCAPES.get(char) or _typeset(char) for char in with_accents(escape(text, MOST_OF_A_SUM)))


def _typeset(char: str) -> str:
    if char.isascii():
        return char
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}{{}}"
    decomposed = normalize("NFD", char)
    letter, accent = decomposed[0], _ACCENTS.get(decomposed[1:])
    if accent is None or not letter.isascii():
        return "?"
    return f"\\{accent}{{{letter}}}" if letter != "i" else f"\\{accent}{{\\i}}"


def symbol(letter: str, below: str = "", above: str = "") -> str:
    """Return a letter in LaTeX, a Greek one by its name, with its subscript and the number of its layer above."""
    letter = _LATEX_NAMES.get(letter) or _mathematical(letter)
    letter = f"{letter}^{{{_mathematical(above)}}}" if above else letter
    below, _, inner = below.partition("_")  # of E_(x_t)
    below = f"{_mathematical(below)}_{{{_mathematical(inner)}}}" if inner else _mathematical(below)
    return f"{letter}_{{{below}}}" if below else letter


def _mathematical(letters: str) -> str:
    """Return letters in mathematics, with their accents and primes."""
    pieces = []
    for char in with_accents(letters):
        accented = normalize("NFD", char)
        written = _GREEK.get(accented[0]) or ("'" if char == "′" else typeset(accented[0]))
        for accent in accented[1:]:
            written = f"\\{MATH_ACCENTS[accent]}{{{written}}}" if accent in MATH_ACCENTS else typeset(char)
        pieces.append(f"{{{written}}}" if len(letters) > 1 and written.startswith("\\") else written)
    return "".join(pieces)


def _function(name: str) -> str:
    """Return the command of a function; a prime is set behind its name, as mathematics, and several words are text."""
    if " " in name:
        return f"\\text{{{typeset(name)}}}"
    word = name.rstrip("′")
    primes = "'" * (len(name) - len(word))
    return _LATEX_FUNCTIONS.get(name) or f"\\operatorname{{{typeset(word)}}}{primes}"


def _latex(piece: Piece) -> str:
    match piece:
        case Function():
            return _function(piece.name)
        case str():
            return _LATEX_SIGNS.get(piece) or f"\\text{{{typeset(piece)}}}"
        case Root():
            return f"\\sqrt{{{_sum(piece.size)}}}"
        case Derivative():
            return f"\\frac{{\\partial {_latex(piece.function)}}}{{\\partial {_latex(piece.variable)}}}"
    text = symbol(piece.letter, (piece.subscript or piece.time).replace("−", "-"), piece.above)
    if not piece.shape:
        return text
    shape = r" \times ".join(map(_sum, piece.sizes))
    return f"\\underset{{{shape}}}{{{text}}}"


def _widest(lines: Sequence[WorkLine]) -> float:
    """Return the width that equations need: a matrix is not parted from what is before it."""
    left = max((_width(_left_side(line)) for line in lines), default=0.0)
    return left + 2 * QUAD + max((_width_of(piece) for line in lines for piece in line), default=0.0)


def _left_side(line: WorkLine) -> WorkLine:
    """Return the left side of an equation, and its sign."""
    return line[: line.index(" = ") + 1] if " = " in line else line


def _work_line(line: WorkLine, room: float) -> str:
    first, *sides = [[*side] for equal, side in groupby(line, key=lambda piece: piece == " = ") if not equal]
    broken = any(isinstance(piece, Block) for piece in line) or sum(map(_width, sides)) > room
    written = (" \\\\\n  &= " if broken else " = ").join(_side(side, room) for side in sides)
    return f"{''.join(map(_work_piece, first))} &= {written}"


def _side(side: Sequence[WorkPiece], room: float) -> str:
    """Return a side of an equation, on several lines if it is too wide; brackets grow if they pair on one line."""
    if _width(side) <= room:
        return "".join(map(_work_piece, side))
    room -= QUAD
    groups = [[group] if _width(group) <= room else parts(group, (" ",)) for group in parts(side, IN_WORK)]
    rows = filled((part for group in groups for part in group), lambda row, _: _width(row) <= room)
    text = " \\\\\n  &\\quad ".join("".join(map(_work_piece, row)) for row in rows)
    return text.replace(r"\left(", r"\Bigl(").replace(r"\right)", r"\Bigr)")


def _width(line: Sequence[WorkPiece]) -> float:
    return sum(map(_width_of, line))


def _width_of(piece: WorkPiece) -> float:
    if isinstance(piece, Block):
        columns = (max(map(_text_width, column)) + _BETWEEN for column in zip(*piece.rows, strict=True))
        return sum(columns) + _BRACKETS
    grown = _GROWN * (piece in ("(", ")"))
    return grown + _text_width(plain_piece(piece))


def _work_piece(piece: WorkPiece) -> str:
    match piece:
        case EquationText():
            return f"\\text{{{typeset(piece.name)}}}"
        case Block():
            rows = r" \\ ".join(" & ".join(map(_number, row)) for row in piece.rows)
            return f"\\left[\\begin{{array}}{{{'r' * len(piece.rows[0])}}} {rows} \\end{{array}}\\right]"
        case "(" | ")":
            return (r"\left" if piece == "(" else r"\right") + piece
        case str() if piece not in _LATEX_SIGNS:
            return _number(piece)
        case _:
            return _latex(piece)


def _number(text: str) -> str:
    """Return a number, its power of ten written out."""
    match = POWER.search(text)
    power = f" \\cdot 10^{{{'-' if match[1] == '−' else ''}{match[2]}}}" if match else ""
    return typeset((text[: match.start()] if match else text).replace("−", "-")) + power


def _text_width(text: str) -> float:
    return sum(_WIDE.get(char) or (11.0 if char.isupper() else 6.0) for char in text)


def _line_width(line: Sequence[Piece]) -> float:
    """Return the width of an equation, or a part of one, with the shapes below its terms."""
    shapes = ["×".join(piece.sizes) if isinstance(piece, Term) else "" for piece in line]
    terms = map(_text_width, map(plain_piece, line))
    return sum(max(term, SMALL * _text_width(shape)) for term, shape in zip(terms, shapes, strict=True))


_QUIZ_HEAD = r"""\documentclass{article}
\usepackage{amsmath}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\setlength{\emergencystretch}{3em}
\newcommand{\answerline}{\par\vspace{3ex}\rule{0.5\linewidth}{0.4pt}\par}
\newcommand{\wrong}[2]{\par\hangindent=8em\hangafter=1\makebox[8em][l]{#1}#2}
"""


def _wide_enough(sheets: Sequence[Sheet]) -> str:
    """Return the commands for a page on which equations with numbers have room."""
    width = max([PAGE, *(_widest(sheet.work) for sheet in sheets if sheet.work)])
    paper = _PAPER.replace("WIDTH", f"{width + _MARGINS:.0f}pt") if width > PAGE else ""
    return f"\\setlength{{\\textwidth}}{{{width:.0f}pt}}\n\\setlength{{\\oddsidemargin}}{{0pt}}\n{paper}"


def _variants(quiz: Quiz) -> Iterator[tuple[int, list[QuizQuestion]]]:
    """Yield the questions of each variant, with its number."""
    grouped = groupby(quiz.questions, key=lambda question: question.variant)
    yield from ((number, [*questions]) for number, questions in grouped)


def _sheets(quiz: Quiz) -> Iterator[str]:
    for number, questions in _variants(quiz):
        first = questions[0]
        yield f"\\section*{{{typeset(first.title)}}}\n"
        yield f"\\textbf{{Variant {number}}}\\hfill Name: \\rule{{12em}}{{0.4pt}}\n\n"
        yield f"{typeset(first.network)}\n\\begin{{itemize}}\n"
        yield from (f"\\item[--] {typeset(line)}\n" for line in first.layers)
        yield "\\end{itemize}\n"
        yield from _numbers(quiz.tasks.get(number, ()))
        yield f"{typeset(first.counting)}\n\n"  # what a pass begins with is below its numbers
        for question in questions:
            yield f"\\textbf{{{_question(question)}}}\n"
            choices = zip("abcdefghijklmnopqrstuvwxyz", question.choices, strict=False)
            lines = "".join(f"({letter})\\ {typeset(each.text)}\\qquad\n" for letter, each in choices)
            yield f"\n{lines}\n" if lines else "\\answerline\n"
        yield "\\newpage\n"


_VALUE = re.compile(r"(?<![\w^\]])(∂L/∂)?([^\W\d_])(?:_(\w+)|(?<=∂.)(?!\w))")
"""The name of a value of a pass in words: `h_2`, `∂L/∂W_xh`, `∂L/∂y`."""


def _question(question: QuizQuestion) -> str:
    """Return what is asked, the values of a pass as its equations have them."""
    if not question.numbers:
        return typeset(question.question)
    first, *others = _VALUE.split(question.question)
    parts = [typeset(first)]
    for over, letter, below, words in zip(*[iter(others)] * 4, strict=True):
        by = r"\partial L / \partial " if over else ""
        parts.append(f"${by}{symbol(letter, below or '')}${typeset(words)}")
    return "".join(parts)


def _key(quiz: Quiz) -> Iterator[str]:
    yield f"\\section*{{{ANSWERS}}}\n"
    for number, questions in _variants(quiz):
        yield f"\\subsection*{{Variant {number}}}\n"
        for question in questions:
            yield f"{_question(question)} \\textbf{{{typeset(question.label(question.right))}}}\n\n"
            for each in question.likeliest:
                label, text = typeset(question.label(each)), typeset(each.feedback)
                yield f"\\wrong{{{label}}}{{{text}}}\n" if len(label) <= _SHORT else f"\\par {label}\\quad {text}\n"
            yield "\\par\\medskip\n"
        yield from _numbers(quiz.work.get(number, ()))


def _numbers(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Yield the equations and the numbers of a pass."""
    for sheet in sheets:
        yield f"\\par\\textbf{{{_words(text_of(sheet.title))}}}\n"
        yield from (f"{equations}\n" for equations in displayed(sheet, "align*"))
        yield from (f"{_inline(note)}\n\n" for note in sheet.notes)
