"""What can be asked of a network: one file a question, each from a Network to plain numbers, which `reports/` says.

The questions are allocation, answer/, backward, check, compare, count, explain, explain_training, export, models/,
read, run, solve, training and work; the other files are what several of them share: a step
read as symbols, as a graph, as what going back holds (symbols, graph, saved, chunk), prices and limits.
"""
