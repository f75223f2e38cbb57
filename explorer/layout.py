"""Layers for drawings of directed graphs, after Sugiyama, Tagawa and Toda (1981).

What takes long is done here, when a page is made: the layer of each box, the order in each layer,
and through which layers an edge runs. A page adds coordinates, in time linear in what it shows,
as scopes are opened and closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SWEEPS = 8
"""How many times the layers are reordered, down and up in turn."""
LONGEST = 6
"""The most layers between the ends of an edge that gets a dummy node in each of them; longer edges
are drawn beside the graph."""


@dataclass(frozen=True)
class Layers:
    """`layers` has the boxes of each layer, from left to right; numbers from `count` on are dummy
    nodes of edges. `routes` has the dummy nodes of each long edge, from its source to its
    target.
    """

    layers: list[list[int]]
    routes: dict[tuple[int, int], list[int]]


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> Layers:
    """The layers of a graph of `count` boxes; edges may form cycles."""
    forward = _without_circles(count, edges)
    level = _levels(count, forward)
    layers: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for box in range(count):
        layers[level[box]].append(box)
    routes: dict[tuple[int, int], list[int]] = {}
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for source, target in forward:
        places = range(level[source] + 1, level[target])
        if len(places) > LONGEST:
            continue
        at = source
        for layer in places:
            layers[layer].append(len(above))
            routes.setdefault((source, target), []).append(len(above))
            above.append([at])
            below.append([])
            below[at].append(len(above) - 1)
            at = len(above) - 1
        above[target].append(at)
        below[at].append(target)
    _order(layers, above, below)
    backward = {(t, s): places[::-1] for (s, t), places in routes.items() if (t, s) in set(edges)}
    return Layers(layers, {**backward, **routes})


def _without_circles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The distinct edges, with some reversed so that there is no cycle."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        if source != target:
            after[source].append(target)
    state = bytearray(count)  # 0 not seen, 1 on the way, 2 done
    found: dict[tuple[int, int], None] = {}
    for start in range(count):
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(after[start]))]
        while stack:
            box, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                state[box] = 2
                stack.pop()
            elif state[target] == 1:
                found[target, box] = None
            else:
                found[box, target] = None
                if not state[target]:
                    state[target] = 1
                    stack.append((target, iter(after[target])))
    return list(found)


def _levels(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box: one below its lowest predecessor; sources right above their users."""
    after: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in edges:
        after[source].append(target)
        missing[target] += 1
    is_source = [not number for number in missing]
    ready = [box for box in range(count) if is_source[box]]
    level = [0] * count
    for box in ready:
        for target in after[box]:
            level[target] = max(level[target], level[box] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    for box in range(count):
        if is_source[box] and after[box]:
            level[box] = min(level[target] for target in after[box]) - 1
    return level


def _order(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Order the layers by the barycenters of neighbours, as long as crossings decrease."""
    place = [0] * len(above)

    def note(layer: Sequence[int]) -> None:
        for i, box in enumerate(layer):
            place[box] = i

    for layer in layers:
        note(layer)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, below, place)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        joined = above if down else below
        for layer in layers if down else reversed(layers):
            means = {box: _mean(joined[box], place, place[box]) for box in layer}
            layer.sort(key=means.__getitem__)
            note(layer)
        crossings = _crossings(layers, below, place)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _mean(joined: Sequence[int], place: Sequence[int], own: int) -> float:
    return sum(place[one] for one in joined) / len(joined) if joined else own


def _crossings(layers: list[list[int]], below: list[list[int]], place: list[int]) -> int:
    """The number of crossing pairs of edges between neighbouring layers."""
    total = 0
    for layer in layers:
        ends = [end for box in layer for end in sorted(place[one] for one in below[box])]
        total += _inversions(ends)
    return total


def _inversions(numbers: list[int]) -> int:
    """The number of pairs that are out of order, by merge sort."""
    if len(numbers) < 2:
        return 0
    middle = len(numbers) // 2
    left, right = numbers[:middle], numbers[middle:]
    found = _inversions(left) + _inversions(right)
    i = j = 0
    for k in range(len(numbers)):
        if j == len(right) or (i < len(left) and left[i] <= right[j]):
            numbers[k] = left[i]
            i += 1
        else:
            numbers[k] = right[j]
            j += 1
            found += len(left) - i
    return found
