"""Keras models in: `.keras` archives, and `.h5` files of Keras 2 and 3, read without Keras.

`container` opens the file, `model` makes a graph of the layers that its configuration lists,
`ops/` has one small function for every layer and every operation of `keras.ops`.
"""

from __future__ import annotations

from ..common.front_end import FrontEnd
from .layer import ROWS, KerasLayer
from .model import read

FRONT_END = FrontEnd("Keras", read, ROWS, KerasLayer)
