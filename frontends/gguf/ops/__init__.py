"""The converters of decoders' layers."""
