"""64-bit Arm with NEON: any processor, and some by name."""

from .host import host
from .processors import TARGETS

__all__ = ["TARGETS", "host"]
