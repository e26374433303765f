"""Attention over a sequence: layers that read all of it for each vector that they output.

`attention` is the additive score of Bahdanau et al. (2015) with a trained vector instead of a query, which ends a
sequence in one vector. `multi_head_attention` and `transformer` are those of Vaswani et al. (2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

from rnncalc.layers.layer import (
    ONE,
    ArrayAxes,
    LayerOperations,
    OptionProblem,
    Shape,
    Time,
    Transform,
    affine,
    quotient,
    with_bias,
)
from rnncalc.layers.options import SIZE, Choice, Option, Switch, SwitchOr
from rnncalc.letters import has_letters
from rnncalc.words import plural


class _TimeOfScore:
    """How attention over the steps sees time: it ends a sequence, but not with the score `steps`."""

    def __get__(self, layer: Attention | None, kind: type[Attention]) -> Time:
        return Time.SEQUENCE if layer is not None and layer.score == "steps" else Time.SUMMARY


class Attention(Transform):
    """Ends a sequence in a weighted sum of its vectors, with a score for each: u·m + 2u parameters.

    The scores: additive, v · tanh(W x_t + b), of u units; linear, v · x_t + c, m + 1 parameters. With `steps`, a dense
    layer across the T steps weighs each feature by itself, T(T + 1) parameters, and the sequence goes on.
    bias: whether W has one, or v where there is no W; `steps` is a trained number for each step instead of one for all.
    length: T, which follows from the network.
    """

    kind = "attention"
    title = "attention over the steps"
    time = _TimeOfScore()  # not the same for each of its layers
    meanings: ClassVar[Mapping[str, str]] = {"h": "features", "T": "steps"}
    without = ("length",)
    own_options: ClassVar[Mapping[str, Option]] = {
        "score": Option(
            Choice(("additive", "linear", "steps")),
            "how a step is scored: additive, by u units; linear, by one number per feature; steps, by a dense layer "
            "across the steps, for each feature",
        ),
        "bias": Option(SwitchOr(("steps",)), "biases; steps: of linear scores, one for each step"),
        "score_bias": Option(
            Switch(),
            "a trained number added to each additive score, which no output depends on: the softmax takes it out again",
        ),
        "length": Option(SIZE, "the number of steps"),
    }

    units: int | None = None
    score: Literal["additive", "linear", "steps"] = "additive"
    bias: bool | str = True
    score_bias: bool = False
    length: int | None = None

    def in_words(self, shape: Shape) -> str:
        """Say what becomes of the sequence."""
        weighs = "Weighs each feature by numbers that a dense layer across the steps makes, each of all steps"
        return weighs if self.score == "steps" else super().in_words(shape)

    def sizes(self, inputs: int) -> dict[str, int]:
        sizes = {"m": inputs} if self.units is None else {"u": self.units, "m": inputs}
        if self.score == "steps":
            sizes["h"] = inputs
        return sizes | {"T": self.length or 1} if self.score == "steps" or self.bias == "steps" else sizes

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        if self.score == "steps":
            return with_bias("kernel", "TT", bias=bool(self.bias))
        if self.score == "additive":
            hidden = with_bias("kernel", "um", bias=bool(self.bias))
            return (*hidden, *with_bias("score", "1u", bias=self.score_bias))
        return (*with_bias("score", "1m", bias=self.bias is True), *[("step_bias", "T")] * (self.bias == "steps"))

    def with_length(self, steps: int | None) -> Attention:
        return self.replace(length=steps) if self.score == "steps" or self.bias == "steps" else self

    def output_shape(self, shape: Shape) -> Shape:
        return shape if self.score == "steps" else shape[-1:]

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        if self.score == "steps":
            features = ops.joined(ops.heads(window, ONE))
            scores = affine(ops, "kernel", features, bias=bool(self.bias))
            weights = ops.name("alpha", ops.activate("softmax", ops.name("e", scores)))
            return ops.concat(ops.current(ops.name("y", ops.times(weights, features))), "m")
        if self.score == "additive":
            hidden = ops.name("k", ops.activate("tanh", affine(ops, "kernel", window, bias=bool(self.bias))))
            scores = ops.joined(ops.name("e", affine(ops, "score", hidden, bias=self.score_bias)))
        elif self.bias == "steps":
            scores = ops.name("e", ops.plus(ops.joined(ops.product("score", window)), ops.weight("step_bias")))
        else:
            scores = ops.joined(ops.name("e", affine(ops, "score", window, bias=bool(self.bias))))
        return ops.mix(ops.name("alpha", ops.activate("softmax", scores)), window)

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from super().option_problems()
        if self.score == "additive" and self.units is None:
            yield self.kind, "additive scores have a number of units; write it after the kind, or another score"
        if self.score != "additive":
            for option in ("units", "score_bias"):
                if getattr(self, option):
                    where = self.kind if option == self.number else option
                    yield where, f"{option} of additive scores alone, and the score is {self.score}; remove it"
        if self.bias == "steps" and self.score != "linear":
            yield "bias", f"steps is a bias of linear scores, and the score is {self.score}; write true or false"

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        if "T" in self.sizes(shape[-1]) and shape[0] is None:
            option = "score" if self.score == "steps" else "bias"
            yield option, "steps has a weight for each step, and their number is unknown; give the number of steps"


def attend(ops: LayerOperations[Any], query: Any, sequence: Any, width: str, *, bias: bool, key: str = "k") -> Any:
    """Return what several heads read of a sequence for a query, projected.

    width: of the values of all heads; key: of the keys of one.
    """
    queries = ops.heads(ops.name("q", affine(ops, "query", query, bias=bias)), key)
    keys = ops.heads(ops.name("k", affine(ops, "key", sequence, bias=bias)), key)
    values = ops.heads(ops.name("v", affine(ops, "value", sequence, bias=bias)), "v")
    scores = ops.name("e", ops.over_root(ops.dot(queries, keys), key))
    context = ops.mix(ops.name("alpha", ops.activate("softmax", scores)), values)
    return affine(ops, "output", ops.concat(ops.name("c", context), width), bias=bias)


def projections(query: str, memory: str, keys: str, values: str, *, bias: bool) -> Iterator[ArrayAxes]:
    """Yield the arrays of attention with heads, by the letters of the widths that are read, and of all heads' parts."""
    axes = {"query": (keys, query), "key": (keys, memory), "value": (values, memory), "output": (query, values)}
    for role, each in axes.items():
        yield from with_bias(role, each, bias=bias)


def undivided(what: str, width: Any, heads: Any) -> str:
    """Return why heads do not divide a width, and the cure; nothing if they do. A letter is taken for a multiple."""
    if has_letters(heads):
        return f"{heads} heads cannot divide the {what}'s width {width:,}; give a number of heads"
    rest = isinstance(width, int) and width % heads
    return f"{plural(heads, 'head')} do not divide the {what}'s width {width:,}; change one of the two" if rest else ""


HEADS = {
    "heads": Option(SIZE, "the parts that attention is computed in, each with a score of its own for each step"),
    "causal": Option(Switch(), "no step reads a later one; never changes a count of parameters"),
}

HEAD_SIZES = {
    "key_size": Option(SIZE, "the numbers of each head's queries and keys; by default the query's width / heads"),
    "value_size": Option(SIZE, "the numbers of each head's values; by default as many as of its keys"),
}
"""The options that say how wide a head is."""


MEANINGS_OF_HEADS = {
    "h": "heads",
    "k": "the numbers of a head's queries and keys",
    "v": "the numbers of a head's values",
}
"""What the letters of their widths mean."""


class _WithHeads(Transform):
    """A layer of several heads, each with a query, keys and values of its own."""

    number = "heads"
    time = Time.SEQUENCE
    meanings: ClassVar[Mapping[str, str]] = MEANINGS_OF_HEADS | {"f": "the units of the first dense layer"}

    heads: int

    def in_words(self, shape: Shape) -> str:
        """Say why the heads change the count or do not, which frameworks differ in."""
        keys = self.__dict__.get("key_size")
        if keys is None:
            width = quotient(shape[-1], self.heads)
            equal = f" = {width}" if isinstance(width, int) else ""
            each = f"h heads of m / h = {shape[-1]} / {self.heads}{equal} numbers"
            return f"{each} have m = {shape[-1]} together, so their number does not change the count, as in PyTorch"
        return f"Each of the h heads has key_size = {keys} numbers, so the count grows with their number, as in Keras"

    def window_of(self, step: int, steps: int) -> range:
        return range(step + 1 if self.__dict__["causal"] else steps)

    def work_in_words(self) -> str:
        pairs = "the multiply-adds are those of T(T + 1)/2 pairs of steps, and a framework with a mask computes all T²"
        return pairs if self.__dict__["causal"] else ""

    def pairs(self, steps: int) -> int:
        if not self.__dict__["causal"]:
            return steps * steps
        twice = steps * (steps + 1)
        return twice // 2 if isinstance(twice, int) else twice * Fraction(1, 2)

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        if self.values().get("key_size") is not None:
            return
        if problem := undivided("input", shape[-1], self.heads):
            yield self.kind, problem, *(["key_size"] if "key_size" in self.fields else ())


class MultiHeadAttention(_WithHeads):
    """Each step reads all steps through its heads: 4m(m + 1) parameters; h(2k + v)(m + 1) + m(h·v + 1) in general."""

    kind = "multi_head_attention"
    title = "multi-head attention"
    own_options: ClassVar[Mapping[str, Option]] = HEADS | HEAD_SIZES

    key_size: int | None = None
    value_size: int | None = None
    bias: bool = True
    causal: bool = False

    def sizes(self, inputs: int) -> dict[str, int]:
        key = self.key_size or quotient(inputs, self.heads)
        value = self.value_size or key
        sizes = {"m": inputs, "h": self.heads, "k": key, "v": value}
        return sizes | {"hk": self.heads * key, "hv": self.heads * value}

    @property
    def widths(self) -> tuple[str, str]:
        """The letters of the widths of all heads' keys, and of all their values."""
        keys = "hk" if self.key_size else "m"
        return keys, "hv" if self.value_size else keys

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return tuple(projections("m", "m", *self.widths, bias=self.bias))

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        return attend(ops, window.current, window, self.widths[1], bias=self.bias)


class Transformer(_WithHeads):
    """A transformer's block, attention and two dense layers: 4m(m + 1) + f(m + 1) + m(f + 1) + 4m parameters."""

    kind = "transformer"
    title = "transformer block"
    own_options: ClassVar[Mapping[str, Option]] = HEADS | {
        "feed_forward": Option(SIZE, "the units of the first of its two dense layers, f"),
        "norm": Option(
            Choice(("last", "first")),
            "where it normalises: last, each sum (Vaswani et al. 2017); first, what each part reads, as in GPT-2",
        ),
    }

    feed_forward: int
    norm: str = "last"
    activation: str = "relu"
    bias: bool = True
    causal: bool = False

    def sizes(self, inputs: int) -> dict[str, int]:
        each = quotient(inputs, self.heads)
        return {"m": inputs, "h": self.heads, "k": each, "v": each, "f": self.feed_forward}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        norms = [(f"norm_{number}_scale", "m") for number in (1, 2)]
        norms += [(f"norm_{number}_bias", "m") for number in (1, 2) if self.bias]
        fed = *with_bias("up", "fm", bias=self.bias), *with_bias("down", "mf", bias=self.bias)
        return (*projections("m", "m", "m", "m", bias=self.bias), *fed, *norms)

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        def normed(number: int, vector: Any) -> Any:
            scaled = ops.times(ops.normalise(vector), ops.weight(f"norm_{number}_scale"))
            return ops.plus(scaled, ops.weight(f"norm_{number}_bias")) if self.bias else scaled

        def fed(vector: Any) -> Any:
            hidden = ops.activate(self.activation, affine(ops, "up", vector, bias=self.bias))
            return affine(ops, "down", ops.name("u", hidden), bias=self.bias)

        if self.norm == "first":
            sequence = ops.name("z", normed(1, window))
            total = ops.plus(window.current, attend(ops, ops.current(sequence), sequence, "m", bias=self.bias))
            return ops.plus(ops.name("a", total), fed(ops.name("n", normed(2, total))))
        total = ops.plus(window.current, attend(ops, window.current, window, "m", bias=self.bias))
        first = ops.name("a", normed(1, ops.name("r", total)))
        return normed(2, ops.name("p", ops.plus(first, fed(first))))
