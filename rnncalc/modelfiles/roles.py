"""What a tensor is, as far as its name and type tell: formats keep names, and few of them say more."""

from __future__ import annotations

import re

from rnncalc.modelfiles.model import Role

_OPTIMIZER = re.compile(
    r"(^|[./])(optim\w*|\w*_optimizer|optimizer\w*|lr_scheduler\w*|scheduler|grad_scaler|scaler)([./]|$)"
    r"|(^|[./])(exp_avg(_sq)?|max_exp_avg_sq|momentum_buffer|square_avg|acc_delta|grad_avg|exp_inf)([./]|$)"
)
_BUFFER = re.compile(
    r"(^|[./])(running_mean|running_var|num_batches_tracked|moving_mean|moving_variance|position_ids|inv_freq"
    r"|seed_generator\w*|attn_mask|causal_mask)(:0)?([./]|$)"
)
_AVERAGE = re.compile(r"(^|_)ema(_|[0-9]*$)|^swa|averaged?_(model|state_dict|weights)$", re.IGNORECASE)

REAL = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")


def role_of(name: str, dtype: str) -> Role:
    """Return the role that a name and a type speak for: whole numbers are never trained."""
    if _OPTIMIZER.search(name):
        return Role.OPTIMIZER
    if _BUFFER.search(name) or dtype not in REAL:
        return Role.BUFFER
    return Role.UNKNOWN if is_average(name) else Role.PARAMETER


def is_average(name: str) -> bool:
    """Return whether a name speaks for a second set of weights beside those that are trained."""
    return any(_AVERAGE.search(part) for part in re.split("[./]", name)[:-1])
