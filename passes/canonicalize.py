"""Canonical form: folds, simplifying patterns and removal of dead code until nothing changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.core import Operation
from ..ir.diagnostics import NncError, PassError
from ..ir.passes import Pass, PassContext, option
from ..ir.rewriting import Pattern, PatternSet, apply_greedily
from .canonicalization import all_patterns, pattern_set, patterns_of


@dataclass(frozen=True)
class Canonicalize(
    Pass,
    name="canonicalize",
    title="Canonicalizer",
):
    """Fold constants, simplify and remove dead code, until nothing changes any more.

    No other pass may rely on this one for correctness. Patterns have the names that
    `--trace-rewrites` shows. The options are upstream's, except `max-rewrites`.
    """

    disable_patterns: tuple[str, ...] = option((), help="patterns that are not applied")
    enable_patterns: tuple[str, ...] = option((), help="if given, the only patterns applied")
    max_iterations: int = option(
        10, help="0: do nothing; the fixed point is reached in one iteration", least=-1
    )
    max_num_rewrites: int = option(-1, help="stop after so many rewrites; -1: no limit", least=-1)
    max_rewrites: int = option(
        0, help="stop with an error after so many rewrites; 0: automatic", least=0
    )
    region_simplify: str = option(
        "normal",
        help="accepted for upstream's sake: blocks are never merged",
        choices=("disabled", "normal", "aggressive"),
    )
    test_convergence: bool = option(
        False, help="an error where max-num-rewrites stops before the fixed point"
    )
    top_down: bool = option(
        True, help="accepted for upstream's sake: the fixed point does not depend on it"
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Apply every fold and the canonicalization patterns of the dialects in the IR."""
        names = {inner.name for inner in op.walk()}
        patterns = self.chosen(frozenset(name.partition(".")[0] for name in names))
        if 0 in (self.max_iterations, self.max_num_rewrites):
            return
        limit = self.max_rewrites or None
        if self.max_num_rewrites > 0:
            limit = self.max_num_rewrites - 1
        try:
            apply_greedily(op, patterns, max_rewrites=limit, trace=context.trace)
        except PassError:
            if self.max_num_rewrites < 0:
                raise
            if self.test_convergence:
                count = self.max_num_rewrites
                raise PassError(
                    f"canonicalize: no fixed point after {count} rewrites", op.loc
                ) from None

    def chosen(self, dialects: frozenset[str]) -> list[Pattern] | PatternSet:
        """The patterns of the dialects that the options allow.

        Raises NncError if an option names a pattern that does not exist.
        """
        if not self.disable_patterns and not self.enable_patterns:
            return pattern_set(dialects)

        known = {pattern.name for pattern in all_patterns()}
        for name in (*self.disable_patterns, *self.enable_patterns):
            if name not in known:
                raise NncError(f"canonicalize: no pattern is named '{name}'")
        return [
            p
            for p in patterns_of(dialects)
            if p.name not in self.disable_patterns
            and (not self.enable_patterns or p.name in self.enable_patterns)
        ]
