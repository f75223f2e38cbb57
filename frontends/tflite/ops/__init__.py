"""The operators of TensorFlow Lite, in modules that are loaded when the first one is met."""
