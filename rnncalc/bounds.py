"""The bounds on what is read and worked out, each with its reason; what a layout has room for stands with it."""

MAX_LAYERS = 1_000
"""The layers of a half after `repeat`, the output layer not counted.

No recurrent network that is used comes near it. With this bound every layer is a layer of its own in every record, pass
and report, and no report needs a bound of its own on layers.
"""
