"""The converters of TensorFlow's operators."""
