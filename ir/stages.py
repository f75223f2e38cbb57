"""Stages: named sequences of passes that a model goes through during compilation, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """A named sequence of passes, and what holds after it."""

    name: str
    summary: str
    passes: tuple[str, ...]

    def text(self) -> str:
        """The stage as a pipeline's text."""
        return f"builtin.module({','.join(self.passes)})"


def stage(name: str, summary: str, *rows: str | tuple[str, str]) -> Stage:
    """A stage from its passes, each a name or (name, why it stands here)."""
    return Stage(name, summary, tuple(row if isinstance(row, str) else row[0] for row in rows))
