"""Matrix products, convolutions and attention."""

from __future__ import annotations

from ...common.attention import causal, grouped_like
from ...common.vocabulary import *
from ..arguments import words
from ..layer import AtenLayer
from ..rows import ROWS
from .reductions import norm
from .views import unsqueeze


@ROWS(
    "aten.mm",
    "aten.bmm",
    "aten.matmul",
    "aten.mv",
    "aten.dot",
    "aten.vdot",
    "aten.linalg_matmul",
    batched="products",
)
def matmul(
    n: AtenLayer,
    self: Value,
    other: Value | None = None,
    mat2: Value | None = None,
    vec: Value | None = None,
    tensor: Value | None = None,
) -> Value:
    rhs = next(v for v in (other, mat2, vec, tensor) if v is not None)
    lhs, rhs = n.promoted(self, rhs)
    if lhs.type.rank > 1 and rhs.type.rank > 1:
        return n(nn.Matmul(lhs, rhs))
    a = unsqueeze(n, lhs, 0) if lhs.type.rank == 1 else lhs
    b = unsqueeze(n, rhs, 1) if rhs.type.rank == 1 else rhs
    out = n(nn.Matmul(a, b))
    drop = {out.type.rank - 1} if rhs.type.rank == 1 else set()
    if lhs.type.rank == 1:
        drop.add(out.type.rank - 2)
    return n.reshape(out, [n.size(out, i) for i in range(out.type.rank) if i not in drop])


@ROWS("aten.linear", batched="last")
def linear(n: AtenLayer, input: Value, weight: Value, bias: Value | None = None) -> Value:
    out = matmul(n, input, swapped(n, weight, 0, 1) if weight.type.rank == 2 else weight)
    return out if bias is None else n(nn.Add(out, bias))


@ROWS("aten.addmm", "aten.baddbmm", "aten.addmv", "aten.addbmm", "aten.addr")
def addmm(n: AtenLayer, self: Value, *, beta: Any = 1, alpha: Any = 1, **factors: Value) -> Value:
    """beta * self + alpha * product of the factors; for `addbmm`, the sum of a batch's products."""
    lhs, rhs = factors.values()
    out = Term(n, outer(n, lhs, rhs) if "addr" in n.kind else matmul(n, lhs, rhs))
    if ".addbmm" in n.kind:
        out = out.sum(0)
    if alpha != 1:
        out = out * alpha
    if beta == 0:
        return out.value
    lhs, rhs = n.promoted(self, out.value)
    added = Term(n, lhs)
    return ((added if beta == 1 else added * beta) + Term(n, rhs)).value


@ROWS("aten.outer", "aten.ger", batched="elements")
def outer(n: AtenLayer, self: Value, vec2: Value) -> Value:
    lhs, rhs = n.promoted(self, vec2)
    return (Term(n, lhs).spread(0, 1) * Term(n, unsqueeze(n, rhs, rhs.type.rank - 1))).value


@ROWS("aten.einsum")
def einsum_(n: AtenLayer, equation: str, tensors: list[Value], path: Any = None) -> Value:
    given = n.promoted(*tensors)
    if len(given) == 1 and _sums(equation) and isinstance(given[0].type.element_type, IntegerType):
        given = [n.cast(given[0], i64)]
    return einsum(n, equation, given)


def _sums(equation: str) -> bool:
    """Whether an equation of one operand sums over letters that are not in the result."""
    given, arrow, result = equation.replace(" ", "").partition("->")
    if not arrow:
        return any(given.count(letter) > 1 for letter in given if letter != ".")
    return bool(set(given) - set(result) - {"."})


@ROWS("aten.cdist", "aten._cdist_forward")
def cdist(n: AtenLayer, x1: Value, x2: Value, p: float = 2.0, compute_mode: Any = None) -> Value:
    apart = Term(n, unsqueeze(n, x1, x1.type.rank - 1)) - Term(
        n, unsqueeze(n, x2, x2.type.rank - 2)
    )
    return norm(n, apart.value, p, dim=-1)


# -- convolutions ----------------------------------------------------------------------------------


def per_dimension(given: Any, count: int, default: int) -> list[int]:
    """A number for each spatial dimension: as given, or one for all."""
    if given is None or given == []:
        return [default] * count
    numbers = list(given) if isinstance(given, list | tuple) else [given]
    return numbers * count if len(numbers) == 1 else numbers


_CONVOLUTIONS = words("conv1d conv2d conv3d convolution _convolution _convolution_mode")


@ROWS(*(f"aten.{name}" for name in _CONVOLUTIONS))
def convolved(
    n: AtenLayer,
    input: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    transposed: bool = False,
    output_padding: Any = 0,
    groups: int = 1,
    **how: Any,
) -> Value:
    count = weight.type.rank - 2
    x = input if input.type.rank == count + 2 else unsqueeze(n, input, 0)
    strides, dilations = per_dimension(stride, count, 1), per_dimension(dilation, count, 1)
    if isinstance(padding, str):
        reach = [(k - 1) * d for k, d in zip(weight.type.shape[2:], dilations, strict=True)]
        reach = reach if padding == "same" else [0] * count
        pads = [*(r // 2 for r in reach), *(r - r // 2 for r in reach)]
    else:
        pads = per_dimension(padding, count, 0) * 2
    how = {"strides": strides, "dilations": dilations, "padding": pads, "groups": groups}
    if not transposed:
        out = convolution(n, x, weight, bias, **how)
    else:
        more = per_dimension(output_padding, count, 0)
        out = transposed_convolution(n, x, weight, bias, output_padding=more, **how)
    return out if x is input else n.reshape(out, n.shape(out)[1:])


@ROWS("aten.conv_transpose1d", "aten.conv_transpose2d", "aten.conv_transpose3d")
def conv_transpose(
    n: AtenLayer,
    input: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Value:
    return convolved(
        n, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


@ROWS("aten.im2col")
def im2col(
    n: AtenLayer, self: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Value:
    """[B, C, H, W] -> [B, C * kernel, windows]"""
    k, d, s, p = (per_dimension(v, 2, 1) for v in (kernel_size, dilation, stride, padding))
    return _of_batch(n, self, 4, lambda x: unfolded(n, x, k, s, d, (*p, *p)))


def _of_batch(n: AtenLayer, x: Value, rank: int, make: Any) -> Value:
    """Apply `make`, which needs a batch, to a batch or to a single element."""
    if x.type.rank == rank:
        return make(x)
    found = make(unsqueeze(n, x, 0))
    return n.reshape(found, n.shape(found)[1:])


@ROWS("aten.col2im")
def col2im(
    n: AtenLayer,
    self: Value,
    output_size: Any,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> Value:
    """[B, C * kernel, windows] -> [B, C, H, W]: overlapping elements are added."""
    k, d, s, p = (per_dimension(v, 2, 1) for v in (kernel_size, dilation, stride, padding))
    size = [n.number(size) for size in output_size]
    if any(isinstance(extent, Value) for extent in size):
        vector = n.vector(size)
        return _of_batch(n, self, 3, lambda x: folded_to(n, x, vector, k, s, d, (*p, *p)))
    return _of_batch(n, self, 3, lambda x: folded(n, x, size, k, s, d, (*p, *p)))


@ROWS("aten._weight_norm", "aten._weight_norm_interface")
def weight_norm(n: AtenLayer, v: Value, g: Value, dim: int = 0) -> list:
    """v scaled so that its norms along all dimensions but one are g."""
    axes = tuple(i for i in range(v.type.rank) if i != n.axis(dim, v.type.rank))
    length = Term(n, reduced(n, v, nn.ReduceL2, axes, keep=True))
    return [(Term(n, v) * (Term(n, g) / length)).value, None]


# -- attention -------------------------------------------------------------------------------------


@ROWS("aten.scaled_dot_product_attention")
def attention(
    n: AtenLayer,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    q, k, v = (Term(n, x) for x in (query, key, value))
    if enable_gqa and q.rank == 4:
        k, v = grouped_like(k, q), grouped_like(v, q)
    added, seen = [], None
    if attn_mask is not None and attn_mask.type.element_type is i1:
        mask = Term(n, attn_mask)
        added.append(mask.choose(constant(n, 0.0, q.element), -math.inf))
        known = n.array(attn_mask)
        if known is None or not known.any(axis=-1).all():
            seen = mask.cast(i32).largest(mask.rank - 1, keep=True)
    elif attn_mask is not None:
        mask = Term(n, attn_mask)
        added.append(mask.cast(q.element))
        known = n.array(attn_mask)
        if known is None or np.isneginf(known).all(axis=-1).any():
            seen = (mask.largest(mask.rank - 1, keep=True) > -math.inf).cast(i32)
    if is_causal:
        added.append(causal(n, q, k, from_end=False))
    out = attend(q, k, v, _scale(q) if scale is None else scale, added)
    if seen is not None:  # queries that see no key give 0
        out = (seen > 0).choose(out, 0.0)
    return out.value


def _scale(q: Term) -> float | Term:
    """1 / sqrt(D) for queries [.., D], computed at run time if D is open."""
    width = q.shape[-1]
    if width is not None:
        return 1 / math.sqrt(width)
    found = extent(q.n, (q.value, q.rank - 1)).cast(f32)
    return (1.0 / found.function(nn.Sqrt)).cast(q.element)


def _with_logsumexp(function: Any) -> Any:
    """A kernel that also returns the logsumexp, for training; key heads may be shared."""

    def row(
        n: AtenLayer,
        query: Value,
        key: Value,
        value: Value,
        attn_bias: Value | None = None,
        attn_mask: Value | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        **other: Any,
    ) -> list:
        mask = attn_bias if attn_mask is None else attn_mask
        enable_gqa = enable_gqa or query.type.shape[1] != key.type.shape[1]
        return [function(n, query, key, value, mask, 0.0, is_causal, scale, enable_gqa)]

    return row


ROWS.add(
    {
        f"aten._scaled_dot_product_{name}": _with_logsumexp(attention)
        for name in ("flash_attention", "flash_attention_for_cpu", "efficient_attention")
    }
)
ROWS.add({"aten._scaled_dot_product_attention_math": _with_logsumexp(attention)})
