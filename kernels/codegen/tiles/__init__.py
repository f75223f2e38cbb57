"""From the nests of a kernel to loops over tiles, whose bodies work on n-dimensional vectors."""
