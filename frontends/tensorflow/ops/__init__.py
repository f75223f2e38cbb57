"""The rows of TensorFlow's operators."""
