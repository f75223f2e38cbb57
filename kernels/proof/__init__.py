"""Proofs about kernels of a device: by listing all threads, or for open extents by integer sets."""
