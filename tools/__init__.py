"""The command lines: `nnc`, `nn-opt` and `nn-run`, which `start.py` starts."""
