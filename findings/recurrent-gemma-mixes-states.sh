#!/usr/bin/env bash
# transformers 5.24.0: the cache and the mask that RecurrentGemma is called with are those of its attention; the state of
# its recurrent layers is in the module, and padding goes into it.
#
# Seen with torch 2.13.0 in November 2026. One expects a DynamicCache to hold all that a sequence needs to go on, and an
# attention_mask to leave the padding before a prompt out, as it does for Mamba. Two texts that are continued in turn,
# each with its own cache, get each other's states. Two of three layers never see the mask: they read the padding as
# text, so that a prompt that is padded on the left, as the shorter ones of a batch are, is continued otherwise than
# alone, by generate too. Neither is refused.
#
# Output:
#   Mamba: two texts one after the other equal, in turn equal, padded equal, padded and generated equal
#   RecurrentGemma: two texts one after the other equal, in turn differ, padded differ, padded and generated differ
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 transformers==5.24.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
import transformers

HEADS = {"num_attention_heads": 2, "head_dim": 16, "intermediate_size": 64}
OPTIONS = {"Mamba": {"state_size": 4}, "RecurrentGemma": HEADS | {"lru_width": 32, "attention_window_size": 32}}


def continued(model, texts, order):
    name = "cache_params" if "Mamba" in type(model).__name__ else "cache"
    caches = [transformers.DynamicCache(config=model.config) for _ in texts]
    tokens = [[text[:, :6], *text[:, 6:].split(1, 1)] for text in texts]
    outputs = [[], []]
    for which in order:
        part = tokens[which].pop(0)
        outputs[which].append(model(part, use_cache=True, **{name: caches[which]}).logits)
    return [torch.cat(each, 1) for each in outputs]


def verdict(pairs):
    return "equal" if all(torch.allclose(one, other, atol=1e-3) for one, other in pairs) else "differ"


for kind, options in OPTIONS.items():
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(vocab_size=32, hidden_size=32, num_hidden_layers=3, **options)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    texts = torch.randint(1, 32, (2, 1, 13)).unbind()
    mask = torch.ones(1, 17, dtype=torch.long)
    mask[:, :4] = 0
    padded = torch.cat([torch.zeros(1, 4, dtype=torch.long), texts[0]], 1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
        whole = [model(text, use_cache=False).logits for text in texts]
        after = verdict(zip(continued(model, texts, [0] * 8 + [1] * 8), whole))
        turns = verdict(zip(continued(model, texts, [0, 1] * 8), whole))
        masked = model(padded, attention_mask=mask, use_cache=False).logits[:, 4:]
        generate = {"max_new_tokens": 8, "do_sample": False}
        alone = model.generate(texts[0], attention_mask=mask[:, 4:], **generate)[:, 13:]
        beside = model.generate(padded, attention_mask=mask, **generate)[:, 17:]
        generated = verdict([(alone.float(), beside.float())])
    line = f"{kind}: two texts one after the other {after}, in turn {turns}, padded {verdict([(masked, whole[0])])}"
    print(f"{line}, padded and generated {generated}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
