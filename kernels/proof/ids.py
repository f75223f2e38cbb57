"""The ids of groups and threads as dimensions of integer sets.

isl takes a time that grows fast with the number of variables, and with quotients and remainders.
So an id that is always 0 is no dimension, and what a kernel divides a thread's id into are
variables of their own, which are independent:

    x1 = 9*b0 + floor(t0/128) + b1, x2 = t0 mod 128   ->   x1 = 9*b0 + t0_128, x2 = t0_1
Here t0_128 and t0_1 are the digits of t0 that count 128s and ones, and there is one b1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from .forms import Forms

GROUPS, THREADS = ("b0", "b1", "b2", "b3"), ("t0", "t1", "t2")
"""The ids of groups and of threads. b3 is the quotient of an id that is used as two numbers, see
`Forms.number_groups`."""

_ID = re.compile(r"\bb\d\b")
_NAME = re.compile(r"\((t\d) \+ 0\)")
_THREAD = re.compile(
    r"\(\(floor\((?P<a>t\d)/(?P<low>\d+)\)\) mod (?P<times>\d+)\)"
    r"|floor\(\(floor\((?P<b>t\d)/(?P<by>\d+)\) \+ 0\)/(?P<more>\d+)\)"
    r"|floor\((?P<c>t\d)/(?P<over>\d+)\)|\(\(?(?P<d>t\d)\)? mod (?P<below>\d+)\)|\b(?P<e>t\d)\b"
)
"""Matches quotients, remainders and both of a thread's id, and the id itself."""


class Ids:
    """The ids of a launch's groups and threads that are not always 0."""

    def __init__(self, forms: Forms) -> None:
        groups = zip(GROUPS, (size.text for size in forms.grid), strict=True)
        self._groups = {name: size for name, size in groups if size != "1"}
        self._threads = dict(zip(THREADS, forms.threads, strict=True))
        self.threads = tuple(name for name, size in self._threads.items() if size != 1)
        self.names = (*self._groups, *self.threads)

    @property
    def of_groups(self) -> list[str]:
        """The conditions that groups' ids are in the grid."""
        return [f"0 <= {name} < {size}" for name, size in self._groups.items()]

    @property
    def ranges(self) -> list[str]:
        """The conditions that groups' ids are in the grid, and threads' ids in the group."""
        return [*self.of_groups, *(f"0 <= {n} < {self._threads[n]}" for n in self.threads)]

    def plain(self, text: str) -> str:
        """An expression or condition with 0 in place of ids of groups that are 0."""
        return _ID.sub(lambda found: found[0] if found[0] in self._groups else "0", text)

    def numbered(self, numbers: Sequence[int]) -> tuple[list[int], tuple[int, ...]]:
        """(the ids of a group, those of a thread) at a point with these coordinates."""
        at = dict(zip(self.names, numbers, strict=False))
        return [at.get(n, 0) for n in GROUPS], tuple(at.get(n, 0) for n in THREADS)

    def apart(self, isl: Any, within: bool) -> Any:
        """All pairs of threads of different groups, or of different threads of one."""
        return _apart(isl, tuple(self._groups), self.threads, within)

    def digits(self, conditions: Iterable[str]) -> tuple[dict[str, str], list[str], list[str]]:
        """({id: the sum of its digits}, their ranges, conditions with digits in place of ids).

        An id with one digit only is that digit.
        """
        texts = [_NAME.sub(r"\1", self.plain(condition)) for condition in conditions]
        cuts = {name: {1, extent} for name, extent in self._threads.items()}
        for text in texts:
            for one in _THREAD.finditer(text):
                name, *ends = _range(one, self._threads)
                cuts[name].update(ends)
        digits = {name: list(pairwise(sorted(ends))) for name, ends in cuts.items()}
        digits = {
            name: of if all(high % low == 0 for low, high in of) else [(1, self._threads[name])]
            for name, of in digits.items()
        }
        names = {
            (name, low): f"{name}_{low}" if len(of) > 1 else name
            for name, of in digits.items()
            for low, _ in of
        }

        def as_digits(one: re.Match[str]) -> str:
            name, low, high = _range(one, self._threads)
            if low == high:
                return "0"
            inner = [d for d in digits[name] if low <= d[0] and d[1] <= high]
            if not inner or (inner[0][0], inner[-1][1]) != (low, high):
                return one[0].replace(name, names[name, 1])  # Then it has one digit.
            return f"({' + '.join(f'{a // low}*{names[name, a]}' for a, _ in inner)})"

        ranges = [f"0 <= {names[name, a]} < {b // a}" for name, of in digits.items() for a, b in of]
        sums = {
            name: " + ".join(f"{low}*{names[name, low]}" for low, _ in of)
            for name, of in digits.items()
            if len(of) > 1
        }
        return sums, ranges, [_THREAD.sub(as_digits, text) for text in texts]


@lru_cache(maxsize=1 << 8)
def _apart(isl: Any, groups: tuple[str, ...], threads: tuple[str, ...], within: bool) -> Any:
    same = [f"{name} = {name}_" for name in groups]
    differ = " or ".join(f"{name} != {name}_" for name in (threads if within else groups))
    condition = " and ".join([*(same if within else ()), f"({differ or '1 = 0'})"])
    here = ", ".join((*groups, *threads))
    there = ", ".join(f"{name}_" for name in (*groups, *threads))
    return isl.Map(f"{{ [{here}] -> [{there}] : {condition} }}")


def _range(found: re.Match[str], extents: dict[str, int]) -> tuple[str, int, int]:
    """(id, low, high) of an expression that is floor(id / low) mod (high / low)."""
    of = found.groupdict()
    name = next(of[key] for key in "abcde" if of[key] is not None)
    extent = extents[name]
    low, high = 1, extent
    if of["a"]:
        low = int(of["low"])
        high = low * int(of["times"])
    elif of["b"]:
        low = int(of["by"]) * int(of["more"])
    elif of["c"]:
        low = int(of["over"])
    elif of["d"]:
        high = int(of["below"])
    return name, min(low, extent), min(high, extent)
