"""Detection of XGBoost models."""

from __future__ import annotations

from ...common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source is JSON or UBJSON of XGBoost."""
    head = source.head.lstrip()
    return head.startswith(b"{") and b"learner" in head[:64]
