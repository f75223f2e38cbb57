"""Structured source text: one printer of the loops level, with a table for each language."""
