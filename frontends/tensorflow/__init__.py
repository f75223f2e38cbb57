"""TensorFlow: SavedModel folders and frozen graphs.

`model` finds the signature and reads the graph, `functions` the functions that it calls,
`variables` the values in the checkpoint; `ops/` has the converters.
"""

from ..common.front_end import FrontEnd
from .layer import layer_of, rows
from .model import files, read

FRONT_END = FrontEnd("TensorFlow", read, rows, layer_of, files)
