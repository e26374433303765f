"""Recognizes the layers of a model file and matches them with a network's."""
