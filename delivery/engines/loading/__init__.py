"""Loads a model in each engine; the worker imports these files by their paths."""
