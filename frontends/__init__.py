"""Readers of other frameworks' model files; each gives a module on the `nn` level."""
