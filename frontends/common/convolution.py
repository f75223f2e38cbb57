"""Convolutions of tensors with channels first, [N, C, D..]; transposes to and from that layout."""

from __future__ import annotations

from .windows import Padding, halves, padded
from .words import *


def channels_first(n: Layer, x: Value) -> Value:
    """[N, D.., C] as [N, C, D..]"""
    rank = x.type.rank
    return n(nn.Transpose(x, permutation=(0, rank - 1, *range(1, rank - 1))))


def channels_last(n: Layer, x: Value) -> Value:
    """[N, C, D..] as [N, D.., C]"""
    return n(nn.Transpose(x, permutation=(0, *range(2, x.type.rank), 1)))


def convolution(
    n: Layer,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    strides: Sequence[int] = (),
    dilations: Sequence[int] = (),
    padding: Padding = "VALID",
    groups: int = 1,
    kernel: Sequence[Dim] = (),
) -> Value:
    """The convolution of x [N, C, D..] with weight [O, C / groups, K..], plus bias [O].

    `kernel` has the extents K.. where the weight's type does not.
    """
    kernel = kernel or weight.type.shape[2:]
    strides, dilations = (tuple(v) or (1,) * len(kernel) for v in (strides, dilations))
    operand = padded(n, x, kernel, strides, dilations, padding)
    return n(
        nn.Conv(
            operand.x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=operand.pads,
            groups=groups,
        )
    )


def transposed_convolution(
    n: Layer,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int] = (),
    padding: Padding = "VALID",
    output_padding: Sequence[int] | None = None,
    groups: int = 1,
    extents: Sequence[int] | Value | None = None,
    kernel: Sequence[Dim] = (),
    keeps_begin: bool = False,
) -> Value:
    """The transposed convolution of x [N, C, D..] with weight [C, O / groups, K..], plus bias [O].

    `extents`, numbers or a 1-D i64, are the spatial extents of the result, which is cut or padded
    to them. If an odd number of elements is cut, SAME_UPPER cuts the additional one at the end, any
    other padding at the beginning; with `keeps_begin`, explicit padding changes only at the end.
    """
    kernel = kernel or weight.type.shape[2:]
    dilations = tuple(dilations) or (1,) * len(kernel)
    extra = (0,) * len(kernel) if output_padding is None else tuple(output_padding)
    how = {"strides": tuple(strides), "dilations": dilations, "groups": groups}
    is_open = None in kernel or (extents is not None and None in x.type.shape[2:])
    if isinstance(extents, Value) or (
        is_open and (extents is not None or padding in ("SAME_UPPER", "SAME_LOWER"))
    ):
        whole = n(nn.ConvTranspose(x, weight, None, output_padding=extra, **how))
        wanted = _wanted_extents(n, x, strides, extents)
        begin = padding[: len(kernel)] if keeps_begin and not isinstance(padding, str) else None
        return _with_extents(n, whole, bias, wanted, padding == "SAME_UPPER", begin)
    pads, extra = _transposed_padding(
        n, x, kernel, strides, dilations, padding, extra, extents, keeps_begin
    )
    return n(nn.ConvTranspose(x, weight, bias, pads=pads, output_padding=extra, **how))


def _transposed_padding(
    n: Layer,
    x: Value,
    kernel: Sequence[Dim],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Padding,
    extra: tuple[int, ...],
    wanted: Sequence[int] | None,
    keeps_begin: bool,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The op's pads and output padding, which follow from the `wanted` extents or from SAME."""
    if wanted is None and (not isinstance(padding, str) or padding == "VALID"):
        return padded(n, x, kernel, strides, dilations, padding).pads, extra
    sides, more = [], []
    for i, (extent, reach) in enumerate(zip(x.type.shape[2:], kernel, strict=True)):
        assert reach is not None
        # The padding that SAME means does not depend on the extent.
        extent = 1 if extent is None else extent
        out = wanted[i] if wanted is not None else extent * strides[i]
        full = strides[i] * (extent - 1) + extra[i] + (reach - 1) * dilations[i] + 1
        begin = int(padding[i]) if keeps_begin and not isinstance(padding, str) else None
        total = max(0, full - out - (begin or 0))
        sides.append(
            halves(total, "SAME_UPPER" if padding == "SAME_UPPER" else "")
            if begin is None
            else (begin, total)
        )
        more.append(extra[i] + max(0, out + (begin or 0) - full))
    return (*(begin for begin, _ in sides), *(end for _, end in sides)), tuple(more)


def _wanted_extents(
    n: Layer, x: Value, strides: Sequence[int], extents: Sequence[int] | Value | None
) -> Value:
    """The spatial extents of the result, as given or as SAME defines them: a 1-D i64."""
    if isinstance(extents, Value):
        return extents
    if extents is not None:
        return n.constant(np.array(extents, np.int64))
    spatial = part_of_vector(n, shape_of(n, x), 2, x.type.rank)
    return n(nn.Mul(spatial, n.constant(np.array(strides, np.int64))))


def _with_extents(
    n: Layer,
    whole: Value,
    bias: Value | None,
    wanted: Value,
    is_upper: bool,
    begins: Sequence[Dim] | None,
) -> Value:
    """The whole result cut or padded to extents that are known only at run time, plus the bias.

    `begins` are the numbers of elements to cut at the beginning of each dimension, if they are
    given.
    """
    count = whole.type.rank - 2
    more = Term(n, wanted) - Term(n, part_of_vector(n, shape_of(n, whole), 2, 2 + count))
    cut = more.min(0)
    begin = cut / 2 if is_upper else cut - cut / 2
    if begins is not None:
        begin = constant(n, -np.array(begins, np.int64))
    none = constant(n, np.zeros(2, np.int64))
    pads = joined([none, begin, none, more - begin], 0).value
    element = whole.type.element_type
    known = n.extents(wanted) or (None,) * count
    out = TensorType((*whole.type.shape[:2], *known), element)
    found = n(nn.PadDynamic(whole, pads, n.scalar(0, whole), out=out))
    if bias is None:
        return found
    return (Term(n, found) + Term(n, bias).spread(0, count)).value
