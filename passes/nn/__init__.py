"""Transformations of the graph level: folding, simplifying, decomposing, fusing."""
