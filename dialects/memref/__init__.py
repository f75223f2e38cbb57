"""The memref dialect: buffers with a shape, strides and an element type, as upstream.

`buffers` makes and frees them, `access` reads and writes them, `atomics` in one step,
`transfers` without waiting; `views`, `reshapes` and `casts`
look at the same memory in another way. While interpreting, a memref is a NumPy array that
shares storage.
"""

from ...ir.dialect import registry
from .access import *
from .aliasing import *
from .atomics import *
from .buffers import *
from .casts import *
from .reshapes import *
from .transfers import *
from .views import *

registry.dialect("memref").doc = __doc__ or ""
