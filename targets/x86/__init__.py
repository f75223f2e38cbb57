"""64-bit x86: its levels as targets, and which of them this machine is."""

from .host import host
from .levels import TARGETS

__all__ = ["TARGETS", "host"]
