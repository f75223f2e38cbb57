"""The math dialect: elementary functions, element by element.

Numerics: the interpreter and folding compute them in f64, or as NumPy does, and round.
"""

from ...ir.dialect import registry
from ..arith.constant import materialize_constant
from .integer import *
from .several import *
from .unary import *

registry.dialect("math").doc = __doc__ or ""
registry.dialect("math").materialize_constant = materialize_constant
