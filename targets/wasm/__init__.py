"""WebAssembly: modules for browsers and Node, with and without vectors."""

from __future__ import annotations

from .levels import TARGETS

__all__ = ["TARGETS", "host"]


def host() -> None:
    """None: this machine counts as its processor, never as WebAssembly."""
    return
