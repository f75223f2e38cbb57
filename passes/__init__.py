"""Transformations that stay on one level. `nn/` is the graph's, `loops/` the loops'."""
