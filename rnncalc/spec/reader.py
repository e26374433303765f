"""From a tree of nodes to a Network. Collects every problem with its place before it stops.

The values of a network's keys are declared in `network/validation.py`. The keys of a layer are the fields of its class,
and their values are declared in `layers/options.py`. Only the classes of the kinds in use are imported, or all of them
when a word is misspelt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from rnncalc.bounds import MAX_LAYERS, MAX_TEXT, MOST_TENSORS
from rnncalc.conventions import convention
from rnncalc.errors import MORE_PROBLEMS, Path, Problem, SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dropout, Embedding, Layer, Output
from rnncalc.layers.options import (
    ANY_GRID,
    EXPRESSION,
    OPTIONS,
    Allowed,
    Choice,
    Params,
    Size,
    Sizes,
    Switch,
    Switches,
    Text,
    Trainable,
    WholeNumber,
)
from rnncalc.letters import LETTER, in_ascii, with_index
from rnncalc.network.network import Network
from rnncalc.network.parts import Expect, Part
from rnncalc.network.stack import symbols_of
from rnncalc.network.validation import KEYS, PART_VALUES, too_many_layers
from rnncalc.printable import escape
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, Sequence, TreeReader, node_at, unknown_key, what, word_of
from rnncalc.spec.values import NOTHING, growth, ways_to_write
from rnncalc.words import all_of, did_you_mean, one_of

if TYPE_CHECKING:
    from rnncalc.layers.decoder_attention import DecoderAttention
    from rnncalc.network.budget import Budget
    from rnncalc.network.training import Update
    from rnncalc.spec.nodes import Mark
    from rnncalc.spec.sizes import NamedSizes

OUTPUT_KEYS = (Output.number, *Output.options())
PART_KEYS = ("steps", "input", "layers", "initial_states", "attention", "output")
COUNT = WholeNumber()
OWN_DATA: dict[str, tuple[tuple[type, ...], str]] = {
    "weights": ((Mapping,), "the keys of the layers"),
    "inputs": ((Sequence, Mapping), "a list of steps, for a run"),
    "targets": ((Sequence, Scalar), "a list in the shape of the output, or class numbers"),
    "start": ((Mapping,), "the keys of the recurrent layers"),
}
"""The keys of a spec with numbers for a run, and what each holds; the numbers are read when they are used."""

GROUP_KEYS = ("repeat", "layers")
_SET_APART = ("sizes", "dtype", "layers", "output", "encoder", "decoder", "expect", "budget", "training")
TOP_KEYS = (*KEYS, *_SET_APART, *OWN_DATA)

_WEIGHTS = re.compile("(?:[WwUVb]|gamma|γ)(?:_.*)?|[acEPxy]")
"""What symbols of weights look like, and symbols of values that are no gates."""

_STAND_IN = Dropout(rate=0.0)
"""A harmless layer to replace one that cannot be read."""

_SHAPES = "the names of %s, each with what is expected"


def read_network(
    root: Node, source: str, name: str, problems: Iterable[Problem] = (), unknown: int | None = None
) -> Network:
    """Return the network that a tree describes; `unknown` is what a size written `?` stands for.

    Raises SpecError with all problems, earlier ones included, in the order of their places.
    """
    reader = NetworkReader(root, source, unknown)
    reader.problems += problems
    network = reader.network(name)
    if network is None or reader.problems:
        raise reader.error()
    return network


class NetworkReader(TreeReader):
    """Reads a network; what cannot be read is noted, and a harmless value replaces it.

    at: the path of the network in its file. above: the named sizes of the model that it is part of; course: its
    notation, whose letters may be those of other networks. by_name: the keys of a budget with limits by name. dtype:
    that of layers without their own.
    """

    by_name: tuple[str, ...] = ("layers",)
    sizes: NamedSizes | None = None
    dtype: str | None = None

    def __init__(
        self,
        root: Node,
        source: str,
        unknown: int | None = None,
        *,
        at: Path = (),
        above: NamedSizes | None = None,
        course: Node | None = None,
    ) -> None:
        super().__init__(root, source, unknown)
        self.at, self.above, self.course = at, above, course

    def problem(
        self, mark: Mark | Flag, path: Path, message: str, gaps: tuple[int, ...] = (), *, rest: bool = False
    ) -> None:
        super().problem(mark, path if isinstance(mark, Flag) else (*self.at, *path), message, gaps, rest=rest)

    def network(self, name: str) -> Network | None:
        """Return the network; None, with the problems noted, if it cannot be one."""
        nodes = dict(self.keys(self.root, (), (*TOP_KEYS, *["calls"] * bool(self.at))))
        if not isinstance(self.root, Mapping):
            return None
        parts = {
            "encoder": self.half,
            "decoder": self.half,
            "expect": self.expect,
            "budget": self.budget,
            "training": self.training,
        }
        if "sizes" in nodes or self.above is not None:
            self.sizes = self.named_sizes(nodes.get("sizes", Mapping(self.root.mark)))
            self.sizes.compute()
        if "dtype" in nodes and not isinstance(nodes["dtype"].mark, Flag):  # a flag's is that of the call
            self.dtype = self.value(nodes["dtype"], ("dtype",), OPTIONS["dtype"].allowed, None)
        values = {key: read(nodes[key], (key,)) for key, read in parts.items() if key in nodes}
        if isinstance(notation := nodes.get("notation"), Mapping):
            below = dict(self.keys(notation, ("notation",), ("name", "letters")))
            nodes["notation"] = below.get("name", Scalar("w", True, notation.mark))
            if "letters" in below:
                from unicodedata import normalize  # which few specs need

                letters = self.entries(below["letters"], ("notation", "letters"), "a letter for each symbol")
                written = ((symbol, self.value(node, at, Text(), "")) for symbol, node, at in letters)
                values["symbols"] = {symbol: normalize("NFD", letter) for symbol, letter in written if letter}
        whole = "encoder" not in values and "decoder" not in values
        values |= {"name": name} | self.part(nodes, self.root, (), needed=whole)
        for key, (kinds, expected) in OWN_DATA.items():
            if key in nodes and not isinstance(nodes[key], kinds):
                features = word_of(nodes[key]) if key == "inputs" else ""
                cure = f"; write input: {escape(features)} for the number of features" if features.isdecimal() else ""
                self.problem(nodes[key].mark, (key,), f"expected {expected}, got {what(nodes[key])}{cure}")
        if self.sizes:
            values["sizes"] = self.sizes.all()
        framework = nodes.get("convention")
        others = notation is self.course or any(each and isinstance(each.mark, Flag) for each in (notation, framework))
        if not (isinstance(notation, Mapping) and others):  # else letters may be those of other layers or biases
            return self.validate(values)
        course: Any = values.get("symbols", {})
        values["symbols"] = {}
        network = self.validate(values)
        if network is None:
            return None
        layers = symbols_of(network.flow, convention(network.convention), network.spelling, {})
        here = {symbol for _, pairs in layers for symbol, _ in pairs}
        cells: list[Any] = [cls for cls in map(kind, KINDS) if issubclass(cls, Cell) and not cls.needed()]
        gates = {gate.letter for cls in cells for gate in cls(**{cls.number: 1}).gates(1)}
        kept = {
            key: word
            for key, word in course.items()
            if in_ascii(key) in here or not (key in gates or _WEIGHTS.fullmatch(key))
        }
        return self.validate(values | {"symbols": kept})

    def named_sizes(self, node: Node) -> NamedSizes:
        from rnncalc.spec.sizes import NamedSizes  # imported only for a spec with names or expressions

        return NamedSizes(self, node, self.above)

    def value(self, node: Node, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        if isinstance(node, Mapping) and isinstance(allowed, Params):
            return self.tensors(node, path)
        if isinstance(node, Mapping) and isinstance(allowed, Switches):
            words = dict.fromkeys(allowed.words, Switch())
            return self.values(self.keys(node, path, allowed.words), path, words) or None
        if isinstance(allowed, Trainable):
            if not isinstance(node, Mapping):
                cure = "write frozen: true for the whole layer"
                self.problem(node.mark, path, f"expected {allowed.expected}, got {what(node)}; {cure}")
                return None
            each = self.entries(node, path, allowed.expected)
            return {name: self.value(below, at, Switch(), True) for name, below, at in each}
        return super().value(node, path, allowed, stand_in)

    def tensors(self, node: Mapping, path: Path) -> dict[str, tuple[int, ...]] | None:
        """Return the shapes of tensors by name."""
        if not node.items:
            self.problem(node.mark, path, "expected a number, or the names of tensors with their shapes, got none")
            return None
        if len(node.items) > MOST_TENSORS:
            message = f"expected at most {MOST_TENSORS:,} tensors, got {len(node.items):,}"
            self.problem(node.mark, path, f"{message}; write their number of parameters")
            return None
        shapes = {}
        for name, shape, at in self.entries(node, path, _SHAPES % "tensors"):
            if not 0 < len(name) <= MAX_TEXT:
                self.problem(shape.mark, at, f"expected a name of 1 to {MAX_TEXT} characters for the tensor")
                continue
            shapes[name] = self.shape(shape, at, Size(letters=True))
        return shapes or None

    def read(self, node: Scalar, allowed: Allowed) -> Any:
        """Return the value of a scalar; of a size also that of a name or an expression."""
        if not isinstance(allowed, Size | Sizes) or node.value.isdecimal():
            return super().read(node, allowed)
        node = Scalar(with_index(node.value), node.plain, node.mark)
        if self.sizes is None and re.fullmatch(EXPRESSION, node.value) and not re.fullmatch(LETTER, node.value):
            self.sizes = self.named_sizes(Mapping(self.root.mark))
        if self.sizes is not None and (size := self.sizes.size(node.value, allowed)) is not None:
            return size
        try:
            return super().read(node, allowed)
        except ValueError as error:
            names = [] if "; " in str(error) else [*(self.sizes or ())]
            word = next((each for each in re.findall(r"[^\W\d]\w*", node.value) if each not in names), "")
            near = (did_you_mean(word, names) or f"; the sizes are {all_of(names)}") if names and word else ""
            raise ValueError(f"{error}{near or self.letter_cure(node.value, str(error))}") from None

    def letter_cure(self, text: str, message: str) -> str:
        """Return what to add to the message for a letter that is no value of an option, or for `2h` or `2E+1`."""
        if re.fullmatch(LETTER, text):
            example = f"--set {text}=8" if isinstance(self.root.mark, Flag) else f"sizes: {{{text}: 8}}"
            return f"; write a number, or set one as in {example}"
        product = re.sub(r"(?<=[0-9)])(?=[A-Za-zα-ωΑ-Ω(])", "*", text)
        if product == text or not re.fullmatch(EXPRESSION, product):
            return ""
        ways = "; write " in message  # 20 for 2E+1
        return "" if ways and "+" not in text else f"{', or' if ways else '; write'} {product}"

    def validate(self, values: dict[str, Any]) -> Network | None:
        """Return the network of these values; note what is wrong with their combination, each at its node."""
        try:
            network = Network(**values)
        except SpecError as error:
            has_others = bool(self.problems)
            copies: list[tuple[Path, str]] = []
            for problem in error.problems:
                if problem is MORE_PROBLEMS:
                    self.more = True
                elif not (problem.follows and has_others):
                    message = problem.message
                    if isinstance(self.root.mark, Flag):
                        message = message.replace("give the steps", "give the steps with -T")
                    node, path = node_at(self.root, problem.path)
                    copy = path, re.sub("[0-9]+", "", message)
                    if copy not in copies:  # as of each copy of a layer in a group
                        self.problem(node.mark, path, message, problem.gaps)
                    copies += [copy] if path != problem.path else []
            return None
        for path, message in self.sizes.clashes(network) if self.sizes is not None and not self.problems else ():
            node, path = node_at(self.root, path)
            self.problem(node.mark, path, message)
        return network

    def half(self, node: Node, path: Path) -> Part:
        return Part(**self.part(dict(self.keys(node, path, PART_KEYS)), node, path))

    def part(self, nodes: dict[str, Node], above: Node, path: Path, *, needed: bool = True) -> dict[str, Any]:
        """Return the values of a network or a half from its node; `needed`: its stack."""
        if shape := _shape(nodes.get("input")):
            mark = nodes["input"].mark
            *others, features = shape
            cure = f"-i {features}" if isinstance(mark, Flag) else f"input: {features}"
            if others[-1:] and others[-1].isdecimal():
                cure = f"-T {others[-1]} {cure}" if isinstance(mark, Flag) else f"steps: {others[-1]} and {cure}"
            got = f"the shape {' × '.join(shape)}"
            self.problem(mark, (*path, "input"), f"expected the number of features, got {got}; write {cure}")
            nodes = nodes | {"input": Scalar(features, True, mark)}
        allowed = PART_VALUES if path else KEYS
        values = self.values(((key, nodes[key]) for key in allowed if key in nodes), path, allowed)
        if needed and "input" not in nodes and isinstance(above, Mapping):
            self.missing(above, (*path, "input"), "the number of features per step, or an embedding's vocabulary")
        if needed or "input" in nodes:
            values.setdefault("input", 1)
        if needed or "layers" in nodes:
            values["layers"] = self.layers(nodes.get("layers"), (*path, "layers"), above)
        if "attention" in nodes and path:
            values["attention"] = self.attention(nodes["attention"], (*path, "attention"))
        if "output" in nodes:
            values["output"] = self.output(nodes["output"], (*path, "output"))
        return values

    def layers(self, node: Node | None, path: Path, above: Node) -> tuple[Layer, ...]:
        """Return the layers under a node at a path; if there is no node, `above` is where it should be.

        A list that is too long is not read.
        """
        if node is None:
            flag = isinstance(above.mark, Flag)
            such = "-l lstm:512" if flag else "lstm: 512"
            if isinstance(above, Mapping) and (output := above.get("output")):
                units = word_of((output.get("units") if isinstance(output, Mapping) else output) or output)
                such += f"; without a recurrent one, write the output as a layer: {'-l dense:' if flag else 'dense: '}"
                such += escape(units or "5")
            self.missing(above, path, f"at least one layer, such as {such}")
            return (_STAND_IN,)
        if not isinstance(node, Sequence) or not node.items:
            got = "none" if isinstance(node, Sequence) else what(node)
            message = f"expected a list of layers, such as - lstm: 512, got {got}{_dash_cure(node)}"
            self.problem(node.mark, path, message)
            return (_STAND_IN,)
        if len(node.items) > MAX_LAYERS:
            self.problem(node.mark, path, too_many_layers(len(node.items)))
            return (_STAND_IN,)
        layers: list[Layer] = []
        node.places = []
        for place, item in enumerate(node.items):
            at = (*path, place)
            if isinstance(item, Mapping) and item.get("layers"):
                group, below = self.group(item, at)
            else:
                group, below = [self.layer(item, at)], [(item, at)]
            layers, node.places = layers + group, node.places + below
        return tuple(layers)

    def group(self, node: Mapping, path: Path) -> tuple[list[Layer], list[tuple[Node, Path]]]:
        """Return the layers of a repeated group, and where each is; those with a name get a number."""
        nodes = dict(self.keys(node, path, GROUP_KEYS))
        if "repeat" not in nodes:
            self.missing(node, (*path, "repeat"), "how often the layers are repeated")
        times = self.value(nodes["repeat"], (*path, "repeat"), OPTIONS["repeat"].allowed, 1) if "repeat" in nodes else 1
        layers = self.layers(nodes["layers"], (*path, "layers"), node)
        if any(layer.path for layer in layers):
            self.problem(node.mark, path, "a layer in it has a path, which one layer has alone; write the layers out")
        if times * len(layers) > MAX_LAYERS:
            self.problem(node.mark, path, too_many_layers(times * len(layers)))
            times = 1
        copies = [
            layer.replace(name=f"{layer.name}_{copy}") if layer.name and times > 1 else layer
            for copy in range(1, times + 1)
            for layer in layers
        ]
        below = nodes["layers"]
        places = below.places if isinstance(below, Sequence) and len(below.places) == len(layers) else []
        return copies, (places or [(node, path)] * len(layers)) * times

    def layer(self, node: Node, path: Path) -> Layer:
        """Return the layer that an item describes; a kind that takes no number may be written alone."""
        if isinstance(node, Scalar) and node.value in KINDS and not kind(node.value).needs_number():
            alone, node = node, Mapping(node.mark)
            node.items = [(alone, Scalar("", True, alone.mark))]
        if not isinstance(node, Mapping):
            self.problem(node.mark, path, f"expected a layer, such as lstm: 512, got {what(node)}{_word_cure(node)}")
            return _STAND_IN
        kinds = [key.value for key, _ in node.items if key.value in KINDS]
        if not kinds:
            self.no_kind(node, path)
            return _STAND_IN
        name = next((one for one in kinds if not issubclass(kind(one), Dropout)), kinds[0])  # it is meant for the other
        if len(kinds) > 1:  # layer_norm is a kind, and an option of cells
            name = next((one for one in kinds if {*kinds} & {*kind(one).options()}), name)
        others = [one for one in kinds if one != name and one not in kind(name).options()]
        cls, in_flags = kind(name), isinstance(node.mark, Flag)
        for word, below in node.items if others else ():
            if word.value in others:
                written = f"{'-l' if in_flags else '-'} {word.value}"
                if kind(word.value).number:
                    written += f"{':' if in_flags else ': '}{escape(word_of(below)) or 'N'}"
                self.problem(word.mark, (*path, word.value), f"is a layer of its own; write {written} for it")
        allowed = _allowed(cls)  # type: ignore[arg-type]  # a class is hashable, and mypy asks its instances
        number = node.get(name)
        empty = isinstance(number, Scalar) and number.plain and number.value in NOTHING
        if not cls.number or (empty and not cls.needs_number()):
            self.no_number(node, name, path)
            others = [*others, name]
        keys = self.keys(node, path, (*allowed, *others), partial(_unknown_option, cls, node))
        values = self.values(((key, below) for key, below in keys if key not in others), path, allowed)
        if "space" in allowed and "space" not in values and self.sizes and {*ANY_GRID} <= {*self.sizes}:
            grid = Sequence(node.mark)
            grid.items = [Scalar(letter, True, node.mark) for letter in ANY_GRID]
            values |= self.values([("space", grid)], path, allowed)
        for option in cls.needed():
            if option not in values:
                unknown = [key.value for key, _ in node.items if key.value not in allowed and key.value not in KINDS]
                # a value of its own, or a misspelt key, is already a problem
                if node.get(option) is None and not any(_is_meant(option, key) for key in unknown):
                    self.missing(node, (*path, option), cls.option(option).meaning)
                values[option] = (1,) if isinstance(cls.option(option).allowed, Sizes) else 1
        units = {cls.number: values.pop(name, 1)} if cls.number and name not in others else {}
        if self.dtype and "dtype" in allowed:
            values.setdefault("dtype", self.dtype)
        return cls(**units, **values)

    def no_number(self, layer: Mapping, name: str, path: Path) -> None:
        """Note a value under a kind that takes none."""
        node = layer.get(name)
        if isinstance(node, Scalar) and node.plain and node.value in NOTHING:
            return
        assert node is not None  # the kind is a key
        self.problem(node.mark, (*path, name), f"expected no number, got {what(node)}; remove it")

    def no_kind(self, node: Mapping, path: Path) -> None:
        """Note the problem of a layer without a known kind."""
        words = [key for key, _ in node.items if key.value not in OPTIONS]
        if not words:
            if [key.value for key, _ in node.items] == ["repeat"]:
                self.missing(node, (*path, "layers"), "the layers to repeat, or write repeat below the one layer")
            else:
                self.problem(node.mark, path, f"no kind of layer; add one of {one_of(tuple(KINDS))}")
            return
        key, first = words[0], node.items[0][1]
        from rnncalc.spec.aliases import call_cure, kind_cure

        in_flags = isinstance(key.mark, Flag)
        alone = in_flags and isinstance(first, Scalar) and not first.value
        units = _kind_and_units(key.value) if alone else None
        typed = [
            (name.value, "x".join(map(word_of, below.items)) if isinstance(below, Sequence) else word_of(below))
            for name, below in node.items
        ]
        text = ", ".join(f"{name}={word}" if word else name for name, word in typed)
        if in_flags and (cure := call_cure(text, in_flags=True)):
            self.problem(key.mark, path, f"expected KIND:UNITS, such as lstm:512, got '{escape(text)}'{cure}")
            return
        cure = "" if units else kind_cure(key.value, typed, in_flags=in_flags)
        if alone and not cure:
            written = f"; write {':'.join(units)}" if units else ""
            self.problem(key.mark, path, f"expected KIND:UNITS, such as lstm:512, got '{escape(key.value)}'{written}")
            return
        cure = cure or f"; the kinds are {one_of(tuple(KINDS))}"
        self.problem(key.mark, (*path, escape(key.value)), f"unknown kind of layer{cure}")

    def attention(self, node: Node, path: Path) -> DecoderAttention:
        from rnncalc.layers.decoder_attention import BIASED, DecoderAttention  # imported only for a spec that has it

        allowed = _allowed(DecoderAttention)
        values = self.values(self.keys(node, path, tuple(allowed)), path, allowed)
        if values.get("bias") is True and not BIASED.get(values.get("score", "additive"), True):
            values["bias"] = {"query": True}  # which such a score does not have; as a default, true is no mistake
        return DecoderAttention(**values)

    def output(self, node: Node, path: Path) -> Output:
        units = node.get("units") if isinstance(node, Mapping) else node
        if isinstance(units, Scalar) and (typed := _kind_and_units(units.value)):  # such as `dense:2`
            name, number = typed
            layer = f"-l {name}:{number}" if isinstance(units.mark, Flag) else f"- {name}: {number}"
            cure = f"write {number}" if name == Output.kind else f"write {layer} for a layer"
            got = f"expected a positive whole number, got '{escape(units.value)}'"
            self.problem(units.mark, path, f"{got}; the output layer is dense: {cure}")
            units.value = number
        if not isinstance(node, Mapping):
            return Output(self.value(node, path, OPTIONS["units"].allowed, 1), dtype=self.dtype)
        keys = self.keys(node, path, OUTPUT_KEYS, partial(_unknown_option, Output, node))
        values = self.values(keys, path, {key: OPTIONS[key].allowed for key in OUTPUT_KEYS})
        keys_there = {key.value.partition(":")[0] for key, _ in node.items}
        if keys_there.isdisjoint(("units", *KINDS)):
            self.missing(node, (*path, "units"), "the number of outputs")
        return Output(**{"units": 1, "dtype": self.dtype} | values)

    def expect(self, node: Node, path: Path) -> Expect:
        if isinstance(node, Scalar):
            return Expect(self.value(node, path, COUNT, None))
        values: dict[str, Any] = {}
        known = tuple(key for key in Expect.fields if key != "networks" or key in self.by_name)
        for key, below in self.keys(node, path, known):
            at = (*path, key)
            if key == "tensors":
                values[key] = self.shapes(below, at)
            elif key == "networks":
                values[key] = dict(self.limits(below, at, COUNT))
            elif key != "layers":
                values[key] = self.value(below, at, COUNT, None)
            elif isinstance(below, Sequence):
                values[key] = tuple(self.value(item, (*at, place), COUNT, 0) for place, item in enumerate(below.items))
            else:
                self.problem(below.mark, at, f"expected a list of counts, one for each layer, got {what(below)}")
        return Expect(**values)

    def shapes(self, node: Node, path: Path) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return `{rnn_1: {W_xh: (20, 10)}}`; `check` compares it with the tensors."""
        return {
            layer: {
                name: self.shape(shape, at, Size())
                for name, shape, at in self.entries(tensors, below, _SHAPES % "tensors")
            }
            for layer, tensors, below in self.entries(node, path, _SHAPES % "layers")
        }

    def shape(self, node: Node, path: Path, size: Size) -> tuple[int, ...]:
        if not isinstance(node, Sequence) or not node.items:
            got = "[]" if isinstance(node, Sequence) else what(node)
            self.problem(node.mark, path, f"expected a shape, such as [20, 10], got {got}")
            return (1,)
        return tuple(self.value(item, (*path, axis), size, 1) for axis, item in enumerate(node.items))

    def training(self, node: Node, path: Path) -> Update:
        from rnncalc.network.training import UPDATE_KEYS, Update  # imported only for a spec that has it

        allowed = {key: option.allowed for key, option in UPDATE_KEYS.items()}
        return Update(**self.values(self.keys(node, path, tuple(allowed)), path, allowed))

    def budget(self, node: Node, path: Path) -> Budget:
        from rnncalc.network.budget import ALLOWED, LAYER_LIMIT, Budget  # imported only for a spec that has one

        nodes = dict(self.keys(node, path, (*ALLOWED, "max_growth", *self.by_name)))
        limits: dict[str, Any] = {}
        if growths := nodes.pop("max_growth", None):
            limits["max_growth"] = tuple(self.growths(growths, (*path, "max_growth")))
        for key in self.by_name:
            if below := nodes.pop(key, None):
                limits[key] = self.limits(below, (*path, key), LAYER_LIMIT.allowed)
        return Budget(**self.values(nodes.items(), path, ALLOWED), **limits)

    def limits(self, node: Node, path: Path, allowed: Allowed) -> tuple[tuple[str, int], ...]:
        """Return numbers by the names of layers or networks."""
        below = self.entries(node, path, f"names of {path[-1]}, each with a number")
        return tuple((name, self.value(limit, at, allowed, 0)) for name, limit, at in below)

    def growths(self, node: Node, path: Path) -> Iterator[tuple[str, Any]]:
        """Yield the limits on growth by quantity; one alone is that of the parameters."""
        from rnncalc.network.budget import GROWING, GrowthLimit

        below = [("params", node)] if isinstance(node, Scalar) else self.keys(node, path, tuple(GROWING))
        for name, limit in below:
            at = path if limit is node else (*path, name)
            if not isinstance(limit, Scalar):
                self.problem(limit.mark, at, f"expected a percentage such as 5%, or a number, got {what(limit)}")
                continue
            try:
                yield name, GrowthLimit(*growth(limit.value, GROWING[name], limit.plain))
            except ValueError as error:
                self.problem(limit.mark, at, str(error))


@cache
def _allowed(layer: type[Layer]) -> dict[str, Allowed]:
    """Return the allowed values of each key of a layer of a kind, the kind's own key first."""
    number = {layer.kind: layer.option(layer.number).allowed} if layer.number else {}
    return number | {name: layer.option(name).allowed for name in layer.options()}


def _is_meant(option: str, key: str) -> bool:
    """Return whether an unknown key is another word for an option, or the option misspelt."""
    from rnncalc.spec.aliases import our_words

    return option in our_words(key) or bool(did_you_mean(key, (option,)))


def _unknown_option(cls: type[Layer], layer: Node, key: str, known: tuple[str, ...], below: Node) -> str:
    """Return what to say of a key that a layer of a kind does not know: it may be an option of other kinds.

    below: what is under the key.
    """
    from rnncalc.spec.aliases import cure_of_other_kind, option_cure, space_cure

    known = tuple(one for one in known if one == cls.kind or one not in KINDS or one in cls.options())
    in_flags = isinstance(layer.mark, Flag)
    takers = [name for name in KINDS if key in kind(name).options()]
    if key == "trainable" and not isinstance(below, Mapping):  # as other programs have it
        takers = []
    cure = cure_of_other_kind(key, cls.kind, known if takers else (), word_of(below), in_flags=in_flags)
    if takers or cure:
        here = "output" if issubclass(cls, Output) else cls.kind
        return f"does not apply to {here}; {cure or f'it applies to {one_of(takers)}; remove it'}"
    if in_flags and isinstance(layer, Mapping):
        meant = _misread(key, cls, layer)
    else:
        meant = space_cure(key, known)
        if not meant and issubclass(cls, Output) and key in KINDS:
            meant = f"write output: {escape(word_of(below)) or 'N'}, whose layer is dense"
    if meant:
        return f"unknown key; {meant}"
    for name in cls.options():
        if isinstance(allowed := cls.option(name).allowed, Choice) and key.lower() in allowed.words:
            return f"unknown key; write {name}{'=' if in_flags else ': '}{escape(key.lower())}"
    cure = option_cure(key, cls.kind, known, word_of(below), in_flags=in_flags)
    return f"unknown key{cure}" if cure else unknown_key(key, known, below)


def _misread(key: str, cls: type[Layer], layer: Mapping) -> str:
    """Return the cure for `dropout:0.5`, `bias:false` and numbers, written as options of a layer in flags.

    A number may be the rest of `0,5` or of `projection=1,000`, or a second size of one layer.
    """
    name, colon, value = key.partition(":")
    if name in KINDS:
        return f"write -l {name}:{escape(value) or 'N'}, as a layer of its own"
    if colon and name in cls.options():
        return f"write {name}={escape(value)}"
    if not key[:1].isdecimal():
        return ""
    place = [word.value for word, _ in layer.items].index(key)
    name, first = layer.items[place - 1][0].value, word_of(layer.items[place - 1][1])
    option = cls.option(cls.number) if place == 1 else cls.known_option(name)
    if option and (ways := ways_to_write(f"{first},{key}", option.allowed)):
        behind_kind = "-o " if issubclass(cls, Output) else f"-l {cls.kind}:"
        return f"write {behind_kind if place == 1 else f'{name}='}{one_of(ways)}"
    if not key.isdecimal() or issubclass(cls, Output):
        return ""
    if issubclass(cls, Embedding) and place == 1:
        number, width = escape(first), escape(key)
        return f"for a vocabulary of {number} and a width of {width}, write -i {number} -l {cls.kind}:{width}"
    return f"a layer has one number; write -l {cls.kind}:{escape(key)} for another"


def _word_cure(node: Node) -> str:
    """Return `; write lstm: 4` for `lstm 4` or `lstm:4`, and what `flaten` was meant to be."""
    word = word_of(node)
    if typed := _kind_and_units(word):
        return f"; write {': '.join(typed)}"
    if not word or word in KINDS:
        return ""
    from rnncalc.spec.aliases import call_cure, cure

    return call_cure(word, in_flags=False) or cure(word, tuple(KINDS), "kind")


def _kind_and_units(text: str) -> tuple[str, str] | None:
    """Return the kind and the number of `lstm 4`, `lstm=4`, `LSTM(4)`."""
    if text.isdecimal():  # as nearly every word is here: compiling the expression would take longer
        return None
    match = re.fullmatch(r"([A-Za-z]+)[:= (]+([0-9]\w*)\)?", text)
    return (match[1].lower(), match[2]) if match and match[1].lower() in KINDS else None


def _shape(node: Node | None) -> list[str]:
    """Return the sizes of a shape given as the input, such as `[10, 8]` or `(None, 8)`; else none."""
    if isinstance(node, Sequence):
        words = [word_of(item) for item in node.items]
    elif (
        isinstance(node, Scalar)
        and not node.value.isdecimal()
        and re.fullmatch(r"[\[(].{1,40}|[0-9]{1,12},[0-9]{1,2}", node.value)
    ):
        words = [word.strip() for word in node.value.strip("()[]").split(",") if word.strip()]
    else:
        return []
    unknown = ("None", "null", "~")  # a number of steps or sequences
    if not 0 < len(words) <= 3 or not all(word.isdecimal() or word in unknown for word in words):
        return []
    return [word if word.isdecimal() else "T" for word in words] if words[-1].isdecimal() else []


def _dash_cure(node: Node) -> str:
    """Return `; write - lstm: 4` for a layer without its dash, or without the space after it."""
    first = node.items[0] if isinstance(node, Mapping) and node.items else None
    if first is None or (kind := first[0].value.lstrip("-–—• ")) not in KINDS or not isinstance(first[1], Scalar):
        return ""
    sign = first[0].value.removesuffix(kind).strip()
    space = ", with a space after the dash" if sign == "-" else f", with a hyphen instead of {sign}" if sign else ""
    return f"; write - {kind}: {escape(first[1].value)}{space}"
