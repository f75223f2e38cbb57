"""A model's needs and its expected cost, without compiling it."""
