"""CoreML's front end: packages and single files, with programs (MIL) or neural networks."""

from ..common.front_end import FrontEnd
from .layer import CoreMLLayer, rows
from .model import model_files, read_model

FRONT_END = FrontEnd("CoreML", read_model, rows, CoreMLLayer, model_files)
