"""The kinds of layer, by the word that a spec has for them: the one list that a new cell is named in.

A kind's module is loaded when the kind is first used, so that no call pays for cells it has not.
"""

from importlib import import_module

from rnncalc.layers.layer import Layer

KINDS: dict[str, str | type[Layer]] = {
    "rnn": "rnncalc.layers.rnn:RNN",
    "gru": "rnncalc.layers.gru:GRU",
    "lstm": "rnncalc.layers.lstm:LSTM",
    "mgu": "rnncalc.layers.mgu:MGU",
    "mingru": "rnncalc.layers.mingru:MinGRU",
    "minlstm": "rnncalc.layers.minlstm:MinLSTM",
    "sru": "rnncalc.layers.sru:SRU",
    "fastgrnn": "rnncalc.layers.fastgrnn:FastGRNN",
    "dense": "rnncalc.layers.layer:Dense",
    "embedding": "rnncalc.layers.layer:Embedding",
    "dropout": "rnncalc.layers.layer:Dropout",
    "external": "rnncalc.layers.layer:External",
}
"""Where each kind's class stands, or the class itself; recurrent cells first."""


def kind(name: str) -> type[Layer]:
    """Return the class of a kind. Raises KeyError for a name that is not in the list."""
    found = KINDS[name]
    if isinstance(found, str):
        module, _, word = found.partition(":")
        loaded: type[Layer] = getattr(import_module(module), word)
        KINDS[name] = found = loaded
    return found
