"""The table of operators on quantized tensors: rows get their operands as the file has them.

A row returns NotImplemented for cases without an integer kernel: the operands are then
dequantized, and the results quantized.
"""

from ...common.rows import Rows

INTEGERS = Rows(__name__.rpartition(".")[0])
