"""Whether Python kept the docstrings that declarations need."""

import sys

HAS_DOCSTRINGS = sys.flags.optimize < 2
"""Whether docstrings exist: `python -OO` removes them, and so the help of passes."""
