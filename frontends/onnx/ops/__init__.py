"""One small function for every ONNX operator, in files by kind."""

MODULES = (
    "arithmetic",
    "activations",
    "linear",
    "convolution",
    "pooling",
    "normalization",
    "reductions",
    "reshaping",
    "movement",
    "indexing",
    "creation",
    "sampling",
    "grid_sample",
    "control",
    "sequences",
    "quantization",
    "recurrent",
    "microsoft",
)
