"""Models in WebAssembly beside onnxruntime-web."""
