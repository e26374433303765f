"""What to write for an unknown word: the name here for another program's key, kind or value, or a similar word.

One table of words by the places where they are written, and functions that look a word up in it. Imported only when a
word is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from rnncalc.conventions import CONVENTIONS, NOTATIONS
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import OPTIONS
from rnncalc.printable import escape
from rnncalc.words import did_you_mean, one_of

if TYPE_CHECKING:
    import ast

TABLE: dict[str, dict[str, str]] = {
    "anywhere": {
        # keys of a network and of what is in it
        "units": "hidden hidden_size hidden_dim hidden_units num_units n_units n_hidden size n features out_features "
        "output_size output_dim embedding_dim p h",
        "input": "input_size input_dim input_shape inputs_size n_inputs num_inputs features num_features n_features "
        "in_features in_channels embedding_input vocab vocab_size vocabulary num_embeddings m",
        "output": "output_size output_dim outputs n_outputs num_outputs num_classes classes out_features",
        "steps": "t time timesteps time_steps seq_len seq_length sequence_length max_len length",
        "convention": "framework library backend style",
        "total": "params parameters num_params n_params total_params count sum",
        "max_params": "params parameters max_parameters max_param max_weights max_num_params num_params n_params",
        "max_bytes": "max_size max_mem max_memory max_file_size max_model_size max_storage",
        "max_multiply_adds": "max_macs max_mac max_madds max_madd max_mult_adds max_multiplies max_multiplications",
        "max_multiply_adds with half the number: one multiply-add is two FLOPs": "flops max_flops max_flop max_mflops "
        "max_gflops",
        "max_training_bytes": "max_training_memory max_training_mem max_training_size",
        "batch": "batch_size batchsize bs minibatch mini_batch minibatch_size",
        "chunk": "chunk_size truncate truncation tbptt bptt bptt_steps k1 k2",
        "optimizer": "optim optimiser opt",
        "layers": "cells stack modules",
        "feedback": "feed_back fed_back autoregressive closed_loop output_feedback",
        "start": "initial_state initial_states h0 h_0 state states start_state start_states",
        "targets": "target labels label y ys desired",
        # options of a layer
        "name": "title id label",
        "repeat": "num_layers n_layers layers depth stack times copies",
        "bidirectional": "bidir bi bidirection both_directions",
        "bidirectional{true}": "direction=bidirectional direction=both directions=2 directions=two",
        "bias": "use_bias biases with_bias b center",
        "center": "bias use_bias beta",
        "kernel": "kernel_size kernel_shape filter_size",
        "stride": "strides",
        "dilation": "dilation_rate",
        "projection": "proj_size proj num_proj projection_size",
        "peepholes": "peephole use_peepholes use_peephole",
        "coupled": "couple input_forget coupled_gates couple_gates",
        "layer_norm": "layernorm layernormalization layer_normalization layer_normalisation ln use_layer_norm",
        "key_size": "key_dim head_dim head_size",
        "value_size": "value_dim",
        "feed_forward": "dim_feedforward d_ff ff ffn_dim intermediate_size intermediate_dim mlp_dim",
        "norm{is_}first": "norm_first pre_norm prenorm pre_ln",
        "norm{is_}last": "post_norm postnorm post_ln",
        "causal{true}": "is_causal use_causal_mask masked",
        "positions": "max_position_embeddings block_size n_positions max_len position_embeddings positional_embedding",
        "frozen": "freeze",
        "frozen{true}": "trainable requires_grad",
        "tied": "tie tie_weights tied_weights tie_word_embeddings weight_tying",
        "activation": "nonlinearity act",
        "recurrent_activation": "gate_activation inner_activation gate_fn gate_nonlinearity",
        "merge": "merge_mode",
        "learned_state": "learn_state initial_state h0 learned_h0",
        # kinds of layer
        "rnn{number}": "simplernn simple_rnn vanilla_rnn vanilla elman rnncell rnn_cell basicrnncell basicrnn "
        "simplecell simplernncell",
        "lstm{number}": "lstmcell lstm_cell optimizedlstmcell basiclstmcell basiclstm lstmblockcell vanilla_lstm "
        "vanillalstm",
        "gru{number}": "grucell gru_cell grublockcell",
        "rnn{number}{cudnn}": "cudnnrnn",
        "lstm{number}{cudnn}": "cudnnlstm",
        "gru{number}{cudnn}": "cudnngru",
        "mgu{number}": "mgucell minimal_gated_unit",
        "sru{number}": "srucell simple_recurrent_unit",
        "lstm{number}{with_}projection{is_}N": "lstmp lstm_p projected_lstm projectedlstm",
        "lstm{number}{with_}bidirectional{true}": "bilstm bi_lstm bi-lstm blstm bidirectional_lstm",
        "gru{number}{with_}bidirectional{true}": "bigru bi_gru bi-gru bgru bidirectional_gru",
        "rnn{number}{with_}bidirectional{true}": "birnn bi_rnn bi-rnn brnn bidirectional_rnn",
        "rnn{number}{with_}recurrence{is_}diagonal{and_}activation{is_}relu": "indrnn ind_rnn indrnncell",
        "gru{number}{with_}reset_gate{is_}false{and_}activation{is_}relu": "ligru li_gru li-gru ligrucell",
        "gru{number}{with_}reset_gate{is_}false": "ugrnn",
        "lstm{number}{with_}peepholes{true}": "peephole_lstm peepholelstm",
        "lstm{number}{with_}coupled{true}": "cifg cifglstm cifg_lstm coupledinputforgetgatelstmcell",
        "lstm{number}{with_}layer_norm{true}": "layernormlstm layer_norm_lstm layernormlstmcell "
        "layernormbasiclstmcell lnlstm",
        "conv_lstm{number}{with_}kernel{is_}{kernel}{and_}space{is_}{space}": "convlstm convlstm1d convlstm2d "
        "convlstmcell convolutional_lstm",
        "dense{number}": "linear fc fully_connected fullyconnected affine mlp ffn feedforward softmax",
        "dense{number}; under topology many-to-many it is applied at every step": "timedistributed time_distributed "
        "timedistributeddense",
        "embedding{number}": "embed embeddings lookup",
        "dropout{number}": "dropout_rate dropout_prob dropout_p drop drop_rate dropout1d dropout2d dropout3d "
        "spatialdropout1d spatialdropout2d spatialdropout3d alphadropout featurealphadropout gaussiandropout",
        "external{of}N, a part of N parameters that are counted elsewhere": "conv2d conv3d conv1dtranspose "
        "conv2dtranspose conv3dtranspose convtranspose1d convtranspose2d convtranspose3d depthwiseconv2d "
        "separableconv2d convlstm3d bilinear einsumdense prelu embeddingbag instancenorm instancenormalization "
        "instancenorm1d instancenorm2d batchnorm2d batchnorm3d transformerdecoderlayer transformerdecoder "
        "groupqueryattention convgru qrnn ran lru lmu s4 s4d s5 ssm mamba mamba2 rwkv xlstm slstm mlstm ltc cfc esn "
        "nas janet treelstm phased_lstm cornn fastrnn rhn tgru urnn",
        "conv1d{number}{with_}kernel{is_}N": "cnn conv conv_1d convolution convolution1d convolution_1d tcn",
        "pool1d{number}": "pool pooling maxpool maxpool1d maxpooling1d max_pool max_pool1d max_pooling1d",
        "pool1d{number}{with_}mode{is_}average": "avgpool avgpool1d averagepooling1d avg_pool avg_pool1d "
        "average_pooling1d",
        "batch_norm": "batchnorm batchnorm1d batch_norm1d batchnormalization batch_normalization bn",
        "repeat_vector{number}": "repeatvector repeat_vectors",
        "flatten": "flattened flatten_layer",
        "pool1d{of}T{with_}mode{is_}average, T being all steps, and flatten behind it": "globalaveragepooling1d "
        "global_average_pooling1d",
        "pool1d{of}T, T being all steps, and flatten behind it": "globalmaxpooling1d global_max_pooling1d",
        "multi_head_attention{number}": "multiheadattention mha multihead_attention multihead self_attention "
        "selfattention multiheaddotproductattention",
        "transformer{number}{with_}feed_forward{is_}N": "transformerencoderlayer transformer_encoder_layer "
        "encoder_layer transformer_encoder transformer_block transformerblock block bert gpt",
        "attention{number}": "attention_pooling attentionpooling additive_attention bahdanau",
        # values that are words
        "pytorch": "torch py_torch pt cudnn",
        "keras": "tensorflow tf tf.keras tf-keras tensorflow-keras",
        "flax-linen": "jax flax linen",
        "flax-nnx": "jax flax nnx",
        "onnx": "onnxruntime ort",
        "equinox": "jax eqx",
        "haiku": "jax dm-haiku hk",
        "paddle": "paddlepaddle paddle_paddle",
        "tfjs": "tf.js tensorflow.js tensorflowjs javascript",
        "w": "textbook wx w_x book lecture",
        "uvw": "u-w-v u,w,v uwv uw goodfellow deeplearningbook",
        "rows": "xw x_w x@w row-vectors row_vectors transposed",
        "columns": "column [h;x] [x;h]",
        "stacked": "hx xh [h,x] [x,h] concat concatenated concatenate",
        "multiply-adds": "macs mac madds mult-adds multiply_adds",
        "stacked-gates": "fused fused-gates all-gates one-matrix stacked_gates stackedgates",
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
        "json; it has the numbers of each spec": "benchmark badge",
        "github": "gh actions",
        "many-to-many": "sequence sequences many2many n-to-n n-to-m n-n m-to-n tagging",
        "many-to-many; a network of two halves is a spec with encoder and decoder": "seq2seq encoder-decoder "
        "translation",
        "many-to-one": "many2one n-to-one n-to-1 n-1 many-to-1 m-to-1 classification",
        "one-to-many": "one2many one-to-n 1-to-n 1-n 1-to-many 1-to-m generation",
        "one-to-one": "one2one 1-to-1 1-1",
        "concat": "concatenate cat join",
        "additive": "bahdanau mlp",
        "location": "location_sensitive location_aware location-sensitive location-aware hybrid chorowski",
        "general": "luong multiplicative bilinear",
        "dot": "dot_product scaled_dot_product",
        "sum": "add plus",
        "mul": "multiply times product",
        "ave": "average mean avg",
        "linear": "identity none",
        "sigmoid": "logistic",
        "diagonal": "diag independent indrnn",
        "full": "dense",
        # commands, and flags of one command
        "count": "params parameters summary",
        "compare": "diff vs versus",
        "solve": "find fit search",
        "draw": "plot diagram picture visualize visualise render graph show",
        "explain": "derive why formula",
        "answer": "grade mark judge",
        "run": "forward predict execute infer",
        "check": "lint verify validate test ci",
        "read": "import load inspect",
        "export --to NAME": "generate codegen",
        "operations (FLOPs are twice the multiply-adds, and the rest)": "flops flop mflops gflops ops",
        "cost": "memory mem bytes macs mac multiply_adds mult_adds madds",
        "cost (one multiply-add is two FLOPs)": "flops flop mflops gflops",
    },
    # keys that are wrong where they are, or for which there is none
    "network": {
        "write it into the decoder of an encoder and a decoder: it attends to the outputs of the encoder": "attention",
        "write name": "model",
        "write output: {{units: N, tied: true}}": "tied",
        "the units follow the kind, in the list of layers: - lstm: {value}": "units",
        "write repeat: {value} below a layer's kind, for so many layers one after another": "repeat",
        "leave it out: it changes no count": "batch_first dtype lr learning_rate epochs loss seed device",
    },
    "budget": {
        "write expect in the spec for a number that must not change; only the dense ratio has a lower limit": (
            "min_params min_bytes min_multiply_adds"
        )
    },
    "attention": {"remove it: keys and values are as wide as the encoder's outputs": "kdim vdim"},
    "layer": {
        "remove it: a layer is trained unless it is frozen": "trainable=true requires_grad=true",
        "leave it out: either direction counts the same": "direction directions",
        "leave it out: it changes no count": "batch_first recurrent_dropout return_state stateful dtype go_backwards "
        "implementation unit_forget_bias forget_bias unroll time_major zero_output_for_mask use_cudnn seed "
        "kernel_initializer recurrent_initializer bias_initializer kernel_regularizer recurrent_regularizer "
        "bias_regularizer activity_regularizer kernel_constraint recurrent_constraint bias_constraint",
        "remove it: lower layers always output every step; set the topology for the last one": (
            "return_sequences return_sequence"
        ),
        "the units follow the kind, as in {kind}{of}20": "units",
        "it reads the width of the layer below, or of the input": "input inputs",
        "dropout is a layer of its own; write {layer}dropout{of}{value}": "dropout",
        "{output}": "output",
    },
    "conv_lstm": {
        "remove it: a conv_lstm always has padding same and stride 1": (
            "padding=same stride=1 strides=1 dilation=1 dilation_rate=1"
        ),
        "a conv_lstm has padding same and stride 1 only; write another one as {layer}external{of}N, of N parameters": (
            "padding stride dilation"
        ),
    },
    "multi_head_attention": {
        "its keys and values are as wide as its input; for other widths write, with your numbers for E, K and V, "
        "external: {{q_proj_weight: [E, E], k_proj_weight: [E, K], v_proj_weight: [E, V], in_proj_bias: [3*E], "
        "out_proj.weight: [E, E], out_proj.bias: [E]}} in a spec": "kdim vdim"
    },
    # words that are no kind of layer
    "kind": {
        "{bidirectional}": "bidirectional",
        "{output}": "output out",
        "remove it: it has no parameters": "masking identity permute add average maximum minimum multiply subtract dot "
        "lambda activityregularization gaussiannoise inputlayer input rescaling localresponsenorm unitnormalization "
        "channelshuffle",
        "write {layer}external{of}N{with_}frozen{true}, N being 2m + 1: Keras's mean and variance of m features, and a "
        "count": "normalization",
        "remove it: it has no parameters; the activation of a layer is written in it, as activation{is_}relu": (
            "activation relu relu6 leakyrelu elu selu celu gelu silu swish mish sigmoid hardsigmoid logsigmoid "
            "hardswish tanh hardtanh softplus softsign logsoftmax thresholdedrelu threshold"
        ),
        "remove it: it has no parameters; write extra_inputs{is_}N in the layer above for N more features": (
            "concatenate concat cat merge"
        ),
        "write {layer}external{of}0{with_}outputs{is_}N: it has no parameters, and outputs N features per step": (
            "glu reshape unflatten unfold fold maxpool2d maxpool3d maxpooling2d maxpooling3d avgpool2d avgpool3d "
            "averagepooling2d averagepooling3d globalmaxpooling2d globalmaxpooling3d globalaveragepooling2d "
            "globalaveragepooling3d adaptiveavgpool2d adaptiveavgpool3d adaptivemaxpool2d adaptivemaxpool3d cropping2d "
            "cropping3d zeropadding2d zeropadding3d upsampling2d upsampling3d upsample pixelshuffle"
        ),
        "remove it: it has no parameters; write padding{is_}same or padding{is_}causal in the conv1d after it": (
            "zeropadding1d constantpad1d reflectionpad1d replicationpad1d"
        ),
        "remove it: it has no parameters; the layers after it have its number of steps": "cropping1d upsampling1d "
        "adaptiveavgpool1d adaptivemaxpool1d",
        "write {layer}attention{of}N for one with matrices; Keras's has the N numbers of a key: {layer}external{of}N": (
            "additiveattention"
        ),
        "write {layer}layer_norm: it has as many parameters": "groupnorm groupnormalization",
        "write {layer}layer_norm{with_}bias{is_}false: it has as many parameters": "rmsnorm rmsnormalization",
        "write {layer}conv1d{of}M{with_}kernel{is_}K{and_}groups{is_}M, M being its input's width": "depthwiseconv1d",
        "write {layer}conv1d{of}M{with_}kernel{is_}K{and_}groups{is_}M{and_}bias{is_}false and "
        "{layer}conv1d{of}N{with_}kernel{is_}1, M being its input's width": "separableconv1d",
        "write its layers one after another": "sequential modulelist stackedrnncells stacked_rnn_cells",
    },
    # what is meant by one of our words, or another name for it, that is typed as a flag with a number, with a layer or
    # alone: a part of a layer, other flags, or nothing that is counted; the first row that fits is meant
    "flag": {
        "units {number}": "units",
        "repeat {number}": "repeat",
        "layer {layer}": "layers cell",
        "--params {number}": "budget",
        "--max-params {number}": "budget",
        "--training": "chunk",
        "--operations": "operations",
        "--cost": "cost",
        "--of flops": "operations",
        "--of multiply-adds": "cost",
        "--ask flops": "operations",
        "--ask multiply-adds": "cost",
        "dropped": "batch_first",
    },
}
"""Other programs' words by the place where they are written, each row with what to write instead, or the cure.

Anywhere it is one of our words, alone or with a value; its spelling or a remark may follow it. A word is looked up as
it is, or as our word for it.
"""

Spelling = dict[str, str]

IN_YAML: Spelling = {
    "number": "",
    "of": ": ",
    "with_": ", with ",
    "and_": " and ",
    "is_": ": ",
    "true": ": true",
    "layer": "- ",
    "kernel": "3",
    "space": "64x64",
    "bidirectional": "write bidirectional: true in the layer itself",
    "output": "the output layer is output: N, below layers",
    "cudnn": ", and convention: pytorch beside input, which has two bias vectors",
}
"""The spelling of the cures above in a file."""

IN_FLAGS: Spelling = {
    "number": ":20",
    "of": ":",
    "with_": ",",
    "and_": ",",
    "is_": "=",
    "true": "",
    "layer": "-l ",
    "kernel": "3",
    "space": "64x64",
    "bidirectional": "write it behind a layer, as in lstm:20,bidirectional",
    "output": "the output layer is -o N",
    "cudnn": ", and -c pytorch, which has two bias vectors",
}
"""The spelling of the cures above in flags, where a layer's number follows its kind."""


def our_words(word: str) -> list[str]:
    """Return our words for another program's word, with any value."""
    pattern = rf"(^| ){re.escape(word.lower())}($|[ =])"  # made once: words may be long
    rows = [row for row, others in TABLE["anywhere"].items() if re.search(pattern, others)]
    return [*dict.fromkeys(map(_ours, rows))]


def spelled(word: str, known: Collection[str], spelling: Spelling = IN_YAML) -> list[str]:
    """Return what to write for another program's word; only known words.

    The spelling may have a value that is kept, written after its sign.
    """
    lowered = word.lower()
    rows = [row for row, others in TABLE["anywhere"].items() if lowered in others.split() and _ours(row) in known]
    return [row.format(**spelling) + ("" if re.search("[ {]", row) else spelling.get("kept", "")) for row in rows]


_MODULES = r"(?:(?:torch|nn|tf|tensorflow|keras|layers|rnn|jax|flax|linen|nnx|mx|gluon|paddle|self)\.)+"

CALLED = {
    **dict.fromkeys(("rnn", "gru", "lstm"), "input units repeat"),
    **dict.fromkeys(("dense", "LSTMCell", "GRUCell"), "input units bias"),
    "RNNCell": "input units bias activation",
    "embedding": "input units",
    "conv1d": "input units kernel stride",
    "Conv1D": "units kernel stride",
    "conv_lstm": "units kernel",
    "pool1d": "units stride",
    "MultiheadAttention": "input units dropout bias",
    "MultiHeadAttention": "units key_size value_size",
    "nn.MultiHeadAttention": "",  # of MLX, without biases, or of PaddlePaddle, with them
    "Bidirectional": "merge",
}
"""What the values in a call of a layer are, by its name there or its kind, if there is more than one."""

_NUMBERS = "num_heads filters out_channels pool_size rate"
"""The names of the number behind a kind, beside those of units."""

_UNCOUNTED = "dropout recurrent_dropout batch_first dtype device name return_state stateful input_length"


def without_module(name: str) -> str:
    """Return `LSTM` of `nn.LSTM`."""
    return re.sub(f"^{_MODULES}", "", name)


def layer_called(text: str) -> tuple[str, str, dict[str, str]] | None:
    """Return a layer as a framework's program makes it, `nn.LSTM(10, 20)`, in flags; None if that is not known.

    It is its input if that is given, the layer with {} for a number that it lacks, and other flags with their values.
    """
    from ast import Call, parse

    try:
        call = parse(text.strip(), mode="eval").body if "(" in text and len(text) <= 200 else None
        return _called(call) if isinstance(call, Call) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _called(call: ast.Call) -> tuple[str, str, dict[str, str]]:
    """Return what `layer_called` does. Raises ValueError for a call that is no layer."""
    from ast import Call, literal_eval, unparse

    path = unparse(call.func)
    called = without_module(path)
    name, values, size, flags = called.lower(), call.args, "", dict[str, str]()
    if name in ("bidirectional", "timedistributed") and values and isinstance(values[0], Call):
        size, written, flags = _called(values[0])
        written, values = written + ",bidirectional" * (name == "bidirectional"), values[1:]
    else:
        written = name if name in KINDS else next(iter(spelled(name, KINDS, IN_FLAGS | {"number": ""})), " ")
    if re.search("[ N;]", written) or name in ("attention", "softmax"):  # classes of other layers than these kinds
        raise ValueError
    first, *options = written.split(",")
    cell, _, units = first.partition(":")
    names = (".".join(path.split(".")[-2:]), called, cell)
    numbers = next((CALLED[each] for each in names if each in CALLED), "").split() if len(call.args) > 1 else ["units"]
    arguments = zip(numbers[: len(values)], values, strict=True)  # ValueError for more than are known
    for key, node in [*arguments, *((each.arg or "", each.value) for each in call.keywords)]:
        value, ours = literal_eval(node), ("units",) if key in _NUMBERS.split() else (key, *our_words(key))
        value = not value if key in ("trainable", "requires_grad") else value  # which is frozen here
        option = next((each for each in ours if each in kind(cell).options()), "")
        if "input" in ours and isinstance(value, tuple) and len(value) == 2:  # input_shape=(10, 8)
            size, flags = str(value[1]), flags | ({"-T": str(value[0])} if value[0] else {})
        elif {"units", "input"} & {*ours} and not isinstance(value, int | float):
            raise ValueError
        elif "units" in ours and kind(cell).number:
            units = str(value)
        elif {"units", "input"} & {*ours}:  # of LayerNorm(20) the width that it reads
            size = str(value)
        elif key == "return_sequences":
            flags |= {"--topology": "many-to-many"} if value else {}
        elif isinstance(value, tuple) or (option == "padding" and value and not isinstance(value, str)):
            raise ValueError
        elif option and (option, value) not in (("repeat", 1), ("projection", 0), ("padding", 0)):
            options = [each for each in options if each.partition("=")[0] != option]
            options.append(option if value is True else f"{option}={str(value).lower()}")
        elif not option and key not in _UNCOUNTED.split():
            raise ValueError
    cell_of_flax = "features" in {each.arg for each in call.keywords} or (name.endswith("cell") and not size)
    patterns = {
        "flax-linen": r"(flax\.)?(linen|nn)\." if cell_of_flax else "$",
        "pytorch": r"torch\.|nn\.(RNN|LSTM|GRU)(Cell)?\b",
        "keras": r"(tf|keras|layers)\.",
    }
    framework = next((each for each, pattern in patterns.items() if re.match(pattern, path)), "")
    layer = ",".join((f"{cell}:{units or '{}'}" if kind(cell).number else cell, *options))
    return size, layer, flags | ({"-c": framework} if framework else {})


def _ours(row: str) -> str:
    return re.split("[ ;{]", row)[0]


def remedy(word: str, place: str, spelling: Spelling) -> str:
    """Return the cure for a word, or for our word for it, at a place of the table; empty if there is none."""
    words, rows = {word.lower(), *our_words(word)}, TABLE.get(place, {})
    return next((row.format(**spelling) for row, others in rows.items() if words & {*others.split()}), "")


def cure(word: str, known: tuple[str, ...], place: str = "", spelling: Spelling = IN_YAML, value: str = "") -> str:
    """Return the cure for an unknown word: `; write lstm`, or `; did you mean 'lstm'?`; empty if there is none.

    place: that of the table for words that are wrong here. value: the value that is given for the word.
    """
    for each in (*([f"{word}={value}"] if value else []), word, re.sub("[_-]", "", word)):
        if matches := spelled(each, known, spelling):
            return f"; write {one_of(matches)}"
        if advice := remedy(each, place, spelling):
            return f"; {advice}"
    return did_you_mean(word, known)


def expected_word(word: str, known: tuple[str, ...]) -> str:
    """Return the message for a word that is none of these."""
    return f"expected {one_of(known)}, got '{escape(word)}'{cure(word, known)}"


def choice_cure(word: str, known: tuple[str, ...], *, in_flags: bool) -> str:
    """Return the cure for a word that is not among the values of an option; empty if there is none."""
    frameworks = spelled(word, (*CONVENTIONS,)) or [name for name in CONVENTIONS if name == word.lower()]
    if known == NOTATIONS and frameworks and not spelled(word, known):
        key = "-c " if in_flags else "convention: "
        return f"; for a framework's own tensors write {key}{one_of(frameworks)}, and no notation"
    if known == NOTATIONS and "pytorch" in spelled(word, known):
        return f"; write pytorch, with {'-c pytorch' if in_flags else 'convention: pytorch'}"
    return cure(word, known)


def space_cure(key: str, known: Collection[str]) -> str:
    """Return what to write for `units:5`, which YAML takes for a key in brackets."""
    name, _, value = key.partition(":")
    return f"a space is missing after the colon: write {name}: {escape(value)}" if name in known and value else ""


def key_cure(key: str, known: tuple[str, ...], value: str = "") -> str:
    """Return the cure for an unknown key: `; write input`, or a similar key; empty if there is none.

    value: its value, if that is a word.
    """
    if space := space_cure(key, known):
        return f"; {space}"
    if {"input", "layers"} <= {*known} and not spelled(key, known) and (advice := _in_network(key, known, value)):
        return f"; {advice}"
    return cure(key, known, "attention" if "key_size" in known else "budget" if "max_params" in known else "")


def _in_network(key: str, known: tuple[str, ...], value: str) -> str:
    """Return the cure for a key that belongs elsewhere in a network."""
    from rnncalc.network.budget import BUDGET_KEYS
    from rnncalc.network.parts import Expect
    from rnncalc.network.training import UPDATE_KEYS

    written = escape(value) or "N"
    if value.lower() in KINDS:
        return f"write a layer in the list of layers, with a dash: - {value.lower()}: N"
    if advice := remedy(key, "network", {"value": written}):
        return advice
    if key in KINDS:
        return f"write a layer in the list of layers, with a dash: - {key}: {written}"
    ours = [key, *our_words(key)]
    for holder, keys in (("expect", Expect.fields), ("budget", BUDGET_KEYS), ("training", UPDATE_KEYS)):
        if holder in known and (matches := [key] if key in keys else spelled(key, keys)):
            name, space, remark = matches[0].partition(" ")
            return f"write {holder}: {{{name}: {written}}}{space}{remark}"
    option = next((each for each in ours if each in OPTIONS), "")
    what = "an option of a layer is written" if option == key else f"write {option}"
    return f"{what} below the layer's kind, in the same column" if option else ""


def kind_cure(key: str, words: list[tuple[str, str]], *, in_flags: bool) -> str:
    """Return the cure for a key that is not a kind of layer: `; write lstm`.

    words: the keys of the layer, each with its value.
    """
    spelling = IN_FLAGS if in_flags else IN_YAML
    named = dict(words).get(key, "") if key in ("type", "kind", "cell", "class", "layer") else ""
    if named:
        number = next((word for name, word in words if "units" in (name, *our_words(name))), "")
        return f"; write {escape(named)}{spelling['of']}{escape(number) or '20'}, the kind and its number"
    if not in_flags and (space := space_cure(key, KINDS)):
        return f"; {space}"
    module, key = key, without_module(key)
    if key.lower() in KINDS:
        number = f"{spelling['of']}{escape(words[0][1]) or '20'}" if kind(key.lower()).number else ""
        two_biases = re.match(r"torch\.|nn\.(RNN|LSTM|GRU)", module)
        return f"; write {key.lower()}{number}{spelling['cudnn'] if two_biases else ''}"
    written = {option: word for name, word in words for option in (name, *our_words(name)) if word}
    spelling = spelling | {option: escape(written[option]) for option in ("kernel", "space") if option in written}
    typed = words[0][1] if in_flags else ""
    return cure(key, tuple(KINDS), "kind", spelling | {"number": f":{escape(typed)}"} if typed else spelling)


def call_cure(text: str, *, in_flags: bool) -> str:
    """Return what to write for a layer as a framework's program makes it; empty if that is not known."""
    if not (called := layer_called(text)):
        return ""
    _, layer, flags = called
    layer = layer.format("20")
    last = {"--topology": " if it is the last recurrent layer"}
    beside = [f"{flag} {value}{last.get(flag, '')}" for flag, value in flags.items()]
    if not in_flags:
        first, *options = (each.replace("=", ":").replace(":", ": ") for each in layer.split(","))
        options = [each if ":" in each else f"{each}: true" for each in options]
        layer = f"{first}{', with ' * bool(options)}{' and '.join(options)}"
        beside = [f"convention: {flags['-c']}"] if "-c" in flags else []
    return f"; write {layer}{', and ' * bool(beside)}{' and '.join(beside)}"


def option_cure(key: str, kind: str, known: tuple[str, ...], value: str, *, in_flags: bool) -> str:
    """Return the cure for an unknown option of a layer. known: the options that it has. value: the given value."""
    spelling = IN_FLAGS if in_flags else IN_YAML
    true = "true" if value.lower() in ("", "yes", "on", "1") else value.lower()
    kept = f"={escape(value)}" if in_flags and value else ""
    return cure(key, known, "layer", spelling | {"kind": kind, "value": escape(value) or "N", "kept": kept}, true)


def cure_of_other_kind(key: str, kind: str, known: tuple[str, ...], value: str, *, in_flags: bool) -> str:
    """Return what to write for an option that only other kinds have: `write center=false`; empty if nothing is known.

    known: the options that the kind has. value: the given value.
    """
    spelling = IN_FLAGS if in_flags else IN_YAML
    for each in (f"{key}={value}", key):
        if advice := remedy(each, kind, spelling):
            return advice
    matches = spelled(key, known, spelling)
    return f"write {matches[0]}{spelling['is_'] + escape(value) if value else ''}" if matches else ""
