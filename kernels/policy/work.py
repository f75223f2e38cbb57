"""How much work stages that share loops do: bytes that they move, and how evenly cores share it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, prod

from ...dialects import memref
from ...dialects.memref import base_buffer
from ...ir.core import Value
from ...ir.decisions import Terms
from ...ir.values import BlockArgument
from ...targets.processor import Processor
from ..model.extents import expected
from ..model.plan import Loop
from ..model.reuse import Reuse
from ..model.stages import Stage


def bytes_moved(stages: Iterable[Stage]) -> int:
    """Bytes of memory that stages in shared loops read and write.

    Temporaries that one of them writes for another do not count: they hardly leave the registers.
    """
    return sum(_touched(list(stages)).values())


def moving_terms(stages: Iterable[Stage], machine: Processor, reuse: Reuse = ()) -> Terms:
    """The cycles of moving the bytes of `bytes_moved`, by the caches that they come from.

    Arguments of the kernel lie where their reuse distances tell, else in memory; temporaries in the
    cache that holds them.
    """
    found = dict[str, float]()
    for value, bytes in _touched(list(stages)).items():
        distances = [bytes] if _is_temporary(value) else _distances(value, reuse)
        for distance in distances:
            home, bandwidth = machine.home_of(distance)
            found[home] = found.get(home, 0.0) + bytes / bandwidth / len(distances)
    return Terms(found)


def _distances(value: Value, reuse: Reuse) -> Sequence[float]:
    """The reuse distances of the argument of a kernel that a value is a view of."""
    base = base_buffer(value)
    known = reuse[base.index] if isinstance(base, BlockArgument) and base.index < len(reuse) else ()
    return known or (inf,)


def _is_temporary(value: Value) -> bool:
    return value.defined_by(memref.Alloc) is not None


def _touched(stages: Sequence[Stage]) -> dict[Value, int]:
    """{buffer: bytes of it that the stages touch}, without temporaries between them."""
    made = {a.value for s in stages for a in s.outputs if _is_temporary(a.value)}
    sizes: dict[Value, int] = {}
    for stage in stages:
        extents = [expected(e) for e in stage.extents]
        for a in stage.accesses:
            if not a.is_scalar and (a.value not in made or len(stages) == 1):
                touched, whole = prod(a.reach(extents)), prod(map(expected, a.shape))
                bytes = a.element_bytes
                sizes[a.value] = min(sizes.get(a.value, 0) + bytes * touched, bytes * whole)
    return sizes


def even_share(loops: Sequence[Loop], machine: Processor) -> float:
    """The average fraction of the cores that are busy while the iterations of these loops run.

    Each core runs a contiguous range of all iterations, as the thread pool divides them; the last
    iteration of a loop may be shorter.
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
