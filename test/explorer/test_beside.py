"""What `bench.explore --beside` says of times in a page and in runs."""

import numpy as np

from bench.explore import beside
from bench.web.in_run import mean_times


def test_kernels_that_differ_are_marked_and_disturbed_ones_are_not() -> None:
    rows = [
        ("same", 2, {"low": 50.0}),
        ("slow", 1, {"low": 130.0}),
        ("shaken", 1, {"low": 500.0}),
        ("failed", 1, {"state": "failed"}),
    ]
    before = {"same": 100.0, "slow": 100.0, "shaken": 100.0}
    lines = list(beside(rows, before, {**before, "shaken": 200.0}))
    marks = {line.split("  ")[-1] for line in lines if "apart" in line or "disturbed" in line}
    assert sum("<- apart" in line for line in lines) == 1
    assert next(line for line in lines if "<- apart" in line).split()[:3] == [
        "130.0",
        "100.0",
        "1.30",
    ]
    assert "all 3 kernels; 1 apart, 1 disturbed" in lines[-1] and marks


def test_the_fastest_runs_count() -> None:
    runs = [([0, 1000 * (i + 1)], []) for i in range(8)]
    found = mean_times([[list(map(float, np.array(s))), i] for s, i in runs], (["k"], []))
    assert found == {"k": 1.5}
