"""CoreML: packages and models of programs (MIL), and of neural networks."""

from ..common.front_end import FrontEnd
from .layer import CoreMLLayer
from .model import model_files, read_model
from .rows import ROWS

FRONT_END = FrontEnd("CoreML", read_model, ROWS, CoreMLLayer, model_files)
