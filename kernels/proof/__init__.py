"""Proofs about device kernels: by listing all threads, or by integer sets for unknown extents."""
