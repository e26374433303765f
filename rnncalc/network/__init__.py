"""What a network is: its parts, what can be wrong with it, and the stack of its layers."""
