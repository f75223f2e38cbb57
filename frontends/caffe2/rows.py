"""The table of Caffe2's operators."""

from ..common.rows import Rows

ROWS = Rows(__name__.rpartition(".")[0])
