"""Schedules that were measured on another processor than the one that the search is for.

They are stored for that other processor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock

from ...ir.version import VERSION
from ...kernels.tuned import TunedSchedule
from ...targets.attribute import machine_name
from ...targets.base import Target
from .ratio import Ratio

ONCE = "measured once, not in the whole model"
"""The note on such a schedule: no comparison of the whole model confirmed it."""


def machine_on(target: Target, processor: str) -> str:
    """The machine name under which schedules are stored that were measured on another processor.

    `processor` is LLVM's name and the maker's, separated by a comma.
    """
    own = machine_name(replace(target, processor=processor.partition(", ")[0]))
    return own if own != machine_name(target) else f"{own} on {processor}"


class ForeignSchedules:
    """Writes schedules that were faster on other processors into a folder, the best of each kernel.

    `known` are the (kernel, machine) for which the folder already has schedules, which stay.
    """

    def __init__(
        self, folder: Path, target: Target, known: Collection[tuple[str, str]] = ()
    ) -> None:
        self._folder, self._target, self._known = folder, target, known
        self._best: dict[tuple[str, str], Ratio] = {}
        self._lock = Lock()

    def add(
        self,
        schedules: Mapping[str, TunedSchedule],
        ratios: Mapping[str, Ratio],
        processor: str,
    ) -> None:
        """Record the measurements of an experiment. Raises NncError if it cannot write."""
        machine = machine_on(self._target, processor)
        with self._lock:
            for key, one in schedules.items():
                place, ratio = (key, machine), ratios.get(key)
                best = self._best.get(place)
                if ratio is None or not ratio.is_faster or place in self._known:
                    continue
                if best is not None and best.median <= ratio.median:
                    continue
                self._best[place] = ratio
                replace(
                    one,
                    gain=ratio.gain,
                    spread=ratio.spread,
                    machine=machine,
                    version=VERSION,
                    told=f"{one.told}; {ONCE}",
                ).write(self._folder)
