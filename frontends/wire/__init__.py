"""Readers of the encodings that several formats are written in; weights stay where they lie."""
