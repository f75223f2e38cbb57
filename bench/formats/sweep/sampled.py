"""Subjects with too many parameters for all pairs: a random sample, the same in each run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from .cases import Config, Subject


@dataclass(frozen=True)
class SampledSubject(Subject):
    """A subject with its simplest configuration, `single` random changes of one parameter, and
    `pairs` of two.
    """

    single: int = 12
    pairs: int = 10

    def configurations(self, strength: int = 2, most: int = 10_000) -> Iterator[Config]:
        """The sampled configurations, seeded by the subject's name."""
        plain = {name: values[0] for name, values in self.choices.items()}
        changes = [(name, v) for name, values in self.choices.items() for v in values[1:]]
        both = [pair for pair in combinations(changes, 2) if pair[0][0] != pair[1][0]]
        draw = random.Random(self.name)
        chosen = [[one] for one in draw.sample(changes, min(self.single, len(changes)))]
        chosen += [list(p) for p in draw.sample(both, min(self.pairs, len(both))) if strength > 1]
        found = [plain, *(plain | dict(change) for change in chosen)]
        yield from (config for config in found[:most] if self.allowed(config))
