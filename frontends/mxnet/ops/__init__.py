"""MXNet's operators, by what they do."""
