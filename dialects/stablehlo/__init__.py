"""The stablehlo dialect: tensor operations as JAX and other frameworks write them.

`pointwise` and `movement` are tables of ops, `products`, `reductions` and `indexing` those with
dimension numbers, `control` those with regions, `calls` what leaves the module, `attributes` the
attributes and types, `syntax` the directives of this dialect. Shapes are checked in `checks`.
"""

from ...ir.dialect import registry
from .attributes import *
from .calls import *
from .control import *
from .indexing import *
from .movement import *
from .pointwise import *
from .products import *
from .reductions import *

registry.dialect("stablehlo").doc = __doc__ or ""
registry.dialect("stablehlo").is_subset = True  # what devices exchange is not here
