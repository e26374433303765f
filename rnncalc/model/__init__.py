"""What a network is: cells, conventions, tensors, layers, network. Knows nothing of files, questions or output."""
