"""The second witness: a forward pass on weights bound by hand."""
