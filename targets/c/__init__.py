"""C: portable text for any chip with a C compiler."""
