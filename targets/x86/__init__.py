"""64-bit x86: its levels as targets, and this machine's level."""

from .host import host
from .levels import TARGETS

__all__ = ["TARGETS", "host"]
