"""How models of XGBoost are known."""

from __future__ import annotations

from ...common.source import Source


def is_it(source: Source) -> bool:
    """Whether it is JSON or UBJSON of XGBoost."""
    head = source.head.lstrip()
    return head.startswith(b"{") and b"learner" in head[:64]
