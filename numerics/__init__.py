"""Running functions of a module at any level, interpreted or as machine code, to compare them."""
