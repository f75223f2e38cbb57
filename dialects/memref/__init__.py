"""The memref dialect: buffers with a shape, strides and an element type, as upstream.

`buffers` makes and frees them, `access` reads and writes them, `atomics` does both in one step,
`transfers` copies without waiting; `views`, `reshapes` and `casts` make views of the same memory.
In the interpreter a memref is a NumPy array, and a view shares its storage.
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
