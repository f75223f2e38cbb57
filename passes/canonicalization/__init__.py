"""Canonicalization patterns by dialect: what `--canonicalize` applies besides folds.

Each module has `PATTERNS`. An op does not know the patterns that rewrite it, so this table does;
`canonicalize` loads the modules of the dialects that occur in the IR.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from ...ir.rewriting import Pattern, PatternSet

PATTERN_MODULES: dict[str, str] = {
    "arith": ".arith",
    "cf": ".cf",
    "memref": ".memref",
    "nn": "..nn.patterns",
    "scf": ".scf",
}


def patterns_of(dialects: Iterable[str]) -> list[Pattern]:
    """The canonicalization patterns of the named dialects."""
    found: list[Pattern] = []
    for name in sorted(dialects):
        if name in PATTERN_MODULES:
            found += import_module(PATTERN_MODULES[name], __package__).PATTERNS
    return found


@cache
def pattern_set(dialects: frozenset[str]) -> PatternSet:
    """The same, indexed by the op classes that they match; cached, as a compilation asks several
    times.
    """
    return PatternSet(patterns_of(dialects))


def all_patterns() -> list[Pattern]:
    """The canonicalization patterns of all dialects."""
    return patterns_of(PATTERN_MODULES)
