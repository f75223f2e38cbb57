"""Which kernels are worth another candidate: the expected saving of the next one.

All candidates of an experiment are measured together, and each is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FIRST_GAIN = 0.02
"""The expected gain of a kernel's first candidates, as a part of its time."""
_KNOWN = 4
"""The number of candidates that this expectation weighs as much as."""
_LATELY = 10
"""The number of latest candidates from which the gain of the next one is estimated."""
OVERHEAD = 12.0
"""The cost of an experiment besides its candidates, in times of compiling one: proposals, checks,
and runs of 1 s, where a candidate takes some 0.15 s."""


def expected_gain(share: float, ratios: Sequence[float]) -> float:
    """The part of the model's time that one more candidate is expected to save.

    `share` is the kernel's part of the model's time. `ratios` are the times of its candidates so
    far, in order, relative to the default's; 1 for a candidate that is not surely faster.
    """
    best, gains = 1.0, list[float]()
    for ratio in ratios:
        gains.append(max(0.0, best - ratio))
        best = min(best, ratio)
    lately = gains[-_LATELY:]
    return share * (FIRST_GAIN * _KNOWN + sum(lately)) / (_KNOWN + len(lately))


def worthwhile(gains: Mapping[str, float]) -> list[str]:
    """The kernels whose candidates together promise most per time of an experiment, the most
    promising first.

    Each further candidate costs the time to compile it; the runs are common to all. A kernel that
    waits gets its turn when others have gained nothing for a while.
    """
    found, together = list[str](), 0.0
    for key in sorted(gains, key=lambda key: -gains[key]):
        rate = together / (OVERHEAD + len(found))
        if found and gains[key] <= rate:
            break
        found.append(key)
        together += gains[key]
    return found
