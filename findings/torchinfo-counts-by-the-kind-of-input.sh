#!/usr/bin/env bash
# torchinfo 1.8.0 counts a weight-normed LSTM once if it is given an input, and twice if it is given its size.
#
# Seen with torch 2.13.0 in November 2026. The two calls are documented as two ways to say the same. With a size,
# torchinfo moves the model to the device first; an LSTM then reads its weights to lay them out anew, that computes the
# normed matrix, and torchinfo's hooks see the normalisation before the layer that it belongs to. Its 1,088 numbers are
# rows of their own, outside the model, and parameters of the LSTM again. A GRU and an RNN are counted the same way; an
# LSTMCell, which lays nothing out, is right in both.
#
# Output:
#   parameters 1,796; summary(input_data) 1,796; summary(input_size) 2,884
#   LSTMCell: parameters 1,728; summary(input_data) 1,728; summary(input_size) 1,728
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 torchinfo==1.8.0 numpy==2.4.6
cat > "$folder/normed.py" << 'PYTHON'
import warnings

warnings.filterwarnings("ignore")
import torch
from torch.nn.utils.parametrizations import weight_norm
from torchinfo import summary


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = weight_norm(torch.nn.LSTM(8, 16, batch_first=True), "weight_hh_l0")
        self.tags = torch.nn.Linear(16, 4)

    def forward(self, words):
        return self.tags(self.lstm(words)[0])


def counts(make, *size):
    model = make()
    here = sum(each.numel() for each in model.parameters())
    of_data = summary(make(), input_data=torch.zeros(size), verbose=0).total_params
    of_size = summary(make(), input_size=size, verbose=0).total_params
    return f"parameters {here:,}; summary(input_data) {of_data:,}; summary(input_size) {of_size:,}"


print(counts(Tagger, 1, 7, 8))
print("LSTMCell:", counts(lambda: weight_norm(torch.nn.LSTMCell(8, 16), "weight_hh"), 1, 8))
PYTHON
expected="parameters 1,796; summary(input_data) 1,796; summary(input_size) 2,884
LSTMCell: parameters 1,728; summary(input_data) 1,728; summary(input_size) 1,728"
[ "$("$folder/venv/bin/python" "$folder/normed.py" 2> "$folder/errors" | tee /dev/stderr)" = "$expected" ]
