"""The backward pass as the tests run it: gradients are compared with finite differences, of 40 weights at most.

They are drawn from the tensors in turn, so that each has some; as a user verifies it, there are up to 200.
"""

from typing import Any
from unittest.mock import patch

from rnncalc.questions.backward import Backward
from rnncalc.questions.backward import backward as unverified


def backward(*network: Any, **options: Any) -> Backward:
    """Return the passes of a network with its gradients compared."""
    with patch("rnncalc.questions.backward.MOST_DIFFERENCES", 40):
        return unverified(*network, **{"verify": True} | options)
