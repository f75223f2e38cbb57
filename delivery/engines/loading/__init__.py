"""How each engine loads a model; the worker reads these files by their paths."""
