"""Random specs, model files of networks near them, and a reader of cures that edits a spec as a user would."""

import copy
import re
from typing import Any

import yaml
from conftest import written
from hypothesis import strategies as st
from questions.models.made import file, tensor
from strategies import SMALL, Spec, drawn, network_of

from rnncalc import Network
from rnncalc.conventions import convention, lacks
from rnncalc.errors import SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.modelfiles.model import FileModule, FileTensor, ModelFile, TensorRole
from rnncalc.network.validation import named
from rnncalc.questions.models.matching import Match, match
from rnncalc.questions.read import Reading, read
from rnncalc.reports.read import ReadReport, messages

FRAMEWORKS = ("pytorch", "keras", "onnx")
"""Those whose model files are read."""
OPERATORS = {"dense": "Gemm", "embedding": "Gather", "conv1d": "Conv"}
OPERATORS |= {"batch_norm": "BatchNormalization", "layer_norm": "LayerNormalization"}
APART = {"name", "path", "initial_state"}
"""Options that depend on other parts of the spec."""


def kinds(framework: str) -> list[str]:
    """Return the kinds of layer that a framework has and that any layer may follow."""
    row = convention(framework)
    some = [name for name in KINDS if not kind(name).needed() and not kind(name).begins and not kind(name).ends]
    return [name for name in some if row.has(blank(name)) and name not in ("embedding", "external")]


def blank(name: str) -> Any:
    """Return a layer of a kind."""
    of: Any = kind(name)
    return of(*(1,) * bool(of.number), **dict.fromkeys(of.needed(), (2, 2)))


@st.composite
def layer(draw: st.DrawFn, framework: str, name: str | None = None) -> Spec:
    """Draw a layer with options that the framework has."""
    name = name or draw(st.sampled_from(kinds(framework)))
    of = kind(name)
    number = draw(st.sampled_from([0, 0.5])) if name == "dropout" else draw(SMALL) if of.number else None
    made: Any = blank(name).replace(**({of.number: number} if of.number else {}))
    spec: Spec = {name: number}
    options = [option for option in of.options() if option not in APART]
    for option in draw(st.lists(st.sampled_from(sorted(options)), unique=True, max_size=3)):
        value = draw(drawn(option, of.option(option).allowed))
        with_it = made.replace(**{option: value})
        if not any((*with_it.value_problems(), *with_it.option_problems(), *lacks(with_it, framework))):
            spec[option], made = value, with_it
    if issubclass(of, Cell) and not spec.get("learned_state") and not draw(st.integers(0, 7)):
        spec["initial_state"] = draw(SMALL)
    return spec


def output() -> st.SearchStrategy[Any]:
    return st.one_of(SMALL, st.fixed_dictionaries({"units": SMALL, "bias": st.booleans()}))


@st.composite
def part(draw: st.DrawFn, framework: str) -> Spec:
    """Draw the input, the layers and the output of a spec."""
    layers = draw(st.lists(layer(framework), min_size=1, max_size=4))
    spec: Spec = {"input": draw(SMALL), "layers": layers}
    if draw(st.booleans()):
        layers.insert(0, {"embedding": draw(SMALL)})
    if not draw(st.integers(0, 3)):
        layers.insert(draw(st.integers(1, len(layers))), {"external": draw(st.integers(1, 30))})
    if draw(st.booleans()):
        spec["output"] = draw(output())
    return spec


@st.composite
def tied(draw: st.DrawFn, framework: str) -> Spec:
    """Draw a part whose output shares the matrix of its embedding."""
    words, width = draw(SMALL), draw(SMALL)
    layers = [{"embedding": width}, draw(layer(framework)), {"lstm": width}]
    return {"input": words, "layers": layers, "output": {"units": words, "tied": True, "bias": draw(st.booleans())}}


@st.composite
def places(draw: st.DrawFn, framework: str) -> Spec:
    """Draw a part with an LSTM of places, which Keras has."""
    if framework != "keras":
        return draw(part(framework))
    size = draw(st.sampled_from(["2", "2x3"]))
    layers: list[Spec] = [{"conv_lstm": draw(SMALL), "kernel": 3, "space": size, "bias": draw(st.booleans())}]
    layers += draw(st.sampled_from([[], [{"batch_norm": None}], [{"conv_lstm": 2, "kernel": 1, "space": size}]]))
    layers += draw(st.sampled_from([[], [{"last": None}, {"flatten": None}, {"dense": draw(SMALL)}]]))
    return {"input": draw(SMALL), "layers": layers}


@st.composite
def halves(draw: st.DrawFn, framework: str) -> Spec:
    """Draw an encoder-decoder."""
    cells = [name for name in kinds(framework) if issubclass(kind(name), Cell)]
    name = draw(st.sampled_from(cells))
    widths = draw(st.lists(SMALL, min_size=1, max_size=2))
    spec: Spec = {}
    for half in ("encoder", "decoder"):
        spec[half] = {"input": draw(SMALL), "layers": [{name: width} for width in widths]}
        if draw(st.booleans()):
            spec[half]["layers"].insert(0, {"embedding": draw(SMALL)})
    spec["decoder"]["output"] = draw(output())
    return spec


@st.composite
def network(draw: st.DrawFn, framework: str) -> Spec:
    """Draw a spec for a framework."""
    of = draw(st.sampled_from([part, part, part, tied, places, halves]))
    drawn_part: Spec = draw(of(framework))
    return {"convention": framework} | drawn_part


def near(draw: st.DrawFn, spec: Spec) -> Spec:
    """Draw a spec near another: a few changes away."""
    spec = copy.deepcopy(spec)
    framework = spec["convention"]
    for _ in range(draw(st.integers(1, 3))):
        half: Any = spec.get(draw(st.sampled_from(["encoder", "decoder"])), spec)
        layers = half["layers"]
        place = draw(st.integers(0, len(layers) - 1))
        head = next(iter(layers[place]))
        match draw(st.integers(0, 8)):
            case 0 if kind(head).number and head != "dropout":
                layers[place][head] = draw(SMALL)
            case 1 if head in kinds(framework):
                layers[place] = draw(layer(framework))
            case 2 if head in kinds(framework):
                layers[place] = draw(layer(framework, head)) | {head: layers[place][head]}
            case 3 if len(layers) > 1:
                layers.pop(place)
            case 4:
                layers.insert(place, draw(layer(framework)))
            case 5:
                other = draw(st.integers(0, len(layers) - 1))
                layers[place], layers[other] = layers[other], layers[place]
            case 6:
                half["input"] = draw(SMALL)
            case 7:
                half["output"] = draw(output())
            case 8 if half is spec:
                half.pop("output", None)
            case _:
                if issubclass(kind(head), Cell):
                    layers[place] |= {"repeat": draw(st.integers(1, 3))}
    return spec


@st.composite
def model(draw: st.DrawFn, network: Network) -> ModelFile:
    """Draw the model file of a network: how its layers are called there, and whether it keeps their order."""
    framework = network.convention
    parts = {name: path for path, name, _ in named(network.parts)}
    words = draw(
        st.sampled_from([["l{}"], ["/n/l{}"], ["a{}", "b{}", "c{}", "d{}"], ["w.fc{}", "w.rnn{}", "w.out{}", "w.a{}"]])
    )
    modules: dict[str, FileModule] = {}
    paths: dict[Any, str] = {}
    table = ""
    for placed in network.stack:
        if not placed.tensors and not placed.buffers:
            continue
        key = parts[placed.name] if framework == "pytorch" and isinstance(placed.layer, Cell) else placed.name
        word = "emb{}" if isinstance(placed.layer, Embedding) else draw(st.sampled_from(words))
        path = paths.setdefault(key, word.format(len(paths)))
        shapes = {one.name: one.shape for one in placed.tensors}
        if isinstance(placed.layer, External):
            shapes = {"other": (placed.params,)} if placed.params else {}
        tensors = {name: tensor(f"{path}.{name}", shape) for name, shape in shapes.items()}
        if isinstance(placed.layer, Embedding):
            (table,) = (one.name for one in tensors.values())
        for one in placed.shared:
            tensors[one.name] = tensor(f"{path}.{one.name}", one.shape, shared_with=table)
        buffers = {one.name: buffer(f"{path}.{one.name}", one.shape) for one in placed.buffers}
        before = modules[path].tensors if path in modules else {}
        operator = OPERATORS.get(placed.kind, placed.kind.upper()) if framework == "onnx" else ""
        settings = {"group": [placed.layer.values()["groups"]]} if operator == "Conv" else {}
        modules[path] = FileModule(path, {**before, **tensors}, operator, settings, buffers)
    some = [each for each in modules.values() if each.tensors or each.buffers]
    ordered = framework == "onnx" or draw(st.booleans())
    if not ordered:
        some.sort(key=lambda each: each.path)
    elif not draw(st.integers(0, 3)):  # modules are in the order in which they are defined
        some = draw(st.permutations(some))
    return file(framework, *some, ordered=ordered)


def buffer(name: str, shape: tuple[int, ...]) -> FileTensor:
    return tensor(name, shape)._replace(role=TensorRole.BUFFER)


@st.composite
def nearby(draw: st.DrawFn) -> tuple[Spec, ModelFile]:
    """Draw a spec, and a model file of a network near it; some of the spec's layers have a path, right or wrong."""
    framework = draw(st.sampled_from(FRAMEWORKS))
    spec: Spec = {"convention": framework, "input": 3, "layers": [{"lstm": 4}]}
    spec = _valid([draw(network(framework)) for _ in range(3)], spec)
    other = _valid([near(draw, spec) for _ in range(4)], spec)
    if not network_of(other).params:
        other = {"convention": framework, "input": 3, "layers": [{"lstm": 4}]}
    found = draw(model(network_of(other)))
    with_paths = copy.deepcopy(spec)
    words = [*(module.path for module in found.modules), "gone"]
    for half in (with_paths, with_paths.get("encoder"), with_paths.get("decoder")):
        for each in (half or {}).get("layers", ()):
            if not draw(st.integers(0, 5)):
                each["path"] = draw(st.sampled_from(words))
    return _valid([with_paths], spec), found


def _valid(specs: list[Spec], otherwise: Spec) -> Spec:
    for spec in specs:
        try:
            network_of(spec)
        except SpecError:
            continue
        return spec
    return otherwise


def checked(spec: Spec, model: ModelFile) -> Match | SpecError:
    """Return a spec compared with a file, or the problem of the comparison."""
    network = network_of(spec)
    try:
        return match(network, model)
    except SpecError as error:
        return error


def followed(spec: Spec, model: ModelFile) -> list[Spec]:
    """Return a spec, and what it becomes: with the paths that are asked for, and then as the cures say, once."""
    way = [spec]
    while isinstance(found := checked(way[-1], model), SpecError):
        if "no path for what computes an initial_state" in str(found):
            return way
        way.append(_with_a_path(way[-1], found))
    if found.kept or found.another_network:
        return way
    if not found.cures:  # then the message is what drafts a spec
        draft = read(model).draft
        assert draft
        return [*way, yaml.safe_load(written(ReadReport(Reading(model, draft)), "yaml"))]
    return [*way, Editor(way[-1]).follow(found)]


def _with_a_path(spec: Spec, error: SpecError) -> Spec:
    spec = copy.deepcopy(spec)
    (problem,) = error.problems
    words = re.match(r"may be (.*) of the file; (give its path|write each layer of the repeat)", problem.message)
    assert words, problem
    layer, paths = _at(spec, problem.path), re.findall("'([^']*)'", words[1])
    if words[2] == "give its path":
        layer["path"] = paths[0]
    else:
        *before, place = problem.path
        assert isinstance(place, int)
        alone = [{**layer, "repeat": 1, "path": path} for path in paths[: layer["repeat"]]]
        _at(spec, tuple(before))[place : place + 1] = alone
    return spec


def _at(spec: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        if key == "output" and isinstance(spec[key], int):
            spec[key] = {"units": spec[key]}
        spec = spec[key]
    return spec


class Editor:
    """Edits a spec as the messages of a comparison say."""

    def __init__(self, spec: Spec) -> None:
        self.spec = copy.deepcopy(spec)
        self.halves = [self.spec[half] for half in ("encoder", "decoder") if half in self.spec] or [self.spec]
        places = {name: path for path, name, _ in named(network_of(spec).parts)}
        self.layers = {name: _at(self.spec, path) for name, path in places.items()}
        self.half_of = {
            name: self.spec[path[0]] if path[0] in self.spec and "encoder" in self.spec else self.spec
            for name, path in places.items()
        }
        self.removed: list[Spec] = []

    def follow(self, found: Match) -> Spec:
        """Return the spec after every change that is told; there must be one."""
        told = zip(found.tensors, messages(found), strict=True)
        changes = [(check.layer or "", change) for check, message in told for change in (message or "").split("; ")[1:]]
        assert changes, [*messages(found)]
        for name, change in changes:
            self._change(name, change)
        for half in self.halves:
            half["layers"] = [layer for layer in half["layers"] if not any(layer is each for each in self.removed)]
            if any(half.get("output") is each for each in self.removed):
                half.pop("output")
        return self.spec

    def _change(self, name: str, change: str) -> None:
        if elsewhere := re.match(r"at (the start(?: of the \w+)?|\S+) (.*)", change):
            name, change = elsewhere.groups()
        verb, _, text = change.partition(" ")
        head = re.split("[: ,]", text)[0]
        if verb == "add":
            words = re.fullmatch(r"(.*) (?:after (\S+)|at the start(?: of the (\w+))?)", text)
            assert words, change
            layers = self.spec[words[3]]["layers"] if words[3] else self._half(words[2])["layers"]
            self._put(layers, words[2], words[1])
        elif verb == "remove" and text.startswith("this layer"):
            self.removed.append(self.layers[name])
        elif verb == "remove":
            del self.layers[name][text]
        elif verb == "write" and text.endswith(" instead"):
            self._put(self._half(name)["layers"], name, text.removesuffix(" instead"))
            self.removed.append(self.layers[name])
        elif verb == "write" and head in KINDS and head not in self.layers[name]:
            self.layers[name].clear()
            self.layers[name].update(_layer(text.partition(" (here")[0]))
        else:
            assert verb == "write", change
            for key, value, old in re.findall(r"(\w+): (\S+) \((?:m, )?here ([^)]*)\)", text):
                if key == "input":
                    half = self._half(name)
                    assert half["input"] == int(old)
                    half["input"] = int(value)
                else:
                    self.layers[name]["units" if key == "output" else key] = yaml.safe_load(value)

    def _half(self, name: str | None) -> Any:
        if name and name.startswith("the start of the "):
            return self.spec[name.rpartition(" ")[2]]
        return self.half_of.get(name or "", self.spec)

    def _put(self, layers: list[Spec], name: str | None, text: str) -> None:
        after = [place for place, layer in enumerate(layers) if name and layer is self.layers[name]]
        place = after[0] + 1 if name else 0
        layers[place:place] = [_layer(each) for each in text.split(", then ")]


def _layer(text: str) -> Spec:
    """Return a layer that is written on one line."""
    words = [word.partition(": ") for word in text.split(", ")]
    return {key: yaml.safe_load(value or "null") for key, _, value in words}
