"""The affine dialect: loops and accesses whose bounds and indices are affine, as upstream.

`maps` computes indices, `access` reads and writes, `loops` is control flow.
"""

from ...ir.dialect import registry
from .access import *
from .loops import *
from .maps import *

registry.dialect("affine").doc = __doc__ or ""
