"""The converters of Caffe's layers."""
