"""Whether two ways to run a model agree, and where they begin to differ."""
