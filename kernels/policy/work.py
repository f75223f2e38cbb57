"""How much work stages that share loops are: bytes they move, and what each core has of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ...dialects import memref
from ...ir.core import Value
from ...targets.machine import Machine
from ..model.plan import Loop
from ..model.stages import Access, Stage, expected


def bytes_moved(stages: Iterable[Stage]) -> int:
    """What stages that share loops touch in memory.

    What one of them makes for another hardly leaves the registers and is left out.
    """
    stages = list(stages)
    made = {a.value for s in stages for a in s.outputs if a.value.defined_by(memref.Alloc)}
    sizes: dict[Value, int] = {}
    for stage in stages:
        for a in stage.accesses:
            if not a.is_scalar and (a.value not in made or len(stages) == 1):
                sizes[a.value] = min(sizes.get(a.value, 0) + touched(a), whole(a))
    return sum(sizes.values())


def touched(access: Access) -> int:
    """Bytes of the elements of a buffer that a stage touches."""
    extents = [expected(e) for e in access.stage.extents]
    total = _width(access)
    for expr, extent in zip(access.exprs, _shape(access), strict=True):
        linear = expr.linear(access.stage.rank)
        if linear is not None:
            reach = 1 + sum(abs(c) * (extents[d] - 1) for d, c in enumerate(linear[0]) if c)
            extent = min(extent, reach)
        total *= extent
    return total


def whole(access: Access) -> int:
    """Bytes of the buffer."""
    return _width(access) * prod(_shape(access))


def _width(access: Access) -> int:
    return getattr(access.element_type, "byte_width", 8)


def _shape(access: Access) -> list[int]:
    shape = access.value.type.shape  # type: ignore[attr-defined]
    return [expected(d) for d in shape]


def even_share(loops: Sequence[Loop], machine: Machine) -> float:
    """The part of the cores that works on average, 1 at best, when iterations are dealt out.

    Each core has one run of the iterations of all loops, as the thread pool cuts them; a
    last iteration may be shorter.
    """
    cores, weights = machine.cores, [1.0]
    for loop in loops:
        if not isinstance(loop.extent, int):
            return 1.0
        full, rest = divmod(loop.extent, loop.step)
        if len(weights) * (full + (rest > 0)) > machine.costs.threads.many_iterations:
            return 1.0
        own = [1.0] * full + ([rest / loop.step] if rest else [])
        weights = [a * b for a in weights for b in own]
    count = len(weights)
    shares = [sum(weights[count * i // cores : count * (i + 1) // cores]) for i in range(cores)]
    return sum(shares) / (cores * max(shares)) if count else 1.0
