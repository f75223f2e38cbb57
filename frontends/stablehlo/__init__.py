"""JAX, by the StableHLO that it lowers to: text in either form, and what `jax.export` writes.

`model` finds the module and gives it as nodes, `layer` is what converters get, `complexes` handles
complex numbers as two tensors. The converters are in `ops`.
"""

from __future__ import annotations

from ..common.front_end import FrontEnd
from .layer import HloLayer, rows
from .model import read

FRONT_END = FrontEnd("StableHLO", read, rows, HloLayer)
