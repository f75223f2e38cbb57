"""The table of operators on quantized tensors: rows get their operands as the file has them.

A row that returns NotImplemented leaves the case to real numbers: there are no kernels for it.
"""

from ...common.rows import Rows

INTEGERS = Rows(__name__.rpartition(".")[0])
