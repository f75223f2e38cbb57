"""Operators of com.microsoft on integers of few bits, which stay packed.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from ...common.movement import as_vector
from ...common.quantization import middle_of, pack_bits, packed_numbers, real_numbers
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN


@converter("MatMulNBits", domain=DOMAIN)
def matmul_bits(
    n: Node,
    a: Value,
    b: Value,
    scales: Value,
    zeros: Value | None = None,
    groups: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """a [.., K] times a matrix of few-bit weights [N, blocks, bytes], with a scale per block."""
    width, columns = n.int("K"), n.int("N")
    bits, block = n.int("bits", 4), n.int("block_size")
    if bits not in (2, 4, 8) or block < 1 or block * bits % 8:
        raise n.error(f"{bits} bits in blocks of {block} are not supported")
    if n.int("weight_prepacked"):
        raise n.error("prepacked weights are not supported")
    count = -(-width // block)
    data = reshape(n, b, [columns, count, block * bits // 8])
    scale = Term(n, scales).reshape(columns, count)
    offset = None
    if zeros is not None:
        offset = -(_zero_points(n, zeros, bits, columns, count) * scale.cast(f32))
    if groups is not None:
        if groups.type.shape not in ((width,), (count * block,), (None,)):
            raise n.error(f"input 'g_idx' has shape {shape_text(groups)}, expected [{width}]")
        if groups.type.shape[0] != width:
            groups = Term(n, groups).part(0, 0, width).value
        if bits == 2 or (
            bits == 4 and zeros is not None and isinstance(zeros.type.element_type, IntegerType)
        ):
            n.warn("with 'g_idx', ONNX Runtime's CPU kernel reads other numbers than these")
    known = n.array(groups)
    if groups is None or (known is not None and (known == np.arange(width) // block).all()):
        # Level 4 allows rounding a to 8-bit integers with a scale per block.
        factor_bits = 8 if n.int("accuracy_level") == 4 else 0
        given = (data, scale.value, offset and offset.value)
        rows = packed_numbers(n, *given, bits, factor_bits=factor_bits).part(1, 0, width)
    else:
        of = Term(n, groups)
        scales_of = scale.cast(f32).gather(of, 1)
        offsets_of = scales_of * float(-1 << (bits - 1)) if offset is None else offset.gather(of, 1)
        one = n.constant(np.ones((columns, count), np.float32))
        rows = packed_numbers(n, data, one, None, bits, middle=0).part(1, 0, width)
        rows = rows * scales_of + offsets_of
    out = (Term(n, a).cast(f32) @ rows.transpose(1, 0)).cast(a.type.element_type)
    return (out if bias is None else out + Term(n, bias)).value


def _zero_points(n: Node, zeros: Value, bits: int, columns: int, count: int) -> Term:
    """The zero points of groups [N, groups] in f32, given as numbers or packed integers."""
    if isinstance(zeros.type.element_type, FloatType):
        return Term(n, zeros).reshape(columns, count).cast(f32)
    rows = Term(n, zeros).reshape(columns, -(-count * bits // 8))
    return _points_of_rows(n, rows, bits).part(1, 0, count)


def _points_of_rows(n: Node, rows: Term, bits: int) -> Term:
    """The integers of packed rows, bytes [N, B], as [N, B * 8 / bits] in f32."""
    one = n.constant(np.ones(n.extent(rows.value, 0), np.float32))
    return packed_numbers(n, rows.value, one, None, bits, middle=0)


_FLOATS = (0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4)
_NORMAL = (
    *(-1.0, -0.6961928, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0.0),
    *(0.0795803, 0.1609302, 0.24611229, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0),
)
BNB4 = np.array([(*_FLOATS, *(-x for x in _FLOATS)), _NORMAL], np.float32)
"""The values of the 16 codes: of 4-bit floats, and of NF4, quantiles of a normal distribution.
Source: Dettmers, Pagnoni, Holtzman, Zettlemoyer, QLoRA (2023), and its package bitsandbytes."""


@converter("MatMulBnb4", domain=DOMAIN)
def matmul_bnb4(n: Node, a: Value, b: Value, scales: Value) -> Value:
    """a [.., K] times 4-bit weights [N, K], two in a byte, with a scale per block of them."""
    width, columns, block = n.int("K"), n.int("N"), n.int("block_size")
    kind, count = n.int("quant_type"), width * columns
    if kind not in (0, 1) or block < 1 or not n.int("transB", 1):
        raise n.error(
            f"quant_type {kind} in blocks of {block}, transB {n.int('transB', 1)}: not supported"
        )
    pairs = BNB4[kind][np.arange(256).reshape(-1, 1) >> np.array([4, 0]) & 15]
    numbers = constant(n, pairs).gather(Term(n, b).flat().cast(i64)).flat()
    each = Term(n, scales).flat().cast(f32).gather(constant(n, np.arange(count) // block))
    weights = (numbers.part(0, 0, count) * each).reshape(columns, width)
    return (Term(n, a).cast(f32) @ weights.transpose(1, 0)).cast(a.type.element_type).value


@converter("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(
    n: Node, data: Value, indices: Value, scales: Value, zeros: Value | None = None
) -> Value:
    """Rows of a quantized embedding, with scales for blocks along an axis."""
    if not indices.type.rank:
        one = as_vector(n, indices)
        found = Term(n, gather_block_quantized(n, data, one, scales, zeros))
        return found.column(0, n.int("gather_axis", 0) % data.type.rank).value
    block, rank = n.int("block_size", 128), data.type.rank
    along = normalize_axis(n, n.int("gather_axis", 0), rank)
    axis = normalize_axis(n, n.int("quantize_axis", 1), rank)
    element = data.type.element_type
    if not isinstance(element, IntegerType) or block < 1:
        raise n.error(f"data of type {element} in blocks of {block} is not supported")
    bits = n.int("bits", 4) if element.width == 8 else element.width
    count = scales.type.shape[axis]
    places = Term(n, indices)
    if bits < 8 and axis == rank - 1 != along and count is not None:
        rows = _rows(n, data, bits, count, block)
        if rows is not None:
            return _gathered(n, rows, places, scales, zeros, along, bits, element)
    if element.width == 8 > bits:
        raise n.error(f"{bits} bits in blocks of {block} along axis {axis} are not supported")
    moved = axis if axis < along else axis + places.rank - 1
    found = Term(n, data).gather(places, along)
    at = counting(n, extent(n, (found.value, moved))) / block
    if zeros is None and element.width == 8:
        zeros = n.constant(np.full(1, 128, np.uint8))
    elif zeros is not None:
        zeros = Term(n, zeros).gather(places, along).gather(at, moved).value
    scale = Term(n, scales).gather(places, along).gather(at, moved)
    return real_numbers(n, found.value, scale.value, zeros).cast(scale.element).value


def _rows(n: Node, data: Value, bits: int, count: int, block: int) -> Value | None:
    """Integers as bytes [.., groups, bytes], or None if groups do not fill bytes."""
    if data.type.shape[-1] is None or block * bits % 8:
        return None
    if data.type.element_type.width < 8:
        array = n.array(data)
        if array is None or array.shape[-1] != count * block:
            return None
        data = n.constant(pack_bits(array, bits))
    if data.type.shape[-1] != count * block * bits // 8:
        return None
    lead = [(data, i) for i in range(data.type.rank - 1)]
    return reshape(n, data, [*lead, count, block * bits // 8])


def _gathered(
    n: Node,
    rows: Value,
    at: Term,
    scales: Value,
    zeros: Value | None,
    axis: int,
    bits: int,
    element: IntegerType,
) -> Value:
    scale = Term(n, scales).gather(at, axis)
    middle = middle_of(element) if element.width < 8 else 1 << (bits - 1)
    offset = None
    if zeros is not None:
        points = Term(n, zeros)
        if element.width == 8:
            rows_of = [(zeros, i) for i in range(zeros.type.rank - 1)]
            points = _points_of_rows(n, points.flattened(zeros.type.rank - 1), bits)
            points = points.part(1, 0, scales.type.shape[-1])
            points = points.reshape(*rows_of, (points.value, 1))
        else:
            points = points.cast(f32) + float(middle)
        offset = -(points.gather(at, axis) * scale.cast(f32))
    found = Term(n, rows).gather(at, axis)
    offsets = None if offset is None else offset.value
    real = packed_numbers(n, found.value, scale.value, offsets, bits, middle)
    return real.cast(scale.element).value
