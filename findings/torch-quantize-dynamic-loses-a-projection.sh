#!/usr/bin/env bash
# quantize_dynamic of torch 2.13.0 loses the projection of an LSTM, and its float16 makes no file smaller.
#
# Expected: an LSTM with proj_size in 8 bits that outputs 4 numbers as before, or a refusal; of dtype=torch.float16 a
# state dict of about half the bytes.
# Seen on 28 November 2026 (torch 2.13.0 on the CPU, Python 3.11):
#
#   LSTM(8, 16, proj_size=4) in float outputs 4 numbers; quantized without a word, its call ends in
#     RuntimeError: The number of rows in the packB should be equal to K: 16
#   LSTM(256, 512): 6310109 bytes in float32, 1592029 of qint8, 6310493 of float16
#
# Exit code 0: it is still so; 1: it changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/env/bin/python" -W ignore - << 'END'
import io
import sys

import torch
from torch import nn


def quantized(layer, dtype):
    return torch.ao.quantization.quantize_dynamic(nn.Sequential(layer), dtype=dtype)


def size(model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return len(file.getvalue())


projected = nn.LSTM(8, 16, proj_size=4)
print(projected(torch.zeros(3, 1, 8))[0].shape)
failed = False
try:
    quantized(projected, torch.qint8)(torch.zeros(3, 1, 8))
except RuntimeError as error:
    failed = "packB" in str(error)
    print(error)
plain = nn.LSTM(256, 512)
sizes = size(nn.Sequential(plain)), size(quantized(plain, torch.qint8)), size(quantized(plain, torch.float16))
print(*sizes)
sys.exit(not (failed and sizes[2] >= sizes[0] > 3 * sizes[1]))
END
