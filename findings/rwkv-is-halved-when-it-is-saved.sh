#!/usr/bin/env bash
# transformers 5.24.0: an RWKV of more than six blocks that is saved after it has been used computes something else when
# it is loaded.
#
# Seen with torch 2.13.0 in November 2026. One expects the outputs of a loaded model to be those of the saved one,
# whether or not it has been called before. In evaluation mode the first call divides two matrices of each block, in
# place, by 2 for every six blocks before it (rescale_every=6), so that float16 does not overflow. save_pretrained and
# state_dict() give the divided ones, and the loaded model divides them again. Back in training mode the next call
# multiplies them again; with rescale_every=0 nothing is divided. Shapes and the number of parameters are the same.
#
# Output, of eight blocks with four matrices of attention and feed-forward in the last two blocks:
#   saved before a call: outputs equal
#   saved after a call: outputs differ; arrays that are half of what they were: 4
#   saved after a call, of five blocks: outputs equal
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 transformers==5.24.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
import transformers


def loaded(blocks, called):
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "attention_hidden_size": 16, "num_hidden_layers": blocks}
    model = transformers.RwkvForCausalLM(transformers.RwkvConfig(vocab_size=32, context_length=32, **sizes)).eval()
    fresh = {name: array.clone() for name, array in model.state_dict().items()}
    if called:
        model(words)
    halves = [name for name, array in model.state_dict().items() if array.abs().sum() and torch.equal(2 * array, fresh[name])]
    model.save_pretrained("model")
    again = transformers.RwkvForCausalLM.from_pretrained("model").eval()
    same = torch.allclose(model(words).logits, again(words).logits, atol=1e-4)
    return f"outputs {'equal' if same else 'differ'}", len(halves)


words = torch.arange(10)[None]
with torch.no_grad():
    print(f"saved before a call: {loaded(8, False)[0]}")
    answer, count = loaded(8, True)
    print(f"saved after a call: {answer}; arrays that are half of what they were: {count}")
    print(f"saved after a call, of five blocks: {loaded(5, True)[0]}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
