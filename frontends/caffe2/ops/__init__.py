"""The converters of Caffe2's operators."""
