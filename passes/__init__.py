"""Transformations within one level of the IR; `nn/` has those of the graph."""
