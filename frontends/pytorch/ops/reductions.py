"""Reductions, scans, and operators that find or sort extremes."""

from __future__ import annotations

from ...common.formulas import without_nan
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row, table
from .elementwise import as_bool


def _reduction(op: Any, element: Type | None = None) -> Row:
    def row(n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False, dtype=None) -> Value:
        wide = dtype
        if wide is None and element is not None and not _is_float(self):
            wide = element
        x = self if wide is None else n.cast(self, wide)
        axes = n.axes(dim, x.type.rank)
        return reduced(n, x, op, axes, keepdim) if axes else x

    return row


def _is_float(x: Value) -> bool:
    return isinstance(x.type.element_type, FloatType)


table(lambda op: _reduction(op), "all", mean=nn.ReduceMean, amax=nn.ReduceMax, amin=nn.ReduceMin)
sum_ = _reduction(nn.ReduceSum, i64)
table(lambda row: row, "all", sum=sum_, prod=_reduction(nn.ReduceProd, i64))


@ROWS("aten.logsumexp", "aten.special_logsumexp", batched="along")
def logsumexp(n: AtenLayer, self: Value, dim: Any, keepdim: bool = False) -> Value:
    return _reduction(nn.ReduceLogSumExp)(n, n.floating(self), dim, keepdim)


@ROWS("aten.sum_to_size")
def sum_to_size(n: AtenLayer, self: Value, size: Any) -> Value:
    """x summed over broadcast dimensions to a shape; sums of integers are i64."""
    lead = self.type.rank - len(size)
    ones = [i + lead for i, d in enumerate(size) if n.number(d) == 1]
    axes = tuple(i for i in (*range(lead), *ones) if self.type.shape[i] != 1 or i < lead)
    if (axes or not size) and not _is_float(self):
        self = n.cast(self, i64)
    found = reduced(n, self, nn.ReduceSum, axes, keep=True) if axes else self
    return n.reshape(found, size)


@ROWS("aten.nansum")
def nansum(n: AtenLayer, self: Value, dim: Any = None, keepdim=False, dtype=None) -> Value:
    numbers = without_nan(Term(n, self), 0.0).value
    return _reduction(nn.ReduceSum, i64)(n, numbers, dim, keepdim, dtype)


@ROWS("aten.nanmean")
def nanmean(n: AtenLayer, self: Value, dim: Any = None, keepdim=False, dtype=None) -> Value:
    numbers = ~Term(n, self).function(nn.IsNan)
    total = nansum(n, self, dim, keepdim, dtype)
    count = _reduction(nn.ReduceSum)(n, n.cast(numbers.value, self.type.element_type), dim, keepdim)
    return (Term(n, total) / Term(n, n.cast(count, total.type.element_type))).value


@ROWS("aten.any", "aten.all", "aten._is_any_true", "aten._is_all_true", batched="all")
def any_all(n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False) -> Value:
    """Whether any or all elements are true; u8 stays u8; an empty `dim` reduces nothing."""
    op = nn.ReduceMax if "any" in n.kind else nn.ReduceMin
    found = as_bool(n, self)
    if dim != []:
        found = _reduction(op)(n, found, dim, keepdim)
    element = self.type.element_type
    return n.cast(found, element) if element is IntegerType(8, "u") else found


@ROWS("aten.max", "aten.min", batched="named")
def max_min(
    n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False, other: Any = None
) -> Any:
    find, op, pick = (
        (nn.Argmax, nn.ReduceMax, nn.Max) if ".max" in n.kind else (nn.Argmin, nn.ReduceMin, nn.Min)
    )
    if other is not None:
        return n(pick(*n.promoted(self, other)))
    axes = n.axes(dim, self.type.rank)
    if dim is None:
        return reduced(n, self, op, axes)
    if not axes:
        return [self, n.constant(0, i64)]
    values = reduced(n, self, op, axes, keepdim)
    if not n.wants(1):
        return [values, None]
    return [values, extreme_at(n, self, find, axes[0], keep=keepdim)]


def _numbers(n: AtenLayer, x: Value) -> Value:
    return n.cast(x, IntegerType(32)) if x.type.element_type is i1 else x


@ROWS("aten.argmax", "aten.argmin", batched="named")
def arg_extreme(n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False) -> Value:
    find = nn.Argmax if "argmax" in n.kind else nn.Argmin
    axis = n.axis(dim, self.type.rank) if dim is not None and self.type.rank else None
    return extreme_at(n, self, find, axis, keepdim)


@ROWS("aten.var", "aten.std", "aten.var_mean", "aten.std_mean", batched="all")
def spread(
    n: AtenLayer,
    self: Value,
    dim: Any = None,
    unbiased: bool = True,
    correction: Any = None,
    keepdim: bool = False,
) -> Any:
    less = float(unbiased) if correction is None else correction
    found, mean = variance(n, self, n.axes(dim, self.type.rank), keepdim, less)
    if "_mean" in n.kind:  # by Welford's method, which gives NaN for infinite means
        infinite = Term(n, mean).function(nn.Abs).equals(math.inf)
        mean = infinite.choose(math.nan, Term(n, mean)).value
    if ".std" in n.kind:
        found = n(nn.Sqrt(found))
    return [found, mean] if "_mean" in n.kind else found


@ROWS("aten.norm", "aten.linalg_vector_norm", "aten.frobenius_norm", batched="all")
def norm(
    n: AtenLayer,
    self: Value,
    p: Any = 2,
    ord: Any = None,
    dim: Any = None,
    keepdim=False,
    dtype=None,
) -> Value:
    order = 2 if p is None else p
    order = order if ord is None else ord
    x = Term(n, n.floating(self if dtype is None else n.cast(self, dtype)))
    axes = n.axes(dim, x.rank)
    ops = {1: nn.ReduceL1, 2: nn.ReduceL2}
    if order in ops:
        return reduced(n, x.value, ops[order], axes, keep=keepdim)
    size = x.function(nn.Abs)
    if order in (math.inf, -math.inf):
        op = nn.ReduceMax if order > 0 else nn.ReduceMin
        return reduced(n, size.value, op, axes, keep=keepdim)
    if order == 0:
        return (~size.equals(0.0)).cast(x.element).sum(*axes, keep=keepdim).value
    wide = f32 if x.element in (f16, bf16) else x.element  # powers overflow 16-bit floats
    total = (size.cast(wide) ** order).sum(*axes, keep=keepdim)
    return (total ** (1 / order)).cast(x.element).value


@ROWS("aten.cumsum", "aten.cumprod", batched="along")
def running(n: AtenLayer, self: Value, dim: int, dtype: Type | None = None) -> Value:
    wide = dtype or (self.type.element_type if _is_float(self) else i64)
    x = n.cast(self, wide)
    op = nn.Cumsum if "cumsum" in n.kind else nn.Cumprod
    return n(op(x, axis=n.axis(dim, x.type.rank))) if x.type.rank else x


@ROWS("aten.topk", batched="along")
def topk(
    n: AtenLayer, self: Value, k: Any, dim: int = -1, largest: bool = True, sorted=True
) -> list:
    return _largest(n, self, k, dim, largest)


def _largest(n: AtenLayer, x: Value, k: Any, dim: int, greatest: bool) -> list:
    if not x.type.rank:
        return [x, n.constant(0, i64)]
    element = x.type.element_type
    axis = n.axis(dim, x.type.rank)
    values, places = largest(n, _numbers(n, x), n.as_value(k, i64), axis, greatest)
    return [n.cast(values, element), places]


@ROWS("aten.sort", "aten.argsort", batched="along")
def sort(n: AtenLayer, self: Value, dim: int = -1, descending: bool = False, stable=None) -> Any:
    count = n.size(self, n.axis(dim, self.type.rank)) if self.type.rank else 1
    found = _largest(n, self, count, dim, descending)
    return found[1] if "argsort" in n.kind else found


@ROWS("aten.median")
def median(n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower one of the middle elements; NaN if there is one, with its first index."""
    if self.type.rank == 0 and dim is not None:
        return [self, n.constant(0, i64)]
    x = self if dim is not None else Term(n, self).flat().value
    axis = n.axis(0 if dim is None else dim, x.type.rank)
    count = x.type.shape[axis]
    if count is not None:
        found = _largest(n, x, (count + 1) // 2, axis, False)
        parts = [Term(n, v).part(axis, (count - 1) // 2, (count + 1) // 2) for v in found]
    else:
        size = extent(n, (x, axis))
        found = _largest(n, x, ((size + 1) / 2).value, axis, False)
        parts = [Term(n, v).gather(((size - 1) / 2).reshape(1), axis) for v in found]
    if isinstance(x.type.element_type, FloatType) and count != 0:
        missing = Term(n, x).function(nn.IsNan).cast(i32)
        is_missing = missing.largest(axis, keep=True) > 0
        first = missing.argmax(axis, keep=True)
        parts = [is_missing.choose(v, p) for v, p in zip((math.nan, first), parts, strict=True)]
    if not keepdim:
        parts = [p.column(0, axis) for p in parts]
    return parts[0].value if dim is None else [p.value for p in parts]
