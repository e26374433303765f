#!/usr/bin/env bash
# transformers 5.24.0: a Bamba or MiniMax that goes on from its cache gives every new token the position 0.
#
# Seen with torch 2.13.0 in November 2026. One expects a model that is called with a cache to know how many tokens are in
# it: position_ids are optional, and LFM2 and Qwen3-Next, which also mix recurrent layers with attention, go on counting.
# Bamba numbers the tokens of each call from 0 whatever the cache. MiniMax asks its cache, which answers 0 as long as the
# first layer is a recurrent one. So the attention layers rotate each new query and key as a first token, without a word.
# With position_ids, which generate passes, the outputs are right, and so they are if MiniMax begins with attention.
#
# Output, 13 tokens one by one compared with 13 at once:
#   Bamba: differ, with position_ids equal, tokens in the cache 13
#   MiniMax: differ, with position_ids equal, tokens in the cache 0
#   MiniMax, attention first: equal, with position_ids equal, tokens in the cache 13
#   Lfm2: equal, with position_ids equal, tokens in the cache 13
#   Qwen3Next: equal, with position_ids equal, tokens in the cache 13
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 transformers==5.24.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
import transformers

SIZES = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64}
SIZES |= {"num_attention_heads": 2, "num_key_value_heads": 2}
EXPERTS = {"num_experts_per_tok": 1, "head_dim": 16}
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 4}
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
OPTIONS = {
    "Bamba": MAMBA | {"attn_layer_indices": [1]},
    "MiniMax": EXPERTS | {"num_local_experts": 2, "layer_types": ["linear_attention", "full_attention"]},
    "MiniMax, attention first": EXPERTS | {"num_local_experts": 2, "layer_types": ["full_attention", "linear_attention"]},
    "Lfm2": {"layer_types": ["conv", "full_attention"]},
    "Qwen3Next": DELTA
    | EXPERTS
    | {"num_experts": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}
    | {"layer_types": ["linear_attention", "full_attention"]},
}
for name, options in OPTIONS.items():
    kind = name.split(",")[0]
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES, **options)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    tokens = torch.randint(1, 32, (1, 13))
    answers = []
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
        whole = model(tokens, use_cache=False).logits
        for positions in (False, True):
            cache, outputs = None, []
            for step in range(13):
                place = {"position_ids": torch.tensor([[step]])} if positions else {}
                output = model(tokens[:, step : step + 1], past_key_values=cache, use_cache=True, **place)
                cache = output.past_key_values
                outputs.append(output.logits)
            answers.append("equal" if torch.allclose(torch.cat(outputs, 1), whole, atol=1e-3) else "differ")
    print(f"{name}: {answers[0]}, with position_ids {answers[1]}, tokens in the cache {cache.get_seq_length()}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
