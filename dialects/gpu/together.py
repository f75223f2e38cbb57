"""What the threads of a group do with each other: wait, exchange values, combine them."""

from __future__ import annotations

from ..vector.attributes import combine, supports
from ..vocabulary import *
from .attributes import REDUCTION, SHUFFLE_MODE


def _is_number(type: Type) -> bool:
    return isinstance(type, IntegerType | FloatType)


def _is_shuffled(type: Type) -> bool:
    if isinstance(type, VectorType):
        return type.rank == 1 and _is_number(type.element_type)
    return _is_number(type)


Shuffled = Constraint(
    "Integer or Float or fixed-length vector of Integer or Float values of ranks 1", _is_shuffled
)
_I32 = Exactly(i32, "32-bit signless integer")


class Barrier(Op, name="gpu.barrier"):
    """All threads of a group wait here for one another.

    After it, each sees what the others wrote to memory before it. It is an error if a thread of the
    group never comes here, or waits at another barrier.
    """

    format = "attr-dict"
    example = "gpu.barrier"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        frame.thread.meet_group(self)
        return []


class Shuffle(Op, name="gpu.shuffle"):
    """The value that another thread of the subgroup has, and whether there is such a thread.

    `mode` says which one: `up` the lane `offset` below, `down` the lane `offset` above, `xor` the
    own lane number xor `offset`, `idx` the lane `offset`. Only the first `width` lanes are read.
    """

    value: Operand = operand(Shuffled)
    offset: Operand = operand(_I32)
    width: Operand = operand(_I32)
    mode: str = attribute(SHUFFLE_MODE)  # type: ignore[assignment]
    shuffleResult: Result = result(Same("value"))  # noqa: N815
    valid: Result = result(I1)

    format = "` ` $mode $value `,` $offset `,` $width attr-dict `:` type($value)"
    example = "%r, %ok = gpu.shuffle  xor %v, %i, %n : f32"

    def result_names(self) -> list[str]:
        """Upstream's names of the results."""
        return ["shuffleResult", "valid"]

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, offset, width = operands
        thread = frame.thread
        if not 0 < int(width) <= thread.group.subgroup_size:
            raise NncError(f"'{self.name}' op: a subgroup has no {width} threads", self.loc)
        values = thread.meet_subgroup(self, value)
        source = self._source(thread.lane, int(offset))
        if not (0 <= source < int(width) and source in values):
            return [value, False]
        return [values[source], True]

    def _source(self, lane: int, offset: int) -> int:
        match self.mode:
            case "xor":
                return lane ^ offset
            case "up":
                return lane - offset
            case "down":
                return lane + offset
        return offset


class SubgroupReduce(Op, name="gpu.subgroup_reduce"):
    """The values of all threads of a subgroup combined by `op`; each thread gets the result.

    With `cluster_size`, the values of clusters of so many threads are combined. The threads of a
    cluster are `cluster_stride` apart: with size 2 and stride 4, threads 0 and 4 are one.
    """

    value: Operand = operand(Shuffled)
    op: str = attribute(REDUCTION)  # type: ignore[assignment]
    uniform = attribute(UNIT)
    cluster_size: Any = attribute(I32, optional=True)
    cluster_stride: Any = attribute(I32, default=1)
    out: Result = result(Same("value"))

    format = (
        "` ` $op $value (`uniform` $uniform^)? "
        "(`cluster` `(` `size` `=` $cluster_size^ (`,` `stride` `=` $cluster_stride^)? `)`)? "
        "attr-dict `:` functional-type(operands, results)"
    )
    example = "%s = gpu.subgroup_reduce  add %v : (f32) -> f32"

    def verify_op(self) -> None:
        element = getattr(self.value.type, "element_type", self.value.type)
        if not supports(self.op, element):
            raise VerifyError(
                f"`{self.op}` reduction operation is not compatible with type '{element}'", self.loc
            )
        for what in ("cluster_size", "cluster_stride"):
            number = getattr(self, what)
            if number is not None and (number <= 0 or number & (number - 1)):
                said = what.replace("_", " ")
                raise self.error(f"{said} {number} is not a power of two")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        thread = frame.thread
        values = thread.meet_subgroup(self, operands[0])
        size = self.cluster_size or len(values)
        stride = self.cluster_stride
        first = thread.lane - thread.lane // stride % size * stride
        lanes = [first + i * stride for i in range(size)]
        if any(lane not in values for lane in lanes):
            raise NncError(f"'{self.name}' op: a cluster of {size} reaches out of the subgroup")
        total = values[lanes[0]]
        for lane in lanes[1:]:
            total = combine(self.op, total, values[lane])
        return [total if getattr(total, "shape", ()) else total[()]]
