"""The llvm dialect: LLVM IR as operations, with upstream's names and text.

The level below which there is only the translation to LLVM IR (`targets/llvm/ir.py`). It
holds what our lowerings make and what hand-written runtime parts need.
"""

from ...ir.dialect import registry
from .aggregates import *
from .arithmetic import *
from .attributes import *
from .calls import *
from .control import *
from .debug_info import *
from .intrinsic_table import *
from .intrinsics import *
from .intrinsics_memory import *
from .intrinsics_vector import *
from .memory import *
from .symbols import *
from .tables import *
from .types import *

registry.dialect("llvm").doc = __doc__ or ""
registry.dialect("llvm").is_subset = True
