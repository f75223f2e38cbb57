"""Passes on buffers: places in memory, writing in place, functions for parallel loops."""
