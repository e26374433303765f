"""The LaTeX of equations says what the plain text says, and TeX sets it (`pytest -m browser`, in `tests/browser/`)."""

import re

import pytest
from cells import CELLS, equations

from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.formats import mathml
from rnncalc.formats.latex import latex, typeset
from rnncalc.typeset.equations import Function, Sign, Term, plain

TOKEN = re.compile(r"\\[a-z]+|\\[,_]|[{}_&]|[^\\{}_&]")
COMMANDS = {
    r"\sigma": "σ",
    r"\tanh": "tanh",
    r"\zeta": "ζ",
    r"\nu": "ν",
    r"\gamma": "γ",
    r"\circ": "∘",
    r"\cdot": "·",
    r"\times": "×",
    r"\_": "_",
}


class Reader:
    """A reading of LaTeX by a grammar of its own: the words of it, and the shape below each term."""

    def __init__(self, text: str) -> None:
        self.tokens = TOKEN.findall(text)
        assert "".join(self.tokens) == text
        self.shapes: dict[str, list[int]] = {}

    def group(self) -> str:
        assert self.tokens.pop(0) == "{"
        inside = self.sequence()
        assert self.tokens.pop(0) == "}"
        return inside

    def sequence(self) -> str:
        text = ""
        while self.tokens and self.tokens[0] != "}":
            token = self.tokens.pop(0)
            if token == r"\underset":
                shape, term = self.group().split("×"), self.group()
                self.shapes[term] = [int(size) for size in shape]
                text += term
            elif token == r"\operatorname":
                text += self.group()
            elif token == "_":
                below = self.group().replace("-", "−")
                text += f"_({below})" if "−" in below else f"_{below}"
            else:
                text += COMMANDS.get(token) or {r"\,": " ", "&": "", " ": ""}.get(token, token)
        return text


def bare(text: str) -> str:
    """Return text without its spaces, which LaTeX sets by itself."""
    return text.replace(" ", "").replace("−", "-")


@pytest.mark.broad
@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_the_latex_says_what_the_text_says(name: str, notation: str) -> None:
    """Every equation of every cell and option, under every convention, read back with the shape below each term."""
    for shown, data in equations(name, notation):
        for line, expected in zip(shown, data, strict=True):
            text = latex(line)
            assert text.count("&") == 1
            reader = Reader(text)
            assert bare(reader.sequence()) == bare(expected["text"])
            assert reader.tokens == []
            assert reader.shapes == {term: shape for term, shape in expected["shapes"].items() if shape}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("größe", r"gr\"{o}\ss{}e"),
        ("Łódź", r"\L{}\'{o}d\'{z}"),
        ("naïve façade", r"na\"{\i}ve fa\c{c}ade"),
        ("Ångström", r"\r{A}ngstr\"{o}m"),
        ("ở層ω", r"??$\omega$"),
        ("a_b", r"a\_b"),
    ],
)
def test_letters_are_those_of_tex_s_own_fonts(name: str, expected: str) -> None:
    """The commands of LaTeX's manual for accents and letters; two accents, and other scripts, ask for other fonts."""
    assert typeset(name) == expected


@pytest.mark.parametrize(("name", "letter"), [("beta", "β"), ("zeta", "ζ"), ("lambda", "λ"), ("omega", "ω")])
def test_a_number_with_the_name_of_a_greek_letter_is_that_letter(name: str, letter: str) -> None:
    """In text, LaTeX and MathML, alone and in words; a name that is none stays as it is."""
    line = (Function("σ"), Sign.OPEN, Term(name), Sign.CLOSE)
    assert (plain(line), latex(line)) == (f"σ({letter})", f"\\sigma(\\{name})")
    assert mathml.symbol(name) == f"<mi>{letter}</mi>"
    assert typeset(letter) == f"$\\{name}$"
    assert plain((Term("betas"),)) == "betas"


def test_tex_has_no_command_for_omicron() -> None:
    """It looks as the Latin letter does."""
    assert (latex((Term("omicron"),)), typeset("ο"), plain((Term("omicron"),))) == ("o", "o", "ο")
