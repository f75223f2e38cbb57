"""The layers of decoders."""
