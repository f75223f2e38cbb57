"""Functions of a module at any level, run: by interpretation, as machine code, and compared."""
