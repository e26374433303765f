"""What a layer is: its kind, its options, its gates and its equations.

KINDS is the one list in which a new cell is named. A kind's module is imported when the kind is first used.
"""

from __future__ import annotations

from rnncalc.errors import DeclarationError, imported
from rnncalc.layers.layer import Layer
from rnncalc.text import one_of

KINDS: dict[str, str | type[Layer]] = {
    "rnn": "rnncalc.layers.rnn:RNN",
    "gru": "rnncalc.layers.gru:GRU",
    "lstm": "rnncalc.layers.lstm:LSTM",
    "mgu": "rnncalc.layers.mgu:MGU",
    "mingru": "rnncalc.layers.mingru:MinGRU",
    "minlstm": "rnncalc.layers.minlstm:MinLSTM",
    "sru": "rnncalc.layers.sru:SRU",
    "fastgrnn": "rnncalc.layers.fastgrnn:FastGRNN",
    "conv_lstm": "rnncalc.layers.conv_lstm:ConvLSTM",
    "dense": "rnncalc.layers.layer:Dense",
    "embedding": "rnncalc.layers.layer:Embedding",
    "dropout": "rnncalc.layers.layer:Dropout",
    "external": "rnncalc.layers.layer:External",
    "conv1d": "rnncalc.layers.convolution:Conv1D",
    "pool1d": "rnncalc.layers.convolution:Pool1D",
    "layer_norm": "rnncalc.layers.normalisation:LayerNorm",
    "batch_norm": "rnncalc.layers.normalisation:BatchNorm",
    "flatten": "rnncalc.layers.reshaping:Flatten",
    "repeat_vector": "rnncalc.layers.reshaping:RepeatVector",
    "last": "rnncalc.layers.reshaping:LastStep",
}
"""The module and class of each kind, or the class itself; recurrent cells first."""


def kind(name: str) -> type[Layer]:
    """Return the class of a kind. Raises KeyError for a name that is not in the list.

    Raises DeclarationError if the list does not lead to a class of that kind.
    """
    found = KINDS[name]
    if isinstance(found, str):
        KINDS[name] = found = _loaded(name, found)
    return found


def _loaded(name: str, at: str) -> type[Layer]:
    """Return the class that the list names."""
    module, _, word = at.partition(":")
    where = f"{name}: in rnncalc/layers/__init__.py, {at!r}"
    there = imported(where, module)
    loaded = there.get(word)
    if not isinstance(loaded, type) or not issubclass(loaded, Layer):
        own = (of for of in there.values() if isinstance(of, type) and of.__module__ == module)
        names = [of.__name__ for of in own if issubclass(of, Layer)]
        raise DeclarationError(f"{where}: no such class of a layer{f'; there is {one_of(names)}' if names else ''}")
    if loaded.kind != name:
        has = f"the kind {loaded.kind!r}" if loaded.kind else "no kind"
        raise DeclarationError(f'{where}: the class has {has}; write kind = "{name}" in it')
    return loaded
