"""Fuse elementwise operations into the operation that writes their operand in tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..dialects import linalg, memref
from ..dialects.linalg import StructuredOp
from ..dialects.memref import base_buffer
from ..ir.affine import AffineMap, is_tiling
from ..ir.builder import Builder
from ..ir.core import Block, IRMapping, Operation, Value
from ..ir.location import fuse_locations
from ..ir.passes import Pass, PassContext
from ..ir.types import MemRefType


@dataclass(frozen=True)
class FuseIntoTiles(
    Pass,
    name="fuse-into-tiles",
    anchor="func.func",
    statistics={"fused": "Number of elementwise operations that joined the one before"},
):
    """Fuse an elementwise linalg operation into the one that writes its operand in tiles.

    A *tile* is what a point of the iteration space writes through several maps:

        linalg.generic ins(%m, ..) outs(%t, %t)        maps (i) -> (i * 2), (i) -> (i * 2 + 1)
        linalg.generic ins(%t, %b) outs(%y)            maps (j) -> (j), (j) -> (j), (j) -> (j)
        ->
        linalg.generic ins(%m, .., %b, %b) outs(%y, %y)

    The buffer %t is then not needed. The tiles must cover it without overlap, and no other
    operation may use it. Winograd's output transform, followed by a bias, an activation and a
    residual addition, is such a pair.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Fuse pairs until there is none left."""
        for block in op.regions[0].blocks:
            ops = [o for o in block if isinstance(o, linalg.Generic)]
            while ops:
                writer = ops.pop(0)
                reader = _reader(writer, block)
                if reader is not None:
                    ops.insert(0, _fused(writer, reader))
                    context.statistic("fused")


def _reader(writer: linalg.Generic, block: Block) -> StructuredOp | None:
    """The elementwise operation to fuse into `writer`: the only one that reads the tiles' buffer.

    None if there is none, or if an operation between the two writes what they need.
    """
    buffer = _tiled_buffer(writer)
    if buffer is None:
        return None
    readers = [u for u in buffer.users if u is not writer and not isinstance(u, memref.Dealloc)]
    if len(readers) != 1:
        return None
    (reader,) = readers
    if not isinstance(reader, StructuredOp) or reader.parent is not block:
        return None
    if not _is_elementwise(reader, buffer):
        return None
    needed = {base_buffer(v) for v in writer.inputs}
    read = needed | {base_buffer(v) for v in reader.inputs}
    if base_buffer(reader.outputs[0]) in read:
        return None  # a tile would be written before another one reads it
    between = _between(writer, reader)
    if between is None or any(base_buffer(v) in needed for o in between for v in _written(o)):
        return None
    return reader


def _tiled_buffer(writer: linalg.Generic) -> Value | None:
    """The buffer, allocated here, that the operation's tiles cover; None if it writes no tiles."""
    outputs = list(writer.outputs)
    if len(outputs) < 2 or any(v is not outputs[0] for v in outputs):
        return None
    type = outputs[0].type
    if outputs[0].defined_by(memref.Alloc) is None or not isinstance(type, MemRefType):
        return None
    if set(writer.iterators) != {"parallel"} or any(a.has_uses for a in _out_arguments(writer)):
        return None
    whole = is_tiling(writer.maps[len(writer.inputs) :], writer.ranges, type.shape)
    return outputs[0] if whole else None


def _is_elementwise(reader: StructuredOp, buffer: Value) -> bool:
    """Whether each point reads the buffer's element at its own index, and writes another buffer."""
    if set(reader.iterators) != {"parallel"} or len(reader.outputs) != 1:
        return False
    if reader.outputs[0] is buffer or any(a.has_uses for a in _out_arguments(reader)):
        return False
    if any(isinstance(o, linalg.Index) for o in reader.walk()):
        return False
    rank = len(reader.iterators)
    read = [m for v, m in zip(reader.inputs, reader.maps, strict=False) if v is buffer]
    return all(m.results == read[0].results for m in read) and (
        read[0].is_projected_permutation() and len(read[0].results) == rank
    )


def _out_arguments(op: StructuredOp) -> Sequence[Value]:
    return op.regions[0].blocks[0].args[len(op.inputs) :]


def _between(first: Operation, last: Operation) -> list[Operation] | None:
    """The operations between two of a block; None where the second one comes first."""
    found: list[Operation] = []
    op = first.next
    while op is not None and op is not last:
        found.append(op)
        op = op.next
    return found if op is last else None


def _written(op: Operation) -> Iterator[Value]:
    """The buffers that an operation may write."""
    if isinstance(op, StructuredOp):
        yield from op.outputs
    elif not isinstance(op, memref.Alloc):
        yield from op.operands


def _fused(writer: linalg.Generic, reader: StructuredOp) -> linalg.Generic:
    """Make one operation of both, at the place of the reader."""
    buffer, target = writer.outputs[0], reader.outputs[0]
    read = next(m for v, m in zip(reader.inputs, reader.maps, strict=False) if v is buffer)
    inputs, maps = list(writer.inputs), writer.maps[: len(writer.inputs)]
    known: dict[tuple[Value, AffineMap], int] = {}
    places: list[list[int | None]] = []
    results: list[AffineMap] = []
    for tile in writer.maps[len(writer.inputs) :]:
        # The reader's dimensions, where the buffer's are.
        to_point = dict(zip((e.position for e in read.results), tile.results, strict=True))  # type: ignore[attr-defined]
        point = AffineMap(tile.dim_count, 0, tuple(to_point[d] for d in range(len(to_point))))
        own: list[int | None] = []
        for value, map in zip(reader.inputs, reader.maps, strict=False):
            if value is buffer:
                own.append(None)
                continue
            key = (value, map.compose(point))
            if key not in known:
                known[key] = len(inputs)
                inputs.append(value)
                maps.append(key[1])
            own.append(known[key])
        places.append(own)
        results.append(reader.maps[-1].compose(point))

    def body(builder: Builder, *elements: Value) -> list[Value]:
        tiles = _inlined(writer, builder, elements[: len(writer.inputs)])
        return [
            _inlined(reader, builder, [t if i is None else elements[i] for i in own])[0]
            for t, own in zip(tiles, places, strict=True)
        ]

    made = linalg.Generic.build(
        inputs, [target] * len(results), [*maps, *results], writer.iterators, body
    )
    made.loc = fuse_locations([writer.loc, reader.loc])
    Builder.before_op(reader).insert(made)
    for op in (writer, reader, *buffer.users, buffer.defining_op):
        assert op is not None
        op.erase()
    return made


def _inlined(op: StructuredOp, builder: Builder, elements: Sequence[Value]) -> list[Value]:
    """Insert an operation's body for these elements. Returns the values that it yields."""
    block = op.regions[0].blocks[0]
    mapping = IRMapping()
    for argument, element in zip(block.args, elements, strict=False):
        mapping[argument] = element
    *ops, last = block
    for inner in ops:
        builder.insert(inner.clone(mapping))
    return [mapping[v] for v in last.operands]
