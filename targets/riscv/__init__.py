"""64-bit RISC-V, with and without vectors: any processor, and some by name."""

from .processors import TARGETS, host

__all__ = ["TARGETS", "host"]
