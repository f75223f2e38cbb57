"""The converters of ncnn's layers, by topic."""
