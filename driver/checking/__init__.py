"""What a model needs and what it would get, without compiling it."""
