"""The linalg dialect: loop nests described by indexing maps, and some named ones, as upstream.

`structured` is the base of all, `generic` the op with any maps and body, `named` those with a fixed
body, `table` the many that differ only in maps and function, `mapped` those whose body or
dimensions are given, `relayout` and `aggregates` the ops that are not one loop nest with a body;
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
