"""The service behind `nnc serve`: accounts, uploads, a queue of jobs, and its web interface.

It keeps files and starts commands; it never parses a model itself. README.md says who calls what.
"""
