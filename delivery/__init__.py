"""What a user takes away: a model measured on every engine, and the package that says so."""
