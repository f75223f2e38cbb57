"""Digests of the operators that users declare (`nnc.operator`): compiled models depend on them."""

from __future__ import annotations

digests: dict[str, str] = {}
"""The digest of each operator's source, by its name."""


def own_operators_digest() -> str:
    """The digests of all declared operators in one text, which is the same for the same sources."""
    return " ".join(f"{name}={digest}" for name, digest in sorted(digests.items()))
