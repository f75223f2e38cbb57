"""The table of Caffe's layers."""

from ..common.rows import Rows

ROWS = Rows(__name__.rpartition(".")[0])
