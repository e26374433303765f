"""Keras: one keras.Model that holds layers.SimpleRNN, GRU, LSTM, Dense and Embedding; Bidirectional runs two ways.

A cell that Keras lacks is a layer of its own, which layers.RNN runs as any other. A layer's final states are a list;
those of both directions are one after the other in it.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS
from rnncalc.programs.code import with_comment
from rnncalc.programs.program import Module, OwnCell, is_gain
from rnncalc.programs.writer import Around, Writer, arguments_of, attends, shape_of, tuple_of, width_name

EXTERNAL = '''class External(layers.Layer):
    """Replaces a part described elsewhere: its parameters, and zeros as output."""

    def __init__(self, outputs, shapes: dict, frozen: tuple = (), **options) -> None:
        super().__init__(**options)
        self.outputs = outputs
        self.shapes = shapes
        self.frozen = frozen

    def build(self, input_shape) -> None:
        for name, shape in self.shapes.items():
            plain = name.replace(".", "_").replace("/", "_")
            self.add_weight(tuple(shape), name=plain, trainable=name not in self.frozen)

    def call(self, x):
        return ops.repeat(ops.zeros_like(x[..., :1]), self.outputs, axis=-1)
'''
HARD_SIGMOID = '''@keras.saving.register_keras_serializable()
def hard_sigmoid_0_2(x):
    """Return x/5 + 1/2, cut at 0 and 1: the hard sigmoid of Keras before 3."""
    return ops.clip(x / 5 + 0.5, 0, 1)
'''
MAIN = """def main() -> None:
    model = {name}()
    model({sample})
    for weight in model.weights:
        shape = tuple(weight.shape)
        print(f"{{weight.path:60}}{{shape!s:>20}}{{math.prod(shape):>16,}}")
    print(f"{{'total':60}}{{model.count_params():>36,}}")
"""


def _options(layer: Cell) -> Iterator[str]:
    options = layer.values()
    if layer.grid:
        yield f'{options["kernel"]}, padding="same"'
    if options["activation"] not in (None, "tanh"):
        yield f'activation="{options["activation"]}"'
    match options.get("recurrent_activation"):
        case "hard_sigmoid":
            yield 'recurrent_activation="hard_sigmoid"'
        case "hard_sigmoid_0.2":  # Keras 3 has no name for it
            yield "recurrent_activation=hard_sigmoid_0_2"
    if not layer.bias:
        yield "use_bias=False"
    if options.get("reset_after") is False:
        yield "reset_after=False"


def _carried(end: str, states: int, *, joined: bool) -> Iterator[str]:
    """Yield how the encoder's final states become a decoder's that has the other number of directions."""
    if joined and states == 1:
        yield f"state = ops.concatenate({end}, axis=-1)"
        yield "start = [state]"
    elif joined:
        yield f"pairs = zip({end}[:{states}], {end}[{states}:])"
        yield "start = [ops.concatenate(pair, axis=-1) for pair in pairs]"
    else:
        yield from _parted(end, "start")


def _parted(states: str, name: str) -> Iterator[str]:
    """Yield how states become those of two directions, each a half of one."""
    yield f"states = {states}"
    yield "halves = [ops.split(state, 2, axis=-1) for state in states]"
    yield f"{name} = [half[way] for way in (0, 1) for half in halves]"


def _groups(attributes: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
    """Yield the groups of each layer of a model in a file, from the names of its attribute and of its class.

    Keras saves a layer under the first of them in the order of the alphabet: its attribute, or a place in `layers`,
    which all models have, where its class has a number. Both are given, so that a model of the same layers with other
    attributes, or with none, reads the file too.
    """
    numbers = Counter[str]()
    for attribute, name in attributes:
        snake = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()
        group = f"layers/{snake}_{numbers[snake]}" if numbers[snake] else f"layers/{snake}"
        numbers[snake] += 1
        yield [attribute, group] if attribute < "layers" else [group]


VALUES = {"value_size": "value_dim={0}"}


class Keras(Writer):
    """Writes a program for Keras."""

    imports = ("import math", "", "import keras", "from keras import layers, ops")
    reserved = frozenset({"output"})
    base = "keras.Model"
    setup = ("def __init__(self) -> None:", "    super().__init__()")
    forward = "call"
    layers: ClassVar = {
        "dense": 'layers.Dense({units}{activation}{bias}, name="{name}")',
        "embedding": 'layers.Embedding({inputs}, {units}, name="{name}")',
        "dropout": 'layers.Dropout({rate}, name="{name}")',
        "external": 'External({outputs}, {shapes}{untrained}, name="{name}")',
    }
    transforms: ClassVar = {
        "conv1d": Around(
            'layers.Conv1D({filters}, {kernel}{options}{activation}{bias}, name="{name}")',
            options={
                "stride": "strides={0}",
                "padding": 'padding="{0}"',
                "dilation": "dilation_rate={0}",
                "groups": "groups={0}",
            },
            activates=True,
        ),
        "pool1d": Around(
            'layers.{mode}Pooling1D({window}{options}, name="{name}")',
            options={"stride": "strides={0}", "padding": 'padding="{0}"'},
            words={"max": "Max", "average": "Average"},
        ),
        "layer_norm": Around('layers.LayerNormalization(name="{name}"{options})', options={"bias": "center=False"}),
        "multi_head_attention": Around(
            'layers.MultiHeadAttention({heads}, {k}{options}{bias}, name="{name}")',
            "{module}({x}, {x}{calls})",
            options=VALUES,
            calls={"causal": ", use_causal_mask=True"},
            built="self.{module}.build((None, None, {inputs}), (None, None, {inputs}))",  # else its sublayers train
        ),
        **dict.fromkeys(
            CROSS, Around('layers.MultiHeadAttention({h}, {d}{options}{bias}, name="{name}")', options=VALUES)
        ),
        "batch_norm": Around(
            'layers.BatchNormalization(name="{name}"{options})',
            options={"scale": "scale=False", "center": "center=False"},
        ),
        "flatten": Around('layers.Flatten(name="{name}")'),
        "repeat_vector": Around('layers.RepeatVector({times}, name="{name}")'),
        "last": Around(applied="{x}[:, -1]", vector="{x}"),
    }
    without_bias = ", use_bias=False"
    cells: ClassVar = {
        "rnn": "layers.SimpleRNN",
        "gru": "layers.GRU",
        "lstm": "layers.LSTM",
        "conv_lstm": "layers.ConvLSTM{axes}D",
    }
    parameter = 'self.add_weight({shape}, initializer="{start}"{frozen}, name="{name}")'
    matrix = 'self.add_weight({shape}, name="{name}")'
    frozen = ", trainable=False"
    tied = "{x} @ ops.transpose(self.{table}.embeddings)"
    freeze = "self.{module}.trainable = False"
    own_class = "@keras.saving.register_keras_serializable()\nclass {name}(layers.Layer):"
    external = EXTERNAL
    main = MAIN
    samples = ("ops.zeros({})", 'ops.zeros({}, "int32")')
    library = "ops"
    functions: ClassVar = {
        "gelu": ("ops.gelu", "approximate=False"),
        "normalise": ("ops.layer_normalization", "epsilon=1e-3"),
        "hard_sigmoid_0.2": ("hard_sigmoid_0_2",),
    }
    helpers: ClassVar = {"hard_sigmoid_0.2": HARD_SIGMOID}
    transposed = "ops.transpose({matrix})"
    half = "ops.split(x, 2, axis=-1)[self.second]"
    join = "ops.concatenate"
    axis = "axis"
    one_step = "{x}[:, None]"
    reshaped = "ops.reshape({x}, {shape})"
    zeros = "ops.zeros((ops.shape({x})[0], {steps}, {width}))"
    looped = "x, *{module}_end = self.{module}({x}, initial_state={module}_end)"

    def recurrent(self, module: Module, _: int) -> str:
        layer, name = module.recurrent, f'name="{self.identifier(module)}"'
        assert layer
        options = [] if module.cell else [*_options(layer)]
        options += [] if module.last else ["return_sequences=True"]
        options += ["return_state=True"] if module.kept or module.looped else []
        if module.cell:
            head = "layers.RNN"
            one, other = (self.own_cell(module, way, without="m") for way in (0, 1))
        else:
            head, one, other = self.cells[layer.kind].format(axes=len(layer.grid)), str(layer.units), ""
        if not layer.bidirectional:
            return f"{head}({', '.join([one, *options, name])})"
        both = [f"{head}({', '.join([one, *options])})"]
        if module.cell and module.cell.half:  # else it is a copy of the forward layer
            back = ", ".join([other, *options, "go_backwards=True", 'name="backward_rnn"'])
            both.append(f"backward_layer={head}({back})")
        if layer.merge not in (None, "concat"):
            both.append(f'merge_mode="{layer.merge}"')
        return f"layers.Bidirectional({', '.join([*both, name])})"

    def cell(self, cell: OwnCell) -> Iterator[str]:
        lines, states, output = self.step_of(cell)
        letters = [letter for letter, _ in cell.states]
        sizes = {letter: "input_shape[-1]" if letter == "m" else f"self.{width_name(letter)}" for letter in cell.widths}
        yield f"def __init__(self, {', '.join([*arguments_of(cell, without='m'), '**options'])}) -> None:"
        yield "    super().__init__(**options)"
        if cell.half:
            yield "    self.second = second"
        yield from (f"    self.{width_name(letter)} = {width_name(letter)}" for letter in cell.widths if letter != "m")
        yield f"    self.state_size = [{', '.join(width_name(width) for _, width in cell.states)}]"
        yield f"    self.output_size = {width_name(cell.output)}"
        yield ""
        yield "def build(self, input_shape) -> None:"
        for tensor in cell.weights:
            shape = [sizes[axis.letter] if axis.letter else str(axis.times) for axis in tensor.axes]
            start = 'initializer="ones", ' if is_gain(tensor) else ""
            yield f'    self.{tensor.name} = self.add_weight({tuple_of(shape)}, {start}name="{tensor.name}")'
        yield ""
        yield "def call(self, x, states):"
        yield f"    {', '.join(letters) if len(letters) > 1 else tuple_of(letters)} = states"
        yield from (f"    {line}" for line in lines)
        yield f"    return {output}, [{', '.join(states)}]"

    def in_hdf5(self) -> Iterator[tuple[Module, str, list[str]]]:
        """Yield each array of a module with its places in a file of `save_weights`, as seen in keras 3.15.1."""
        modules, of_program = [module for module in self.program.modules if module.places[0].stored], 0
        homes = _groups((self.identifier(module), self._class_of(module)) for module in modules)
        for module, groups in zip(modules, homes, strict=True):
            tensors = [tensor.name for tensor in module.places[0].layout.tensors]
            parts = [*dict.fromkeys(name.rpartition("/")[0] for name in tensors)]
            if attends(module):
                below = dict(zip(parts, _groups((part, "Dense") for part in parts), strict=True))
            elif module.recurrent:
                below = {part: [f"{part}_layer/cell" if part else "cell"] for part in parts}
            else:
                below = {part: [f"{part.removeprefix('attention_')}_dense"] if part else [""] for part in parts}
            numbers = Counter[str]()
            for name in tensors:
                part, _, leaf = name.rpartition("/")
                if module.tied or leaf == "positions":
                    yield module, name, [f"vars/{of_program}"]
                    of_program += 1
                else:
                    places = (
                        posixpath.join(group, each, "vars", str(numbers[part]))
                        for group in groups
                        for each in below[part]
                    )
                    yield module, name, [*places]
                    numbers[part] += 1

    def _class_of(self, module: Module) -> str:
        """Return the name of the class of a module's layer."""
        layer, kind = module.layer, module.layer.kind
        if attends(module):
            return "Attention"
        if isinstance(layer, Cell):
            return "Bidirectional" if module.two_way else self.cells[kind].format(axes=len(layer.grid)).split(".")[1]
        template = self._around(module).module or self.layers[kind]
        return template.partition("(")[0].rpartition(".")[2]

    def final_state(self, start: Module, name: str, letter: str) -> str:
        letters = [each for each, _ in start.states]
        at = letters.index(letter)
        return f"ops.concatenate({name}_end[{at}::{len(letters)}], axis=-1)" if start.two_way else f"{name}_end[{at}]"

    def start_from(self, module: Module, start: Module) -> Iterator[str]:
        if start.two_way:
            yield from _carried(f"{self.identifier(start)}_end", len(module.states), joined=True)
        yield f"{self.identifier(module)}_end = {'start' if start.two_way else f'{self.identifier(start)}_end'}"

    def first_state(self, module: Module) -> str:
        return f"{self.identifier(module)}_end[0]"

    def learned(self, module: Module, x: str, name: str) -> Iterator[str]:
        if module.dense:
            joined = f"[{', '.join(code for _, code in self.dense_states(module))}]"
            yield from _parted(joined, name) if module.two_way else [f"{name} = {joined}"]
            return
        states = [
            f"ops.broadcast_to(self.{self.identifier(module)}_{letter}_0{way}, (batch, {width}))"
            for way in (["[0]", "[1]"] if module.two_way else [""])
            for letter, width in module.states
        ]
        yield f"batch = ops.shape({x})[0]"
        yield f"{name} = [{', '.join(states)}]"

    def recur(self, module: Module, x: str) -> Iterator[str]:
        name, start = self.identifier(module), ""
        if module.starts_itself:
            yield from self.learned(module, x, "start")
            start = "start"
        elif module.start:
            start = end = f"{self.identifier(module.start)}_end"
            if module.start.two_way != module.two_way:
                yield from _carried(end, len(module.states), joined=module.start.two_way)
                start = "start"
        outputs = ["_" if module.unread else "x", *([f"*{name}_end"] if module.kept else [])]
        call = f"self.{name}({x}{f', initial_state={start}' if start else ''})"
        yield with_comment(f"{', '.join(outputs)} = {call}", "" if module.unread else shape_of(module.shape))
