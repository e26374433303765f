"""A cell's step, traced once: its nodes, the operations they are, its equations, what it costs."""
