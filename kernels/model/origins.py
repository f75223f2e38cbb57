"""The scheduling operations that shaped a loop, recorded in the locations of its code.

A loop of `linalg.matmul` at f.mlir:3:5, bound to groups by the line 9 of the same file, has
`callsite("f.mlir":3:5 at "schedule.bind"("f.mlir":9:5))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...ir.core import Operation
from ...ir.location import CallSiteLoc, FusedLoc, Location, NameLoc, fuse_locations
from .plan import Loop

_PREFIX = "schedule."


def with_origin(loc: Location, loops: Iterable[Loop]) -> Location:
    """The location for code that executes the iterations of these loops."""
    made = [op for loop in loops for op in loop.primitives]
    if not made:
        return loc
    return CallSiteLoc(loc, fuse_locations(NameLoc(op.name, op.loc) for op in made))


def origins(op: Operation) -> Iterator[tuple[str, Location]]:
    """(name, location) of each scheduling operation that shaped the loops around `op`."""
    around: Operation | None = op
    while around is not None:
        if isinstance(around.loc, CallSiteLoc):
            caller = around.loc.caller
            for one in caller.locations if isinstance(caller, FusedLoc) else (caller,):
                if isinstance(one, NameLoc) and one.name.startswith(_PREFIX):
                    yield one.name, one.child
        around = around.parent_op
