"""TensorFlow Lite's table of operators."""

from ..common.rows import Rows

ROWS = Rows(__name__.rpartition(".")[0])
