"""Which cases of a test with many run in `.ci/run`; the others are left to `.ci/run combinations`.

A case shows the values of its parameters and, of three parameters and more, each pair of values.
Cases are taken until all is shown that any case shows, and never fewer than one in `ONE_IN`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import combinations
from typing import Any
from zlib import crc32

MANY_CASES = 4
"""From so many thorough cases of a test on, some of them are left to `combinations`."""
ONE_IN = 4
"""At least one in so many cases runs, also of those that show nothing new."""

Case = tuple[str, Mapping[str, Any]]
"""A case's name, and its parameters."""


def left_out(cases: Sequence[Case], others: Iterable[Case] = ()) -> set[str]:
    """The names of cases that show nothing new, besides those that `others` and the rest show.

    The case that shows most is taken first, and names decide between equals: to take every other
    case would leave out a value of a parameter of two.
    """
    others = list(others)
    varying = _varying([values for _, values in (*cases, *others)])
    shown = {one for _, values in others for one in _shown(values, varying)}
    shows = {name: _shown(values, varying) for name, values in cases}
    ranks = {name: (crc32(name.encode()), name) for name in shows}
    queue = [(-len(shows[name]), rank) for name, rank in ranks.items()]
    heapify(queue)
    kept = 0
    while queue:
        count, rank = queue[0]
        name = rank[1]
        new = shows[name] - shown
        if not new:
            heappop(queue)
        elif len(new) < -count:  # when it was put there, less was shown
            heapreplace(queue, (-len(new), rank))
        else:
            heappop(queue)
            shown |= new
            del ranks[name]
            kept += 1
    dropped = sorted(ranks, key=lambda name: ranks[name])
    return set(dropped[max(0, -(-len(cases) // ONE_IN) - kept) :])


def _varying(all_values: Sequence[Mapping[str, Any]]) -> list[str]:
    """The parameters that have several values, and not another one in each case, as a name is."""
    found: dict[str, set[str]] = defaultdict(set)
    for values in all_values:
        for name, value in values.items():
            found[name].add(repr(value))
    return sorted(name for name, values in found.items() if 1 < len(values) < len(all_values))


def _shown(values: Mapping[str, Any], varying: Sequence[str]) -> set[tuple[tuple[str, str], ...]]:
    """What a case shows: values of parameters, or pairs of them."""
    one_each = [(name, repr(values[name])) for name in varying if name in values]
    return set(combinations(one_each, 2 if len(varying) > 2 else 1))
