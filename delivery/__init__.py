"""Deliverables for users: a model measured on every engine, and the package with the results."""
