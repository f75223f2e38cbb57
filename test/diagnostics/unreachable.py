"""Diagnostics that no input of a user provokes, each with the reason why it is kept."""

UNREACHABLE: dict[str, str] = {}
