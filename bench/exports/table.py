"""All modules with rows, which importing them adds to the table."""

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
