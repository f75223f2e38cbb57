"""MXNet models in, a module of `nn` ops out: `NAME-symbol.json` and `NAME-0000.params`.

`model` reads the symbol, `params` the parameters, `layer` is what converters see, and `ops/` has
the operators. Source: MXNet 1.9.1.
"""

from ..common.front_end import FrontEnd
from .layer import MxnetLayer, rows
from .model import model_files, read_model

FRONT_END = FrontEnd("MXNet", read_model, rows, MxnetLayer, model_files)

__all__ = ["FRONT_END"]
