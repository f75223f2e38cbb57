"""Loads that registers replace, and stores that wait: `--forward-stores`."""
