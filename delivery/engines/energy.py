"""The energy use of the machine's processors, by Linux's powercap (RAPL)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ZONES = Path("/sys/class/powercap")


@dataclass(frozen=True)
class Meter:
    """The energy counters of all processor packages; none on most virtual machines."""

    zones: tuple[Path, ...]

    @staticmethod
    def here(folder: Path = ZONES) -> Meter:
        """This machine's counters: one for each whole processor package."""
        found = []
        for zone in sorted(folder.glob("*:[0-9]*")):
            try:
                if (zone / "name").read_text().startswith("package"):
                    int((zone / "energy_uj").read_text())
                    int((zone / "max_energy_range_uj").read_text())
                    found.append(zone)
            except (OSError, ValueError):  # of another user, or of another kind
                continue
        return Meter(tuple(found))

    def read(self) -> tuple[int, ...] | None:
        """The counters in microjoules; None if there are none."""
        try:
            return tuple(int((zone / "energy_uj").read_text()) for zone in self.zones) or None
        except (OSError, ValueError):
            return None

    def between(
        self, before: tuple[int, ...] | None, after: tuple[int, ...] | None
    ) -> float | None:
        """Joules between two readings; a counter restarts after its largest value."""
        if before is None or after is None or len(before) != len(after):
            return None
        total = 0
        for zone, first, last in zip(self.zones, before, after, strict=True):
            if last < first:
                last += int((zone / "max_energy_range_uj").read_text()) + 1
            total += last - first
        return total / 1e6
