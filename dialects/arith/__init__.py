"""The arith dialect: numbers, and elementwise arithmetic on scalars, vectors and tensors.

Integers are signless: an operation says how it reads the bits, where that matters.
"""

from ...ir.dialect import registry
from .attributes import *
from .cast import *
from .compare import *
from .constant import *
from .division import *
from .extended import *
from .float import *
from .integer import *
from .scaling import *

registry.dialect("arith").doc = __doc__ or ""
