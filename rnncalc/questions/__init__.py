"""What can be asked of a network: one file a question, each from a Network to plain numbers, which `reports/` says.

given, gradient_flow, gradient_steps, pieces and price are what several questions share.
"""
