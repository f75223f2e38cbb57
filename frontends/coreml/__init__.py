"""CoreML: packages and models of programs (MIL), and of neural networks."""

from ..common.front_end import FrontEnd
from .layer import CoreMLLayer, rows
from .model import model_files, read_model

FRONT_END = FrontEnd("CoreML", read_model, rows, CoreMLLayer, model_files)
