"""What other programs and lectures call our keys, kinds and words, so that a message can name ours.

Tables alone, which `cures.py` reads. Imported when a word is not known, and by no call in which all are.
"""

from __future__ import annotations

Spelling = dict[str, str]

IN_YAML: Spelling = {
    "number": "",
    "of": ": ",
    "with_": ", with ",
    "and_": " and ",
    "is_": ": ",
    "true": ": true",
    "layer": "- ",
    "bidirectional": "write bidirectional: true in the layer itself",
    "topology": "write topology: many-to-many, or many-to-one, beside input",
    "output": "the output layer is output: N, below layers",
}
"""How the cures below are spelled in a file."""

IN_FLAGS: Spelling = {
    "number": ":20",
    "of": ":",
    "with_": ",",
    "and_": ",",
    "is_": "=",
    "true": "",
    "layer": "-l ",
    "bidirectional": "write it behind a layer, as in lstm:20,bidirectional",
    "topology": "give --topology many-to-many, or many-to-one",
    "output": "the output layer is --output N",
}
"""And in flags, where the number of a layer follows its kind."""

UNITS = "the units follow the kind, as in {kind}{of}20"
"""What to do with a key for the units of a layer."""

KEYS = {
    "input": "input_size input_dim input_shape inputs_size n_inputs num_inputs features num_features n_features "
    "in_features in_channels embedding_input vocab vocab_size vocabulary num_embeddings",
    "output": "output_size output_dim outputs n_outputs num_outputs num_classes classes out_features",
    "steps": "t time timesteps time_steps seq_len seq_length sequence_length max_len length",
    "convention": "framework library backend style",
    "name": "title",
    "tied": "tie tie_weights tied_weights tie_word_embeddings weight_tying",
    "max_params": "params parameters max_parameters max_param max_weights max_num_params num_params n_params",
    "max_bytes": "max_size max_mem max_memory max_file_size max_model_size max_storage",
    "max_multiply_adds": "max_macs max_mac max_madds max_madd max_mult_adds max_multiplies max_multiplications",
    "max_multiply_adds with half the number: one multiply-add is two FLOPs": "flops max_flops max_flop max_mflops "
    "max_gflops",
    "max_training_bytes": "max_training_memory max_training_mem max_training_size",
    "total": "params parameters num_params n_params total_params count sum",
    "batch": "batch_size batchsize bs minibatch mini_batch minibatch_size",
    "chunk": "chunk_size truncate truncation tbptt bptt bptt_steps k1 k2",
    "optimizer": "optim optimiser opt",
    "layers": "cells stack modules",
    "feedback": "feed_back fed_back autoregressive closed_loop output_feedback",
    "start": "initial_state initial_states h0 h_0 state states start_state start_states",
    "targets": "target labels label y ys desired",
}
"""Keys of a network and of what stands in it, each with what it is called elsewhere; a remark may follow a key."""

NETWORK_KEYS = {
    "write name": "model",
    "write training: {{batch: {value}}}": "batch batch_size batchsize bs minibatch mini_batch",
    "write training: {{optimizer: {value}}}": "optimizer optim optimiser opt",
    "write training: {{chunk: {value}}}": "chunk chunk_size truncate truncation tbptt bptt",
    "write output: {{units: N, tied: true}}": "tied tie tie_weights tied_weights tie_word_embeddings weight_tying",
    "write budget: {{max_params: {value}}}": "max_params max_parameters max_weights",
    "write budget: {{max_bytes: {value}}}": "max_bytes max_size",
    "write expect: {{total: {value}}}": "total total_params params parameters num_params",
    "the units follow the kind, in the list of layers: - lstm: {value}": "units hidden hidden_size hidden_dim "
    "hidden_units num_units n_units n_hidden",
    "write repeat: {value} below a layer's kind, for so many layers one after another": "num_layers n_layers depth",
    "leave it out; it changes no count": "batch_first dtype lr learning_rate epochs loss seed device",
}
"""What to do with a key of a network that stands elsewhere in a spec, or nowhere."""

LAYER_KEYS = {
    "write repeat": "num_layers n_layers layers depth stack times copies",
    "write bidirectional": "bidir bi bidirection both_directions",
    "write bias": "use_bias biases with_bias b",
    "write projection": "proj_size proj num_proj projection_size",
    "write peepholes": "peephole use_peepholes use_peephole",
    "write frozen": "freeze",
    "write tied": "tie tie_weights tied_weights tie_word_embeddings weight_tying",
    "dropout is a layer of its own; write {layer}dropout{of}{value}": "dropout_rate dropout_prob dropout_p drop "
    "drop_rate",
    "write activation": "nonlinearity act",
    "write merge": "merge_mode",
    "write name": "id label",
    "write learned_state": "learn_state initial_state h0 learned_h0",
    UNITS: "units hidden hidden_size hidden_dim hidden_units num_units n_units size n features out_features "
    "output_dim embedding_dim p h n_hidden",
    "the width it reads is that of the layer below, or of input": "input_size input_dim input_shape in_features m "
    "inputs",
    "{topology}": "return_sequences return_sequence",
    "{output}": "output outputs",
    "leave it out; it changes no count": "batch_first recurrent_dropout return_state stateful dtype "
    "recurrent_activation",
}
"""What to do with a key of a layer that is another program's."""

TRAINED = {"true": "remove it: a layer is trained unless it is frozen", "": "write frozen{true}"}
ONE_WAY = {"bidirectional both": "write bidirectional{true}", "": "leave it out: either direction counts the same"}

BY_VALUE = {
    "trainable": TRAINED,
    "requires_grad": TRAINED,
    "direction": ONE_WAY,
    "directions": {"2 two": "write bidirectional{true}"} | ONE_WAY,
}
"""Keys of a layer whose value says what is meant: what to do for some values, and under "" for the others."""

KINDS = {
    "write rnn{number}": "simplernn simple_rnn vanilla_rnn vanilla elman rnncell rnn_cell "
    "basicrnncell basicrnn simplecell simplernncell cudnnrnn",
    "write lstm{number}": "lstmcell lstm_cell optimizedlstmcell basiclstmcell basiclstm cudnnlstm lstmblockcell "
    "vanilla_lstm vanillalstm",
    "write gru{number}": "grucell gru_cell cudnngru grublockcell",
    "write mgu{number}": "mgucell minimal_gated_unit",
    "write sru{number}": "srucell simple_recurrent_unit",
    "write lstm{number}{with_}projection{is_}N": "lstmp lstm_p projected_lstm projectedlstm",
    "write lstm{number}{with_}bidirectional{true}": "bilstm bi_lstm bi-lstm blstm bidirectional_lstm",
    "write gru{number}{with_}bidirectional{true}": "bigru bi_gru bi-gru bgru bidirectional_gru",
    "write rnn{number}{with_}bidirectional{true}": "birnn bi_rnn bi-rnn brnn bidirectional_rnn",
    "{bidirectional}": "bidirectional",
    "write rnn{number}{with_}recurrence{is_}diagonal{and_}activation{is_}relu": "indrnn ind_rnn indrnncell",
    "write gru{number}{with_}reset_gate{is_}false{and_}activation{is_}relu": "ligru li_gru li-gru ligrucell",
    "write gru{number}{with_}reset_gate{is_}false": "ugrnn",
    "write lstm{number}{with_}peepholes{true}": "peephole_lstm peepholelstm",
    "write dense{number}": "linear fc fully_connected fullyconnected affine mlp ffn feedforward softmax",
    "write embedding{number}": "embed embeddings lookup",
    "write external{of}N, a part of N parameters that are counted elsewhere": "cnn conv conv1d conv2d convolution "
    "attention batchnorm batch_norm layernorm layer_norm",
    "{output}": "output out",
}
"""What to do with a kind of layer that is another program's."""

NOT_HERE = (
    "qrnn quasi_rnn ran lru lmu s4 s4d s5 h3 mamba mamba2 ssm rwkv retnet xlstm slstm mlstm hgrn transformer "
    "transformer_encoder transformerencoder convlstm conv_lstm convlstm1d convlstm2d convlstm2dcell convgru conv_gru "
    "tcn esn reservoir ltc cfc nas nascell fastrnn minimalrnn cornn unicornn antisymmetricrnn antisymmetric_rnn atr "
    "cfn janet lem mut1 mut2 mut3 rhn scrn star tgru urnn treelstm tree_lstm clockwork phased_lstm phasedlstm"
)
"""Kinds that are known, and none of ours nor any of ours with options."""

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
    "many-to-many": "sequence sequences many2many n-to-n n-to-m n-n m-to-n tagging",
    "many-to-many; a network of two halves is a spec with encoder and decoder": "seq2seq encoder-decoder translation",
    "many-to-one": "many2one n-to-one n-to-1 n-1 many-to-1 m-to-1 classification",
    "one-to-many": "one2many one-to-n 1-to-n 1-n 1-to-many 1-to-m generation",
    "one-to-one": "one2one 1-to-1 1-1",
    "concat": "concatenate cat join",
    "sum": "add plus",
    "mul": "multiply times product",
    "ave": "average mean avg",
    "linear": "identity none",
    "sigmoid": "logistic",
    "diagonal": "diag independent indrnn",
    "full": "dense",
}
"""Values that are words, each with what it is called elsewhere; a remark may follow a word."""
