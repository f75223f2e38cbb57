"""One small function for every ONNX operator, in files by kind."""
