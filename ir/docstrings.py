"""Whether Python kept the docstrings that declarations need."""

import sys

HAS_DOCSTRINGS = sys.flags.optimize < 2
"""`python -OO` takes them away, and with them the help of passes."""
