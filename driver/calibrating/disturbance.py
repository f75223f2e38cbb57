"""What disturbed a measurement: fastest runs that differ, and other load on the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...targets.calibration import Number

SPREAD = 0.08
"""The relative spread up to which the fastest runs of a number agree."""

WIDER: Mapping[str, float] = {
    "memory_bandwidth": 0.3,
    "l3_bandwidth": 0.3,
    "fresh_bandwidth": 0.5,
    "line_crossing": 0.5,
    "launch_microseconds": 0.5,
    "copy_bandwidth": 0.3,
    "costs.threads.least_microseconds": 1.0,
    "costs.tiles": 0.2,
    "costs.operations": 0.2,
    "costs.groups": 0.5,
    "issue_width": 0.2,
    "loads_per_cycle": 0.2,
}
"""The same for numbers (or prefixes of names) that vary more even on a quiet machine."""

SIZES = (
    *("cores", "l1_bytes", "l2_bytes", "l3_bytes", "unit_bits"),
    *("costs.loops.prefetch_bytes", "costs.loops.stream_blocks", "costs.loops.asked_streams"),
)
"""Numbers with few possible values: any spread between neighbouring ones is normal."""

NEAR = ("costs.operations", "costs.tiles.transpose_cycles")
"""Numbers (or prefixes of names) that may differ by one."""

WORTH_TELLING = 0.01
"""The part of the processors' time taken by a hypervisor or other processes from which on it is
reported."""


def disturbances(numbers: Mapping[str, Number]) -> dict[str, str]:
    """A message for each number whose spread is too large, by the number's name."""
    found = {}
    for path, number in numbers.items():
        names = (path, path.rpartition(".")[0])
        limit = next((WIDER[name] for name in names if name in WIDER), SPREAD)
        near = any(name in NEAR for name in names) and number.high - number.low <= 1
        if path not in SIZES and not near and number.spread > limit:
            found[path] = (
                f"{path}: the fastest runs lie between {number.low:g} and {number.high:g}, which "
                f"differ by {number.spread:.0%}; they agree within {limit:.0%}"
            )
    return found


@dataclass(frozen=True)
class Load:
    """Processor seconds of all processors together: total, busy, stolen, and this process's."""

    total: float
    busy: float
    stolen: float
    own: float

    @staticmethod
    def now() -> Load | None:
        """The load up to now; None if the system does not provide it."""
        with suppress(OSError, ValueError, IndexError):
            row = Path("/proc/stat").read_text().splitlines()[0].split()
            ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in row[1:9]]
            used = os.times()
            idle = ticks[3] + ticks[4]
            return Load(sum(ticks), sum(ticks) - idle, ticks[7], used.user + used.system)
        return None

    def since(self, before: Load) -> Iterator[str]:
        """Messages on the processor time that other processes took since `before`."""
        total = self.total - before.total
        if total <= 0:
            return
        stolen = (self.stolen - before.stolen) / total
        own = self.own - before.own
        others = max(0.0, self.busy - before.busy - own) / total - stolen
        if stolen >= WORTH_TELLING:
            yield f"the hypervisor took {stolen:.0%} of the processors' time"
        if others >= WORTH_TELLING:
            yield f"other processes took {others:.0%} of the processors' time"
