"""Statements that allocate, copy and write buffers, and operations with several results."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from ...dialects import arith, math, memref, vector
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from .memory import Buffer, bytes_of, grouped, offset, row_major, times
from .printer import FunctionPrinter, states
from .printing import lanes_of, stripped
from .vectors import Lanes, address, as_stored, pointer, shuffled


@states(memref.Store)
def _store(p: FunctionPrinter, op: memref.Store) -> None:
    base, at = address(p, op.memref, op.indices)
    p.line(f"{grouped(base)}[{at}] = {stripped(p.text_of(op.value))};")


@states(vector.Store)
def _vector_store(p: FunctionPrinter, op: vector.Store) -> None:
    type = op.valueToStore.type
    if lanes_of(type) == 1:
        base, at = address(p, op.base, op.indices)
        p.line(f"{grouped(base)}[{at}] = {stripped(p.text_of(op.valueToStore))};")
        return
    at = pointer(p, op.base, op.indices)
    p.line(p.call("store", type, at, as_stored(p, op.valueToStore)) + ";")


@states(vector.MaskedStore)
def _masked_store(p: FunctionPrinter, op: vector.MaskedStore) -> None:
    type, at = op.valueToStore.type, pointer(p, op.base, op.indices)
    if lanes_of(type) == 1:
        p.line(f"if ({p.text_of(op.mask)}) {grouped(at)}[0] = {p.text_of(op.valueToStore)};")
        return
    mask = p.mask(op.mask, p.lane_bits(type))
    p.line(p.call("maskedstore", type, at, mask, as_stored(p, op.valueToStore)) + ";")


@states(vector.Scatter)
def _scatter(p: FunctionPrinter, op: vector.Scatter) -> None:
    type, base = op.valueToStore.type, pointer(p, op.base, op.offsets)
    stride = p.values[op.base].strides[-1]
    is_single, bits = lanes_of(type) == 1, p.lane_bits(type)
    lane = lambda text, i: text if is_single else p.lane(text, i)  # noqa: E731
    for i in range(lanes_of(type)):
        test = lane(p.text_of(op.mask) if is_single else p.mask(op.mask, bits), i)
        index = p.cast(lane(p.text_of(op.indices), i), p.language.scalars["index"])
        place, value = f"{index} * {grouped(stride)}", lane(as_stored(p, op.valueToStore), i)
        p.line(f"if ({test}) {grouped(base)}[{place}] = {value};")


@states(memref.Prefetch)
def _prefetch(p: FunctionPrinter, op: memref.Prefetch) -> None:
    at = pointer(p, op.memref, op.indices)
    if template := p.language.templates["prefetch"]:
        p.line(template.format(at, int(op.isWrite), op.localityHint))


@states(memref.GetGlobal)
def _get_global(p: FunctionPrinter, op: memref.GetGlobal) -> None:
    type, name = op.results[0].type, p.facts.names[op.symbol]
    if not p.facts.reads.only(op.results[0]):
        name = f"({p.pointer_type(type)}){name}"
    p.values[op.results[0]] = Buffer(name, type.shape, row_major(type.shape))


@states(memref.Alloc, memref.Realloc)
def _alloc(p: FunctionPrinter, op: Any) -> None:
    if "take" not in p.language.templates:
        _alloca(p, op)
        return
    type = op.results[0].type
    given = op._operands[1:] if isinstance(op, memref.Realloc) else op.dynamicSizes
    rest = iter(given)
    sizes = tuple(p.values[next(rest)] if n is None else n for n in type.shape)
    words = p.language.templates
    bytes = str(bytes_of(type.element_type))
    for size in sizes:
        bytes = words["product"].format(bytes, stripped(str(size)))
    name = p.fresh(op.results[0].name_hint or "buffer")
    kind = p.pointer_type(type)
    p.line(f"{kind}const {name} = ({kind.strip()}){words['take'].format(bytes)};")
    p.fail(name, op)
    p.values[op.results[0]] = Buffer(name, sizes, row_major(sizes))
    if isinstance(op, memref.Realloc):
        old = p.values[op.source]
        count = words["product"].format(
            bytes_of(type.element_type), words["least_of"].format(old.sizes[0], sizes[0])
        )
        p.line(words["copy"].format(name, old.pointer, count))
        p.line(words["give"].format(old.pointer))


@states(memref.Dealloc)
def _dealloc(p: FunctionPrinter, op: memref.Dealloc) -> None:
    if "give" in p.language.templates:
        p.line(p.language.templates["give"].format(p.values[op.memref].pointer))


@states(memref.Alloca)
def _alloca(p: FunctionPrinter, op: memref.Alloca) -> None:
    """Declare a local array of the function, once."""
    type = op.results[0].type
    if not type.has_static_shape:
        raise NncError("has a dynamic size, expected a static one")
    name = p.fresh(op.results[0].name_hint or "local")
    p.local(name, op.results[0])
    p.values[op.results[0]] = Buffer(name, type.shape, row_major(type.shape))


@states(memref.Copy)
def _copy(p: FunctionPrinter, op: memref.Copy) -> None:
    """Copy a buffer by memmove if both buffers are dense, else by loops."""
    source, target = p.values[op.source], p.values[op.target]
    dense = source.strides == target.strides == row_major(source.sizes)
    if dense and "move" in p.language.templates:
        bytes: Any = bytes_of(op.source.type.element_type)
        for size in source.sizes:
            bytes = times(bytes, size)
        p.line(p.language.templates["move"].format(target.pointer, source.pointer, bytes))
        return
    indices, kind = [p.fresh("i") for _ in source.sizes], p.language.scalars["index"]
    with ExitStack() as loops:
        for name, size in zip(indices, source.sizes, strict=True):
            words = {"kind": kind, "name": name, "low": 0, "first": name, "last": size, "step": 1}
            loops.enter_context(p.braces(p.language.templates["for"].format(**words)))
        one, other = (f"{grouped(b.pointer)}[{offset(b, indices)}]" for b in (target, source))
        p.line(f"{one} = {other};")


@states(memref.Reshape)
def _reshape(p: FunctionPrinter, op: memref.Reshape) -> None:
    type, shape = op.results[0].type, p.values[op.shape]
    sizes = []
    for i, extent in enumerate(type.shape):
        name: Any = extent
        if extent is None:
            name = p.fresh("extent")
            kind = p.language.scalars["index"]
            p.constant(kind, name, p.cast(f"{grouped(shape.pointer)}[{i}]", kind))
        sizes.append(name)
    p.values[op.results[0]] = Buffer(p.values[op.source].pointer, tuple(sizes), row_major(sizes))


@states(math.SinCos)
def _sincos(p: FunctionPrinter, op: math.SinCos) -> None:
    (source,) = op._operands
    for result, name in zip(op.results, ("math.sin", "math.cos"), strict=True):
        p.declare(result, p.computed(name, [p.text_of(source)], source.type, result.type))


@states(vector.Deinterleave)
def _deinterleave(p: FunctionPrinter, op: vector.Deinterleave) -> None:
    lanes, size = Lanes(p, op), lanes_of(op.source.type)
    text = lanes.text(op.source)
    for start, result in enumerate(op.results):
        type = lanes.type(result.type)
        found = shuffled(p, type, text, text, range(start, size, 2), op.source.type)
        p.declare(result, lanes.result(found, start))


@states(vector.ToElements)
def _to_elements(p: FunctionPrinter, op: vector.ToElements) -> None:
    lanes, (source,) = Lanes(p, op), op._operands
    if lanes_of(source.type) == 1:
        p.values[op.results[0]] = p.text_of(source)
        return
    text = lanes.text(source)
    for i, result in enumerate(op.results):
        p.values[result] = lanes.result(p.lane(text, i), i)


@states(arith.AddUIExtended)
def _extended_sum(p: FunctionPrinter, op: arith.AddUIExtended) -> None:
    a, b = (p.text_of(v) for v in op._operands)
    type = op.results[0].type
    total = p.declare(op.results[0], p.computed("arith.addi", [a, b], type, type))
    if p.is_mask(op.results[1].type):
        p.widths[op.results[1]] = p.lane_bits(type)
    p.declare(op.results[1], f"{total} < {a}")


@states(arith.MulSIExtended, arith.MulUIExtended)
def _extended_product(p: FunctionPrinter, op: Operation) -> None:
    a, b = (p.text_of(v) for v in op._operands)
    type = op.results[0].type
    p.declare(op.results[0], p.computed("arith.muli", [a, b], type, type))
    p.declare(op.results[1], p.computed(op.name, [a, b], type, type))
