"""Explains a compilation: the decisions, their alternatives, and what each would cost."""
