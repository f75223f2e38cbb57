"""Caffe: nets as `.prototxt` text and `.caffemodel` weights, also of NVIDIA's and SSD's forks."""

from ..common.front_end import FrontEnd
from .layer import CaffeLayer
from .model import model_files, read_model
from .rows import ROWS

FRONT_END = FrontEnd("Caffe", read_model, ROWS, CaffeLayer, model_files)
