"""Which taps of a sliding window fall on padding."""

from itertools import groupby, islice

from nnc.dialects.nn.windows import Run, runs


def counted(extent, kernel, stride, dilation, begin, out) -> list[Run]:
    """The same, result by result and tap by tap."""
    taps = []
    for at in range(out):
        origin = at * stride - begin
        inside = [k for k in range(kernel) if 0 <= origin + k * dilation < extent]
        taps.append((inside[0], len(inside)) if inside else (0, 0))
    found, start = [], 0
    for (tap, count), same in groupby(taps):
        results = len(list(same))
        found.append(Run(start, results, tap, count, start * stride - begin + tap * dilation))
        start += results
    return found


def test_runs(rng):
    least, most = (0, 1, 1, 1, -6, 0), (12, 6, 5, 6, 15, 30)
    for _ in range(5000):
        window = tuple(map(int, rng.integers(least, most, endpoint=True)))
        assert list(runs(*window)) == counted(*window), window


def test_many_results():
    """It does not look at each."""
    found = list(runs(2**40, 3, 1, 1, 1, 2**40))
    assert [(r.count, r.tap, r.taps) for r in found] == [(1, 1, 2), (2**40 - 2, 0, 3), (1, 0, 2)]
    assert next(runs(1, 1, 2**20, 2**30, 2**30, 2**40)).count == 2**10
    assert len(list(islice(runs(2**40, 2**35, 1, 1, 2**34, 2**40), 5))) == 5
