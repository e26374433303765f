#!/usr/bin/env bash
# Keras 3.15.1 on torch: the state dict of a Sequential has every weight twice, and parameters() has two numbers more.
#
# Seen with torch 2.13.0 in November 2026. One expects a Keras model, which is an nn.Module there, to have a state dict
# with one entry for each weight: 1,651 numbers in five arrays of LSTM(16) on 8 and Dense(3). Its functional twin inside
# registers the same variables again, so that there are twelve entries. The sixth of each half is the seed of the
# generator that an LSTM has even without dropout, two integers, and is a Parameter: sum(p.numel()) is 1,653 where
# count_params() is 1,651. The same layers as a functional model have each entry once.
#
# Output:
#   Sequential: count_params 1651, parameters() 1653, state dict 12 entries, 3306 numbers
#   functional: count_params 1651, parameters() 1653, state dict 6 entries, 1653 numbers
#   trainable: 1651, types of parameters(): torch.float32 torch.int32
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 torch==2.13.0 numpy==2.4.6
cat > "$folder/seen.py" << 'PYTHON'
import keras

inputs = keras.Input((10, 8))
models = {
    "Sequential": keras.Sequential([keras.Input((10, 8)), keras.layers.LSTM(16), keras.layers.Dense(3)]),
    "functional": keras.Model(inputs, keras.layers.Dense(3)(keras.layers.LSTM(16)(inputs))),
}
for name, model in models.items():
    state = model.state_dict()
    numbers = sum(array.numel() for array in state.values())
    params = sum(each.numel() for each in model.parameters())
    sizes = f"{len(state)} entries, {numbers} numbers"
    print(f"{name}: count_params {model.count_params()}, parameters() {params}, state dict {sizes}")
trainable = sum(each.numel() for each in model.parameters() if each.requires_grad)
print(f"trainable: {trainable}, types of parameters():", *sorted({str(each.dtype) for each in model.parameters()}))
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && KERAS_BACKEND=torch venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
