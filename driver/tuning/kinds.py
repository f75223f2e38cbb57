"""Kernels prepared for the search: candidates, earlier results, the log of measurements."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...ir.diagnostics import NncError
from ...kernels.policy.variants import Variant
from ...kernels.tuned import TunedSchedule, schedule_digest
from .keeping import Origin
from .learned import Learned
from .measurements import Log, Measurement
from .proposals import Proposals
from .ratio import Ratio
from .search import KernelSearch, Trial

if TYPE_CHECKING:
    from ...dialects import func


_MOST = 100.0
"""The largest plausible ratio between a candidate's time and the default's, either way."""


@dataclass
class Kinds:
    """The state that all kernels' searches share; decisions of the kinds in `left` are not varied.

    Without a `log`, or once it cannot be written, measurements are not stored.
    """

    origin: Origin
    known: Mapping[str, TunedSchedule]
    learned: Learned
    log: Log | None = None
    left: Sequence[str] = ()
    seed: int = 0
    holding: set[str] = field(default_factory=set)
    """Kernels for which earlier results count as measured."""
    _proposals: dict[str, Proposals] = field(default_factory=dict)

    def search(
        self, key: str, function: func.FuncOp, share: float, default: float = 0.0
    ) -> KernelSearch:
        """The search of a kernel's schedules; `default` is the time of one call, if it is known."""
        known = self.known.get(key)
        proposals = Proposals(function, self.left, known, f"{self.seed} {key}", self.learned)
        self._proposals[key] = proposals
        label = function.sym_name

        def note(variant: Variant, ratio: Ratio) -> None:
            self._note(key, label, default, variant, ratio)

        kernel = KernelSearch(key, label, share, proposals, note=note)
        if known is not None and self.origin.holds_for(known, self._default(key)):
            self._resume(kernel, proposals, known)
            self.holding |= {key} if kernel.trials else set()
        return kernel

    def schedule(self, kernel: KernelSearch, variant: Variant, ratio: Ratio) -> TunedSchedule:
        """A candidate as a schedule to be written."""
        return TunedSchedule(
            kernel.key,
            variant.schedule,
            ratio.gain,
            ratio.spread,
            self.origin.machine,
            self.origin.version,
            str(variant),
            self._default(kernel.key),
            self.origin.numbers,
            self.origin.threads,
        )

    def has_judged(self, kernel: KernelSearch) -> bool:
        """Whether the kernel's first candidate (its earlier result, if any) has been measured."""
        return bool(kernel.trials) or self._proposals[kernel.key].given > 1

    def _default(self, key: str) -> str:
        return schedule_digest(self._proposals[key].variants.default.schedule)

    @staticmethod
    def _resume(kernel: KernelSearch, proposals: Proposals, known: TunedSchedule) -> None:
        """Count an earlier result as measured if nothing that it depends on has changed."""
        if (variant := proposals.skip_known()) is not None:
            median = 1 - known.gain
            ratio = Ratio(median, median - known.spread, median + known.spread)
            kernel.trials.append(Trial(variant, ratio, ratio))

    def _note(self, key: str, label: str, default: float, variant: Variant, ratio: Ratio) -> None:
        """Log a measurement and learn from it, except the placeholder ratio of a fault."""
        if not 1 / _MOST < ratio.median < _MOST:
            return
        told = self._proposals[key].hear(variant, ratio.median)
        one = Measurement(
            key,
            label,
            self.origin.machine,
            self.origin.version,
            self.origin.threads,
            str(variant),
            ratio.median,
            ratio.low,
            ratio.high,
            default,
            dict(told),
        )
        self.learned.add([one])
        if self.log is None:
            return
        try:
            self.log.append([one])
        except NncError as error:
            warnings.warn(
                f"{error.message}; what is measured is not kept", RuntimeWarning, stacklevel=2
            )
            self.log = None
