"""Detects the format of files: `is_it` of a small module per format, loaded before front ends."""
