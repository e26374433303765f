"""What can be asked of a network: one file a question, each from a Network to plain numbers, which `reports/` says.

The questions are allocation, answer/, backward, check, compare, count, explain, explain_training, models/, operations,
read, run, solve, training and work; the other files are what several of them share: prices, limits, the terms of a sum.
"""
