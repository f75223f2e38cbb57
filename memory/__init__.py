"""Passes on buffers: addresses in arenas, writing in place, functions for parallel loops."""
