"""The bounds on what is read and worked out, each with its reason; what a layout has room for stands with it."""

MAX_LAYERS = 1_000
"""The layers of a half after `repeat`, the output layer not counted.

No recurrent network that is used comes near it. With this bound every layer is a layer of its own in every record, pass
and report, and no report needs a bound of its own on layers.
"""

MOST_MULTIPLY_ADDS = 500_000_000
"""The multiply-adds of a pass, where a call does not say: plain Python does them in some ten seconds."""

MOST_BYTES = 2 * 10**9
"""What a pass holds at its fullest: machines that have more are common, and half of it may be needed beside it."""

MOST_STATE_BYTES = 150_000_000
"""The states of all steps: a report of them takes twice as much again, and nobody reads it whole."""

MOST_DIFFERENCES = 200
"""The weights whose gradients are held against finite differences: each takes two passes."""
