"""Readers of encodings that several formats use; weights stay in the mapped file."""
