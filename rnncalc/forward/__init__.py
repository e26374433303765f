"""The second witness: a forward and a backward pass on weights bound by hand."""
