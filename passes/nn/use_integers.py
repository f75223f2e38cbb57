"""Products and averages of dequantized tensors are computed on their 8-bit integers.

    x = (xi - xz) * xs,  w = (wi - wz) * ws
    x @ w + ..           ->    f32((xi - xz) @ (wi - wz)) * (xs * ws) + ..

Sums of integers are exact, while sums of f32 are rounded at each step. The quantization after the
product, a division by the next scale and a rounding, stays. That after an average becomes one
division of the sum, as averages of few integers by the same scale are often half way between two:

    mean(x) / ys         ->    sum(xi - xz) / (count * (ys / xs))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod
from typing import Any

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.attributes import DenseElements
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.decisions import Alternative, Decision, Terms, described
from ...ir.lazy import np
from ...ir.passes import Pass, PassContext, option
from ...ir.types import Dim, IntegerType, TensorType, f32, i32
from ...targets.roofline import F32
from .building import cast, element_of, per_channel, reshape, shape_of
from .choose_algorithms import DIRECT, algorithm
from .constants import constant_array
from .decompose_windows import sums_of
from .work import Work, work_of

MOST_TERMS = (1 << 31) // (255 * 255)
"""The most products of 8-bit numbers whose sum fits i32."""


@dataclass(frozen=True)
class UseIntegers(
    Pass,
    name="use-integers",
    anchor="func.func",
    statistics={
        "integer-products": "Number of products that are computed on integers",
        "integer-averages": "Number of averages that are computed on integers",
    },
):
    """Compute products and averages of dequantized tensors on their integers.

        %x = (%xi - %xz) * %xs                       %i = nn.conv (%xi - %xz), (%wi - %wz)
        %w = (%wi - %wz) * %ws                ->     %y = nn.cast %i
        %y = nn.conv %x, %w                          nn.mul %y, (%xs * %ws)

    The weights must be constant, with one scale, or one for each channel of the result. Where no
    instruction multiplies bytes, convolutions for which Winograd's algorithm is faster stay in f32.
    A module with strict math keeps its products of floats.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Decide on each product separately."""
        if is_strict(op):
            return
        work = cache(partial(work_of, op, self.target))

        def wanted(product: Product) -> bool:
            return context.decide(integers_or_floats(product, work())).taken == _INTEGERS

        for product in list(op.walk()):
            if isinstance(product, nn.Conv | nn.ConvTranspose):
                context.statistic("integer-products", use_in_conv(product, wanted))
            elif isinstance(product, nn.Matmul):
                context.statistic("integer-products", use_in_matmul(product, wanted))
            elif isinstance(product, nn.Div):
                context.statistic("integer-averages", use_in_average(product))


Product = nn.Conv | nn.ConvTranspose | nn.Matmul
_INTEGERS, _FLOATS = "integers", "f32"
Wanted = Callable[[Any], bool]
"""A function that tells whether a product should be computed on integers."""


def integers_or_floats(product: Product, work: Work) -> Decision:
    """Decide between integers and f32. By rule integers: sums are exact, and weights have fewer
    bytes.

    A word of 32 bits holds four integers if an instruction multiplies bytes, or two of 16 bits;
    otherwise each integer takes a product and a sum. Where words hold two, integers are no faster
    than floats, and the time decides, in which Winograd's algorithm counts for f32.
    """
    machine, operations = work.machine, work.operations(product)
    x, weight = product.operands[:2]
    numbers = (work.elements(x), work.elements(product.out), work.elements(weight))
    has_bytes = machine.has_byte_products or machine.has_signed_byte_products
    has_pairs = machine.has_pair_products and not has_bytes
    at_once = 4.0 if has_bytes else 1.0 if has_pairs else 0.5

    def terms(bytes: int, at_once: float) -> Terms:
        read, written, weights = numbers
        return work.kernel(operations / at_once, (bytes * read, F32 * written), bytes * weights)

    integers, floats = terms(1, at_once), terms(F32, 1.0)
    sizes = work.sizes_of_plain(product) if isinstance(product, nn.Conv) else None
    is_saved = False
    if has_pairs and sizes is not None:
        fastest = algorithm(machine, (sizes,), product.loc)
        if fastest.taken != DIRECT and (found := fastest.chosen.terms) is not None:
            floats, is_saved = found, found.cycles < integers.cycles
    return Decision(
        "integers",
        work.shared((Alternative(_INTEGERS, integers), Alternative(_FLOATS, floats))),
        _FLOATS if is_saved else _INTEGERS,
        product.loc,
        because="" if is_saved else "sums of integers are exact",
        operation=described(product),
    )


@dataclass(frozen=True)
class Quantized:
    """A tensor that is `(steps - zero) * scale`, and then reshaped and transposed by `moves`."""

    steps: Value
    zero: Value | None
    scale: Value
    scales_shape: tuple[Dim, ...]
    """The shape of the scales after the moves."""
    moves: tuple[Callable[[Builder, Value], Value], ...] = ()

    @property
    def has_one_scale(self) -> bool:
        return _is_one(self.scale)

    def integers(self, b: Builder) -> Value:
        """steps - zero as i32."""
        found = cast(b, self.steps, i32)
        if self.zero is not None:
            found = b.insert(nn.Sub(found, cast(b, self.zero, i32))).result
        for move in self.moves:
            found = move(b, found)
        return found

    def scales(self, b: Builder) -> Value:
        """The scale, with `moves` applied unless it is a single number."""
        found = self.scale
        if self.has_one_scale:
            return reshape(b, found, ())
        for move in self.moves:
            found = move(b, found)
        return found


def quantized(value: Value) -> Quantized | None:
    """The integers, zero point and scale of a dequantized f32 tensor; None if it is none."""
    if (view := value.defined_by(nn.Reshape)) is not None:
        found = quantized(view.x)
        if found is None or not found.has_one_scale:
            return None
        shape = shape_of(value)
        return replace(found, moves=(*found.moves, partial(reshape, shape=shape)))
    if (moved := value.defined_by(nn.Transpose)) is not None:
        found, order = quantized(moved.x), moved.permutation
        if found is None or (not found.has_one_scale and _rank(found.scale) != len(order)):
            return None
        shape = () if found.has_one_scale else tuple(found.scales_shape[i] for i in order)
        turn = partial(_transposed, order=order)
        return replace(found, scales_shape=shape, moves=(*found.moves, turn))
    scaled = value.defined_by(nn.Mul)
    if scaled is None or element_of(value) is not f32 or shape_of(scaled.lhs) != shape_of(value):
        return None
    moved, zero = scaled.lhs, None
    if (less := moved.defined_by(nn.Sub)) is not None:
        moved, zero = less.lhs, less.rhs
    narrow = moved.defined_by(nn.Cast)
    element = element_of(narrow.x) if narrow is not None else None
    if narrow is None or not isinstance(element, IntegerType) or element.width != 8:
        return None
    if shape_of(narrow.x) != shape_of(value) or (zero is not None and not _is_whole(zero)):
        return None
    return Quantized(narrow.x, zero, scaled.rhs, shape_of(scaled.rhs))


def _transposed(b: Builder, x: Value, order: tuple[int, ...]) -> Value:
    return b.insert(nn.Transpose(x, order)).result


def _is_one(value: Value) -> bool:
    return prod(d or 0 for d in shape_of(value)) == 1


def _rank(value: Value) -> int:
    return len(shape_of(value))


def _is_whole(zero: Value) -> bool:
    """Whether a zero point given as f32 is certainly an integer."""
    while (view := zero.defined_by(nn.Reshape)) is not None:
        zero = view.x
    if (made := zero.defined_by(nn.Cast)) is not None:
        return isinstance(element_of(made.x), IntegerType)
    constant = zero.defined_by(nn.Constant)
    if constant is None:
        return False
    array = constant_array(zero)
    return array is not None and bool((array == array.round()).all())


def factors(x: Value, weight: Value) -> tuple[Quantized, Quantized] | None:
    """A product's operands, if the first has one scale and the second is constant; else None."""
    first, second = quantized(x), quantized(weight)
    if first is None or second is None or second.steps.defined_by(nn.Constant) is None:
        return None
    has_one_zero = first.zero is None or _is_one(first.zero)
    return (first, second) if first.has_one_scale and has_one_zero else None


def use_in_matmul(product: nn.Matmul, wanted: Wanted) -> int:
    """Compute a matrix product on integers, with a scale for each column of w.
    Returns 1 if done.
    """
    found = factors(product.lhs, product.rhs)
    if found is None or _rank(product.rhs) != 2 or _rank(product.lhs) < 2:
        return 0
    x, w = found
    terms, columns = shape_of(product.rhs)
    if terms > MOST_TERMS or not (w.has_one_scale or w.scales_shape == (1, columns)):
        return 0
    if not wanted(product):
        return 0
    b = Builder.before_op(product)
    exact = b.insert(nn.Matmul(x.integers(b), w.integers(b))).result
    _replace(b, product, exact, x, w.scales(b))
    return 1


def use_in_conv(product: nn.Conv | nn.ConvTranspose, wanted: Wanted) -> int:
    """Compute a convolution on integers, with a scale for each result channel.
    Returns 1 if done.
    """
    found = factors(product.x, product.weight)
    if found is None:
        return 0
    x, w = found
    shape, channels = shape_of(product.weight), product.result_channels
    if None in shape or prod(shape) > MOST_TERMS * (M := shape[channels]):
        return 0
    each = tuple(M if axis == channels else 1 for axis in range(len(shape)))
    # A transposed convolution's groups have the same channels of the weights.
    is_each = w.scales_shape == each and (channels == 0 or product.groups == 1)
    if not (w.has_one_scale or is_each) or not wanted(product):
        return 0
    b = Builder.before_op(product)
    exact = b.insert(
        product.create(
            [x.integers(b), w.integers(b)],
            [TensorType(shape_of(product.out), i32)],
            product.attributes,
            product.properties,
        )
    ).result
    scales = w.scales(b)
    if not w.has_one_scale:
        scales = reshape(b, scales, (M, *(1,) * (len(shape) - 2)))
    bias = None if product.bias is None else per_channel(b, product.bias, len(shape))
    _replace(b, product, exact, x, scales, bias)
    return 1


def _replace(
    b: Builder,
    product: Product,
    exact: Value,
    x: Quantized,
    scales: Value,
    bias: Value | None = None,
) -> None:
    """Replace the product by the integer product times the scales, plus the bias."""
    factor = b.insert(nn.Mul(scales, x.scales(b))).result
    out = b.insert(nn.Mul(cast(b, exact, f32), factor)).result
    if bias is not None:
        out = b.insert(nn.Add(out, bias)).result
    product.replace_with(out)


def use_in_average(division: nn.Div) -> int:
    """Quantize an average by one division of the sum of its integers. Returns 1 if done."""
    mean, after = division.lhs.defining_op, constant_array(division.rhs)
    if not isinstance(mean, nn.AvgPool | nn.ReduceMean):
        return 0
    if after is None or after.size != 1 or element_of(division.out) is not f32:
        return 0
    x, counts = quantized(mean.x), _counts(mean)
    if x is None or counts is None or not x.has_one_scale or counts.max() > MOST_TERMS:
        return 0
    before = constant_array(x.scale)
    if before is None or not before.all():
        return 0
    divisor = (counts * (np.float64(after.item()) / np.float64(before.item()))).astype(np.float32)
    b = Builder.before_op(division)
    divisors = b.insert(nn.Constant(DenseElements.from_numpy(divisor))).result
    sums = cast(b, _sums(b, mean, x.integers(b)), f32)
    division.replace_with(b.insert(nn.Div(sums, divisors)).result)
    return 1


def _counts(mean: nn.AvgPool | nn.ReduceMean) -> np.ndarray | None:
    """How many elements each mean is of, in f64: one number, or for each window; None if open."""
    shape = shape_of(mean.x)
    if isinstance(mean, nn.ReduceMean):
        extents = [shape[axis] for axis in mean.axes]
        return None if None in extents or 0 in extents else np.array(float(prod(extents)))
    if None in shape[2:]:
        return None
    counts = np.maximum(mean.counts(shape[2:]), 1.0).astype(np.float64)
    uniform = np.unique(counts)
    return uniform.reshape(()) if uniform.size == 1 else counts if counts.size else None


def _sums(b: Builder, mean: nn.AvgPool | nn.ReduceMean, integers: Value) -> Value:
    """The sums of integers that the mean is over."""
    if isinstance(mean, nn.ReduceMean):
        return b.insert(nn.ReduceSum(integers, mean.axes, mean.keep_dims)).result
    return sums_of(b, integers, mean)
