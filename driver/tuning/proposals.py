"""Candidates of a kernel: what was found before, what the policy ranks, mutations of the best."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from random import Random
from typing import TYPE_CHECKING, Any

from ...ir.diagnostics import NncError
from ...kernels.policy import variants_of
from ...kernels.policy.variants import Variant, Variants
from ...kernels.tuned import TunedSchedule, check_schedule
from ...targets.attribute import target_of
from .search import FIRST

if TYPE_CHECKING:
    from ...dialects import func


class Proposals:
    """Candidates of one kernel: an earlier one, what the model ranks, mutations of the best."""

    def __init__(
        self, function: func.FuncOp, left: Sequence[str], earlier: TunedSchedule | None, seed: str
    ) -> None:
        self._function, self._left, self._earlier = function, left, earlier
        self._random = Random(seed)
        self._variants: Variants | None = None

    def __call__(self, faster: Sequence[Variant]) -> Variant | None:
        if self._variants is None:
            block = self._function.body.blocks[0]
            own = target_of(self._function)
            made = variants_of(own.policy)
            self._variants = made(self._function.sym_name, block, own.machine, self._left)
            assert self._variants is not None
            first = [one for one in (self._known(block),) if one is not None]
            self._first = chain(first, islice(self._variants.ranked(), FIRST))
        if (made := next(self._first, None)) is not None:
            return made
        return self._variants.mutation([*faster, self._variants.default], self._random)

    def _known(self, block: Any) -> Variant | None:
        """What was found before, if it is legal still."""
        if self._earlier is None or self._variants is None:
            return None
        try:
            check_schedule(self._earlier.copy(), block)
        except NncError:
            return None
        return Variant({}, self._earlier.schedule, 0.0, self._variants.default.asked)
