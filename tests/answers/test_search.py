"""The search: what gives a number, alone, in one layer or in pairs, at a bounded cost; and sums that are true."""

from collections.abc import Iterator

import pytest
from finding import PLACES, evaluated, ids, judge, judged, read_number
from hypothesis import given
from hypothesis import strategies as st
from strategies import SMALL, Spec, cell, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, RNN, SRU, Embedding, FastGRNN, Layer, Network, Output, answer
from rnncalc.answers.families import Question, variants_of
from rnncalc.answers.judgement import Diagnosis
from rnncalc.answers.reading import GivenNumber
from rnncalc.answers.search import Search
from rnncalc.answers.table import TABLE
from rnncalc.answers.worksheet import LayerLine, Portion, worksheet_of, write


@pytest.mark.broad
@given(st.one_of(network(), encoder_decoder()), st.integers(-20, 20), st.sampled_from([1, 1, 10]))
def test_right_is_right_and_wrong_is_wrong(spec: Spec, off: int, unit: int) -> None:
    """What rounds to the total is right and nothing else is; each sum that is told is true and gives the number."""
    net = network_of(spec)
    number = max(0, net.params + off) // unit * unit
    found = judge(net, [GivenNumber(number, unit, str(number))])
    assert found.right == (number == net.params or (number > 0 and abs(number - net.params) * 2 <= unit - (unit == 1)))
    for diagnosis in found.judged[0].diagnoses:
        assert evaluated(diagnosis.yours) == diagnosis.params
        assert abs(diagnosis.params - number) * 2 <= unit - (unit == 1)
        assert evaluated(diagnosis.right) == net.params
        assert diagnosis.params != net.params


@given(st.one_of(network(), encoder_decoder()))
def test_right_layers_are_right(spec: Spec) -> None:
    """The layers' own counts are never called wrong, however they are written."""
    net = network_of(spec)
    counts = [placed.params for placed in net.stack]
    for written in ("{}", "{:,}", "{:_}", "+{}", "{}.0"):
        assert judge(net, [read_number(written.format(count)) for count in counts]).right
        assert judge(net, [read_number(written.format(net.params))]).right


def test_a_multiple_that_is_not_that_of_the_steps_is_none() -> None:
    """Of the recurrent part, or of all of it; four times the count is its bytes."""
    for net in (CLASSIC, CLASSIC.replace(steps=None)):
        for number in (9 * 2_480 + 105, 7 * 2_585, 2_585 * 2_585):
            assert not any(len(each.mistakes) == 1 for each in judged(net, number).diagnoses)
    assert not judged(CLASSIC, 4 * 2_585).diagnoses
    assert [each.id for each in judged(CLASSIC, 4 * 2_585).meant] == ["bytes"]


def test_a_mistake_in_one_layer_alone() -> None:
    """In one of two, or in one of several equal ones."""
    net = Network(input=4, layers=(RNN(3), RNN(5)))
    (alone,) = judged(net, 3 * (4 + 3) + 5 * (3 + 5 + 1)).diagnoses
    assert (alone.id, alone.alone) == ("no-biases", ("rnn_1", "rnn_1"))
    net = Network(input=4, layers=(RNN(7), RNN(5, repeat=9)))
    one_of = [each for each in judged(net, net.params - 5).diagnoses if each.id == "no-biases"]
    assert one_of[0].alone == ("rnn_2", "rnn_2")
    net = Network(input=5, layers=(RNN(5, repeat=9),))
    one_of = [each for each in judged(net, net.params - 5).diagnoses if each.id == "no-biases"]
    assert [each.alone for each in one_of] == [("rnn_1", "rnn_9")]
    assert write(one_of[0].yours) == "8 × 5 × (5 + 5 + 1) + 5 × (5 + 5)"


def test_a_rounded_wrong_number_is_explained_too() -> None:
    """3.7k for 2 × 1,600 + ... and one for each of the likely ones, not for all that round to it."""
    net = Network(input=100, layers=(LSTM(200),), output=Output(10))  # 240,800 + 2,010
    rounded = judge(net, [read_number("62.2k")]).judged[0]  # 200·301 + 2,010 = 62,210
    assert [found.id for found in rounded.diagnoses] == ["gates-1"]
    assert rounded.diagnoses[0].params == 62_210
    coarse = judge(net, [read_number("0.2M")]).judged[0]
    assert coarse.right  # 242,810 rounds to it
    assert 1 <= len(judge(net, [read_number("0.48M")]).judged[0].diagnoses) <= 5
    assert judge(net, [read_number("0.3M")]).judged[0].diagnoses == ()  # one digit: half of all mistakes round to it


@pytest.mark.broad
def test_a_thousand_equal_layers_cost_what_one_does() -> None:
    """They are one line of the worksheet, in the search and on paper."""
    net = Network(input=4, layers=(LSTM(4, repeat=1_000),), output=Output(1))
    (found,) = judged(net, 1_000 * 4 * 4 * 8 + 4).diagnoses
    assert found.id == "no-biases"
    assert write(found.yours) == "1000 × 4 × 4 × (4 + 4) + 1 × 4"


@pytest.mark.broad
def test_in_a_larger_network_the_likelier_mistakes_are_looked_for() -> None:
    """Of more than 100 lines rare mistakes are not, nor those made in one layer alone."""
    for pairs, more, rare in ((50, (), True), (50, (RNN(2),), False)):
        net = Network(input=3, layers=(*(RNN(2), RNN(3)) * pairs, *more))  # 2·(3 + 2 + 1) = 12, 3·(2 + 3 + 1) = 18
        right = pairs * 30 + 12 * len(more)

        def found(number: int, net: Network = net) -> Iterator[Diagnosis]:
            question = Question(net, GivenNumber(number))
            return (diagnosis for diagnosis, _ in Search(net).diagnoses(question))

        assert any(each.alone and each.id == "no-biases" for each in found(right - 2)) == rare
        assert any(each.id == "units" for each in found(pairs * 5 + 2 * len(more))) == rare
        assert any(each.id == "no-biases" for each in found(right - pairs * 5 - 2 * len(more)))
    net = Network(input=3, layers=(RNN(2), RNN(3)) * 51, output=Output(2))  # 51·30 and 2·(3 + 1)
    (*_, last) = judged(net, 51 * 30 + 5 * 4).diagnoses
    assert (last.id, last.mistakes[0].text[:30]) == ("output-width", "gives the output layer 5 units")


def test_what_explains_any_number_is_told_last() -> None:
    """123 is 24 of an RNN at each of 5 steps, and 3 of an output without a bias, before 24 and 33·3, of 33 units."""
    net = Network(input=4, layers=(RNN(3),), output=Output(1, bias=False), steps=5, topology="many-to-many")
    first, *_, last = judged(net, 5 * 24 + 3).diagnoses
    assert first.id == "times-steps"
    assert [(each.id, each.text) for each in last.mistakes] == [("output-width", "gives the output layer 33 units")]


def test_what_a_number_is_comes_before_two_mistakes() -> None:
    """6·(3·7 + 3) = 144 multiply-adds of a pass, and twice as many, are explained by neither pairs nor a width."""
    net = Network(input=4, layers=(RNN(3),), output=Output(1), steps=6, topology="many-to-many")
    for number in (6 * 24, 2 * 6 * 24):
        assert judged(net, number).meant
        assert not judged(net, number).diagnoses


CLASSIC = Network(input=10, layers=(LSTM(20),), output=Output(5), steps=15)  # 4·20·31 + 5·21 = 2,480 + 105 = 2,585
ODD = Network(input=13, layers=(LSTM(29),), output=Output(7), steps=11)
SPEECH = Network(input=100, layers=(LSTM(64, bidirectional=True),), output=Output(2))  # 2·4·64·165 + 2·129 = 84,738
DEEP = Network(input=100, layers=(LSTM(64, bidirectional=True), LSTM(37)), output=Output(3), steps=9)
WORDS = Network(input=1_000, layers=(Embedding(32), GRU(48)), output=Output(1), convention="pytorch")


@pytest.mark.broad
@pytest.mark.parametrize(
    ("net", "number", "pair"),
    [
        (SPEECH, 4 * 64 * 164 + 2 * 128, "one-direction+no-biases"),
        (SPEECH, 4 * 64 * 164 + 2 * 64, "no-second-direction+no-biases"),
        (CLASSIC, 20 * 30 + 20 * 5, "no-biases+gates-1"),
        (ODD, 11 * 4 * 29 * (13 + 29) + 7 * 30, "times-steps+no-hidden-biases"),
        (CLASSIC, 5 * 20 * 30 + 5 * 20, "no-biases+other-gates-{count}"),
        (ODD, 4 * 29 * (13 + 13) + 7 * 29, "no-biases+recurrent-of-inputs"),
        (ODD, 3 * 29 * (13 + 29) + 7 * 30, "no-candidate+no-hidden-biases"),
        (ODD, 4 * 13 * (29 + 13) + 7 * 13, "no-biases+swapped"),
        (DEEP, 4 * 37 * (128 + 37), "only-layer+no-biases"),
    ],
)
def test_a_pair_worked_out_by_hand(net: Network, number: int, pair: str) -> None:
    """It is among those that are told, in either order."""
    assert {*pair.split("+")} in [{*found.split("+")} for found in ids(net, number)]
    assert all(id_ in PLACES for id_ in pair.split("+"))


def pairs_made(net: Network) -> Iterator[tuple[str, str, int]]:
    """Yield two mistakes that people make together, each of which changes the count, and the count of both."""
    worksheet = worksheet_of(net)
    known = [row for row in TABLE if not row.family]
    alone = {row.id: row.change(worksheet) for row in known}
    changing = [row for row in known if sum(line.params for line in alone[row.id]) != net.params]
    for first in changing:
        for second in changing:
            if (first.common or second.common) and first.subject != second.subject:
                yield first.id, second.id, sum(line.params for line in second.change(alone[first.id]))


@pytest.mark.broad
@pytest.mark.parametrize("net", [CLASSIC, DEEP, WORDS])
def test_every_pair_of_known_mistakes_is_explained(net: Network) -> None:
    """Whatever the pair, its number has an explanation, or is another quantity of the network."""
    search = Search(net)
    made = [each for each in pairs_made(net) if each[2] not in (0, net.params)]
    assert len(made) > 100
    for first, second, number in made[::7]:
        assert [*search.diagnoses(Question(net, GivenNumber(number)))], (first, second, number)
    pairs = [pair.mistakes for _, pair in search.pairs]
    assert all(first.subject != second.subject for (first, _), (second, _) in pairs)


def test_a_rounded_number_is_explained_by_no_pair() -> None:
    """Some pair comes near any rounded number: 1.5k is near the 1,536 of four gates without biases."""
    net = Network(input=8, layers=(GRU(16),))
    assert judged(net, 1_536).diagnoses
    assert not [each for each in judge(net, [read_number("1.54k")]).judged[0].diagnoses if len(each.mistakes) > 1]


def different_layers(count: int) -> Network:
    """Return a network of different layers, the first a GRU of 7 to 16: 3 × 16 × (7 + 16 + 1)."""
    return Network(input=7, layers=(GRU(16), *(RNN(3 + place % 2) for place in range(count - 1))))


@pytest.mark.broad
@pytest.mark.parametrize("count", [5, 6, 101])
def test_where_pairs_are_looked_for(count: int) -> None:
    """All pairs on up to 5 lines, the likelier on up to 100, none on more; of one layer's number, or of the total."""
    net = different_layers(count)
    likelier, rare = 4 * 16 * (7 + 16), 3 * 16 * (7 + 7)  # no biases, and four gates, or recurrent matrices h × m
    for number, most in ((likelier, 100), (rare, 5)):
        search = Search(net)
        found = [diagnosis for diagnosis, _ in search.diagnoses(Question(net, GivenNumber(number), Portion((0,))))]
        assert any(len(diagnosis.mistakes) == 2 for diagnosis in found) == (count <= most)


@pytest.mark.broad
@pytest.mark.parametrize(("count", "most"), [(5, 10_000), (6, 1_000), (101, 0)])
def test_how_many_pairs_are_tried(count: int, most: int) -> None:
    """A bound on the work, whatever the network: so many counts of up to 5 lines, or of up to 100."""
    cell = LSTM(9, projection=4, bidirectional=True, peepholes=True, learned_state=True)
    net = Network(input=5, layers=(cell, *(GRU(3 + place % 2) for place in range(count - 2))), output=Output(2))
    assert len(Search(net).pairs) <= most


RECURRENT = st.lists(cell(), min_size=1, max_size=3)


def explained(net: Network) -> dict[int, list[str]]:
    """Return the sentences of the single mistakes that give each wrong number, the numbers the likeliest first."""
    search = Search(net)
    found = {}
    for number in search.singles():
        diagnoses = [diagnosis for diagnosis, _ in search.diagnoses(Question(net, GivenNumber(number)))]
        found[number] = [f"{each.mistakes[0].text} {each.alone}" for each in diagnoses if len(each.mistakes) == 1]
    return found


@pytest.mark.broad
@given(SMALL, RECURRENT, st.one_of(st.none(), SMALL))
def test_a_dropout_changes_no_explanation(inputs: int, layers: list[Spec], output: int | None) -> None:
    """Neither between two layers nor above the last: it passes on what it reads."""
    spec: Spec = {"input": inputs, "layers": layers, "steps": 3} | ({"output": output} if output else {})
    dropped = {**spec, "layers": [each for layer in layers for each in (layer, {"dropout": 0.5})]}
    assert explained(network_of(dropped)) == explained(network_of(spec))


ABOUT_BOTH = {"one-embedding", "encoder-input", "state-beside-input", "no-encoder", "no-decoder", "one-plain-rnn"}


@pytest.mark.broad
@given(encoder_decoder())
def test_a_mistake_in_one_half_is_that_of_the_half_alone(spec: Spec) -> None:
    """Or it is not made there: the encoder's output feeds no layer of the decoder."""
    net = network_of(spec)
    worksheet = worksheet_of(net)
    halves = {
        name: Network(input=part.input, layers=part.layers, output=part.output, steps=part.steps)
        for name, part in net.parts.items()
        if part.input != 0 and getattr(part.layers[0], "tied", None) is None  # which no network alone has
    }
    for row in TABLE:
        if not row.family and row.id not in ABOUT_BOTH:
            changed = row.change(worksheet)
            for name, half in halves.items():
                if half.stack and len(half.stack) == sum(line.placed.part == name for line in worksheet):
                    alone = worksheet_of(half)
                    now = [line.params for line in changed if line.placed.part == name]
                    assert now in ([*map(params, alone)], [*map(params, row.change(alone))]), row.id


def params(line: LayerLine) -> int:
    return line.params


@pytest.mark.broad
@given(st.one_of(network(), encoder_decoder()))
def test_one_sentence_is_about_one_sum(spec: Spec) -> None:
    """Two mistakes that give different counts are told in different words."""
    net = network_of(spec)
    sums: dict[str, int] = {}
    for number, sentences in explained(net).items():
        for sentence in sentences:
            assert sums.setdefault(sentence, number) == number, sentence


def test_variants_do_not_depend_on_the_number() -> None:
    """Those of a family that is not fitted are the same for every number, so that they are made once."""
    worksheet = worksheet_of(DEEP)
    for row in TABLE:
        if row.family and not row.fitted:
            questions = [Question(DEEP, GivenNumber(number)) for number in (1, 5_000)]
            first, second = ([*variants_of(row, worksheet, question)] for question in questions)
            assert first == second


@pytest.mark.broad
def test_a_search_counts_each_line_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many layers cost at most three times as much, whatever they have; above a limit none is alone wrong."""
    count = LayerLine.params.fget  # type: ignore[attr-defined]
    counted: list[LayerLine] = []

    def counting(line: LayerLine) -> int:
        counted.append(line)
        return int(count(line))

    monkeypatch.setattr(LayerLine, "params", property(counting))
    kinds: list[Layer] = [
        LSTM(8, bidirectional=True, projection=4, peepholes=True, learned_state=True),
        GRU(8, bidirectional=True, layer_norm=True),
        FastGRNN(8),
        SRU(8, bidirectional=True),
    ]
    for kind in kinds:
        for few in (40, 120):
            costs = []
            for layers in (few, 2 * few):
                counted.clear()
                net = Network(input=8, layers=[kind] * layers, output=Output(5))
                Search(net).singles()
                costs.append(len(counted))
            assert costs[1] <= 3 * costs[0], (kind, few)


def test_nothing_is_explained_by_no_pair() -> None:
    """Two mistakes together leave out both layers."""
    (wrong,) = answer(Network(input=8, layers=[LSTM(16)], output=5), 0).judged
    assert not wrong.diagnoses
