#!/usr/bin/env bash
# speechbrain 1.1.2: each gate of a quaternion LSTM is one of the four parts of all gates, and bias=False does nothing.
#
# Seen with torch 2.13.0 in November 2026. One expects each gate of QLSTM to be a vector of quaternions, as its matrices
# and states are (Parcollet et al., 2019): four parts, of one block of the product. The product with the four gates side
# by side has the real parts of all four first, then the three imaginary ones. The cell cuts it as if each gate had its
# four parts side by side. So the input gate is made of the real parts alone, the forget gate of the first imaginary
# parts, and so on: weights that one gate's parts should share are shared by the gates. CLSTM's input and forget gates
# are the real parts, its output gate and candidate the imaginary ones. Counts are those of the papers' layers, with two
# biases; with bias=False, documented, it is the same number. torchaudio, which the package imports, is an empty stand-
# in here.
#
# Output:
#   QLSTM(4) on 8: 512 parameters, with bias=False 512
#     one step is that of gates of four parts: False, of gates that are a part each: True
#   CLSTM(4) on 8: 320 parameters, with bias=False 320
#     one step is that of gates of two parts: False, of gates that are half a part each: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 scipy==1.17.1 hyperpyyaml==1.2.3 \
    sentencepiece==0.2.3 tqdm==4.70.1 packaging==26.4
"$folder/venv/bin/pip" install --quiet --no-deps speechbrain==1.1.2
touch "$folder/torchaudio.py"
cat > "$folder/seen.py" << 'PYTHON'
import torch
from speechbrain.nnet.complex_networks.c_RNN import CLSTM
from speechbrain.nnet.quaternion_networks.q_RNN import QLSTM

torch.manual_seed(0)
x = torch.randn(3, 1, 8)


def step(gates):
    i, _, o, g = gates
    return torch.sigmoid(o) * torch.tanh(torch.sigmoid(i) * torch.tanh(g))


for kind, parts, names in (
    (QLSTM, 4, ("four parts", "a part each")),
    (CLSTM, 2, ("two parts", "half a part each")),
):
    counts = [
        sum(each.numel() for each in kind(hidden_size=4, input_shape=(3, 1, 8), **options).parameters())
        for options in ({}, {"bias": False})
    ]
    print(f"{kind.__name__}(4) on 8: {counts[0]} parameters, with bias=False {counts[1]}")
    layer = kind(hidden_size=4, input_shape=(3, 1, 8))
    for name, each in layer.named_parameters():
        if name.endswith((".b", ".bias")):
            torch.nn.init.zeros_(each)
    product = layer.rnn[0].w(x)[:, 0]
    expected = step(product.view(3, parts, 4, 4).transpose(1, 2).reshape(3, 4, 4 * parts).unbind(1))
    computed = step(product.chunk(4, 1))
    output = layer(x)
    output = (output[0] if isinstance(output, tuple) else output)[:, 0]
    print(
        f"  one step is that of gates of {names[0]}: {torch.allclose(output, expected, atol=1e-6)},",
        f"of gates that are {names[1]}: {torch.allclose(output, computed, atol=1e-6)}",
    )
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
