"""Linear forms of index values; from subscripts to base plus offset."""
