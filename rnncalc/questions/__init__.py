"""What can be asked of a network: one file a question, each from a Network to a report that `reports/` can draw."""
