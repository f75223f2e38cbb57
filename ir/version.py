"""The version of nnc, which is written into its files."""

VERSION = "0.1.0"
