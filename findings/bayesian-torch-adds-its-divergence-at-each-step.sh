#!/usr/bin/env bash
# bayesian-torch 0.5.0: the divergence of a Bayesian LSTM grows with the length of its sequence, and its weights change
# at every step.
#
# Seen with torch 2.13.0 in November 2026. One expects of LSTMReparameterization weights that are drawn once for a
# sequence (Fortunato et al., 2017), and as third output the divergence of their distribution from the prior, which
# depends on the parameters alone and is what kl_loss() returns. The layer is a loop over two linear ones, each of which
# draws its weights when it is called and returns its divergence, and the loop adds these: for 100 steps it is 100 times
# as large as for one, and so a longer sequence weighs the prior more, in the same model. LSTMFlipout is the same. The
# parameters are twice those of nn.LSTM(8, 16), two biases for each gate, 3,328, however long the sequence.
#
# Output:
#   LSTMReparameterization: 3328 parameters; divergence, in those of kl_loss(): 1 of 1 step, 10 of 10, 100 of 100
#     5 equal inputs: 5 different products with the input matrix
#   LSTMFlipout: 3328 parameters; divergence, in those of kl_loss(): 1 of 1 step, 10 of 10, 100 of 100
#     5 equal inputs: 5 different products with the input matrix
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install --quiet --no-deps bayesian-torch==0.5.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
from bayesian_torch.layers import LSTMFlipout, LSTMReparameterization

torch.manual_seed(0)
for kind in (LSTMReparameterization, LSTMFlipout):
    layer = kind(8, 16)
    times = [layer(torch.randn(2, steps, 8))[2] / layer.kl_loss() for steps in (1, 10, 100)]
    print(
        f"{kind.__name__}: {sum(each.numel() for each in layer.parameters())} parameters; divergence, in those of",
        "kl_loss(): {:.4g} of 1 step, {:.4g} of 10, {:.4g} of 100".format(*(each.item() for each in times)),
    )
    products = []
    layer.ih.register_forward_hook(lambda _module, _inputs, outputs: products.append(outputs[0]))
    layer(torch.ones(1, 5, 8))
    different = {tuple(each.flatten().tolist()) for each in products}
    print(f"  {len(products)} equal inputs: {len(different)} different products with the input matrix")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
