"""Operators on quantized tensors as TensorFlow Lite's reference kernels compute them, bit by bit.

`steps` says what a quantized operand and result are, `rows` has the table, `ops/` its rows.
"""
