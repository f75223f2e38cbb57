"""The loop-nest tree of a plan, and the checks that it computes the same.

    Node(conv.n) Node(conv.oc_o) ..
        Stage fill's unrolled loops
        Node(conv.ic, accumulates) .. conv's unrolled loops, conv
        Stage relu's unrolled loops

Stages that share loops are in one node; the children of a node are in an order that keeps
every stage after those it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from ...dialects.memref import base_buffer
from ...ir.diagnostics import Diagnostic
from .cached import check_cached
from .factored import check_factored
from .legality import IllegalScheduleError, illegal
from .plan import Loop, Plan
from .stages import Access, Stage

MAX_LANES = 64
MAX_UNROLLED = 4096


@dataclass(eq=False)
class Node:
    """A loop with what is in it; `loops` holds the loop of each stage that takes part.

    The first one is the host's, which says how the loop is executed.
    """

    loops: list[Loop]
    children: list[Node | Stage] = field(default_factory=list)

    @property
    def in_tile(self) -> bool:
        """Whether the loop's iterations are elements of an n-dimensional vector."""
        return self.loops[0].in_tile

    @property
    def is_unrolled(self) -> bool:
        """Whether its iterations lie along a dimension of a vector other than the last."""
        return self.loops[0].is_unrolled

    @property
    def at_once(self) -> bool:
        """Whether its iterations may run at the same time."""
        return self.loops[0].at_once

    def stages(self) -> Iterator[Stage]:
        """All stages inside."""
        for child in self.children:
            if isinstance(child, Stage):
                yield child
            else:
                yield from child.stages()


def is_tile(node: Node) -> bool:
    """Whether nothing but unrolled and vectorized loops are in a subtree, itself included."""
    if not node.in_tile:
        return False
    return all(isinstance(child, Stage) or is_tile(child) for child in node.children)


def build_nest(plan: Plan) -> list[Node | Stage]:
    """The trees of a kernel, checked. Raises IllegalScheduleError."""
    for stage in plan.stages:
        check_stage(plan, stage)
    paths: dict[Stage, list[Node]] = {}
    roots: list[Node | Stage] = []
    for stage in _hosts_first(plan):
        order, share = plan.order[stage], plan.sharing.get(stage)
        path = paths[share.host][: share.depth] if share is not None else []
        for node, loop in zip(path, order, strict=False):
            node.loops.append(loop)
        path = list(path)
        for loop in order[len(path) :]:
            node = Node([loop])
            (path[-1].children if path else roots).append(node)
            path.append(node)
        (path[-1].children if path else roots).append(stage)
        paths[stage] = path
    _check_dependences(plan, paths)
    check_cached(plan)
    check_factored(plan)
    _sort_children(roots, plan)
    return roots


def _hosts_first(plan: Plan) -> list[Stage]:
    placed: dict[Stage, None] = {}

    def place(stage: Stage) -> None:
        share = plan.sharing.get(stage)
        if share is not None:
            place(share.host)
        placed.setdefault(stage)

    for stage in plan.stages:
        place(stage)
    return list(placed)


# -- one stage -------------------------------------------------------------------------------------


def check_stage(plan: Plan, stage: Stage) -> None:
    """Raise if the loops of one stage, in their order, would not compute its result."""
    order = plan.order[stage]

    def fault(text: str) -> IllegalScheduleError:
        return illegal(stage.op, f"schedule: {text}")

    _check_parallel(stage, order, fault)
    _check_vectors(stage, order, fault)
    starts = [at for at, loop in enumerate(order) if loop.accumulates]
    partial = [loop for loop in order if loop.is_reduction and (loop.in_lanes or loop.partial)]
    if partial and (not starts or order.index(partial[0]) < starts[0]):
        raise fault("partial results of a reduction need an accumulation around them")
    _check_order(stage, order, fault)
    for at in starts:
        _check_accumulation(stage, order[at:], fault)
    unrolled = prod(-(-loop.extent // loop.step) for loop in order if loop.is_unrolled)  # type: ignore[operator]
    if unrolled > MAX_UNROLLED:
        raise fault(f"unrolls into {unrolled} copies; at most {MAX_UNROLLED} are supported")


def _check_vectors(stage: Stage, order: list[Loop], fault) -> None:
    """Check the vectorized loop, and the loops whose results are combined from partial ones."""
    vectors = [loop for loop in order if loop.in_lanes]
    if vectors and vectors != order[-1:]:
        raise fault("the vectorized loop must be the only one and the innermost")
    for loop in order:
        if loop.in_lanes and loop.extent > MAX_LANES:  # type: ignore[operator]
            raise fault(f"a vector of {loop.extent} lanes; at most {MAX_LANES} are supported")
        if loop.is_reduction and (loop.in_lanes or loop.partial or loop.sums > 1):
            if not stage.is_reassociable:
                raise fault("the results of the reduction cannot be combined from partial ones")
        elif loop.partial:
            raise fault("only a reduction can have partial results")


def _check_parallel(stage: Stage, order: list[Loop], fault) -> None:
    leading = True
    at_once = [loop for loop in order if loop.at_once]
    if len({bool(loop.binding.axis) for loop in at_once}) > 1:
        raise fault("a loop is parallel beside one that is bound to groups")
    for loop in order:
        if loop.at_once:
            if not leading:
                raise fault("a parallel loop must be outermost or directly inside another one")
            if loop.is_reduction:
                raise fault("a reduction cannot be parallel")
        else:
            leading = False


def _check_order(stage: Stage, order: list[Loop], fault) -> None:
    """Check that inner halves with a possible remainder are inside their outer ones, and that a
    reduction that cannot be reassociated runs in its original order.
    """
    place = {loop: i for i, loop in enumerate(order)}
    for loop in order:
        if loop.rest is None:
            continue
        extent = loop.extent
        divides = isinstance(extent, int) and extent % loop.step == 0
        if not divides and min(_places(loop.rest, place)) < place[loop]:
            raise fault("the inner half of a split with a remainder stands outside the outer half")
    if stage.is_reassociable:
        return
    reductions = [loop for loop in order if loop.is_reduction]
    natural = sorted(reductions, key=lambda loop: (loop.dims[0], -loop.step))
    if reductions != natural:
        raise fault("the reduction depends on its order, which must stay as it was")


def _places(loop: Loop, place: dict[Loop, int]) -> list[int]:
    if loop.parts is None:
        return [place[loop]]
    return [p for part in loop.parts for p in _places(part, place)]


def _check_accumulation(stage: Stage, inside: list[Loop], fault) -> None:
    for loop in inside:
        if loop.in_tile:
            continue
        if loop.at_once:
            raise fault("a parallel loop cannot accumulate")
        for out in stage.outputs:
            if out.coefficients is None:
                raise fault("cannot accumulate a result that is not indexed linearly")
            if out.coefficients[loop.dims[-1]] != 0:
                raise fault(
                    f"the loop over dimension {loop.dims[0]} inside the accumulation must be "
                    "unrolled or vectorized: the results depend on it"
                )


# -- stages together -------------------------------------------------------------------------------


def depends(first: Stage, second: Stage) -> list[tuple[Access, Access | None]]:
    """Accesses of the two stages to one buffer of which at least one writes.

    The second is None where a body looks elements up in the buffer, at places that may be any.
    """
    others = [(b, base_buffer(b.value)) for b in second.accesses if not b.is_scalar]
    found: list[tuple[Access, Access | None]] = [
        (a, b)
        for a in first.accesses
        if not a.is_scalar
        for base in (base_buffer(a.value),)
        for b, other in others
        if base is other and (a.is_output or b.is_output)
    ]
    for writer, reader in ((first, second), (second, first)):
        if looked_up := reader.looked_up:
            written = [a for a in writer.outputs if base_buffer(a.value) in looked_up]
            found += [(a, None) for a in written]
    return found


def _check_dependences(plan: Plan, paths: dict[Stage, list[Node]]) -> None:
    """Raise if an iteration of a shared loop accesses elements that another one writes."""
    for i, first in enumerate(plan.stages):
        for second in plan.stages[i + 1 :]:
            common = sum(a is b for a, b in zip(paths[first], paths[second], strict=False))
            if not common:
                continue
            for pair in depends(first, second):
                for at in range(common):
                    loops = plan.order[first][at], plan.order[second][at]
                    if not _same_iteration(*pair, *loops):
                        _report(plan, first, second, at)


def _same_iteration(a: Access, b: Access | None, a_loop: Loop, b_loop: Loop) -> bool:
    """Whether equal elements imply equal values of the two loops."""
    if b is None or a.value is not b.value:
        return False
    pairs = set(zip(a.plain_dims(), b.plain_dims(), strict=True))
    return all((p, q) in pairs for p, q in zip(a_loop.root.dims, b_loop.root.dims, strict=True))


def _report(plan: Plan, first: Stage, second: Stage, depth: int) -> None:
    guest = second if second in plan.sharing else first
    share = plan.sharing.get(guest) or plan.sharing[first]
    raise IllegalScheduleError(
        Diagnostic(
            "error",
            f"schedule: stages {first.index} and {second.index} exchange values across "
            f"iterations of shared loop {depth}; fuse further outside",
            share.location,
            (
                Diagnostic("note", "one stage is here", first.op.loc),
                Diagnostic("note", "the other is here", second.op.loc),
            ),
        )
    )


def _sort_children(children: list[Node | Stage], plan: Plan) -> None:
    """Order siblings by their dependences, recursively; independent ones in program order."""
    members = {
        id(child): [child] if isinstance(child, Stage) else list(child.stages())
        for child in children
    }

    def precedes(a: Node | Stage, b: Node | Stage) -> bool:
        return any(
            s.index < t.index and depends(s, t) for s in members[id(a)] for t in members[id(b)]
        )

    waiting = sorted(children, key=lambda c: min(s.index for s in members[id(c)]))
    placed: list[Node | Stage] = []
    while waiting:
        ready = next(
            (c for c in waiting if not any(precedes(o, c) for o in waiting if o is not c)),
            None,
        )
        if ready is None:
            stage = members[id(waiting[0])][0]
            share = plan.sharing.get(stage)
            raise IllegalScheduleError(
                "schedule: fused stages depend on each other in a circle",
                share.location if share is not None else stage.op.loc,
            )
        waiting.remove(ready)
        placed.append(ready)
    children[:] = placed
    for child in children:
        if isinstance(child, Node):
            _sort_children(child.children, plan)
