"""Caffe2: a net that predicts and one that makes its weights, binary or text."""

from ..common.front_end import FrontEnd
from .layer import Caffe2Layer, rows
from .model import model_files, read_model

FRONT_END = FrontEnd("Caffe2", read_model, rows, Caffe2Layer, model_files)
