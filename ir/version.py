"""Which nnc this is; files that it writes say so."""

VERSION = "0.1.0"
