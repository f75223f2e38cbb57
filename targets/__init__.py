"""Targets of compilation: a package or module for each family of targets, and shared code."""
