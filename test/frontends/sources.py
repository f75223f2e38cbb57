"""The source text of the front ends, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from nnc.ir.collection import paused_collection


@cache
def parsed(path: Path) -> ast.Module:
    """A file's syntax tree, which nobody may change."""
    with paused_collection():
        return ast.parse(path.read_text(encoding="utf-8"))
