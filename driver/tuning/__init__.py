"""`nnc tune`: faster schedules for a model's kernels, found by measuring them in the model."""
