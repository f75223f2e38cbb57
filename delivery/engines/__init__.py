"""Runs whole models on each suitable engine, in a process each, taking turns."""
