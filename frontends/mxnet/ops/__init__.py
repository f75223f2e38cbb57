"""The converters of MXNet's operators, by topic."""
