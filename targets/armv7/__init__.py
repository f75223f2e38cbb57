"""32-bit Arm with NEON, floats in its registers: any processor, and some by name."""

from .processors import TARGETS, host

__all__ = ["TARGETS", "host"]
