"""Counts the trials of a fleet of one worker and of several in the same time, with a pause per
trial.

    python -m bench.fleet --workers 4 --seconds 40 --delay 2

Scheduler and workers are Dask's in this process, with TLS; an experiment is a pause. So the numbers
show the overhead of the search and the network.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from nnc.driver.tuning import search as searches
from nnc.driver.tuning.fleet import Fleet
from nnc.driver.tuning.fleet_membership import make_membership
from nnc.test.driver.fleets import FakeBoard, fleet_here
from nnc.test.driver.test_fleet import crew_of, measured, searching
from nnc.test.driver.test_tuning import scheduled


def trials(place: Path, workers: int, seconds: float, delay: float) -> int:
    """The number of trials that `workers` workers complete."""

    def waits(told: dict[str, str]) -> dict[str, float]:
        time.sleep(delay)
        return measured(told)

    with fleet_here(place / "key") as here:
        for _ in range(workers):
            here.add(FakeBoard(place / "cache", waits))
        fleet = Fleet(here.address, place / "key")
        search, kernel = searching(crew_of(fleet, place / f"job{workers}"), 10**6, scheduled())
        search._clock, search._seconds = time.perf_counter, seconds
        search.run()
        fleet.close()
    return len(kernel.trials)


def main() -> None:
    """Print the trials of one worker and of several."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--delay", type=float, default=2.0, help="seconds of each trial")
    args = parser.parse_args()
    searches.FIRST = searches.PATIENCE = 10**6  # no end before the time is over
    with TemporaryDirectory() as folder:
        make_membership(Path(folder) / "key")
        for count in (1, args.workers):
            found = trials(Path(folder), count, args.seconds, args.delay)
            print(f"{count} workers: {found} trials in {args.seconds:.0f} s")


if __name__ == "__main__":
    main()
