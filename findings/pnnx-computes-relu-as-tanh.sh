#!/usr/bin/env bash
# pnnx 20261020 converts an nn.RNN with relu for ncnn without a word, and it computes tanh.
#
# Seen with torch 2.13.0 and ncnn 1.0.20261020 in November 2026. One expects nonlinearity="relu" to be kept, or refused:
# pnnx's own file has it, `nonlinearity=relu`. ncnn's RNN has no such parameter. So both networks are the same line of
# the .param file, and what ncnn computes from the one with relu is what PyTorch computes with tanh from its weights.
#
# Output:
#   tanh: RNN 0=16 1=128 2=0; ncnn computes tanh
#   relu: RNN 0=16 1=128 2=0; ncnn computes tanh
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 pnnx==20261020 ncnn==1.0.20261020
cat > "$folder/convert.py" << 'PYTHON'
import pathlib
import subprocess
import sys

import ncnn
import numpy as np
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = nn.RNN(8, 16, batch_first=True, nonlinearity=kind)

    def forward(self, x):
        return self.rnn(x)[0]


torch.manual_seed(0)
x = torch.randn(1, 5, 8)
for kind in ("tanh", "relu"):
    model = Network(kind).eval()
    torch.jit.trace(model, x).save(f"{kind}.pt")
    pnnx = [pathlib.Path(sys.executable).parent / "pnnx", f"{kind}.pt", "inputshape=[1,5,8]", "fp16=0"]
    subprocess.run(pnnx, check=True, capture_output=True)
    layer = next(line.split() for line in open(f"{kind}.ncnn.param") if line.startswith("RNN "))
    net = ncnn.Net()
    net.opt.use_fp16_storage = net.opt.use_fp16_packed = net.opt.use_fp16_arithmetic = False
    net.load_param(f"{kind}.ncnn.param")
    net.load_model(f"{kind}.ncnn.bin")
    with net.create_extractor() as extractor:
        extractor.input("in0", ncnn.Mat(x[0].numpy()).clone())
        output = np.array(extractor.extract("out0")[1])
    computed = []
    for other in ("tanh", "relu"):
        reference = Network(other)
        reference.load_state_dict(model.state_dict())
        if np.allclose(reference(x)[0].detach().numpy(), output, atol=1e-4):
            computed.append(other)
    print(f"{kind}: RNN {' '.join(layer[6:])}; ncnn computes {' '.join(computed)}")
PYTHON
expected="tanh: RNN 0=16 1=128 2=0; ncnn computes tanh
relu: RNN 0=16 1=128 2=0; ncnn computes tanh"
cd "$folder"
[ "$(venv/bin/python -W ignore convert.py 2> log | tee /dev/stderr)" = "$expected" ] || { tail -n 5 log; exit 1; }
