"""Operators that are declared outside of nnc: what compiled models depend on of them."""

from __future__ import annotations

digests: dict[str, str] = {}
"""The digest of each operator's source, by its name."""


def own_operators_digest() -> str:
    """All of them as one text, the same for the same sources."""
    return " ".join(f"{name}={digest}" for name, digest in sorted(digests.items()))
