"""TensorFlow Lite files: `model` reads the graph, `ops/` has a row for every operator."""

from ..common.front_end import FrontEnd
from .layer import TfliteLayer
from .model import read_model
from .rows import ROWS

FRONT_END = FrontEnd("TensorFlow Lite", read_model, ROWS, TfliteLayer)

__all__ = ["FRONT_END"]
