"""How each framework lays out the parameters of a layer."""
