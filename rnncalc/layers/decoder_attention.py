"""The attention of a decoder: a context vector for each query, the encoder's outputs weighted by their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal, TypeVar

from rnncalc.layers.attention import HEAD_SIZES, MEANINGS_OF_HEADS, attend, projections, undivided
from rnncalc.layers.layer import (
    CROSS,
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
from rnncalc.layers.options import SIZE, Choice, Option, Size, Switches
from rnncalc.words import all_of

Item = TypeVar("Item")
Score = Literal["additive", "location", "dot", "general", "concat"]

BIASED: dict[str, dict[str, tuple[str, str | tuple[str, ...]]]] = {
    "additive": {"query": ("query", "uq"), "keys": ("keys", "uk"), "score": ("score", "1u")},
    "location": {
        "query": ("query", "uq"),
        "keys": ("keys", "uk"),
        "convolution": ("convolution", "fcw"),
        "location": ("location", "uf"),
        "score": ("score", "1u"),
    },
    "concat": {"matrix": ("kernel", ("u", "q+k")), "score": ("score", "1u")},
    "general": {},
    "dot": {},
}
"""The matrices of each score that may have a bias, each with its role and its axes."""

MATRICES = ("query", "keys", "matrix", "convolution", "location", "score")


OF_LOCATION: Mapping[str, Option] = {
    "filters": Option(SIZE, "of a location score, the filters over the weights of the past"),
    "kernel": Option(Size(), "of a location score, the steps that a filter reads at once, the middle one its own"),
    "past": Option(
        Choice(("previous", "cumulative", "both")),
        "what the filters of a location score read: the weights of the step before, by default; their sum over all "
        "steps before; or both",
    ),
}
"""The options of a location score."""

USUAL = {"filters": 32, "kernel": 31}
"""Their numbers in Tacotron 2, as examples."""


class DecoderAttention(Transform):
    """Sums the encoder's outputs, each weighted by its score with a query; u(q + k + 1) parameters, and biases.

    The query is a state of a recurrent layer of the decoder, of width q; the keys, of width k, are the encoder's
    outputs, and so are the values. The scores: additive (Bahdanau et al. 2015), v · tanh(W_q s + W_k h_t); concat,
    v · tanh(W [s; h_t]), general, sᵀ W h_t, and dot, s · h_t (Luong et al. 2015); location,
    v · tanh(W_q s + W_k h_t + W_f f_t); f_t is a convolution over the weights of the past, of f filters with a kernel
    of w steps (Chorowski et al. 2015, arXiv 1506.07503, equations 8 and 9).
    past: the weights that it reads: of the step before (ESPnet), their sum so far, or both (Tacotron 2).
    heads: instead of a score, as many parts that each project queries, keys and values, key_size and value_size numbers
    wide, and compare them (Vaswani et al. 2017); their values together are projected to the width of the query.
    query: whether it is the state before the decoder's step, or the output after it. layer: whose,
    the last recurrent layer's or the first's. context: what reads it.
    bias: whether its matrices have biases; or, in Python, `{"query": True, "score": False}`, kept as pairs.
    query_width, key_width: q and k, which follow from the network.
    """

    kind = "decoder_attention"
    title = "attention"
    number = ""
    time = Time.MEMORY
    meanings: ClassVar[Mapping[str, str]] = MEANINGS_OF_HEADS | {
        "q": "the width of the query",
        "k": "the width of the encoder's outputs",
        "u": "hidden units",
        "f": "filters over the weights of the past",
        "w": "the steps that a filter reads at once",
        "c": "the previous weights and the cumulative ones",
        "d": MEANINGS_OF_HEADS["k"],
    }
    without = ("repeat", "extra_inputs", "query_width", "key_width")
    conditions = dict.fromkeys(HEAD_SIZES, ("heads", True)) | dict.fromkeys(
        ("score", "units", *OF_LOCATION), ("heads", False)
    )
    own_options: ClassVar[Mapping[str, Option]] = {
        "score": Option(
            Choice(("additive", "location", "dot", "general", "concat")),
            "how a query is compared with a key; by default additive; location: and with the weights of the past",
        ),
        **OF_LOCATION,
        "heads": Option(
            SIZE,
            "h parts, each with a dot score of its own, instead of a score; they divide q, unless there is a key_size",
        ),
        **HEAD_SIZES,
        "units": Option(
            SIZE, "u, the hidden units of an additive, location or concat score; by default the query's width"
        ),
        "query": Option(
            Choice(("before", "after")),
            "the decoder's state before its step (Bahdanau), or its output after it (Luong)",
        ),
        "layer": Option(
            Choice(("last", "first")),
            "whose state or output the query is: the decoder's last recurrent layer's, or its first's",
        ),
        "context": Option(
            Choice(("input", "output", "both", "added")),
            "what reads the context: the first recurrent layer, the layer after that of the query, or both; "
            "by default input, or output if the query is after the step; added: the first one, in a sum with its input",
        ),
        "bias": Option(
            Switches(MATRICES), "a bias of each matrix; {score: false} leaves one out; heads take true or false"
        ),
        "query_width": Option(SIZE, "the width of the query"),
        "key_width": Option(SIZE, "the width of the keys"),
    }

    score: Score | None = None
    filters: int | None = None
    kernel: int | None = None
    past: Literal["previous", "cumulative", "both"] | None = None
    heads: int | None = None
    key_size: int | None = None
    value_size: int | None = None
    units: int | None = None
    query: Literal["before", "after"] = "before"
    layer: Literal["last", "first"] = "last"
    context: Literal["input", "output", "both", "added"] | None = None
    bias: Any = True
    query_width: int = 1
    key_width: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.bias, Mapping):
            self.__dict__["bias"] = tuple(self.bias.items())

    def in_words(self, shape: Shape) -> str:
        query = "the output of step t" if self.query == "after" else "the state before step t"
        letter, _ = self.vectors
        words = (
            f"{letter}_t is {query} of the decoder's {self.layer} recurrent layer, h_s the encoder's output at step s"
        )
        past = "; the weights before the first step are zeros, and those beyond the ends of the encoder's output"
        return words + past * (self.score == "location")

    @property
    def joins(self) -> tuple[bool, bool]:
        """Whether the first recurrent layer reads the context, and whether the layer after the query's does."""
        context = self.context or ("input" if self.query == "before" else "output")
        return context != "output", context in ("output", "both")

    def query_layer(self, cells: Sequence[Item]) -> Item:
        """Return the recurrent layer, or its place, whose state or output the query is. cells: those of the decoder."""
        return cells[0 if self.layer == "first" else -1]

    @property
    def loops(self) -> bool:
        """Whether a step of the decoder reads something of the step before it, so that it runs step by step."""
        return self.query == "before" or self.joins[0]

    @property
    def scoring(self) -> Score:
        """How a query is compared with a key, where there are no heads."""
        return self.score or "additive"

    @property
    def vectors(self) -> Mapping[str, str]:
        return {"s" if self.heads else "q": "q", "h": "k"}

    @property
    def named_as(self) -> str:
        return CROSS[self.query_width == self.key_width] if self.heads else self.kind

    def choices(self) -> tuple[object, ...]:
        return (*super().choices(), self.named_as)

    def output_width(self, inputs: int) -> int:
        return self.query_width if self.heads else self.key_width

    def sizes(self, inputs: int) -> dict[str, int]:
        query, keys = self.query_width, self.key_width
        if self.heads:
            key = self.key_size or quotient(query, self.heads)
            value = self.value_size or key
            each = {"h": self.heads, "d": key, "v": value, "hd": self.heads * key, "hv": self.heads * value}
            return {"q": query, "k": keys, **each}
        hidden = {"u": self.units or query} if BIASED[self.scoring] else {}
        joined = {"q+k": query + keys} if self.scoring == "concat" else {}
        if self.scoring == "location":
            both = {"c": 2} if len(self.pasts) > 1 else {}
            joined = {"f": self.filters or 1, **both, "w": self.kernel or 1}
        return {"q": query, "k": keys, **hidden, **joined}

    @property
    def pasts(self) -> tuple[str, ...]:
        """The letters of the weights of the past that a location score reads: alpha, their sum beta, or both."""
        return {"cumulative": ("beta",), "both": ("alpha", "beta")}.get(self.past or "", ("alpha",))

    @property
    def widths(self) -> tuple[str, str]:
        """The letters of the widths of all heads' keys, and of all their values."""
        keys = "hd" if self.key_size else "q"
        return keys, "hv" if self.value_size else keys

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        if self.heads:
            return tuple(projections("q", "k", *self.widths, bias=bool(self.bias)))
        if self.scoring == "general":
            return (("kernel", "qk"),)
        arrays = [with_bias(*array, bias=name in self.biased) for name, array in BIASED[self.scoring].items()]
        one = {"c": ONE} if len(self.pasts) == 1 else {}
        return tuple([(role, tuple([one.get(axis, axis) for axis in axes])) for role, axes in chain(*arrays)])

    @property
    def biased(self) -> list[str]:
        """The matrices that have a bias, where there are no heads."""
        chosen = {} if isinstance(self.bias, bool) else dict(self.bias)
        return [name for name in BIASED[self.scoring] if self.bias and chosen.get(name, True)]

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        if self.heads:
            return attend(ops, window.current, window, self.widths[1], bias=bool(self.bias), key="d")
        if self.scoring in ("dot", "general"):
            keys = ops.product("kernel", window) if self.scoring == "general" else window
            scores = ops.name("e", ops.dot(window.current, keys))
        else:
            if self.scoring == "concat":
                total = self._sum(ops, "matrix", ops.join(window.current, window, "q+k"))
            else:
                total = ops.plus(self._sum(ops, "query", window.current), self._sum(ops, "keys", window))
                if self.scoring == "location":
                    features = ops.around("convolution", *map(ops.past, self.pasts))
                    if "convolution" in self.biased:
                        features = ops.plus(features, ops.weight("convolution_bias"))
                    total = ops.plus(total, self._sum(ops, "location", ops.name("f", features)))
            hidden = ops.name("a", ops.activate("tanh", total))
            scores = ops.joined(ops.name("e", self._sum(ops, "score", hidden)))
        weights = ops.name("alpha", ops.activate("softmax", scores))
        for letter in self.pasts if self.scoring == "location" else ():
            ops.keep(letter, weights if letter == "alpha" else ops.name(letter, ops.plus(ops.past(letter), weights)))
        return ops.name("c", ops.mix(weights, window))

    def _sum(self, ops: LayerOperations[Any], name: str, vector: Any) -> Any:
        """Return the product of a matrix and a vector, and the bias if the matrix has one."""
        return affine(ops, BIASED[self.scoring][name][0], vector, bias=name in self.biased)

    def option_problems(self) -> Iterator[OptionProblem]:
        if self.heads:
            if not isinstance(self.bias, bool):
                yield "bias", "heads have all of their biases or none; write true or false"
            problem = undivided("query", self.query_width, self.heads)
            if problem and not self.key_size:
                yield "heads", problem, "key_size"
            return
        biased = BIASED[self.scoring]
        for option in OF_LOCATION:
            value = getattr(self, option)
            if value is not None and self.scoring != "location":
                yield option, f"does not apply to the score {self.scoring}; write score: location, or remove it"
            elif value is None and self.scoring == "location" and option != "past":
                yield "score", f"location needs {option}; write a number, such as {option}: {USUAL[option]}"
        if self.units is not None and not biased:
            yield "units", f"does not apply to the score {self.scoring}, which has no hidden units; remove it"
        wrong = [name for name, _ in (() if isinstance(self.bias, bool) else self.bias) if name not in biased]
        if wrong and biased:
            yield "bias", f"the score {self.scoring} does not have {wrong[0]}; it has {all_of([*biased])}"
        elif wrong:
            yield "bias", f"does not apply to the score {self.scoring}, which has no biases; remove it"
        if self.scoring == "dot" and self.query_width != self.key_width:
            widths = f"the query has {self.query_width} numbers and the keys {self.key_width}"
            yield "score", f"dot needs queries and keys of one width, and {widths}; write score: general"
