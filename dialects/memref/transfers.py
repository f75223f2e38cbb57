"""Moving elements between memories without waiting, as a DMA engine does."""

from __future__ import annotations

from ..vocabulary import *
from .access import check_bounds


def start_transfer(
    op: Operation,
    source: Any,
    source_at: Sequence[int],
    target: Any,
    target_at: Sequence[int],
    numbers: list[int],
) -> None:
    """Copy `numbers[0]` elements, at once; a program may look at them only after waiting.

    If `numbers` also has a stride and a chunk, the source is read in chunks of so many elements,
    one every stride.
    """
    count, *strided = numbers
    check_bounds(op, source, tuple(source_at))
    check_bounds(op, target, tuple(target_at))
    first = int(np.ravel_multi_index(tuple(source_at), source.shape))
    start = int(np.ravel_multi_index(tuple(target_at), target.shape))
    places = np.arange(count)
    if strided:
        stride, chunk = strided
        places = places // chunk * stride + places % chunk
    places += first
    if count and (places[-1] >= source.size or start + count > target.size):
        raise NncError(f"'{op.name}': {count} elements are more than the memref holds", op.loc)
    target.flat[start : start + count] = np.asarray(source.flat)[places]


class DmaStart(Op, name="memref.dma_start", traits=(WritesMemory,)):
    """Begin to copy elements from one memref to another; `memref.dma_wait` waits for the tag.

    With a stride and a number of elements, the slower of the memories is accessed in chunks of so
    many elements, one every stride.
    """

    values: Operands = operands(AnyType)

    format = "custom<MemRefTransfer>($values)"
    example = (
        "memref.dma_start %src[%i, %j], %dst[%k], %n, %tag[%c] "
        ": memref<40x128xf32>, memref<1024xf32, 1>, memref<1xi32, 2>"
    )

    def parts(self, operands: Sequence[Any]) -> tuple[list[tuple[Any, list[Any]]], list[Any]]:
        """[(memref, indices)] of source, target and tag, and the numbers, from the op's operands.

        `operands` are the operands as values, or what they are at run time.
        """
        found: list[tuple[Any, list[Any]]] = []
        numbers: list[Any] = []
        at = 0
        for i in range(3):
            if at >= len(self.values) or len(self.values) < 4:
                raise self.error("expected at least 4 operands")
            memref: Any = self.values[at].type
            if not isinstance(memref, MemRefType):
                word = ("source", "destination", "tag")[i]
                raise self.error(f"expected {word} to be of memref type")
            end = at + 1 + memref.rank
            found.append((operands[at], list(operands[at + 1 : end])))
            at = end
            if i == 1:
                numbers += operands[at : at + 1]
                at += 1
        return found, [*numbers, *operands[at:]]

    def verify_op(self) -> None:
        found, numbers = self.parts(self.values)
        if len(numbers) not in (1, 3):
            raise self.error("incorrect number of operands")
        given: list[Value] = [v for _, indices in found for v in indices]
        if not all(isinstance(v.type, IndexType) for v in (*given, *numbers)):
            raise self.error("expected indices and numbers of elements to be of index type")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        found, numbers = self.parts(operands)
        (source, at), (target, to), _ = found
        start_transfer(
            self,
            source,
            [int(i) for i in at],
            target,
            [int(i) for i in to],
            [int(n) for n in numbers],
        )
        return []


class DmaWait(Op, name="memref.dma_wait", traits=(WritesMemory,)):
    """Wait until the transfer with a tag is done."""

    tagMemRef: Operand = operand(AnyMemRef)  # noqa: N815
    tagIndices: Operands = operands(Index)  # noqa: N815
    numElements: Operand = operand(Index)  # noqa: N815

    format = "$tagMemRef `[` $tagIndices `]` `,` $numElements attr-dict `:` type($tagMemRef)"
    example = "memref.dma_wait %tag[%i], %n : memref<1xi32, 2>"

    def verify_op(self) -> None:
        tag: Any = self.tagMemRef.type
        if tag.rank != len(self.tagIndices):
            raise self.error(
                f"expected tagIndices to have the same number of elements as the tagMemRef rank, "
                f"expected {tag.rank}, but got {len(self.tagIndices)}"
            )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return []
