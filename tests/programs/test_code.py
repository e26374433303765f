"""Programs as text: Python that ruff would write, in which names of strangers are names and text."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of, started

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Embedding, Layer, Network, Output, Part, load_model
from rnncalc.conventions import convention
from rnncalc.errors import RefusedError
from rnncalc.layers.layer import Transform
from rnncalc.programs import SPELLINGS, source, spelling
from rnncalc.programs.code import RESERVED, broken, class_name, docstring_text, identifiers
from rnncalc.programs.program import program_of
from rnncalc.words import plural

HOSTILE = [
    'x"""\nimport os\n"""',
    "\\",
    'ends with """',
    "a\u202eb",
    "\x1b[31mred",
    "class",
    "def f(): pass",
    "  ",
    "# comment\r\nx = 1",
    "{name}",
    "%s",
    "日本語",
    "forward",
    "1st",
    "x" * 200,
]

LONG = "a rather long name for a layer that nobody would type"


def many() -> Iterator[Network]:
    """Yield networks of every shape that a program can take."""
    for path in sorted(Path("specs").rglob("*.yaml")):
        for each in load_model(path).networks.values():
            decoder = each.network.decoder  # without an input, or with attention from zeros none is written
            if not decoder or (decoder.input != 0 and not (decoder.attention and decoder.initial_states == "zeros")):
                yield each.network
    for ways in ({}, {"bidirectional": True}, {"bidirectional": True, "merge": "mul", "learned_state": True}):
        for topology in ("one-to-one", "one-to-many", "many-to-one", "many-to-many"):
            layers = [LSTM(4, name=LONG, extra_inputs=2, **ways), MGU(4, frozen=True, name=f"{LONG}!", **ways)]
            yield Network(input=4, layers=layers, output=Output(2, activation="softmax"), topology=topology)
    for first, second in ((True, False), (False, True), (True, True)):
        for of in (LSTM, GRU, MGU):
            gives = of(8 if second and not first else 4, bidirectional=first, name=LONG)
            takes = of(4 * (2 if first and not second else 1), bidirectional=second)
            table = Embedding(7, name=f"{LONG}?")
            output = Output(9, tied=True, activation="softmax")
            for taking in (takes, takes.replace(initial_state=gives.units * gives.directions)):
                yield Network(encoder=Part(3, (gives,)), decoder=Part(9, (table, taking, Dense(7)), output))
    yield Network(
        input=10**12, layers=[RNN(10**12, repeat=2, learned_state=True)], name=HOSTILE[0], source="\n".join(HOSTILE)
    )


@pytest.mark.broad
def test_ruff_has_nothing_to_say(tmp_path: Path) -> None:
    """Its rules and its layout, both as they are by default, in every program of every target."""
    for number, net in enumerate(many()):
        unlike = [placed.layer for placed in net.stack if placed.layer.grid or isinstance(placed.layer, Transform)]
        for target in SPELLINGS:
            if not all(map(convention(target).has, unlike)):  # not every target has these
                continue
            text = source(net, target)
            compile(text, "program", "exec")
            (tmp_path / f"program_{number}_{target.replace('-', '_')}.py").write_text(text, encoding="utf-8")
    for words in (["check", "--isolated", "--no-cache"], ["format", "--isolated", "--no-cache", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, tmp_path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[:3000] + done.stderr[:300]


@given(st.one_of(network(), encoder_decoder(), started()), st.sampled_from([*SPELLINGS]))
def test_every_network_is_a_program(spec: Spec, target: str) -> None:
    """Python reads it, and it says the total of its parameters."""
    net = network_of(spec)
    try:
        program = program_of(net, target, stacks=spelling(target).stacks)
        tree = ast.parse(source(net, target))
    except RefusedError:  # of attention, whose sizes not every target has
        assert any(isinstance(placed.layer, Transform) for placed in net.stack)
        return
    (said,) = (
        found for of in tree.body if isinstance(of, ast.ClassDef) and "Reads " in (found := ast.get_docstring(of) or "")
    )
    assert said.startswith(f"spec: {plural(program.params, 'parameter')}")


def bare(text: str) -> str:
    """Return a program without its docstrings and with another name of its class, as Python reads it."""
    tree = ast.parse(text)
    last = [each for each in tree.body if isinstance(each, ast.ClassDef)][-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and ast.get_docstring(node):
            del node.body[0]
        if isinstance(node, ast.Name) and node.id == last.name:
            node.id = "Name"
    last.name = "Name"
    return ast.dump(tree)


def titled(name: str, about: str, target: str = "pytorch") -> Network:
    return Network(input=4, layers=[LSTM(3), Dense(2)], name=name, source=about, convention=target)


@pytest.mark.parametrize("target", SPELLINGS)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_title_is_text(text: str, target: str) -> None:
    """What a spec calls itself, and its source, change the docstring and the name of the class, and nothing else."""
    if text.strip():
        assert bare(source(titled(text, text, target), target)) == bare(
            source(titled("plain", "source", target), target)
        )


PLAIN = bare(source(titled("plain", "source"), "pytorch"))


@given(st.text(min_size=1, max_size=200).filter(str.strip))
def test_any_title_is_text(text: str) -> None:
    """So does any other, whatever its characters."""
    assert bare(source(titled(text, text), "pytorch")) == PLAIN


@given(
    st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=40)), min_size=1, max_size=6, unique=True)
)
def test_names_of_layers_become_identifiers(names: list[str]) -> None:
    """Plain, no keyword, nothing that a module has already, and no two of them or of what belongs to them alike."""
    layers: list[Layer] = [RNN(2, name=name, learned_state=True) for name in names if name.strip()]
    if not layers:
        return
    program = program_of(Network(input=2, layers=layers), "pytorch")
    found = [*identifiers(program.modules, {"output"}).values()]
    assert all(name.isidentifier() and name.isascii() and not iskeyword(name) for name in found)
    assert not {*found} & (RESERVED | {"output"})
    held = [held for name in found for held in (name, f"{name}_h_0", f"{name}_h", f"{name}_extra", f"{name}_forward")]
    assert len({*held}) == len(held)


def test_names_that_would_meet_are_told_apart() -> None:
    """A layer called as another's state would be."""
    layers = [RNN(2, name="a", learned_state=True), RNN(2, name="a_h_0"), RNN(2, name="A"), RNN(2, name="A ")]
    program = program_of(Network(input=2, layers=layers), "pytorch")
    assert [*identifiers(program.modules).values()] == ["a", "a_h_0_2", "a_2", "a_3"]


def test_a_stack_is_one_module_in_pytorch() -> None:
    """As its users write it, with the tensors that `count` numbers."""
    net = Network(input=8, layers=[LSTM(16, repeat=2, bidirectional=True)])
    assert "self.lstm_1 = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True)" in source(net, "pytorch")


NAMED = "self.a_rather_long_name_of_a_tensor_in_a_module"


@pytest.mark.parametrize(
    "line",
    [
        f"x = ({NAMED}_a * {NAMED}_b) @ x",
        f"x = ({NAMED}_a + {NAMED}_b) @ x",
        f"x = ({NAMED}(a, b) * {NAMED}_b) @ x",
        f"x = ({NAMED}_a * ({NAMED}_b @ {NAMED}_c)) @ x",
        f"x = tanh(({NAMED}_a * {NAMED}_b) @ x)",
        f"x = tanh({NAMED}_a * {NAMED}_b)",
        f"x = ({NAMED}_a, {NAMED}_b)",
    ],
)
def test_a_broken_line_is_the_same_code(line: str) -> None:
    """A product in brackets stays a product: a comma behind it would make it a tuple."""
    lines = broken(line)
    assert len(lines) > 1
    assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(line))


def test_a_long_sum_has_a_line_for_each_term() -> None:
    """As ruff breaks it, also within an indented argument."""
    assert broken(f"    x = {NAMED}_a + {NAMED}_b") == [
        "    x = (",
        f"        {NAMED}_a",
        f"        + {NAMED}_b",
        "    )",
    ]
    assert broken(f"    x = tanh({NAMED}_a - {NAMED}_b)") == [
        "    x = tanh(",
        f"        {NAMED}_a",
        f"        - {NAMED}_b",
        "    )",
    ]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a" * 15 + " " + "b" * 16 + " c", "A" + "a" * 14 + "B" + "b" * 15),  # 32 characters with the space
        ("a" * 15 + " " + "b" * 17 + " c", "A" + "a" * 14),
        ("a" * 40, "A" + "a" * 31),
        ("Word language model with tied output, the large one", "WordLanguageModelWithTied"),
        ("print", "Print"),
        ("exception", "ExceptionNetwork"),
        ("a", "A"),
        ("none", "NoneNetwork"),
        ("1st", "Network1st"),
        ("!", "Network"),
    ],
)
def test_the_name_of_a_class(title: str, name: str) -> None:
    """No builtin or keyword, no digit first, cut behind 32 characters at the end of a word if there is one."""
    assert class_name(title) == name


@pytest.mark.parametrize("text", ['a """quoted""" word', "C:\\new\\table", 'ends with """', '\\"""'])
def test_text_in_a_docstring_is_read_back_as_it_was(text: str) -> None:
    """Quotes and backslashes are none of Python's."""
    assert ast.literal_eval(f'"""{docstring_text(text)}"""') == text


def test_a_line_is_broken_behind_88_characters() -> None:
    """A comment is after code that leaves room for it, else above."""
    fits = f"x = ({'a' * 40}, {'b' * 40})"
    assert len(fits) == 88
    assert broken(fits) == [fits]
    assert broken(f"x = ({'a' * 40}, {'b' * 41})") == ["x = (", f"    {'a' * 40}, {'b' * 41}", ")"]
    assert broken(f"x = ({'a' * 40}, {'b' * 43})") == ["x = (", f"    {'a' * 40},", f"    {'b' * 43},", ")"]
    assert broken(f"{'a' * 79}  # noted") == [f"{'a' * 79}  # noted"]
    assert broken(f"{'a' * 80}  # noted") == ["# noted", "a" * 80]
