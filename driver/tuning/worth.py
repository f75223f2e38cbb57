"""Which kernels are worth another candidate: what the next one is expected to save.

All candidates of an experiment are measured together and take its time alike, so a kernel's gain
per second is in proportion to its gain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FIRST_GAIN = 0.02
"""The part of a kernel's time that a candidate is expected to save before any was measured."""
_KNOWN = 4
"""Candidates that this expectation counts as."""
_LATELY = 10
"""Candidates, the latest, by which the next one is judged."""
PART = 0.95
"""The part of all that is expected that the measured kernels promise together; the rest waits."""


def expected_gain(share: float, ratios: Sequence[float]) -> float:
    """The part of the model's time that one more candidate is expected to save.

    `share` is the kernel's part of it, `ratios` what its candidates took of the default's time, in
    their order; 1 for one that is not surely faster.
    """
    best, gains = 1.0, list[float]()
    for ratio in ratios:
        gains.append(max(0.0, best - ratio))
        best = min(best, ratio)
    lately = gains[-_LATELY:]
    return share * (FIRST_GAIN * _KNOWN + sum(lately)) / (_KNOWN + len(lately))


def worthwhile(gains: Mapping[str, float]) -> list[str]:
    """The fewest kernels that promise nearly all that is expected, the most promising first.

    One that waits has its turn when others have brought nothing for a while.
    """
    found, whole, together = list[str](), sum(gains.values()), 0.0
    for key in sorted(gains, key=lambda key: -gains[key]):
        if together >= PART * whole and found:
            break
        found.append(key)
        together += gains[key]
    return found
