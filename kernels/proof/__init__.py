"""Proofs about kernels of a device, for all grids and open extents, by integer sets."""
