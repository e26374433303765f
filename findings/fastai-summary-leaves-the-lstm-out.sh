#!/usr/bin/env bash
# fastai 2.8.12: summary() prints "Total params: 180" for its own AWD-LSTM of 2,676 parameters.
#
# Seen with torch 2.13.0 in November 2026. One expects Learner.summary() to count all that is trained, and the language
# model of the package's own architecture at least. A layer is counted if it has an attribute `weight`; nn.LSTM and
# nn.GRU have weight_ih_l0. So each is listed with an empty cell, and is in none of the three totals. Of the AWD-LSTM
# the recurrent matrices that it keeps for its dropout, and the embedding, whose table is read without calling it, are
# not listed at all: its last Linear remains. "Trainable" is that of a layer's first parameter: a Linear(16, 3) with a
# frozen matrix counts its 3 biases as frozen too.
#
# Output:
#   LSTM(8, 16), Linear(16, 3): parameters() 1715; Total params: 51, trainable 51
#   GRU(8, 16), Linear(16, 3): parameters() 1299; Total params: 51, trainable 51
#   AWD-LSTM: parameters() 2676; Total params: 180, trainable 180
#   Linear(16, 3) with a frozen matrix: parameters() 51, of which trainable 3; Total params: 51, trainable 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
    torch==2.13.0 numpy==2.4.6 pandas==3.0.1 scipy==1.17.1 scikit-learn==1.9.1 matplotlib==3.11.2 pillow==13.0.0 \
    requests==2.34.2 pyyaml==6.0.4 packaging==26.4 cloudpickle==3.1.3 plum-dispatch==2.9.0 fastcore==2.2.41 \
    fastdownload==0.0.8 fasttransform==0.0.5 fastprogress==1.1.6
"$folder/venv/bin/pip" install --quiet --no-deps fastai==2.8.12
cat > "$folder/seen.py" << 'PYTHON'
import re

import torch
from fastai.basics import CrossEntropyLossFlat, DataLoaders, Learner
from fastai.callback.hook import module_summary
from fastai.callback.rnn import ModelResetter, RNNCallback
from fastai.text.models.awdlstm import AWD_LSTM, awd_lstm_lm_config
from fastai.text.models.core import get_language_model
from torch import nn
from torch.utils.data import TensorDataset


class Network(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.recurrent, self.output = kind(8, 16, batch_first=True), nn.Linear(16, 3)

    def forward(self, x):
        return self.output(self.recurrent(x)[0])


def totals(model, inputs, callbacks=()):
    data = TensorDataset(inputs, torch.zeros(len(inputs), dtype=torch.long))
    loaders = DataLoaders.from_dsets(data, data, bs=4, device="cpu")
    learner = Learner(loaders, model, loss_func=CrossEntropyLossFlat(), cbs=list(callbacks))
    text = module_summary(learner, inputs[:4])
    total, trainable = re.findall(r"Total (?:trainable )?params: ([0-9,]+)", text)
    return f"Total params: {total}, trainable {trainable}"


def count(parameters):
    return sum(each.numel() for each in parameters)


for kind in (nn.LSTM, nn.GRU):
    model = Network(kind)
    print(
        f"{kind.__name__}(8, 16), Linear(16, 3): parameters() {count(model.parameters())};",
        totals(model, torch.randn(8, 10, 8)),
    )
model = get_language_model(AWD_LSTM, 20, config={**awd_lstm_lm_config, "emb_sz": 8, "n_hid": 16, "n_layers": 2})
print(
    f"AWD-LSTM: parameters() {count(model.parameters())};",
    totals(model, torch.randint(0, 20, (8, 10)), (ModelResetter(), RNNCallback())),
)
model = nn.Sequential(nn.Linear(16, 3))
model[0].weight.requires_grad_(False)
trainable = count(each for each in model.parameters() if each.requires_grad)
print(
    f"Linear(16, 3) with a frozen matrix: parameters() {count(model.parameters())}, of which trainable {trainable};",
    totals(model, torch.randn(8, 16)),
)
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
