"""The tensor dialect: immutable arrays as values, as upstream.

`elements` makes tensors and reads single elements, `slices` takes parts and changes shapes,
`gather` takes slices at indices, `parallel` puts parts into tensors in scf.forall.
"""

from ...ir.dialect import registry
from .elements import *
from .gather import *
from .parallel import *
from .slices import *

registry.dialect("tensor").doc = __doc__ or ""
