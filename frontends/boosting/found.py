"""Which library wrote a file, told by its first bytes."""

from __future__ import annotations

from ..common.source import Source


def is_xgboost(source: Source) -> bool:
    """Whether it is JSON or UBJSON of XGBoost."""
    head = source.head.lstrip()
    return head.startswith(b"{") and b"learner" in head[:64]


def is_lightgbm(source: Source) -> bool:
    """Whether it is a text of LightGBM."""
    words = source.head[:64].split()
    return words[:1] == [b"tree"] and len(words) > 1 and words[1].startswith(b"version=")


def is_catboost(source: Source) -> bool:
    """Whether it is JSON of CatBoost."""
    head = source.head.lstrip()
    return head.startswith(b"{") and b'"features_info"' in head
