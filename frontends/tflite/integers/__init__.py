"""Operators on quantized tensors as TensorFlow Lite's reference kernels compute them, bit by bit.

`steps` describes quantized operands and results, `rows` has the table, `ops/` the converters.
"""
