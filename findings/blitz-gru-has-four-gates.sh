#!/usr/bin/env bash
# blitz-bayesian-pytorch 0.2.8: a Bayesian GRU has as many parameters as a Bayesian LSTM, of which a part does nothing.
#
# Seen with torch 2.13.0 in November 2026. One expects a mean and a deviation for each of the 3·16·(8 + 16 + 1) numbers
# of a GRU of 16 units on 8 inputs, 2,400. There are 6,400: its arrays are as wide as an LSTM's four gates, and a change
# of the fourth block of the input matrix, or of the third of the recurrent one, changes nothing. Each array is a
# parameter twice, as weight_ih_mu and as weight_ih_sampler.mu, of which the second alone has a gradient. Both lie in
# one memory until the layer is cast; after .double() the first stays as it is while the other is trained, and freeze,
# which computes with the first, uses numbers that were never trained.
#
# Output:
#   GRU: 6400 parameters, LSTM: 6400
#   blocks that change the output: input matrix 1 2 3, recurrent matrix 1 2 4, bias 1 2 3 4
#   with a gradient: weight_ih_sampler.mu weight_ih_sampler.rho weight_hh_sampler.mu weight_hh_sampler.rho bias_sampler.mu bias_sampler.rho
#   one memory: True, after double(): False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 blitz-bayesian-pytorch==0.2.8
cat > "$folder/seen.py" << 'PYTHON'
import torch
from blitz.modules import BayesianGRU, BayesianLSTM

torch.manual_seed(0)


def count(module):
    return sum(each.numel() for each in module.parameters())


layer = BayesianGRU(8, 16, freeze=True)
print(f"GRU: {count(layer)} parameters, LSTM: {count(BayesianLSTM(8, 16))}")
x = torch.randn(2, 5, 8)
names = {"weight_ih_mu": "input matrix", "weight_hh_mu": "recurrent matrix", "bias_mu": "bias"}
texts = []
with torch.no_grad():
    before = layer(x)[0].clone()
    for name, text in names.items():
        array = getattr(layer, name)
        for block in range(4):
            part = array[..., 16 * block : 16 * block + 16]
            part += 1
            text += f" {block + 1}" if not torch.equal(layer(x)[0], before) else ""
            part -= 1
            before = layer(x)[0].clone()
        texts.append(text)
print("blocks that change the output:", ", ".join(texts))
layer = BayesianGRU(8, 16)
layer(x)[0].sum().backward()
print("with a gradient:", *(name for name, each in layer.named_parameters() if each.grad is not None))
one = layer.weight_ih_mu.data_ptr() == layer.weight_ih_sampler.mu.data_ptr()
layer.double()
print(f"one memory: {one}, after double(): {layer.weight_ih_mu.data_ptr() == layer.weight_ih_sampler.mu.data_ptr()}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
