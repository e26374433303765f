"""The questions about a network: one file a question, each from a Network to plain numbers. `reports/` presents them.

Several questions share given, gradient_flow, gradient_steps, pieces and price.
"""
