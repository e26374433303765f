"""How each framework lays out the parameters of a layer: data, a row a convention; `layouts.py` reads it.

A row says for each gate where its biases stand, for each role how the tensor is named and shaped (the template language
is `tensors.tensor`'s), and what the framework cannot express. A new framework is one row in CONVENTIONS.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, OptionFault
from rnncalc.text import all_of

Sides = tuple[str, Mapping[str, str]]
"""The side of a cell's biases, `input`, `recurrent` or `both`, and the gates that differ."""


class Convention(NamedTuple):
    """One framework's layout.

    title: how people write its name; note: its biases in a few words; why: the reason for them.
    biases: where the biases of a cell stand, by kind; on the input side where not named. A GRU whose reset gate acts
        before the recurrent product may have a row of its own, `gru before`.
    templates: for each role the tensor's template; with `{g}` in the name each gate has a tensor of its own, without
        it all gates share one, fused along the axis G. In a recurrent tensor r is the width of the state it reads: h,
        p under a projection, and no axis at all in a diagonal recurrence. `KIND ROLE` is for one kind alone, and
        `both_biases` for the two sides in one tensor.
    output: the templates that differ for the output layer.
    directions: what stands before a name in the two directions of a bidirectional layer, or, where a template says
        `{d}`, in that place; None where both directions share a tensor along the axis D.
    order: the order of the gates in fused tensors, where it is not the textbook's, by kind, and of `peephole`.
    renamed: parts of names that the framework spells in another way.
    reset_after: whether a GRU's reset gate acts after the recurrent product when the layer does not say.
    kinds: the cells it has; None for every one.
    only: the values it can express, of the options that it cannot express whole, by option or by `KIND OPTION`.
    projects_down: whether a projection must be narrower than the cell.
    """

    title: str
    note: str
    why: str
    templates: Mapping[str, str]
    biases: Mapping[str, Sides] = {}
    output: Mapping[str, str] = {}
    directions: tuple[str, str] | None = ("forward/", "backward/")
    order: Mapping[str, str] = {}
    renamed: Mapping[str, str] = {}
    reset_after: bool = False
    kinds: tuple[str, ...] | None = None
    only: Mapping[str, tuple[object, ...]] = {}
    projects_down: bool = False


_NONE: Mapping[str, str] = {}

_FRAMEWORK: Mapping[str, tuple[object, ...]] = {
    "recurrence": ("full",),
    "reset_gate": (True,),
    "output_gate": (True,),
    "projection": (None,),
    "peepholes": (False,),
    "learned_state": (False,),
}
"""What no framework has in its own recurrent layers, unless its row says otherwise."""

CONVENTIONS: dict[str, Convention] = {
    "textbook": Convention(
        title="textbook",
        note="one bias vector a gate",
        why="the two products are summed, so one bias serves both",
        templates={
            "input": "W_x{g}: h m",
            "recurrent": "W_h{g}: h r",
            "bias": "b_{g}: h",
            "peephole": "w_c{g}: h",
            "projection": "W_hp: p h",
            "state": "{s}_0: r",
            "kernel": "W: n m",
            "dense_bias": "b: n",
            "embedding": "E: m d",
        },
        output={"kernel": "W_hy: n m", "dense_bias": "b_y: n"},
    ),
    "pytorch": Convention(  # as seen in torch 2.13.0
        title="PyTorch",
        note="two bias vectors a gate, on the input and on the recurrent side",
        why="its kernels are cuDNN's, which add a bias to each of the two products",
        biases={"rnn": ("both", _NONE), "gru": ("both", _NONE), "lstm": ("both", _NONE)},
        templates={
            "input": "weight_ih_l0{d}: Gh m",
            "recurrent": "weight_hh_l0{d}: Gh r",
            "bias": "bias_ih_l0{d}: Gh",
            "recurrent_bias": "bias_hh_l0{d}: Gh",
            "projection": "weight_hr_l0{d}: p h",
            "kernel": "weight: n m",
            "dense_bias": "bias: n",
            "embedding": "weight: m d",
        },
        directions=("", "_reverse"),
        order={"gru": "rzn", "lstm": "ifgo"},
        reset_after=True,
        kinds=("rnn", "gru", "lstm"),
        only={
            **{option: values for option, values in _FRAMEWORK.items() if option != "projection"},
            "reset_after": (None, True),
            "merge": (None, "concat"),
            "activation": ("tanh",),
            "rnn activation": ("tanh", "relu"),
        },
        projects_down=True,
    ),
    "keras": Convention(  # as seen in keras 3.15.1
        title="Keras",
        note="one bias vector a gate, but two in a GRU unless reset_after is false",
        why="a GRU that resets after the recurrent product needs a bias of its own inside that product",
        biases={"gru": ("both", _NONE), "gru before": ("input", _NONE)},
        templates={
            "input": "kernel: m Gh",
            "recurrent": "recurrent_kernel: r Gh",
            "bias": "bias: Gh",
            "both_biases": "bias: 2 Gh",
            "kernel": "kernel: m n",
            "dense_bias": "bias: n",
            "embedding": "embeddings: m d",
        },
        order={"gru": "zrn", "lstm": "ifgo"},
        reset_after=True,
        kinds=("rnn", "gru", "lstm"),
        only=_FRAMEWORK,
    ),
    "flax-linen": Convention(  # as seen in flax 0.12.8
        title="Flax linen",
        note="one bias vector a gate, and a second one in the candidate of a GRU or MGU",
        why="what is multiplied by a gate needs a bias of its own inside the product",
        biases={
            "gru": ("input", {"n": "both"}),
            "mgu": ("input", {"n": "both"}),
            "lstm": ("recurrent", _NONE),
        },
        templates={
            "input": "i{g}/kernel: m h",
            "recurrent": "h{g}/kernel: r h",
            "bias": "i{g}/bias: h",
            "recurrent_bias": "h{g}/bias: h",
            "rnn input": "i/kernel: m h",
            "rnn recurrent": "h/kernel: r h",
            "rnn bias": "i/bias: h",
            "kernel": "kernel: m n",
            "dense_bias": "bias: n",
            "embedding": "embedding: m d",
        },
        reset_after=True,
        kinds=("rnn", "gru", "lstm", "mgu"),
        only={**_FRAMEWORK, "bias": (True,), "reset_after": (None, True)},
    ),
    "flax-nnx": Convention(  # as seen in flax 0.12.8; the LSTM is nnx.LSTMCell
        title="Flax nnx",
        note="one bias vector a gate",
        why="the two products are summed, so one bias serves both",
        biases={"lstm": ("recurrent", _NONE)},
        templates={
            "input": "dense_i/kernel: m Gh",
            "recurrent": "dense_h/kernel: r Gh",
            "bias": "dense_i/bias: Gh",
            "lstm input": "i{g}/kernel: m h",
            "lstm recurrent": "h{g}/kernel: r h",
            "lstm recurrent_bias": "h{g}/bias: h",
            "kernel": "kernel: m n",
            "dense_bias": "bias: n",
            "embedding": "embedding: m d",
        },
        order={"gru": "rzn"},
        renamed={"if": "if_"},
        reset_after=True,
        kinds=("rnn", "gru", "lstm"),
        only={**_FRAMEWORK, "bias": (True,), "reset_after": (None, True)},
    ),
    "onnx": Convention(  # operators of opset 22, as seen in onnxruntime 1.31.1
        title="ONNX",
        note="two bias vectors a gate, one after the other in B",
        why="the operator takes the biases of both products",
        biases={"rnn": ("both", _NONE), "gru": ("both", _NONE), "lstm": ("both", _NONE)},
        templates={
            "input": "W: D Gh m",
            "recurrent": "R: D Gh r",
            "both_biases": "B: D 2Gh",
            "peephole": "P: D Gh",
            "state": "initial_{s}: D 1 r",
            "kernel": "B: m n",
            "dense_bias": "C: n",
            "embedding": "data: m d",
        },
        directions=None,
        order={"gru": "zrn", "lstm": "iofg", "peephole": "iof"},
        kinds=("rnn", "gru", "lstm"),
        only={
            **{option: values for option, values in _FRAMEWORK.items() if option not in ("peepholes", "learned_state")},
            "merge": (None, "concat"),
            "activation": ("tanh", "relu", "sigmoid", "linear"),
        },
    ),
}


def lacks(layer: Layer, convention: str) -> Iterator[OptionFault]:
    """Yield what a layer asks for that the convention cannot express, each with the conventions that can."""
    row = CONVENTIONS[convention]
    if not isinstance(layer, Cell):
        return
    if not _has(row, layer):
        can = [name for name, other in CONVENTIONS.items() if _has(other, layer)]
        have = "has it" if len(can) == 1 else "have it"
        yield layer.kind, f"{convention} has no {layer.kind}; {all_of(can)} {have}"
        return
    for option in _restricted(layer.kind, tuple(layer.__dataclass_fields__), convention):
        if not _expresses(row, layer, option):
            can = [
                name for name, other in CONVENTIONS.items() if _has(other, layer) and _expresses(other, layer, option)
            ]
            value = getattr(layer, option)
            words = str(value).lower() if isinstance(value, bool) else str(value)
            yield option, f"{convention} cannot express {option}: {words}; {all_of(can)} can"


def _has(row: Convention, layer: Cell) -> bool:
    return row.kinds is None or layer.kind in row.kinds


@cache
def _restricted(kind: str, options: tuple[str, ...], convention: str) -> tuple[str, ...]:
    """Return the options of a cell that the convention takes with some values only: few, and asked of every layer."""
    only = CONVENTIONS[convention].only
    return tuple(option for option in options if option in only or f"{kind} {option}" in only or option == "projection")


def _expresses(row: Convention, layer: Cell, option: str) -> bool:
    value = getattr(layer, option)
    if option == "projection" and row.projects_down and value is not None and value >= layer.units:
        return False
    allowed = row.only.get(f"{layer.kind} {option}", row.only.get(option))
    return allowed is None or value in allowed


def resets_after(layer: Cell, row: Convention) -> bool:
    """Return whether the reset gate acts after the recurrent product: as the layer says, or else the convention."""
    chosen = getattr(layer, "reset_after", None)
    return row.reset_after if chosen is None else bool(chosen)
