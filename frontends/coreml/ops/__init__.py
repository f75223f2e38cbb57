"""The converters of CoreML's operations and layers."""
