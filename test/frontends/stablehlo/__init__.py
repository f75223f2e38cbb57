"""StableHLO of JAX: the text of its dialects, and models made of it."""
