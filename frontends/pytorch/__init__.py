"""PyTorch's programs in, a module of `nn` ops out: `.pt2` files, and programs in this process.

`model` reads the archives of `torch.export.save` without PyTorch, `live` what `torch.export` and
FX give, `functional` replaces in-place writes by new values, and `ops/` has a row for every
operator of ATen.
"""

from ..common.front_end import FrontEnd
from .layer import AtenLayer
from .model import read
from .rows import ROWS

FRONT_END = FrontEnd("PyTorch", read, ROWS, AtenLayer)

__all__ = ["FRONT_END"]
