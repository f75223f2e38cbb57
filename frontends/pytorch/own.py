"""Operators of one's own, declared with `nnc.operator("library.name")`."""

from __future__ import annotations

from ..common.rows import Convert


def find_own(kind: str) -> Convert | None:
    """The converter of an operator that was declared, or None."""
    return None
