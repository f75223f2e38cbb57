"""The vector dialect: values of several elements that a machine handles at once, as upstream.

`memory` and `transfers` move them, `compute` multiplies and reduces, `elements`, `shapes` and
`masks` make and rearrange them.
"""

from ...ir.dialect import registry
from .attributes import *
from .casts import *
from .compute import *
from .debugging import *
from .elements import *
from .masks import *
from .memory import *
from .shapes import *
from .transfers import *

registry.dialect("vector").doc = __doc__ or ""
