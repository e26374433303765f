#!/usr/bin/env bash
# transformers 5.24.0: a Mamba that continues from a cache with several tokens at once begins them with a state of zeros.
#
# Seen with torch 2.13.0 in November 2026. One expects a prompt in two calls, the second with the cache of the first, to
# give the outputs of one call, however many tokens the second has: so it is with attention, and so generate continues a
# conversation. Mamba reads its state from the cache for one token alone. For several it takes the last inputs of its
# convolution from the cache, and scans from zero, without a word; the cache has then forgotten the first call.
# FalconMamba and Jamba do the same; Mamba2 and RWKV continue. All are computed by PyTorch, on the CPU.
#
# Output, 6 tokens and then 7 compared with 13 at once:
#   Mamba: one by one equal, 7 at once differ, equal to a scan from zero True
#   FalconMamba: one by one equal, 7 at once differ, equal to a scan from zero True
#   Jamba: one by one equal, 7 at once differ, equal to a scan from zero True
#   Mamba2: one by one equal, 7 at once equal, equal to a scan from zero False
#   Rwkv: one by one equal, 7 at once equal
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 transformers==5.24.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
import transformers

SIZES = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 2, "num_key_value_heads": 2, "attn_layer_period": 2, "attn_layer_offset": 1}
OPTIONS = {
    "Mamba": {"state_size": 4},
    "FalconMamba": {"state_size": 4},
    "Jamba": HEADS | {"mamba_d_state": 4, "intermediate_size": 64, "num_experts": 1},
    "Mamba2": {"state_size": 4, "head_dim": 8, "num_heads": 8, "n_groups": 1, "chunk_size": 8},
    "Rwkv": {"context_length": 32, "attention_hidden_size": 32},
}
CACHES = {"Jamba": "past_key_values", "Rwkv": "state"}


def logits(model, parts, before_last=None):
    cache, outputs = {}, []
    for number, part in enumerate(parts):
        if before_last and number == len(parts) - 1:
            before_last(next(iter(cache.values())))
        output = model(part, use_cache=True, **cache)
        cache = {name: getattr(output, name)}
        outputs.append(output.logits)
    return torch.cat(outputs, 1)


def forget(cache):
    for layer in cache.layers:
        states = getattr(layer, "recurrent_states", None)
        for state in states.values() if isinstance(states, dict) else [states]:
            if state is not None:
                state.zero_()


for kind, options in OPTIONS.items():
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES, **options)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    name = CACHES.get(kind, "cache_params")
    tokens = torch.randint(1, 32, (1, 13))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
        whole = model(tokens).logits
        single = logits(model, [tokens[:, :6], *tokens[:, 6:].split(1, 1)])
        several = logits(model, [tokens[:, :6], tokens[:, 6:]])
        answers = ["equal" if torch.allclose(each, whole, atol=1e-3) else "differ" for each in (single, several)]
        line = f"{kind}: one by one {answers[0]}, 7 at once {answers[1]}"
        if kind != "Rwkv":
            zeros = logits(model, [tokens[:, :6], tokens[:, 6:]], forget)
            line += f", equal to a scan from zero {torch.allclose(zeros, several, atol=1e-3)}"
    print(line)
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
