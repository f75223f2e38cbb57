"""nnc, a compiler for neural networks: ONNX in, native code out."""

__version__ = "0.1.0"
