"""A row for every operator of ATen."""
