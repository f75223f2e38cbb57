"""The linalg dialect: loop nests described by indexing maps, and some named ones, as upstream.

`structured` is what they share, `generic` the general op, `named` those with a fixed body,
`table` the many that differ by maps and function alone, `mapped` those whose body or
dimensions are given, `relayout` and `aggregates` the ops that are no loop nests of one body,
`interpretation` runs them on NumPy arrays.
"""

from ...ir.dialect import registry
from .aggregates import *
from .attributes import *
from .elementwise import *
from .generic import *
from .mapped import *
from .named import *
from .relayout import *
from .structured import *
from .table import *

registry.dialect("linalg").doc = __doc__ or ""
