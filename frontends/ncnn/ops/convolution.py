"""Convolutions, inner products and poolings, in one to three dimensions."""

from __future__ import annotations

from ...common.vocabulary import *
from ...common.windows import check_fit, padded
from ..layer import NcnnLayer, rows
from .elementwise import activated
from .integers import product, rounded

SAME = {-233: "SAME_UPPER", -234: "SAME_LOWER"}

# The numbers of the parameters of width, height and depth.
KERNEL, DILATION, STRIDE = (1, 11, 21), (2, 12, 22), (3, 13, 23)
_BEGIN, _END = (4, 14, 24), (15, 16, 17)


def extents_of(n: NcnnLayer, numbers: tuple[int, ...], dims: int) -> list[int]:
    """Depth, height and width; missing ones equal the width."""
    width = n.int(numbers[0], 1)
    found = [width, *(n.int(number, width) for number in numbers[1:dims])][::-1]
    if any(v < 1 for v in found):
        raise n.error(f"a kernel, stride or dilation is {found[::-1]}")
    return found


def padding_of(n: NcnnLayer, dims: int, begin=_BEGIN, end=_END) -> Padding:
    """The padding: begins, then ends; missing ends equal the begins."""
    left = n.int(begin[0])
    begins = [left, *(n.int(number, left) for number in begin[1:dims])]
    ends = [n.int(number, b) for number, b in zip(end, begins, strict=False)]
    if set(SAME) & {*begins, *ends}:
        if len({*begins, *ends}) > 1:
            raise n.error(f"padding of {begins} and {ends}, which is SAME in part")
        return SAME[left]
    return (*begins[::-1], *ends[::-1])


def _check_windows(n: NcnnLayer, x: Value, kernel: Sequence[int], how: dict[str, Any]) -> None:
    """Raise NncError if no window fits, or if ncnn's own results are undefined.

    The latter is so if SAME padding would be negative at the begin of rows, because a stride
    exceeds the kernel, and other dimensions are padded: ncnn then copies rows to before their
    begin, and results depend on its memory layout.
    """
    padding = how["padding"]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, how["dilations"], strict=True)]
    if not isinstance(padding, str):
        check_fit(n, x, reach, padding)
        return
    sides = zip(x.type.shape[2:], reach, how["strides"], strict=True)
    totals = [0 if d is None else (d - 1) // s * s + r - d for d, r, s in sides]
    least = -1 if padding == "SAME_LOWER" else -2  # halves are rounded towards 0
    if totals[-1] <= least and max(totals) > 0:
        raise n.error(f"{padding} for windows of {reach} at strides {list(how['strides'])}")


def _padding_of_windows(
    n: NcnnLayer, x: Value, kernel: Sequence[int], how: dict[str, Any]
) -> Padding:
    """The padding; of three dimensions, SAME_LOWER pads the depth as SAME_UPPER does."""
    padding = how["padding"]
    if padding != "SAME_LOWER" or len(kernel) < 3:
        return padding
    if None in x.type.shape[2:]:
        if how["strides"][0] == 1 and (kernel[0] - 1) * how["dilations"][0] % 2 == 0:
            return padding  # as much on both sides of the depth
        raise n.error("SAME_LOWER in three dimensions needs inputs of known extents")
    pads = list(padded(n, x, kernel, how["strides"], how["dilations"], padding).pads)
    pads[0], pads[3] = sorted((pads[0], pads[3]))
    return tuple(pads)


def _convolution(dims: int, grouped: bool) -> Callable:
    def convert(n: NcnnLayer, x: Value, *given: Value) -> Value:
        x = n.image(x, dims)
        weight, bias = _weights(n, given)
        kernel, strides = weight.type.shape[2:], extents_of(n, STRIDE, dims)
        dilations = extents_of(n, DILATION, dims)
        is_int8 = n.has_weight("input_scale")
        if is_int8 and x.type.element_type is not i8:
            x = rounded(n, n(nn.Mul(x, n.per_channel("input_scale", x))))
        x = n.cast(x, f32)
        how: Any = {"strides": strides, "dilations": dilations, "padding": padding_of(n, dims)}
        _check_windows(n, x, kernel, how)
        padding = _padding_of_windows(n, x, kernel, how)
        fill = float(int(n.float(18))) if is_int8 else n.float(18)  # integers are padded by one
        if fill:
            padding = padded(n, x, kernel, strides, dilations, padding).pads
            pads = (0, 0, *padding[:dims], 0, 0, *padding[dims:])
            x, padding = padded_by(n, x, pads, fill), (0,) * 2 * dims
        groups = n.int(7, 1) if grouped else 1
        how["padding"] = padding
        given_bias = None if is_int8 else bias
        found = convolution(n, x, weight, given_bias, groups=groups, kernel=kernel, **how)
        found = _rescaled(n, found, bias, groups) if is_int8 else found
        return _finished(n, found)

    return convert


def _weights(n: NcnnLayer, given: tuple[Value, ...]) -> tuple[Value, Value | None]:
    """The weights [out, in, kernel..], which may be a blob, and the bias [out]."""
    if given:
        return _computed_weights(n, given)
    return n.weight("weight"), n.optional("bias")


def _transposed_weights(n: NcnnLayer, given: tuple[Value, ...]) -> tuple[Value, Value | None]:
    """The weights [in, out, kernel..] of a transposed convolution, where out is of one group, and
    the bias [all out].
    """
    if given:
        return _computed_weights(n, given)
    turned = np.moveaxis(n.array_of("weight"), 2, 1)  # [groups, in, out, kernel..]
    return n.stored("weight", turned.reshape(-1, *turned.shape[2:])), n.optional("bias")


def _computed_weights(n: NcnnLayer, given: tuple[Value, ...]) -> tuple[Value, Value | None]:
    weight, *more = (reshape(n, v, dims(v)[1:]) for v in given)
    return weight, more[0] if more else None


def _rescaled(n: NcnnLayer, x: Value, bias: Value | None, groups: int) -> Value:
    """The integer sums converted to floats by the scales, plus the bias."""
    count = n.int(0)
    scales = n.array_of("weight_scales") * n.array_of("input_scale")[0]
    each = np.repeat(scales, count // max(scales.size, 1))
    inverse = np.where(each == 0, 0, 1 / np.where(each == 0, 1, each))
    ones = [1] * (x.type.rank - 2)
    x = n(nn.Mul(x, n.stored("scales", inverse.reshape(-1, *ones))))
    return x if bias is None else n(nn.Add(x, reshape(n, bias, [(bias, 0), *ones])))


def _finished(n: NcnnLayer, x: Value) -> Value:
    x = activated(n, x)
    if n.has_weight("output_scale"):
        return rounded(n, n(nn.Mul(x, n.per_channel("output_scale", x))))
    return x


def _deconvolution(dims: int, grouped: bool) -> Callable:
    def convert(n: NcnnLayer, x: Value, *given: Value) -> Value:
        x = n.image(x, dims)
        weight, bias = _transposed_weights(n, given)
        kernel, groups = weight.type.shape[2:], n.int(7, 1) if grouped else 1
        strides, dilations = extents_of(n, STRIDE, dims), extents_of(n, DILATION, dims)
        extra = [n.int(18), n.int(19, n.int(18)), n.int(20, n.int(18))][:dims][::-1]
        first = 25 if dims == 3 else 20
        wanted = [n.int(first), *(n.int(first + i, n.int(first)) for i in range(1, dims))][::-1]
        padding = padding_of(n, dims)
        cut = isinstance(padding, str) and min(wanted) > 0
        # What one element of the input reaches, and so the extents before anything is cut:
        # ncnn cuts to the extents that are asked for, but never adds to them.
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        whole = [
            None if d is None else (d - 1) * s + r + more
            for d, s, r, more in zip(x.type.shape[2:], strides, reach, extra, strict=True)
        ]
        if cut and any(w > d for w, d in zip(wanted, whole, strict=True) if d is not None):
            raise n.error(f"extents {wanted} are to be cut from {whole}")
        found = transposed_convolution(
            n,
            x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            padding=padding if cut or not isinstance(padding, str) else "VALID",
            output_padding=extra,
            groups=groups,
            extents=wanted if cut else None,
        )
        return activated(n, found)

    return convert


@rows("InnerProduct")
def inner_product(n: NcnnLayer, x: Value) -> Value:
    weight = n.array_of("weight")
    if x.type.rank != 3 or x.type.shape[-1] != weight.shape[1]:
        x = flatten(n, x, 1)
    is_int8 = n.has_weight("input_scale")
    if is_int8 and x.type.element_type is not i8:
        x = rounded(n, n(nn.Mul(x, n.stored("input_scale", n.array_of("input_scale")))))
    found = n(nn.Matmul(n.cast(x, f32), n.stored("weight", weight.T)))
    if is_int8:
        scales = n.array_of("weight_scales") * n.array_of("input_scale")[0]
        inverse = np.where(scales == 0, 0, 1 / np.where(scales == 0, 1, scales))
        found = n(nn.Mul(found, n.stored("scales", inverse)))
    if (bias := n.optional("bias")) is not None:
        found = n(nn.Add(found, bias))
    return activated(n, found)


# -- pooling ---------------------------------------------------------------------------------------


def _pooling(dims: int) -> Callable:
    def convert(n: NcnnLayer, x: Value) -> Value:
        x = n.image(x, dims)
        largest = n.int(0) == 0
        if n.int(0) not in (0, 1):
            raise n.error(f"pooling of type {n.int(0)}")
        if n.int(4):
            axes = tuple(range(2, dims + 2))
            return reduced(n, x, nn.ReduceMax if largest else nn.ReduceMean, axes)
        if n.int(7):
            return _adaptive(n, x, largest, dims)
        return _windows(n, x, largest, dims)

    return convert


def _windows(n: NcnnLayer, x: Value, largest: bool, dims: int) -> Value:
    if not n.int(1):
        raise n.error("the window's extents are missing, as where pnnx could not convert a pooling")
    kernel, strides = extents_of(n, KERNEL, dims), extents_of(n, (2, 12, 22), dims)
    begin, end = (3, 13, 23), (14, 15, 16)
    mode = n.int(5)
    padding: Padding = padding_of(n, dims, begin, end)
    counts = bool(n.int(6))
    if mode in (2, 3):
        if any(padding) and not largest and not counts:
            raise n.error(f"means of windows without their padding, beside pads of {padding}")
        padding = "SAME_UPPER" if mode == 2 else "SAME_LOWER"
    if mode == 0 and not isinstance(padding, str):  # another window wherever elements are left
        pads = list(padding)
        for i, extent in enumerate(x.type.shape[2:]):
            most = strides[i] - 1
            whole = most if extent is None else kernel[i] - extent - pads[i] - pads[dims + i]
            pads[dims + i] += whole % strides[i]
        padding = tuple(pads)
    counts = counts or isinstance(padding, str)
    how = {"strides": strides, "dilations": (1,) * dims, "padding": padding}
    _check_windows(n, x, kernel, how)
    windows = Windows(kernel, strides, _padding_of_windows(n, x, kernel, how))
    if largest:
        return max_pooled_from_lowest(n, x, windows)
    return pooled(n, x, windows, largest, counts)


def _adaptive(n: NcnnLayer, x: Value, largest: bool, dims: int) -> Value:
    """Adaptive pooling: each dimension is divided into a given number of windows."""
    wanted = [n.int(8), n.int(18, n.int(8)), n.int(28, n.int(8))][:dims][::-1]
    return adaptive_pooled(n, x, [-1 if out == -233 else out for out in wanted], largest)


for _dims, _suffix in ((1, "1D"), (2, ""), (3, "3D")):
    rows.add(
        {
            f"Convolution{_suffix}": _convolution(_dims, False),
            f"ConvolutionDepthWise{_suffix}": _convolution(_dims, True),
            f"Deconvolution{_suffix}": _deconvolution(_dims, False),
            f"DeconvolutionDepthWise{_suffix}": _deconvolution(_dims, True),
            f"Pooling{_suffix}": _pooling(_dims),
        }
    )


# -- products --------------------------------------------------------------------------------------


@rows("MatMul")
def matmul(n: NcnnLayer, a: Value, b: Value) -> Value:
    if n.int(0) and b.type.rank > 2:
        b = swapped(n, b, -2, -1)
    rank = max(a.type.rank, b.type.rank)
    # A vector is a row on the left and a column on the right.
    left = reshape(n, a, [(a, 0), 1, (a, 1)]) if a.type.rank == 2 else a
    right = reshape(n, b, [(b, 0), (b, 1), 1]) if b.type.rank == 2 else b
    found = n(nn.Matmul(n.with_rank(left, rank), n.with_rank(right, rank)))
    if a.type.rank > 2 < b.type.rank:
        return found
    own = dims(found)
    if b.type.rank == 2:
        own = own[:-1]
    if a.type.rank == 2:
        own = [*own[:-2], own[-1]] if b.type.rank != 2 else own[:-1]
    return reshape(n, found, own if len(own) > 1 else [*own, 1])


@rows("Einsum")
def sum_of_products(n: NcnnLayer, *inputs: Value) -> Value:
    """Einsum; the equation is a list of character codes."""
    text = "".join(chr(c) for c in n.ints(0) if 0 < c < 128)
    parts = [reshape(n, x, dims(x)[1:]) for x in inputs]
    found = einsum(n, text, parts)
    return reshape(n, found, [1, *(dims(found) or [1])])


def _product_of_integers(n: NcnnLayer, a: Value, b: Value) -> Value:
    """The product of matrices [1, M, K] and [1, K, N], the constant ones of which are stored as
    integers.
    """
    pair = []
    for name, x, shape in (("a_scales", a, (1, -1, 1)), ("b_scale", b, (1, 1, 1))):
        stored = n.has_weight(name)
        scales = Term(n, n.stored(name, n.array_of(name).reshape(shape))) if stored else None
        pair.append(Term(n, x) if scales is None else (Term(n, x), scales))
    return product(*pair).value


@rows("Gemm")
def gemm(n: NcnnLayer, *inputs: Value) -> Value:
    """alpha * a @ b + beta * c, of inputs or weights."""
    given = iter(inputs)

    def operand(name: str, constant: int) -> Value | None:
        if n.int(constant):
            return n.stored(name, n.array_of(name)[None]) if n.has_weight(name) else None
        return next(given, None)

    a, b, c = operand("a", 4), operand("b", 5), operand("c", 6)
    if a is None or b is None:
        raise n.error("a product of less than two matrices")
    a, b = (n.with_rank(v, 3) for v in (a, b))
    if a.type.rank > 3 and n.int(11):  # [m, 1, k]
        a = reshape(n, a, [(a, 0), (a, 1), (a, 3)])
    a, b = (swapped(n, v, -2, -1) if n.int(i) else v for v, i in ((a, 2), (b, 3)))
    found = _product_of_integers(n, a, b) if n.int(18) else n(nn.Matmul(a, b))
    beta = n.float(1, 1.0)  # read without c, too: a parameter that nobody reads is an error
    if c is not None:
        height, width = found.type.shape[1:]
        # A vector is a column where it fits, but a row where it fits as that, too.
        if c.type.rank == 2 and c.type.shape[1] == height and height not in (1, width):
            c = reshape(n, c, [(c, 0), (c, 1), 1])
        c = n.with_rank(c, found.type.rank)
        found = n(nn.Add(found, c if beta == 1 else n(nn.Mul(c, n.scalar(beta, c)))))
    alpha = n.float(0, 1.0)
    found = found if alpha == 1 else n(nn.Mul(found, n.scalar(alpha, found)))
    found = swapped(n, found, -2, -1) if n.int(14) else found
    if n.int(11):
        found = reshape(n, found, [(found, 0), (found, 1), 1, (found, 2)])
    return found
