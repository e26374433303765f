"""What other programs and lectures call our keys, kinds and words, so that a message can name ours.

Imported when a word is not known, and by no call in which all are.
"""

from __future__ import annotations

from rnncalc.layers.kinds import KINDS as OUR_KINDS
from rnncalc.layers.options import OPTIONS
from rnncalc.text import did_you_mean, escape, one_of

Spelling = dict[str, str]

IN_YAML: Spelling = {
    "number": "",
    "of": ": ",
    "with_": ", with ",
    "is_": ": ",
    "true": ": true",
    "bidirectional": "write bidirectional: true in the layer itself",
    "topology": "write topology: many-to-many, or many-to-one, beside input",
    "output": "the output layer is output: N, below layers",
}
"""How the cures below are spelled in a file."""

IN_FLAGS: Spelling = {
    "number": ":20",
    "of": ":",
    "with_": ",",
    "is_": "=",
    "true": "",
    "bidirectional": "write it behind a layer, as in lstm:20,bidirectional",
    "topology": "give --topology many-to-many, or many-to-one",
    "output": "the output layer is --output N",
}
"""And in flags, where the number of a layer follows its kind."""

_UNITS = "the units follow the kind, as in {kind}{of}20"

TOP_KEYS = {
    "input": "input_size input_dim input_shape inputs_size n_inputs num_inputs features num_features n_features "
    "in_features in_channels embedding_input vocab vocab_size vocabulary num_embeddings",
    "output": "output_size output_dim outputs n_outputs num_outputs num_classes classes out_features",
    "steps": "t time timesteps time_steps seq_len seq_length sequence_length max_len length",
    "convention": "framework library backend style",
    "name": "title model",
    "layers": "cells stack modules",
    "feedback": "feed_back fed_back autoregressive closed_loop output_feedback",
    "start": "initial_state initial_states h0 h_0 state states start_state start_states",
    "targets": "target labels label y ys desired",
}
"""Keys of a network, each with what it is called elsewhere."""

LAYER_KEYS = {
    "write repeat": "num_layers n_layers layers depth stack times copies",
    "write bidirectional": "bidir bi bidirection both_directions direction",
    "write bias": "use_bias biases with_bias b",
    "write projection": "proj_size proj num_proj projection_size",
    "write peepholes": "peephole use_peepholes use_peephole",
    "write frozen": "trainable requires_grad freeze",
    "write activation": "nonlinearity act",
    "write merge": "merge_mode",
    "write name": "id label",
    "write learned_state": "learn_state initial_state h0 learned_h0",
    _UNITS: "units hidden hidden_size hidden_dim hidden_units num_units n_units size n features out_features "
    "output_dim embedding_dim rate p h",
    "the width it reads is that of the layer below, or of input": "input_size input_dim input_shape in_features m "
    "inputs",
    "{topology}": "return_sequences return_sequence",
    "leave it out; it changes no count": "batch_first recurrent_dropout return_state stateful dtype "
    "recurrent_activation",
}
"""What to do with a key of a layer that is another program's."""

KINDS = {
    "write rnn{number}": "simplernn simple_rnn vanilla_rnn vanilla elman rnncell simplecell simplernncell",
    "write lstm{number}": "lstmcell optimizedlstmcell",
    "write gru{number}": "grucell",
    "write lstm{number}{with_}bidirectional{true}": "bilstm bi_lstm bi-lstm blstm bidirectional_lstm",
    "write gru{number}{with_}bidirectional{true}": "bigru bi_gru bi-gru bgru bidirectional_gru",
    "write rnn{number}{with_}bidirectional{true}": "birnn bi_rnn bi-rnn brnn bidirectional_rnn",
    "{bidirectional}": "bidirectional",
    "write rnn{number}{with_}recurrence{is_}diagonal": "indrnn ind_rnn",
    "write gru{number}{with_}reset_gate{is_}false": "ugrnn",
    "write lstm{number}{with_}peepholes{true}": "peephole_lstm peepholelstm",
    "write dense{number}": "linear fc fully_connected fullyconnected affine mlp ffn feedforward softmax",
    "write embedding{number}": "embed embeddings lookup",
    "write external{of}N, a part of N parameters that are counted elsewhere": "cnn conv conv1d conv2d convolution "
    "attention batchnorm batch_norm layernorm layer_norm",
    "{output}": "output out",
}
"""What to do with a kind of layer that is another program's."""

WORDS = {
    "pytorch": "torch py_torch pt",
    "keras": "tensorflow tf tf.keras tf-keras tensorflow-keras",
    "flax-linen": "jax flax linen",
    "flax-nnx": "jax flax nnx",
    "onnx": "onnxruntime ort",
    "textbook": "book lecture plain default",
    "float16": "fp16 half f16",
    "float32": "fp32 float single f32",
    "float64": "fp64 double f64",
    "bfloat16": "bf16",
    "float8": "fp8 f8",
    "int8": "i8 uint8 byte",
    "markdown": "md",
    "table": "text txt plain console",
    "latex": "tex",
    "tikz": "tex latex pgf",
    "html": "htm page web",
    "junit": "xml",
    "github": "gh actions",
    "many-to-many": "seq2seq sequence sequences many2many n-to-n",
    "many-to-one": "many2one n-to-one classification",
    "one-to-many": "one2many generation",
    "one-to-one": "one2one",
    "concat": "concatenate cat join",
    "sum": "add plus",
    "mul": "multiply times product",
    "ave": "average mean avg",
    "linear": "identity none",
    "sigmoid": "logistic",
    "diagonal": "diag independent indrnn",
    "full": "dense",
}
"""Values that are words, each with what it is called elsewhere."""


def _ours(theirs: str, table: dict[str, str]) -> list[str]:
    return [ours for ours, others in table.items() if theirs.lower() in others.split()]


def key_cure(key: str, known: tuple[str, ...]) -> str:
    """Return what to do with a key that is not known: `; write input`, or what was meant; nothing where it is open."""
    ours = [one for one in _ours(key, TOP_KEYS) if one in known]
    if ours:
        return f"; write {ours[0]}"
    if "layers" in known and key in OUR_KINDS:
        return f"; a layer stands in the list of layers, with a dash: - {key}: N"
    if "layers" in known and key in OPTIONS:
        return "; an option of a layer stands below the layer's kind, in the same column"
    return did_you_mean(key, known)


def option_cure(key: str, kind: str, options: tuple[str, ...], spelling: Spelling) -> str:
    """Return the same for a key of a layer of a kind, which has these options."""
    ours = _ours(key, LAYER_KEYS)
    written = ours[0].removeprefix("write ") if ours else ""
    if ours and (written in options or not written.isidentifier()):
        return f"; {ours[0].format(**spelling | {'kind': kind})}"
    return did_you_mean(key, options)


def kind_cure(word: str, known: tuple[str, ...], spelling: Spelling) -> str:
    """Return what to do with a kind of layer that is not known."""
    ours = _ours(word, KINDS)
    return f"; {ours[0].format(**spelling)}" if ours else did_you_mean(word, known)


def word_cure(word: str, known: tuple[str, ...]) -> str:
    """Return which of the words was meant by another program's."""
    ours = [one for one in _ours(word, WORDS) if one in known]
    return f"; write {one_of(ours)}" if ours else did_you_mean(word, known)


def expected_word(word: str, known: tuple[str, ...]) -> str:
    """Return what to say of a word that is none of these."""
    return f"expected {one_of(known)}, got '{escape(word)}'{word_cure(word, known)}"
