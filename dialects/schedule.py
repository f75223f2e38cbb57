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
    """Make one loop of several adjacent ones; the last of them runs fastest.

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
    """Permute these loops of a stage into the given order; the places that they occupy stay the
    same.
    """

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
    """Divide the iterations of a loop among all cores.

    The loop must be outermost, or directly inside another parallel one.
    """

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.parallel %l"


class Bind(Op, name="schedule.bind", traits=(_INSIDE,)):
    """Make each iteration of the loop a group of a device's threads, counted along an axis of the
    grid.

    Several loops on one axis count as one, the last of which runs fastest. Each must be outermost,
    or directly inside another one.
    """

    loop: Operand = operand(Loop)
    axis: str = attribute(instance(GroupAxis))  # type: ignore[assignment]

    format = "$loop `to` `groups` `` $axis attr-dict"
    example = "schedule.bind %l to groups<x>"


class Threads(Op, name="schedule.threads", traits=(_INSIDE,)):
    """Let a group of `threads` threads of a device execute each iteration of the loop.

    The loop must be the outermost one bound to groups, or parallel; such loops directly inside it
    belong to the same groups. All groups run the same code; where a group's share exceeds what is
    left of a loop, the rest is masked.
    """

    loop: Operand = operand(Loop)
    threads = attribute(I64)

    format = "$threads `of` $loop attr-dict"
    example = "schedule.threads 128 of %l"

    def verify_op(self) -> None:
        if self.threads < 1:
            raise self.error(f"expects at least one thread, found {self.threads}")


class Vectorize(Op, name="schedule.vectorize", traits=(_INSIDE,)):
    """Make the iterations of the loop the lanes of vectors.

    The loop must be the innermost one of its stage. If it is a reduction, each lane reduces on its
    own, and the lanes are combined when the accumulation ends.
    """

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.vectorize %l"


class Unroll(Op, name="schedule.unroll", traits=(_INSIDE,)):
    """Write out the iterations of the loop one after the other.

    With `partial`, for a reduction: each iteration accumulates on its own, so that chains of
    dependent operations are shorter, and the results are combined when the accumulation ends. With
    `most`, the loop is unrolled only if that makes at most so many bodies, as in small remainders
    of a tile. With `sums` in addition, unrolled iterations add in turn to several partial results,
    about `sums` in all, so that a few results do not each wait for one chain of additions.
    """

    loop: Operand = operand(Loop)
    partial = attribute(UNIT)
    most = attribute(I64, optional=True)
    sums = attribute(I64, optional=True)

    format = "(`partial` $partial^)? $loop attr-dict"
    example = "schedule.unroll %l"


class Pipeline(Op, name="schedule.pipeline", traits=(_INSIDE,)):
    """In hardware, start an iteration of the loop every `interval` cycles, by default every cycle.

    The code inside of an iteration is one piece of hardware; loops in it are replicated.
    """

    loop: Operand = operand(Loop)
    interval = attribute(I64, optional=True)

    format = "$loop (`interval` $interval^)? attr-dict"
    example = "schedule.pipeline %k"

    def verify_op(self) -> None:
        if self.interval is not None and self.interval < 1:
            raise self.error(f"expects an interval of at least 1, found {self.interval}")


class Replicate(Op, name="schedule.replicate", traits=(_INSIDE,)):
    """In hardware, give each iteration of the loop hardware of its own; the loop stays one loop."""

    loop: Operand = operand(Loop)

    format = "$loop attr-dict"
    example = "schedule.replicate %l"


class Accumulate(Op, name="schedule.accumulate", traits=(_INSIDE,)):
    """Keep the results of the loop's stage in registers while the loop runs.

    All loops inside it on which the results depend must be unrolled or vectorized.
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
    """Compute a stage inside a loop of another stage: in each iteration, what belongs to the
    iteration.

    For `relu` fused at loop %mo of `matmul`, an iteration of %mo computes some rows of the product
    and then relu of these rows. The stages are related by the buffer that one writes and the other
    reads: the fused stage takes part in the other's loops down to `at`. Further inside, a dimension
    of it that no scheduling operation has touched is split, unrolled and vectorized as the other
    stage's is; one that was split by the same factor stays as it is. Elements that one stage writes
    and the other reads at the same place stay in registers. With `rolled`, loops that the other
    stage unrolls stay loops, which makes less code. With `ordered`, loops that are not shared keep
    their order; otherwise they take the order of the other stage's.
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

    With `in workgroup at` a loop, there is no such stage. The loop must be inside of loops bound to
    groups; each of its iterations copies the elements that it needs into a buffer in workgroup
    memory. With several `buffers`, these copies overlap with the computation of earlier iterations.

    `padded` says that other stages made the operand from another buffer by padding it with one
    number. Those stages are removed, and an iteration copies its elements from the unpadded buffer,
    with that number around them.
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
            raise self.error("expects a result without a loop `at`, and no result with one")
        if self.at is None and self.buffers is not None:
            raise self.error("has several buffers only in workgroup memory")
        if self.at is None and self.padded:
            raise self.error("copies what is in a padded operand only to workgroup memory")
        if self.buffers is not None and not 1 <= self.buffers <= MOST_BUFFERS:
            raise self.error(f"expects 1 to {MOST_BUFFERS} buffers, found {self.buffers}")


class Prefetch(Op, name="schedule.prefetch", traits=(_INSIDE,)):
    """Where a stage reads an operand, prefetch the element that is `ahead` elements further on.

    The cache line comes as far as the second-level cache. It may be beyond the buffer's end. Loops
    in which the stage reads the same `ahead` elements again and again may share the work: with
    `over`, each of their iterations prefetches another part of the following `ahead` elements. With
    `passes`, the first so many iterations of one such loop prefetch all of them.
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
