"""Candidates of a kernel: earlier results, those that the policy ranks, then evolution.

Evolution keeps a pool of variants near the best ones, and takes the most promising of the pool; now
and then a random one, as no ranking is perfect.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from math import log2
from random import Random
from typing import TYPE_CHECKING

from ...kernels.policy import variants_of
from ...kernels.policy.level_features import log_ratio
from ...kernels.policy.variants import Variant, Variants, told_of
from ...kernels.tuned import TunedSchedule
from ...targets.attribute import target_of
from .search import FIRST

if TYPE_CHECKING:
    from ...dialects import func
    from ...kernels.policy.choices import Told
    from ...kernels.policy.features import Features
    from .learned import Learned

LEAST_FIRST = 8
"""The least candidates that the analytical model ranks before learned rankings from other kernels
are used."""
POOL = 64
"""The most variants that are ranked together."""
_GROWTH = 3
"""The new variants in the pool for each candidate: each takes some 20 ms."""
_EXPLORED = 0.15
"""The probability that a random variant of the pool is taken if learned rankings are used."""
_GUESSED = 0.5
"""The same if the analytical model ranks, which has chosen the first candidates already."""


class Proposals:
    """Candidates of one kernel; decisions of the kinds in `left` are not varied."""

    def __init__(
        self,
        function: func.FuncOp,
        left: Sequence[str],
        earlier: TunedSchedule | None,
        seed: str,
        learned: Learned,
    ) -> None:
        self._function, self._left, self._earlier = function, left, earlier
        self._random = Random(seed)
        self._learned = learned
        self._variants: Variants | None = None
        self._pool: list[tuple[Variant, Features]] = []
        self.given = 0
        """The number of candidates requested so far."""
        self._measured: list[tuple[Told, Features, float]] = []

    def __call__(self, faster: Sequence[Variant]) -> Variant | None:
        variants = self.variants
        self.given += 1
        if self._learned.is_used and self.given > LEAST_FIRST:
            self._pool += ((one, self._features(one)) for one in self._first)
        if (made := next(self._first, None)) is not None:
            return made
        return self._evolved(variants, [*faster, variants.default])

    def hear(self, one: Variant, ratio: float) -> Features:
        """Learn from the measured ratio of a candidate's time to the default's, for the ranking of
        similar candidates. Returns its features.
        """
        found = self.variants.features(one)
        if one.told:
            self._measured.append((one.told, found, log2(ratio)))
        return found

    def skip_known(self) -> Variant | None:
        """The best variant of an earlier search, which is then not proposed again.

        None if there is none, or if it is no longer legal.
        """
        found = self.variants and self._earlier_variant
        if found is not None:
            next(self._first)
        return found

    @property
    def variants(self) -> Variants:
        """The schedules of the kernel, made on first use."""
        if self._variants is None:
            block = self._function.body.blocks[0]
            own = target_of(self._function)
            made = variants_of(own.policy)
            self._variants = made(self._function.sym_name, block, own.machine, self._left)
            assert self._variants is not None
            self._earlier_variant = self._known(self._variants)
            first = [] if self._earlier_variant is None else [self._earlier_variant]
            self._first = chain(first, islice(self._variants.ranked(), FIRST))
        return self._variants

    def _evolved(self, variants: Variants, parents: Sequence[Variant]) -> Variant | None:
        """The most promising variant of the pool, extended by new ones; at times a random one."""
        for _ in range(_GROWTH):
            if (made := variants.mutation(parents, self._random)) is not None:
                self._pool.append((made, self._features(made)))
        if not self._pool:
            return None
        expected = self._expected()
        order = sorted(range(len(expected)), key=expected.__getitem__)
        explored = _EXPLORED if self._learned.is_used else _GUESSED
        number = self._random.choice(order) if self._random.random() < explored else order[0]
        chosen = self._pool[number][0]
        self._pool = [self._pool[i] for i in order[:POOL] if i != number]
        return chosen

    def _features(self, one: Variant) -> Features:
        """The features of a variant; most of them only if the learned model is in use."""
        if self._learned.is_used:
            return self.variants.features(one)
        return {"predicted": log_ratio(one.cycles, self.variants.default.cycles)}

    def _expected(self) -> list[float]:
        """The expected time of each variant of the pool relative to the default, as logarithms.

        The models' expectation is corrected by their errors for measured variants that share some
        of its decisions; these errors count as independent.
        """
        if self._learned.is_used:
            self._pool = [
                (one, told if len(told) > 1 else self._features(one)) for one, told in self._pool
            ]
        ranked = self._learned.rank(
            [
                *(told for _, told in self._pool),
                *(told for _, told, _ in self._measured),
            ]
        )
        errors = [
            (frozenset(told.items()), measured - expected)
            for (told, _, measured), expected in zip(
                self._measured, ranked[len(self._pool) :], strict=True
            )
        ]
        errors.sort(key=lambda row: -len(row[0]))
        return [
            expected + _error_of(one.told, errors)
            for (one, _), expected in zip(self._pool, ranked, strict=False)
        ]

    def _known(self, variants: Variants) -> Variant | None:
        """The variant of the earlier result, if it is still legal."""
        if self._earlier is None:
            return None
        return variants.known(self._earlier.schedule, told_of(self._earlier.told))


def _error_of(told: Told, errors: Sequence[tuple[frozenset[tuple[str, int]], float]]) -> float:
    """The sum of the errors of measured decisions that make up `told`, the largest sets first."""
    left, found = set(told.items()), 0.0
    for decisions, error in errors:
        if decisions <= left:
            left -= decisions
            found += error
    return found
