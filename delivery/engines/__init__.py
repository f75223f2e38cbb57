"""Whole models on each engine that can run them, in a process each, taking turns."""
