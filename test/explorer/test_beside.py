"""What `bench.explore --beside` says of times in a page and in runs."""

from itertools import pairwise

import pytest

from bench.explore import beside
from bench.web.in_run import InRun, times_of_runs


def test_kernels_that_differ_are_marked_and_disturbed_ones_are_not() -> None:
    def page(slow: float, shaken: float) -> list:
        return [
            ("same", 2, {"low": 50.0, "median": 60.0}),
            ("slow", 1, {"low": slow, "median": slow}),
            ("shaken", 1, {"low": shaken, "median": shaken}),
            ("failed", 1, {"state": "failed"}),
            ("short", 1, {"low": 9.0, "median": 9.0}),
        ]

    def run(shaken: float) -> dict[str, InRun]:
        rest = {"same": InRun(100.0, 110.0), "slow": InRun(100.0, 100.0), "short": InRun(6.0, 6.0)}
        return {**rest, "shaken": InRun(shaken, shaken)}

    lines = list(beside([page(140.0, 500.0), page(130.0, 600.0)], [run(100.0), run(200.0)]))
    rows = {words[5]: words for words in map(str.split, lines[2:-3])}
    assert rows["same"] == ["100.0", "100.0", "1.00", "1.09", "1.00", "same"]
    assert rows["slow"] == ["130.0", "100.0", "1.30", "1.35", "1.00", "slow", "<-", "apart"]
    assert rows["shaken"][2] == "5.00" and rows["shaken"][-1] == "(disturbed)"
    assert "failed" not in rows
    assert lines[-2] == ("3 kernels from 50 us on: 1 apart, 1 disturbed; by medians 2 apart")
    assert lines[-1] == "1 kernels shorter: 1 apart, 0 disturbed; by medians 1 apart"


def test_a_time_is_the_mean_of_runs_that_nothing_came_between() -> None:
    """Blocks of two runs each; one run in which something else had the processor."""
    took = [100_000.0 + 1000 * i for i in range(18)]
    took[4] = 9_000_000.0
    runs = [[[0.0, each], []] for each in took]
    found = times_of_runs(runs, (["k"], []))["k"]
    kept = [each for each in took if each < 1e6]
    assert found.low == pytest.approx(sum(kept[:2]) / 2 / 1e3)
    assert found.low < found.median < max(kept) / 1e3


@pytest.mark.parametrize("true", [3_000.0, 7_500.0])
def test_kernels_shorter_than_a_step_of_the_clock(true: float) -> None:
    """A clock of 5 us says 0 or 5, 5 or 10: no median of that is near, means are."""
    readings = [5000 * (i * true // 5000) for i in range(400)]
    took = [end - start for start, end in pairwise(readings)]
    assert set(took) == {5000 * (true // 5000), 5000 * (true // 5000 + 1)}
    found = times_of_runs([[[0.0, each], []] for each in took], (["k"], []))["k"]
    assert found.median == pytest.approx(true / 1e3, rel=0.1)


def test_all_calls_of_a_kernel_count() -> None:
    runs = [[[0.0, 20_000.0, 50_000.0, 60_000.0], [7_000.0, 2.0]]] * 3
    found = times_of_runs(runs, (["a", "", "a"], ["b"]))
    assert found["a"].median == pytest.approx(30.0)
    assert found["b"].median == pytest.approx(7.0)
