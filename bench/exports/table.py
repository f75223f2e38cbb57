"""Imports all modules that add rows to the table."""

from . import (  # noqa: F401
    detectors,
    families,
    generators,
    language,
    several,
    sound,
    states,
    vision,
)
