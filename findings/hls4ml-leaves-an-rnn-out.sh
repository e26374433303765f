#!/usr/bin/env bash
# hls4ml 1.3.0 writes a program for an nn.RNN in which the layer is missing, for two of its backends, Vitis and Vivado.
#
# Seen with torch 2.13.0 in November 2026. One expects a layer that a backend does not have to be refused, as hls4ml does
# with two layers, two directions or dropout. Of RNN(3, 4) and Linear(4, 2) the program loads the RNN's weights and
# declares its output, and has no call that computes it: the dense layer reads an array that nothing has written. LSTM
# and GRU have their call, and for Quartus and oneAPI the RNN has too. In every backend the outputs of all steps become
# that of the last step: PyTorch's network outputs 5 steps, the converted one a single step. An LSTM's projection is left
# out as well.
#
# Output, of what PyTorch outputs as (5, 2):
#   Vitis RNN: (2,), calls: dense; weights of the RNN loaded: True
#   Vitis LSTM: (2,), calls: lstm_stack dense
#   Vitis GRU: (2,), calls: gru_stack dense
#   Vivado RNN: (2,), calls: dense; weights of the RNN loaded: True
#   Quartus RNN: (2,), calls: simple_rnn_pytorch dense_resource
#   oneAPI RNN: (2,), calls: simple_rnn_pytorch dense_resource
#   LSTM with proj_size=2: PyTorch (5, 2), hls4ml (4,)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 hls4ml==1.3.0
cat > "$folder/seen.py" << 'PYTHON'
import contextlib
import io
import pathlib
import re
import tempfile

import hls4ml
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, layer, dense):
        super().__init__()
        self.layer = layer
        self.dense = dense

    def forward(self, x):
        return self.dense(self.layer(x)[0])


def converted(network, backend):
    folder = tempfile.mkdtemp(dir=".")
    options = {"backend": backend, "channels_last_conversion": "off"}
    with contextlib.redirect_stdout(io.StringIO()):
        config = hls4ml.utils.config_from_pytorch_model(network, (5, 3), granularity="name", **options)
        options = {"backend": backend, "io_type": "io_parallel", "output_dir": folder, "hls_config": config}
        model = hls4ml.converters.convert_from_pytorch_model(network, **options)
        model.write()
    (program,) = (path.read_text() for path in pathlib.Path(folder).rglob("myproject.cpp"))
    return model.get_output_variables()[0], program


PAIRS = [("Vitis", kind) for kind in ("RNN", "LSTM", "GRU")] + [(each, "RNN") for each in ("Vivado", "Quartus", "oneAPI")]
for backend, kind in PAIRS:
    network = Network(getattr(nn, kind)(3, 4, batch_first=True), nn.Linear(4, 2)).eval()
    assert network(torch.zeros(1, 5, 3)).shape == (1, 5, 2)
    output, program = converted(network, backend)
    calls = [name for name in re.findall(r"nnet::(\w+)<", program) if "load_weights" not in name]
    line = f"{backend} {kind}: {tuple(output.shape)}, calls: {' '.join(calls)}"
    if len(calls) < 2:
        line += f"; weights of the RNN loaded: {'wr2.txt' in program}"
    print(line)
network = Network(nn.LSTM(3, 4, proj_size=2, batch_first=True), nn.ReLU()).eval()
output = tuple(network(torch.zeros(1, 5, 3)).shape[1:])
print(f"LSTM with proj_size=2: PyTorch {output}, hls4ml {tuple(converted(network, 'Vitis')[0].shape)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
