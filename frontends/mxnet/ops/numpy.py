"""Operators that only deep numpy has, named as NumPy's functions."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

# -- other shapes ----------------------------------------------------------------------------------


def _with_rank(n: MxnetLayer, x: Value, rank: int) -> Value:
    """x of at least so many dimensions; a vector lies along the second of three."""
    if rank == 3 and x.type.rank in (1, 2):
        x = unsqueezed(n, x, *[0] * (2 - x.type.rank), 2)
    return unsqueezed(n, x, *[0] * (rank - x.type.rank))


@rows("_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d")
def at_least(n: MxnetLayer, *inputs: Value) -> list[Value]:
    return [_with_rank(n, x, int(n.kind[-2])) for x in inputs]


@rows("_npi_hstack", "_npi_vstack", "_npi_dstack", "_npi_column_stack")
def side_by_side(n: MxnetLayer, *inputs: Value) -> Value:
    if n.kind == "_npi_column_stack":
        columns = [unsqueezed(n, x, 1) if x.type.rank == 1 else x for x in inputs]
        return concat(n, columns, 1)
    axis = {"h": 1, "v": 0, "d": 2}[n.kind[5]]
    parts = [_with_rank(n, x, {"h": 1, "v": 2, "d": 3}[n.kind[5]]) for x in inputs]
    return concat(n, parts, min(axis, parts[0].type.rank - 1))


@rows("_npi_rot90")
def quarter_turns(n: MxnetLayer, x: Value) -> Value:
    first, second = normalize_axes(n, n.ints("axes", (0, 1), 2), x.type.rank)
    for _ in range(n.int("k", 1) % 4):
        n.extent(x, second)
        x = swapped(n, reversed_axes(n, x, [second]), first, second)
    return x


@rows("_np_diagonal", "_np_trace")
def diagonals(n: MxnetLayer, x: Value) -> Value:
    """The diagonals of two dimensions, last, or their sums."""
    axes = (n.axis(name, i, x.type.rank) for i, name in enumerate(("axis1", "axis2")))
    found = diagonal(n, x, n.int("offset", 0), *axes)
    return n.term(found).sum(found.type.rank - 1).value if n.kind == "_np_trace" else found


@rows("_npi_tril")
def lower(n: MxnetLayer, x: Value) -> Value:
    inside = np.tri(n.extent(x, -2), n.extent(x, -1), n.int("k", 0), dtype=np.bool_)
    return constant(n, inside).choose(n.term(x), 0).value


@rows("_npi_diff")
def differences(n: MxnetLayer, x: Value) -> Value:
    axis = n.axis("axis", -1, x.type.rank)
    for _ in range(n.int("n", 1)):
        ends = slice_axis(n, x, axis, 1, n.extent(x, axis)), slice_axis(n, x, axis, 0, -1)
        x = n(nn.Sub(*ends))
    return x


@rows("_npi_einsum")
def sum_of_products(n: MxnetLayer, *inputs: Value) -> Value:
    return einsum(n, n.text("subscripts", ""), list(inputs))


# -- elements --------------------------------------------------------------------------------------


@rows("_np_all", "_np_any", "_np_sometrue")
def all_or_any(n: MxnetLayer, x: Value) -> Value:
    given = n.ints("axis") if n.get("axis") is not None else range(x.type.rank)
    axes = normalize_axes(n, tuple(given), x.type.rank)
    holds = (~n.term(x).equals(0)).cast(i32) if x.type.element_type is not i1 else n.term(x)
    op = nn.ReduceMin if n.kind == "_np_all" else nn.ReduceMax
    found = reduced(n, holds.cast(i32).value, op, axes, keep=n.flag("keepdims"))
    return n.cast(found, i1)


@rows("_npi_nan_to_num")
def finite(n: MxnetLayer, x: Value) -> Value:
    term, most = n.term(x), float(np.finfo(np.float32).max)
    high, low = (n.get(name) for name in ("posinf", "neginf"))
    term = term.equals(np.inf).choose(most if high is None else float(high), term)
    term = term.equals(-np.inf).choose(-most if low is None else float(low), term)
    return term.function(nn.IsNan).choose(n.float("nan", 0.0), term).value


@rows("_npi_isposinf", "_npi_isneginf")
def infinite(n: MxnetLayer, x: Value) -> Value:
    return n.term(x).equals(np.inf if n.kind == "_npi_isposinf" else -np.inf).value


def _copysign(size: Term, sign: Term) -> Term:
    size = size.function(nn.Abs)
    return ((1.0 / sign < 0.0) | (sign < 0.0)).choose(-size, size)


def _ldexp(x: Term, power: Term) -> Term:
    return x * (power * float(np.log(2))).function(nn.Exp)


_PAIRS = {"copysign": _copysign, "ldexp": _ldexp}


@rows("_npi_copysign", "_npi_ldexp")
def of_two(n: MxnetLayer, a: Value, b: Value) -> Value:
    return _PAIRS[n.kind.removeprefix("_npi_")](
        n.term(a), n.term(b).cast(a.type.element_type)
    ).value


@rows("_npi_copysign_scalar", "_npi_rcopysign_scalar", "_npi_ldexp_scalar", "_npi_rldexp_scalar")
def of_one_and_a_number(n: MxnetLayer, x: Value) -> Value:
    name = n.kind.removeprefix("_npi_").removesuffix("_scalar")
    pair = n.term(x), n.term(n.scalar(n.float("scalar"), x))
    turned = name.startswith("r")
    return _PAIRS[name.removeprefix("r")](*(pair[::-1] if turned else pair)).value


@rows("_npi_polyval")
def polynomial(n: MxnetLayer, factors: Value, x: Value) -> Value:
    """Horner's scheme, the highest power first."""
    total = n.term(x) * 0.0
    for i in range(n.extent(factors, 0)):
        total = total * n.term(x) + n.term(factors).column(i)
    return total.value


# -- numbers and positions -------------------------------------------------------------------------


@rows("_npi_hamming", "_npi_hanning", "_npi_blackman")
def window(n: MxnetLayer) -> Value:
    found = getattr(np, n.kind.removeprefix("_npi_"))(n.int("M"))
    return n.constant(found, n.element("dtype", f32))


@rows("_npi_logspace")
def powers(n: MxnetLayer) -> Value:
    ends = n.float("start"), n.float("stop"), n.size("num"), n.flag("endpoint", True)
    return n.constant(np.logspace(*ends, n.float("base", 10.0)), n.element("dtype", f32))


@rows("_npi_indices")
def indices(n: MxnetLayer) -> Value:
    return n.constant(np.indices(n.ints("dimensions")), n.element("dtype", i32))


@rows("_npx_nonzero")
def places(n: MxnetLayer, x: Value) -> Value:
    holds = n.term(x) if x.type.element_type is i1 else ~n.term(x).equals(0)
    return n.transposed(n(nn.NonZero(holds.value)), 1, 0)


@rows("_ravel_multi_index", "ravel_multi_index")
def raveled(n: MxnetLayer, x: Value) -> Value:
    """Positions [rank, N] as numbers of elements."""
    shape = n.ints("shape")
    steps = np.cumprod([1, *shape[:0:-1]])[::-1].reshape(-1, 1)
    term = n.term(x)
    return (term * n.term(n.constant(steps.copy(), term.element))).sum(0).value


@rows("_unravel_index", "unravel_index")
def unraveled(n: MxnetLayer, x: Value) -> Value:
    parts, rest = [], n.term(x).cast(i64)
    for extent in reversed(n.ints("shape")):
        parts.insert(0, (rest % extent).spread(1, 0).value)
        rest = rest / extent
    return n.cast(concat(n, parts, 0), x.type.element_type)
