"""The model of a kernel: its stages, the plan of their loops, the nest, and legality checks."""
