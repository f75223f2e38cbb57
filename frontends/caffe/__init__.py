"""Caffe: nets as `.prototxt` text and `.caffemodel` weights, also of NVIDIA's and SSD's forks."""

from ..common.front_end import FrontEnd
from .layer import CaffeLayer, rows
from .model import model_files, read_model

FRONT_END = FrontEnd("Caffe", read_model, rows, CaffeLayer, model_files)
