"""The ensembles of trees, and linear models."""
