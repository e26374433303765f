"""Prints how many random numbers get a mistake as a fact: `python tests/bench/chance.py`. A measure, never a test.

No mistake was made in a random number, so each is found by chance. 400 numbers from half to twice the right one are
drawn for each of 50 networks: three measured before, the specs that come with the package, and random ones.
"""

import random
from pathlib import Path

from rnncalc import Network
from rnncalc.questions.answer.grading import Grader
from rnncalc.questions.answer.reading import GivenNumber
from rnncalc.spec import parse, spec_in_flags

ROOT = Path(__file__).parent.parent.parent
MEASURED: tuple[tuple[str, tuple[str, ...], str | None, str | None], ...] = (  # input, layers, output and steps
    ("8", ("lstm:16",), None, "10"),
    ("8", ("lstm:16", "gru:9"), "3", None),
    ("8", ("lstm:16,bidirectional", "gru:9", "dense:5"), "3", None),
)
NETWORKS, NUMBERS, MOST = 50, 400, 0.04


def networks() -> dict[str, Network]:
    """Return the networks by what describes them."""
    drawn = {f"{m} → {', '.join(layers)}": network_of(m, layers, n, steps) for m, layers, n, steps in MEASURED}
    for path in sorted((ROOT / "specs").glob("*.yaml")):
        drawn[path.name] = parse(path.read_bytes(), path.name).network
    chance = random.Random(1)
    while len(drawn) < NETWORKS:
        kinds = chance.choices(("rnn", "gru", "lstm", "sru"), k=chance.randint(1, 3))
        layers = tuple(f"{kind}:{chance.randint(4, 64)}" for kind in kinds)
        m, n = str(chance.randint(2, 40)), str(chance.randint(1, 10))
        drawn[f"{m} → {', '.join(layers)} → {n}"] = network_of(m, layers, n, "12")
    return dict([*drawn.items()][:NETWORKS])


def network_of(m: str, layers: tuple[str, ...], n: str | None, steps: str | None) -> Network:
    return spec_in_flags(m, layers, n, steps=steps).network


def main() -> None:
    chance = random.Random(2)
    shares = []
    for name, network in networks().items():
        grader, right = Grader(network), network.params
        if right < 2 or network.letters:
            continue
        facts = guesses = 0
        for _ in range(NUMBERS):
            judged = grader.judge([GivenNumber(chance.randint(right // 2, 2 * right))]).judged[0]
            explained = bool(judged.diagnoses or judged.meant or judged.other_size) and not judged.right
            facts += explained and not judged.by_chance
            guesses += explained and judged.by_chance
        shares.append(facts / NUMBERS)
        print(f"{name:70}{right:>14,}{facts / NUMBERS:8.1%} facts{guesses / NUMBERS:8.1%} guesses", flush=True)
    print(
        f"{len(shares)} networks, {sum(shares) / len(shares):.1%} facts (target ≤ {MOST:.0%}), most {max(shares):.1%}"
    )


if __name__ == "__main__":
    main()
