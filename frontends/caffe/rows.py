"""The table of Caffe's layers."""

from ..common.rows import Rows

ROWS = Rows(__package__)
