"""Answers in letters: judged as polynomials, whatever their form, and diagnosed by the same mistakes as numbers."""

import json
from typing import Any

import pytest
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import CallError, Network, answer
from rnncalc.polynomial import Polynomial, letter
from rnncalc.questions.answer.mistake import Family
from rnncalc.questions.answer.reading import GivenNumber, Shape, read_answer
from rnncalc.questions.answer.search import Search
from rnncalc.questions.answer.table import TABLE
from rnncalc.spec import parse


def network(text: str) -> Network:
    return parse(text.encode(), "spec").network


def number(text: str) -> Any:
    found = read_answer(text)
    assert isinstance(found, GivenNumber)
    return found.number


LSTM = network("input: m\nlayers: [lstm: h]\noutput: p\nsteps: T")


@pytest.mark.parametrize(
    "text",
    [
        "4h(m+h+1) + p(h+1)",
        "4*h*(m + h + 1) + p*(h + 1)",
        "4·h·m + 4h² + 4h + hp + p",
        "4 × h × (m + h + 1) + p × h + p",
        "4hm + 4h^2 + 4h**1 + ph + p",
        "p + p·h + 2h(2[m+h+1])",
        r"P = 4h\left(m+h+1\right) + p \cdot (h+1)",
        "(4h)(m+h+1)+(h+1)p parameters",
        "5h(m+h+1) − h(m+h+1) + p(h+1)",
    ],
)
def test_the_form_of_a_formula_does_not_matter(text: str) -> None:
    """Implicit products, any sign, powers, expanded or factored."""
    assert answer(LSTM, text).right


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("4h(m+h) + ph", "leaves out all biases"),
        ("4h(m+h+1)", "leaves out the output layer (the softmax, if it has one)"),
        ("3h(m+h+1) + p(h+1)", "counts the gates and forgets the candidate"),
        ("4h(m+h+1) + m(h+1)", "gives the output layer m units, and it has p"),
        ("4h(m+h+2) + p(h+1)", "uses the convention of pytorch and onnx instead of textbook"),
    ],
)
def test_a_wrong_formula_has_its_mistake(text: str, mistake: str) -> None:
    """With both sums in letters."""
    first = answer(LSTM, text).sentences[1]
    assert first.startswith(f"{text} {mistake}: ")
    assert "instead of 4h(m + h + 1) + p(h + 1) = 4h·m + 4h² + 4h + h·p + p." in first


def test_a_formula_may_be_that_of_another_quantity() -> None:
    """Multiply-adds with T."""
    (judged,) = answer(LSTM, "T*4h(m+h) + p*h").judged
    assert [meaning.name for meaning in judged.meant] == ["multiply-adds"]


def test_each_layer_of_a_network_in_numbers_has_its_own_letters(call: Call) -> None:
    """Those of its formula; a wrong one has its mistake."""
    result = call("answer", "-i", 8, "-l", "lstm:16", "-o", 5, "4h(m+h)", "n(m+1)", "-f", "json")
    (report,) = json.loads(result.out)["reports"]
    assert result.code == 1
    assert report["params"] == [None, None]
    assert report["params_formula"] == ["4*h*(m + h + 1)", "n*(m + 1)"]
    assert report["answer"] == ["4h(m+h)", "n(m+1)"]
    assert [(mistake["text"], mistake["params"]) for mistake in report["mistakes"]] == [("leaves out all biases", None)]
    assert call("answer", "-i", 8, "-l", "sru:4", "-l", "sru:8", "4h(m+1)", "3h*m+4h").code == 1


def test_shapes_may_be_in_letters() -> None:
    """And are diagnosed as those in numbers are."""
    of = network("input: m\nlayers: [lstm: h]\nconvention: pytorch")
    assert answer(of, "(4h, m)", "(4h, h)", "(4h)", "(4*h,)").right
    assert "the transpose" in " ".join(answer(of, "(m, 4h)", "(4h, h)", "(4h)", "(4h)").sentences)


def test_what_was_a_number_or_a_shape_still_is() -> None:
    """A suffix is no letter; a letter with a number behind it has a subscript."""
    assert read_answer("4k") == GivenNumber(4000, 1000, "4k")
    assert read_answer("(20, 10)") == Shape((20, 10))
    assert number("4*16*(8+16+1)") == number("4x16(8+16+1)") == 1600
    assert number("h1 + h₁ + h_{1}") == 3 * letter("h_1")
    with pytest.raises(CallError):
        read_answer("gru")


def totals(of: Network) -> dict[str, list[Any]]:
    """Return the count that each mistake gives, by its id; those that are fitted to an answer left out."""
    search = Search(of)
    return {
        row.id: [sum(counts) for _, counts in search.variants(row)]
        for row in TABLE
        if not (isinstance(row, Family) and row.fitted)
    }


@given(st.sampled_from(["rnn", "gru", "lstm", "mgu", "sru", "fastgrnn", "minlstm"]), st.booleans(), st.booleans())
def test_each_mistake_makes_of_letters_what_it_makes_of_numbers(kind: str, both: bool, output: bool) -> None:
    """The table is one: its polynomials at any sizes are its numbers."""
    sizes = {"m": 1_009, "h": 503, "p": 251, "T": 7}
    text = f"input: %s\nlayers: [{{{kind}: %s, bidirectional: {str(both).lower()}}}]\n"
    text += "output: %s\nsteps: %s" if output else "# %s\nsteps: %s"
    in_letters, in_numbers = totals(network(text % tuple(sizes))), totals(network(text % tuple(sizes.values())))
    at = {
        name: [total.at(sizes) if isinstance(total, Polynomial) else total for total in found]
        for name, found in in_letters.items()
        if name != "letters-{one}-{other}"  # numbers have no letters to exchange
    }
    del in_numbers["letters-{one}-{other}"]
    assert at == in_numbers


NAMED = [
    ("{h: 16}", "h", "lstm: h/2", "2h(h + h/2 + 1)"),  # by hand: 4 blocks of h/2 units
    ("{h: 16}", "h/2", "gru: h", r"3h(\frac{h}{2} + h + 1)"),
    ("{h: 16, E: 2*h}", "h", "rnn: E", "2h(h + 2h + 1)"),
    ("{h: 16, E: h/2 + 1}", "E", "mgu: 3*h/4", "3h/2(h/2 + 1 + 3h/4 + 1)"),
    ("{α: 6, λ_1: 2*α}", "α", "gru: λ_1", r"6\alpha(\alpha + \lambda_{1} + 1)"),
]


@pytest.mark.broad
@pytest.mark.parametrize(("sizes", "inputs", "layer", "by_hand"), NAMED)
def test_formulas_in_named_sizes_are_read_as_they_are_printed(
    sizes: str, inputs: str, layer: str, by_hand: str
) -> None:
    """And in any other form, with fractions where a size is one."""
    of = network(f"sizes: {sizes}\ninput: {inputs}\nlayers: [{{{layer}}}]")
    (placed,) = of.stack
    assert answer(of, placed.formula).right
    assert answer(of, by_hand).right
    assert not answer(of, f"{by_hand} + h" if "h" in sizes else f"{by_hand} + α").right


def test_a_fraction_of_letters_is_refused_where_no_size_can_be_one() -> None:
    """In letters alone, and where the number is not whole."""
    with pytest.raises(CallError, match="a quotient that is whole at character 6"):
        answer(LSTM, "4h(m/2 + h + 1)")
    of = network("sizes: {h: 16}\ninput: h\nlayers: [lstm: h/2]")
    with pytest.raises(CallError, match="a quotient that is whole at character 6"):
        answer(network("sizes: {h: 16}\ninput: 3\nlayers: [lstm: h]"), "4h(h/3 + 1)")
    assert answer(of, "h/3").right is False  # h is 16, and 8 in the layer
