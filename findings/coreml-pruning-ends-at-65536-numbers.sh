#!/usr/bin/env bash
# coremltools 9.0 prunes an LSTM of 127 units to a quarter of its weights, and leaves one of 128 units nearly whole.
#
# Seen with numpy 2.2.6 in November 2026. One expects prune_weights with OpMagnitudePrunerConfig(target_sparsity=0.75)
# to keep a quarter of each matrix, whatever its size. The threshold is a percentile that NumPy takes in the matrix's
# own type. In float16, the default of an mlprogram, whose largest number is 65,504, that percentile of 65,536 numbers
# is nan: nothing is below it, and all is kept, beside a mask of ones. NumPy warns of an overflow; coremltools says
# nothing. A recurrent matrix has 4h² numbers, so this is every LSTM from 128 units on, and a dense layer of 256 on 256.
#
# Output:
#   LSTM 127, 64 inputs: weight_ih 25 % kept, weight_hh 25 % kept
#   LSTM 128, 64 inputs: weight_ih 25 % kept, weight_hh 100 % kept
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet coremltools==9.0 numpy==2.2.6 setuptools==80.9.0
cat > "$folder/pruned.py" << 'PYTHON'
import coremltools
import numpy as np
from coremltools.converters.mil import Builder
from coremltools.optimize import coreml

INPUTS, STEPS = 64, 5
config = coreml.OptimizationConfig(global_config=coreml.OpMagnitudePrunerConfig(target_sparsity=0.75))
generator = np.random.default_rng(0)


def normal(*shape):
    return generator.normal(size=shape).astype("float32")


for units in (127, 128):

    @Builder.program([Builder.TensorSpec((STEPS, 1, INPUTS))], opset_version=coremltools.target.iOS18)
    def program(x):
        zeros, bias = np.zeros((1, units), "float32"), normal(4 * units)
        weights = {"weight_ih": normal(4 * units, INPUTS), "weight_hh": normal(4 * units, units), "bias": bias}
        return Builder.lstm(x=x, initial_h=zeros, initial_c=zeros, **weights)[0]

    model = coremltools.convert(program, minimum_deployment_target=coremltools.target.iOS18)
    pruned = coreml.prune_weights(model, config)
    masks = {
        each.val.shape[1]: each.val.mean()
        for name, each in coreml.get_weights_metadata(pruned, weight_threshold=1).items()
        if "mask" in name
    }
    kept = f"weight_ih {masks[INPUTS]:.0%} kept, weight_hh {masks[units]:.0%} kept".replace("%", " %")
    print(f"LSTM {units}, {INPUTS} inputs: {kept}")
PYTHON
expected="LSTM 127, 64 inputs: weight_ih 25 % kept, weight_hh 25 % kept
LSTM 128, 64 inputs: weight_ih 25 % kept, weight_hh 100 % kept"
[ "$("$folder/venv/bin/python" "$folder/pruned.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
