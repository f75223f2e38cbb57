"""The schedules that the processor policy could write for a kernel, the default first.

Each is a whole, legal `schedule.for`, written as the default is, but with some decisions overridden
(`choices.py`). These decisions name it: {} is the default.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from math import prod
from random import Random
from typing import Any

from ...dialects import schedule
from ...ir.core import Block
from ...ir.decisions import Terms
from ...ir.diagnostics import NncError
from ...targets.processor import Processor
from ..model.extents import expected
from ..model.plan import Plan
from ..model.stages import stages_of
from .candidates import Candidate, Policies, best, candidates
from .choices import Choices, Told
from .features import Described, Features, describe, features, kernel_features
from .score import prediction

NESTING = "nesting"
"""The key of the decision which stages share loops: one of `WAYS`, the default's first."""
WAYS = ("chained", "grouped", "apart")

_NEAR = 1.5
"""How many times the default's cycles a variant may be expected to take to be ranked early."""
_CROSSED = 0.5
"""The probability that a variant mixes two parents, and that it then changes nothing else."""
_LARGE = 0.1
"""The decisions of a stage are ranked if it has this part of the largest stage's points."""


@dataclass(frozen=True)
class Variant:
    """One schedule of a kernel: the decisions that make it, and its expected cycles.

    `told` has the overridden decisions; `asked` all that there are, each with the number of options
    beside the model's. `terms` are the cycles by resource, `tiles` the register tiles of its loops.
    """

    told: Told
    schedule: schedule.For = field(compare=False)
    cycles: float = field(compare=False)
    asked: Told = field(compare=False, default_factory=dict)
    terms: Terms = field(compare=False, default_factory=Terms)
    tiles: tuple[str, ...] = field(compare=False, default=())
    name: str = field(compare=False, default="")
    """The name of a variant that decisions do not describe."""

    @property
    def text(self) -> str:
        """The schedule as text."""
        return str(self.schedule)

    def __str__(self) -> str:
        told = ", ".join(f"{key} = {n}" for key, n in sorted(self.told.items()))
        return told or self.name or "default"


def _variant(told: Told, found: Candidate, asked: Told) -> Variant:
    tiles = tuple(map(str, found.tiles))
    return Variant(told, found.schedule, found.cycles, asked, found.terms or Terms(), tiles)


class Variants:
    """The distinct schedules of one kernel.

    The model takes all decisions of the kinds in `left`, such as "parallel".
    """

    def __init__(
        self, kernel: str, block: Block, machine: Processor, left: Collection[str] = ()
    ) -> None:
        self.kernel, self.block, self.machine, self.left = kernel, block, machine, left
        self._models: dict[Hashable, Any] = {}
        """Results of cost models for schedules of this kernel."""
        chosen, self._ways = self._found()
        asked = self._write({})[1] if self._ways else {}
        self.default = _variant({}, chosen, asked)
        self._seen = {self.default.text}
        self._tried: set[frozenset[tuple[str, int]]] = set()

    def _found(self) -> tuple[Candidate, list[str]]:
        """(the policy's candidate, all ways of sharing loops, beginning with the candidate's)."""
        chosen = best(candidates(self.kernel, self.block, self.machine), self.machine)
        ways = [chosen.policy, *(way for way in WAYS if way != chosen.policy)]
        return chosen, ways if chosen.policy in WAYS else []

    def variant(self, told: Told) -> Variant | None:
        """The schedule that these overridden decisions make.

        None if it is not legal, or was returned before.
        """
        key = frozenset((key, n) for key, n in told.items() if n)
        if key in self._tried or told.get(NESTING, 0) >= len(self._ways):
            return None
        self._tried.add(key)
        found, asked = self._write(told)
        if found.fault:
            return None
        # Decisions that this schedule does not have are dropped.
        kept = {key: n for key, n in told.items() if n and key in asked}
        made = _variant(kept, found, asked)
        if (text := made.text) in self._seen:
            return None
        self._seen.add(text)
        return made

    def _write(self, told: Told) -> tuple[Candidate, dict[str, int]]:
        """(the schedule of these decisions, legal or not; all decisions that were asked for)."""
        choices = Choices(told, self._models)
        policies = Policies(self.kernel, self.block, self.machine, choices)
        way = self._ways[told.get(NESTING, 0)]
        found = policies.apart() if way == "apart" else policies.fused(chained=way == "chained")
        asked = {k: n for k, n in choices.asked.items() if k.split()[0] not in self.left}
        return found, {NESTING: len(self._ways) - 1, **asked}

    def ranked(self) -> Iterator[Variant]:
        """The variants that differ from the default in one decision, the most promising first.

        Decisions take turns, each with its next option, so that the first few variants differ in
        kind. Those that the model expects to be far slower come last. Decisions about stages that
        are small beside others are left as they are.
        """
        later: list[Variant] = []
        points = [prod(map(expected, stage.extents)) for stage in stages_of(self.block)]
        large = {i for i, n in enumerate(points) if n >= _LARGE * max(points)}
        options = [
            [(key, n) for n in range(1, most + 1)]
            for key, most in self.default.asked.items()
            if key == NESTING or int(key.split()[-1]) in large
        ]
        for turn in zip_longest(*options):
            for one in turn:
                made = self.variant({one[0]: one[1]}) if one is not None else None
                if made is None:
                    continue
                if made.cycles <= _NEAR * self.default.cycles:
                    yield made
                else:
                    later.append(made)
        yield from sorted(later, key=lambda one: one.cycles)

    def known(self, one: schedule.For, told: Told) -> Variant | None:
        """The variant of a schedule that an earlier search found with the decisions `told`.

        If these decisions make another schedule by now, the variant has no decisions. None if the
        schedule is no longer legal, or has become the default.
        """
        mine = one.clone()
        assert isinstance(mine, schedule.For)
        mine.kernel = self.kernel
        try:
            described = describe(mine, self.block, self.machine, self._expected)
        except NncError:
            return None
        if str(mine) == self.default.text:
            return None
        again = self.variant(told) if set(told) <= set(self.default.asked) else None
        if again is not None and again.text == str(mine):
            return again
        self._seen.add(str(mine))
        terms, asked = described.terms, self.default.asked
        return Variant({}, mine, terms.cycles, asked, terms, name="as it was found")

    def _expected(self, plan: Plan) -> Terms:
        """The terms that the model expects of a schedule that it did not write."""
        return prediction(plan, self.machine).terms

    def features(self, one: Variant) -> Features:
        """The features of a variant, for a model that learns."""
        return features(one.told, self._described(one), self._default, self._kernel)

    @cached_property
    def _default(self) -> Described:
        return self._described(self.default)

    @cached_property
    def _kernel(self) -> Features:
        return kernel_features(self.block, self.machine)

    def _described(self, one: Variant) -> Described:
        return describe(one.schedule, self.block, self.machine, lambda _: one.terms)

    def mutation(
        self, parents: Sequence[Variant], random: Random, tries: int = 10
    ) -> Variant | None:
        """A new variant near the parents, the first of which is the best; None if none is found.

        It takes the decisions of one parent, or mixes those of two, and changes one or two of them;
        a mixture is sometimes tried unchanged.
        """
        for _ in range(tries):
            if (made := self.variant(self._child(parents, random))) is not None:
                return made
        return None

    def _child(self, parents: Sequence[Variant], random: Random) -> dict[str, int]:
        """Decisions near those of the parents."""
        told = dict(parents[0].told)
        if len(parents) > 1 and random.random() < _CROSSED:
            one, other = random.sample(list(parents), k=2)
            told = crossed(one.told, other.told, random)
            if told not in (dict(one.told), dict(other.told)) and random.random() < _CROSSED:
                return told
        decisions = parents[0].asked
        for key in random.sample(sorted(decisions), k=min(len(decisions), 2)):
            most = decisions[key]
            # Options near the model's choice are likelier.
            told[key] = min(most, int(random.expovariate(3 / (most + 1))))
            if random.random() < 0.5:
                break
        return told


def crossed(one: Told, other: Told, random: Random) -> dict[str, int]:
    """Each decision taken from one of two parents at random; 0 if that parent lacks it."""
    keys = sorted({*one, *other})
    found = {key: random.choice((one, other)).get(key, 0) for key in keys}
    return {key: number for key, number in found.items() if number}


def told_of(text: str) -> dict[str, int]:
    """The decisions in a variant's text: `tile 1 = 3, order 1 = 1` is {"tile 1": 3, "order 1": 1}.

    Other parts of the text are ignored.
    """
    parts = (part.rpartition(" = ") for part in text.split(", "))
    return {key: int(number) for key, _, number in parts if key and number.isdecimal()}
