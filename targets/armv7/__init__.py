"""32-bit Arm with NEON and the hard-float ABI: any processor, and some by name."""

from .processors import TARGETS, host

__all__ = ["TARGETS", "host"]
