"""What the modules of a model file are as layers, and how a network's layers are found among them."""
