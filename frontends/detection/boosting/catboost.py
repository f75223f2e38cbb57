"""Detection of CatBoost models."""

from __future__ import annotations

from ...common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source is JSON of CatBoost, or its own format."""
    head = source.head.lstrip()
    if head.startswith(b"CBM1"):
        return True
    return head.startswith(b"{") and (b'"features_info"' in head or b'"ctr_data"' in head)
