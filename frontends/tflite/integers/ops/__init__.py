"""Converters of operators on quantized tensors; each file registers its own."""
