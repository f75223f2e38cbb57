"""The gpu dialect: kernels that groups of threads run, and launches of them, as upstream.

`functions` has modules and kernels, `launches` the ops that run them; `ids` the ids of threads and
groups, `together` barriers and operations on values of several threads; `memory` the device's
buffers.
"""

from ...ir.dialect import registry
from .attributes import *
from .functions import *
from .ids import *
from .launches import *
from .memory import *
from .together import *

registry.dialect("gpu").doc = __doc__ or ""
registry.dialect("gpu").is_subset = True  # matrices, graphics and asynchronous groups are not here
