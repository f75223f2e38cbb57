"""TensorFlow: SavedModel folders and frozen graphs.

`model` finds the signature and reads the graph, `functions` what it calls, `variables` the values
of the checkpoint; `ops/` has the rows.
"""

from ..common.front_end import FrontEnd
from .layer import layer_of, rows
from .model import files, read

FRONT_END = FrontEnd("TensorFlow", read, rows, layer_of, files)
