"""Contractions and convolutions with dimensions in any order."""

from __future__ import annotations

from ...common.blocks import dilated
from ...common.complexes import Pair, pair
from ...common.vocabulary import *
from ..layer import HloLayer, rows


def _bilinear(n: HloLayer, lhs: Any, rhs: Any, multiply: Any) -> Any:
    """A product of operands that may be complex."""
    if not isinstance(lhs, Pair) and not isinstance(rhs, Pair):
        return multiply(lhs, rhs)
    parts = [(v.real, v.imag) for v in (lhs, rhs)]
    found = [[Term(n, multiply(a, b)) for b in parts[1]] for a in parts[0]]
    return pair(found[0][0] - found[1][1], found[0][1] + found[1][0])


@rows("stablehlo.dot_general")
def dot_general(n: HloLayer, lhs: Any, rhs: Any) -> Any:
    (lhs_batch, lhs_sum), (rhs_batch, rhs_sum) = n.op.dims
    return _bilinear(
        n, lhs, rhs, lambda a, b: contracted(n, a, b, lhs_batch, lhs_sum, rhs_batch, rhs_sum)
    )


@rows("stablehlo.dot")
def dot(n: HloLayer, lhs: Any, rhs: Any) -> Any:
    last = (lhs.type.rank - 1,)
    return _bilinear(n, lhs, rhs, lambda a, b: contracted(n, a, b, (), last, (), (0,)))


def contracted(
    n: HloLayer,
    lhs: Value,
    rhs: Value,
    lhs_batch: Sequence[int],
    lhs_sum: Sequence[int],
    rhs_batch: Sequence[int],
    rhs_sum: Sequence[int],
) -> Value:
    """The sums of products over `lhs_sum` and `rhs_sum`: [batch.., rest of lhs.., rest of rhs..].

    It is one batched product of matrices.
    """
    element: Any = n.out().element_type
    element = getattr(element, "element_type", element)
    lhs, rhs = (n.cast(v, element) for v in (lhs, rhs))
    lhs_free = [i for i in range(lhs.type.rank) if i not in (*lhs_batch, *lhs_sum)]
    rhs_free = [i for i in range(rhs.type.rank) if i not in (*rhs_batch, *rhs_sum)]
    extents: list[Any] = [(lhs, i) for i in (*lhs_batch, *lhs_free)]
    extents += [(rhs, i) for i in rhs_free]
    batch = len(lhs_batch)
    left = _matrices(n, lhs, (lhs_batch, lhs_free, lhs_sum))
    right = _matrices(n, rhs, (rhs_batch, rhs_sum, rhs_free))
    found = n(nn.Matmul(left, right))
    if len(lhs_free) == len(rhs_free) == 1 and found.type.rank == batch + 2:
        return found
    return reshape(n, found, extents)


def _matrices(n: HloLayer, x: Value, groups: Any) -> Value:
    """x with its batch dimensions first, and those of the two other groups merged."""
    x = transposed(n, x, [i for group in groups for i in group])
    batch, first, second = (len(group) for group in groups)
    spans = [(i, i + 1) for i in range(batch)]
    spans += [(batch, batch + first), (batch + first, batch + first + second)]
    return merge(n, x, spans)


# -- convolutions ----------------------------------------------------------------------------------


@rows("stablehlo.convolution")
def bilinear_convolution(n: HloLayer, lhs: Any, rhs: Any) -> Any:
    return _bilinear(n, lhs, rhs, lambda a, b: convolved(n, a, b))


@rows("stablehlo.dynamic_conv")
def dynamic_convolution(n: HloLayer, lhs: Any, rhs: Any, padding: Value) -> Any:
    return _bilinear(n, lhs, rhs, lambda a, b: convolved(n, a, b, padding))


def convolved(n: HloLayer, x: Value, weight: Value, padding: Value | None = None) -> Value:
    """The convolution with channels first, and its result in the order that is asked for.

    `padding` is [[low, high], ..] of the spatial dimensions, where it is not the operation's own.
    """
    op, numbers = n.op, n.op.dimension_numbers
    element: Any = n.out().element_type
    element = getattr(element, "element_type", element)
    x, weight = n.cast(x, element), n.cast(weight, element)
    x = transposed(n, x, numbers.order("lhs", "b", "f"))
    weight = transposed(n, weight, numbers.order("rhs", "o", "i"))
    spatial = x.type.rank - 2
    if op.window_reversal is not None:
        weight = reversed_axes(n, weight, [i + 2 for i, r in enumerate(_flags(op)) if r])
    groups = op.feature_group_count
    if op.batch_group_count > 1:
        groups = op.batch_group_count
        x = _batches_as_channels(n, x, groups)
    if spatial == 0:
        x, weight = (unsqueezed(n, v, 2) for v in (x, weight))
    apart, pads = op.steps(op.lhs_dilation), op.pads
    if padding is not None:
        if (known := n.known(padding)) is not None:
            pads = [(int(low), int(high)) for low, high in known]
        else:
            x = _padded(n, dilated(n, x, (1, 1, *apart), None), padding)
            apart = (1,) * spatial
    found = _convolved(n, op, x, weight, groups, apart, pads)
    if spatial == 0:
        found = squeezed(n, found, 2)
    order = numbers.order("out", "b", "f")
    back = sorted(range(len(order)), key=lambda i: order[i])
    return transposed(n, found, back)


def _padded(n: HloLayer, x: Value, padding: Value) -> Value:
    """x with channels first, padded by a tensor [[low, high], ..] of its spatial dimensions."""
    ends = merge(n, n(nn.Transpose(as_i64(n, padding), permutation=(1, 0))), [(0, 2)])
    none, count = n.constant(np.zeros(2, np.int64)), x.type.rank - 2
    low, high = (portion(n, ends, [at], [count]) for at in (0, count))
    return pad_by_vector(n, x, n(nn.Concat([none, low, none, high], axis=0)), None)


def _convolved(
    n: HloLayer, op: Any, x: Value, weight: Value, groups: int, apart: Any, pads: Any
) -> Value:
    ones = (1,)
    strides, dilations = op.steps(op.window_strides) or ones, op.steps(op.rhs_dilation) or ones
    apart, pads = apart or ones, pads or ((0, 0),)
    if any(step > 1 for step in apart):
        found = _transposed(n, x, weight, strides, dilations, apart, pads, groups)
        if found is not None:
            return found
        x = dilated(n, x, (1, 1, *apart), None)
    if any(p < 0 for pair_ in pads for p in pair_):
        x, pads = _cut(n, x, pads)
    return convolution(
        n,
        x,
        weight,
        strides=strides,
        dilations=dilations,
        padding=(*(p[0] for p in pads), *(p[1] for p in pads)),
        groups=groups,
    )


def _cut(n: HloLayer, x: Value, pads: Any) -> tuple[Value, Any]:
    """x [batch, channels, ..] cropped by negative padding, and the padding that is left to do.

    Where one side removes more than there is, the other side's padding is done here, too.
    """
    low, high, left = [0, 0], [0, 0], []
    for extent, (begin, end) in zip(x.type.shape[2:], pads, strict=True):
        if extent is None or extent + min(begin, 0) + min(end, 0) >= 0:
            now, later = (min(begin, 0), min(end, 0)), (max(begin, 0), max(end, 0))
        else:
            now, later = (begin, max(end, -extent - begin)), (0, 0)
        low.append(now[0])
        high.append(now[1])
        left.append(later)
    return padded_by(n, x, [*low, *high]), tuple(left)


def _transposed(
    n: HloLayer,
    x: Value,
    weight: Value,
    strides: Any,
    dilations: Any,
    apart: Any,
    pads: Any,
    groups: int,
) -> Value | None:
    """A convolution of dilated input as a transposed convolution; None if it is not one."""
    kernel = weight.type.shape[2:]
    if any(step > 1 for step in strides) or None in kernel or groups != 1:
        return None
    reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    begin = [r - low for r, (low, _) in zip(reach, pads, strict=True)]
    end = [r - high for r, (_, high) in zip(reach, pads, strict=True)]
    extra = [max(0, -e) for e in end]
    if any(b < 0 for b in begin) or any(e >= s for e, s in zip(extra, apart, strict=True) if e):
        return None
    turned = reversed_axes(n, weight, range(2, weight.type.rank))
    turned = n(nn.Transpose(turned, permutation=(1, 0, *range(2, weight.type.rank))))
    return transposed_convolution(
        n,
        x,
        turned,
        strides=apart,
        dilations=dilations,
        padding=(*begin, *(max(e, 0) for e in end)),
        output_padding=extra,
    )


def _flags(op: Any) -> list[bool]:
    value = op.window_reversal
    flags = value.values if hasattr(value, "element_type") else value.to_numpy().reshape(-1)
    return [bool(v) for v in flags]


def _batches_as_channels(n: HloLayer, x: Value, groups: int) -> Value:
    """[g * b, c, ..] as [b, g * c, ..], so that groups of images are groups of channels."""
    batch, channels, spatial = n.extent(x, 0), n.extent(x, 1), x.type.shape[2:]
    element = x.type.element_type
    apart = n(nn.Reshape(x, out=TensorType((groups, batch // groups, *x.type.shape[1:]), element)))
    apart = n(nn.Transpose(apart, permutation=(1, 0, *range(2, apart.type.rank))))
    out = TensorType((batch // groups, groups * channels, *spatial), element)
    return n(nn.Reshape(apart, out=out))
