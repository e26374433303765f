#!/usr/bin/env bash
# sktime 1.2.0: the GRUClassifier takes the series of a batch for steps, and reads the last step of each alone.
#
# Seen with torch 2.13.0 in November 2026. One expects a classifier of time series to run its GRU over the steps of each
# series, and the class of one not to depend on the others that it is given with. The network gets (series, steps,
# channels), and batch_first=False, the default, is passed on to nn.GRU, which takes the series for steps. Then the last
# of the second axis is chosen, the steps. So all steps of a series but its last do nothing, in training and in
# prediction, and what is predicted for a series depends on those before it in the batch. GRUFCNNClassifier has the same
# default. Shapes and parameters are those of batch_first=True.
#
# Output:
#   by default: alone as in the batch False; depends on the earlier steps False, on the series before True
#   batch_first=True: alone as in the batch True; depends on the earlier steps True, on the series before False
#   parameters: 2674 and 2674
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
    torch==2.13.0 numpy==2.4.6 scipy==1.17.1 pandas==3.0.1 scikit-learn==1.9.1 sktime==1.2.0
cat > "$folder/seen.py" << 'PYTHON'
import numpy as np
import torch
from sktime.classification.deep_learning.gru import GRUClassifier

generator = np.random.default_rng(0)
series = generator.normal(size=(8, 3, 10)).astype("float32")
earlier, first = series.copy(), series.copy()
earlier[:, :, :-1] = 0
first[0] = 0
counts = []
for batch_first in (False, True):
    torch.manual_seed(0)
    options = {"batch_first": True} if batch_first else {}
    classifier = GRUClassifier(hidden_dim=16, n_layers=2, num_epochs=1, batch_size=8, **options)
    classifier.fit(series, np.array([0, 1] * 4))
    counts.append(sum(each.numel() for each in classifier.network.parameters()))
    before = classifier.predict_proba(series)

    def differs(others, rows=slice(None)):
        return not np.allclose(classifier.predict_proba(others)[rows], before[rows], atol=1e-6)

    alone = np.concatenate([classifier.predict_proba(series[[row]]) for row in range(8)])
    print(
        f"{'batch_first=True' if batch_first else 'by default'}: alone as in the batch",
        f"{np.allclose(alone, before, atol=1e-6)}; depends on the earlier steps {differs(earlier)},",
        f"on the series before {differs(first, slice(1, None))}",
    )
print("parameters:", " and ".join(map(str, counts)))
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
