#!/usr/bin/env bash
# An Orbax checkpoint lists half the parameters if two devices wrote it, even of arrays that both have whole.
#
# Seen in orbax-checkpoint 0.12.8 (jax 0.10.2) in November 2026. The JSON of a checkpoint, _METADATA and
# array_metadatas, has a `write_shape` for each array. One expects the array's shape, at least if nothing is split: a
# replicated array is whole on every device. But the devices share the work of writing: each writes a slice, and the
# shape is that of the slice. So the JSON of a replicated kernel (16, 8) and bias (8) says (8, 8) and (4), 68 numbers
# instead of 136, and whoever counts parameters by it counts half. Written by one device, the shapes are the arrays'.
#
# Output:
#   1 device: (8,) (16, 8), 136 numbers
#   2 devices, replicated: (4,) (8, 8), 68 numbers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet orbax-checkpoint==0.12.8 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/shapes.py" << 'PYTHON'
import json
import sys
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

for count, title in ((1, "1 device"), (2, "2 devices, replicated")):
    whole = NamedSharding(Mesh(np.array(jax.devices()[:count]), ("devices",)), PartitionSpec())
    tree = {"kernel": jax.device_put(jnp.ones((16, 8)), whole), "bias": jax.device_put(jnp.ones(8), whole)}
    path = f"{sys.argv[1]}/{count}"
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(path, tree)
    entries = json.load(open(f"{path}/_METADATA"))["tree_metadata"].values()
    shapes = sorted(tuple(entry["value_metadata"]["write_shape"]) for entry in entries)
    shapes.sort(key=len)
    print(f"{title}: {' '.join(map(str, shapes))}, {sum(map(prod, shapes))} numbers")
PYTHON
expected="1 device: (8,) (16, 8), 136 numbers
2 devices, replicated: (4,) (8, 8), 68 numbers"
export JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=2
[ "$("$folder/venv/bin/python" "$folder/shapes.py" "$folder" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
