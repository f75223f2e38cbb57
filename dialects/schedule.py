"""The schedule dialect: how the stages of a kernel become loops.

A `schedule.for` stands beside a kernel function and names it. Its block arguments are the
function's linalg operations in order, its *stages*. The operations in it are carried out
one after the other, each on the loops that the ones before have made; order matters only
where one operation takes another's result.

    schedule.for @matmul_relu {
    ^bb0(%fill: !schedule.stage, %matmul: !schedule.stage, %relu: !schedule.stage):
      %m, %n, %k = schedule.loops 3 of %matmul
      %mo, %mi = schedule.split %m by 6
      %no, %ni = schedule.split %n by 64
      %nu, %nv = schedule.split %ni by 16
      schedule.reorder %no, %mo, %k, %mi, %nu, %nv
      schedule.unroll %mi
      schedule.unroll %nu
      schedule.vectorize %nv
      schedule.accumulate %k
      schedule.fuse %fill at %mo
      schedule.fuse %relu at %mo
    }

A kernel without a schedule becomes plain loops in the order of its iteration space.
"""

from __future__ import annotations

from typing import ClassVar

from .vocabulary import *


@attribute_class
class GroupAxis(EnumAttr):
    """`#schedule.groups<x>`: the axis of a device's grid along which groups count."""

    name: ClassVar[str] = "schedule.groups"
    cases: ClassVar[tuple[str, ...]] = ("x", "y", "z")


@attribute_class
class StageType(Type):
    """`!schedule.stage`: one linalg operation of a kernel."""

    name: ClassVar[str] = "schedule.stage"

    def parameters_text(self) -> str:
        """Nothing follows the type's name."""
        return ""


@attribute_class
class LoopType(Type):
    """`!schedule.loop`: one loop of a stage."""

    name: ClassVar[str] = "schedule.loop"

    def parameters_text(self) -> str:
        """Nothing follows the type's name."""
        return ""


stage = StageType()
loop = LoopType()

Stage = Exactly(stage, "schedule stage")
Loop = Exactly(loop, "schedule loop")

MOST_BUFFERS = 8
"""The most buffers of an operand in workgroup memory."""

_INSIDE = HasParent("schedule.for")


class Named(Op):
    """An operation that keeps the names of its results in text, since they name loops."""

    def result_names(self) -> list[str | None]:
        """For each result, the name it should get."""
        return [value.name_hint for value in self.results]


def _check_count(op: Op, what: str, count: int) -> None:
    """Raise VerifyError unless a count of iterations is positive."""
    if count < 1:
        raise op.error(f"expects {what} of at least 1, found {count}")


class For(Op, name="schedule.for", traits=(IsolatedFromAbove, SingleBlock, NoTerminator)):
    """The schedule of one kernel function; its block arguments are the function's stages."""

    kernel = attribute(SYMBOL)
    body = region()

    format = "$kernel attr-dict-with-keyword $body"
    example = """
schedule.for @relu {
^bb0(%relu: !schedule.stage):
  %i, %j = schedule.loops 2 of %relu
  schedule.parallel %i
}
"""

    def block_argument_names(self, region: Region) -> list[str | None]:
        """The names that the stages had in text."""
        return [arg.name_hint for arg in region.blocks[0].args]

    def verify_op(self) -> None:
        for block in self.regions[0].blocks:
            for arg in block.args:
                if arg.type is not stage:
                    raise self.error(f"block arguments must be !schedule.stage, found {arg.type}")
            for op in block:
                if not op.name.startswith("schedule."):
                    raise op.error("is not a scheduling operation")


class Loops(Named, name="schedule.loops", traits=(_INSIDE,)):
    """The loops of a stage, one for each dimension of its iteration space, outermost first."""

    count = attribute(I64)
    of: Operand = operand(Stage)
    loops: Results = results(Loop)

    format = "$count `of` $of attr-dict"
    example = "%m, %n, %k = schedule.loops 3 of %matmul"

    @classmethod
    def infer_result_types(
        cls,
        operand_types: Sequence[Type],
        properties: Mapping[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> Sequence[Type]:
        count = properties.get("count")
        return [loop] * (count.value if isinstance(count, IntegerAttr) else 0)

    def verify_op(self) -> None:
        if len(self.loops) != self.count:
            raise self.error(f"has {len(self.loops)} results for {self.count} loops")


class Split(Named, name="schedule.split", traits=(_INSIDE,)):
    """Split a loop in two nested loops; the inner one has `factor` iterations.

        for i in 0..E           for io in 0..E step F
            body(i)       ->        for ii in 0..min(F, E - io)
                                        body(io + ii)

    The remainder, if there is one, becomes code of its own, so that the inner loop can be
    unrolled or vectorized all the same.
    """

    split: Operand = operand(Loop)
    factor = attribute(I64)
    outer: Result = result(Loop)
    inner: Result = result(Loop)

    format = "$split `by` $factor attr-dict"
    example = "%o, %i = schedule.split %l by 16"

    def verify_op(self) -> None:
        _check_count(self, "a factor", self.factor)


class Collapse(Named, name="schedule.collapse", traits=(_INSIDE,)):
    """Make one loop of several adjacent ones, the last of which runs fastest.

        for i in 0..N           for l in 0..N*M
            for j in 0..M   ->      body(l / M, l % M)
                body(i, j)

    Every operand must be contiguous over them, so that no division is needed.
    """

    collapsed: Operands = operands(Loop)
    loop: Result = result(Loop)

    format = "$collapsed attr-dict"
    example = "%l = schedule.collapse %i, %j"


class Reorder(Op, name="schedule.reorder", traits=(_INSIDE,)):
    """Permute loops of one stage into this order, within their present positions."""

    loops: Operands = operands(Loop)

    format = "$loops attr-dict"
    example = "schedule.reorder %j, %i"


class Order(Named, name="schedule.order", traits=(_INSIDE,)):
    """Run through two adjacent loops in blocks of `factor` iterations of the first one.

        for m in 0..M                for mo in 0..M step 8
            for n in 0..N   ->           for n in 0..N
                body(m, n)                   for mi in 0..min(8, M - mo)
                                                 body(mo + mi, n)

    Groups that run one after the other then share operands in a cache. The first loop may be the
    outer half of a split; a whole loop must be a multiple of the block.
    """

    first: Operand = operand(Loop)
    second: Operand = operand(Loop)
    factor = attribute(I64)
    outer: Result = result(Loop)
    inner: Result = result(Loop)

    format = "$first `,` $second `in` `blocks` `of` $factor attr-dict"
    example = "%o, %i = schedule.order %m, %n in blocks of 8"

    def verify_op(self) -> None:
        _check_count(self, "blocks", self.factor)


class Parallel(Op, name="schedule.parallel", traits=(_INSIDE,)):
    """The iterations of the loop run on all cores. The loop must be outermost, or directly
    inside another parallel one.
    """

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.parallel %l"


class Bind(Op, name="schedule.bind", traits=(_INSIDE,)):
    """Each iteration of the loop is a group of threads of a device, counted along an axis.

    Several loops along one axis count as one there, the last of which runs fastest. Each must be
    outermost, or directly inside another one.
    """

    loop: Operand = operand(Loop)
    axis: str = attribute(instance(GroupAxis))  # type: ignore[assignment]

    format = "$loop `to` `groups` `` $axis attr-dict"
    example = "schedule.bind %l to groups<x>"


class Threads(Op, name="schedule.threads", traits=(_INSIDE,)):
    """Each iteration of the loop is executed by a group of `threads` threads of a device.

    The loop must be the outermost one that is bound to groups, or parallel; the ones directly
    inside belong to the same groups. All groups run the same code: where a group's share of a loop
    is more than is left of it, what is beyond is masked.
    """

    loop: Operand = operand(Loop)
    threads = attribute(I64)

    format = "$threads `of` $loop attr-dict"
    example = "schedule.threads 128 of %l"

    def verify_op(self) -> None:
        if self.threads < 1:
            raise self.error(f"expects at least one thread, found {self.threads}")


class Vectorize(Op, name="schedule.vectorize", traits=(_INSIDE,)):
    """The iterations of the loop become the lanes of vectors.

    The loop must be the innermost one of its stage. If it is a reduction, each lane reduces
    on its own and the lanes are combined when the accumulation ends.
    """

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.vectorize %l"


class Unroll(Op, name="schedule.unroll", traits=(_INSIDE,)):
    """The iterations of the loop stand one after the other.

    With `partial`, for a reduction: each iteration accumulates on its own, which makes the
    chains of dependent operations shorter; they are combined when the accumulation ends.
    With `most`, the loop is unrolled only where that makes at most `most` bodies, as in small
    remainders of a tile. With `sums` as well, unrolled iterations add in turn to several partial
    results, about `sums` in all, so that few results do not wait for one chain of additions each.
    """

    loop: Operand = operand(Loop)
    partial = attribute(UNIT)
    most = attribute(I64, optional=True)
    sums = attribute(I64, optional=True)

    format = "(`partial` $partial^)? $loop attr-dict"
    example = "schedule.unroll %l"


class Pipeline(Op, name="schedule.pipeline", traits=(_INSIDE,)):
    """In hardware, the loop's iterations start `interval` cycles after one another, 1 if not said.

    What is inside of an iteration runs as one piece of hardware: loops in it are replicated.
    """

    loop: Operand = operand(Loop)
    interval = attribute(I64, optional=True)

    format = "$loop (`interval` $interval^)? attr-dict"
    example = "schedule.pipeline %k"

    def verify_op(self) -> None:
        if self.interval is not None and self.interval < 1:
            raise self.error(f"expects an interval of at least 1, found {self.interval}")


class Replicate(Op, name="schedule.replicate", traits=(_INSIDE,)):
    """In hardware, each of the loop's iterations has hardware of its own; the loop stays one."""

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.replicate %l"


class Accumulate(Op, name="schedule.accumulate", traits=(_INSIDE,)):
    """While the loop runs, the results of its stage stay in registers.

    All loops inside it that the results depend on must be unrolled or vectorized.
    """

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.accumulate %k"


class Rfactor(Named, name="schedule.rfactor", traits=(_INSIDE,)):
    """Let each iteration of a reduction's loop compute partial results; a new stage adds them up.

    The loop then is parallel: its iterations may be divided among groups. All other loops of the
    reduction must be inside it and accumulate.
    """

    loop: Operand = operand(Loop)
    combined: Result = result(Stage)

    format = "$loop attr-dict"
    example = "%sum = schedule.rfactor %k"


class Fuse(Op, name="schedule.fuse", traits=(_INSIDE,)):
    """Compute a stage inside a loop of another: what belongs to one iteration of the loop.

    The stage takes part in the other's loops, down to this one, through the buffer that
    both use. A dimension of the stage that no scheduling operation has touched also takes
    over how the other stage splits, unrolls and vectorizes its own further inside; one that it
    has split by the same factor takes part as it is. What one stage writes and the other reads
    at the same place goes through registers. With `rolled`, what the other stage unrolls stays
    a loop, which makes less code. With `ordered`, loops that are not shared keep their order;
    without it, those that correspond to loops of the other stage stand in that one's.
    """

    fused: Operand = operand(Stage)
    at: Operand = operand(Loop)
    rolled = attribute(UNIT)
    ordered = attribute(UNIT)

    format = "(`rolled` $rolled^)? (`ordered` $ordered^)? $fused `at` $at attr-dict"
    example = "schedule.fuse %relu at %l"


class Cache(Named, name="schedule.cache", traits=(_INSIDE,)):
    """Let a stage read an operand through a copy of it.

    A new stage makes the copy. Fused into a loop of the first stage, it copies what an iteration
    needs into a small contiguous buffer. `order` permutes the buffer's dimensions: dimension i of
    the copy is dimension `order[i]` of the operand.

    With `in workgroup at`, there is no such stage: each iteration of that loop, which stands in
    loops bound to groups, copies what it needs into a buffer in the group's own memory. With
    several `buffers`, what an iteration needs is on its way while the ones before compute.

    `padded` says that other stages made the operand from another buffer by padding it with one
    number. Those stages are removed, and what an iteration needs is copied from the unpadded
    buffer, with that number around it.
    """

    number = attribute(I64)
    of: Operand = operand(Stage)
    order = attribute(INT_ARRAY, optional=True)
    at: OptionalOperand = optional_operand(Loop)
    buffers = attribute(I64, optional=True)
    padded = attribute(UNIT)
    copies: Results = results(Stage)

    format = (
        "(`padded` $padded^)? $number `of` $of (`order` $order^)? (`in` `workgroup` `at` $at^)? "
        "(`buffers` $buffers^)? attr-dict"
    )
    example = """%copy = schedule.cache 1 of %matmul order [1, 0]
schedule.cache 0 of %matmul in workgroup at %k buffers 2
schedule.cache padded 0 of %conv in workgroup at %c"""

    @classmethod
    def infer_result_types(
        cls,
        operand_types: Sequence[Type],
        properties: Mapping[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> Sequence[Type]:
        return [stage] if len(operand_types) == 1 else []

    def verify_op(self) -> None:
        if len(self.copies) != (self.at is None):
            raise self.error("makes a stage where it is told no loop, and only there")
        if self.at is None and self.buffers is not None:
            raise self.error("has several buffers only in workgroup memory")
        if self.at is None and self.padded:
            raise self.error("copies what is in a padded operand only to workgroup memory")
        if self.buffers is not None and not 1 <= self.buffers <= MOST_BUFFERS:
            raise self.error(f"expects 1 to {MOST_BUFFERS} buffers, found {self.buffers}")


class Prefetch(Op, name="schedule.prefetch", traits=(_INSIDE,)):
    """Where a stage reads an operand, ask for what lies `ahead` elements further in its buffer.

    The line comes as far as the second-level cache. It may lie beyond the buffer's end.

    Loops in which the stage reads the same `ahead` elements again and again may share the work:
    with `over`, each of their iterations asks for another part of the `ahead` elements after them.
    With `passes`, the first so many iterations of one such loop ask for all of them.
    """

    number = attribute(I64)
    of: Operand = operand(Stage)
    ahead = attribute(I64)
    over: Operands = operands(Loop)
    passes = attribute(I64, optional=True)

    format = "$number `of` $of `ahead` $ahead (`over` $over^)? attr-dict"
    example = "schedule.prefetch 1 of %matmul ahead 1024 over %m"


class Inline(Op, name="schedule.inline", traits=(_INSIDE,)):
    """Remove a stage that only copies a buffer, in any order; its readers read the original."""

    inlined: Operand = operand(Stage)

    format = "$inlined attr-dict"
    example = "schedule.inline %transpose"


def schedules(module: Operation) -> dict[str, For]:
    """The schedules of a module by the name of the kernel. Raises NncError for two of one."""
    found: dict[str, For] = {}
    for op in module.regions[0].ops:
        if isinstance(op, For):
            if op.kernel in found:
                raise op.error(f"is the second schedule of @{op.kernel}")
            found[op.kernel] = op
    return found
