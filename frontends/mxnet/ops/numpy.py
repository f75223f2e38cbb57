"""Operators that only MXNet's NumPy-like interface (`_npi_`) has, named as NumPy's functions."""

from __future__ import annotations

from ....ir.types import row_major_strides
from ...common import arrays
from ...common.formulas import copysign, ldexp, nan_to_num
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

# -- other shapes ----------------------------------------------------------------------------------


@rows("_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d")
def at_least(n: MxnetLayer, *inputs: Value) -> list[Value]:
    return [arrays.atleast(n, x, int(n.kind[-2])) for x in inputs]


rows.add(
    {
        "_npi_hstack": lambda n, *inputs: arrays.hstack(n, inputs),
        "_npi_vstack": lambda n, *inputs: arrays.vstack(n, inputs),
        "_npi_dstack": lambda n, *inputs: arrays.dstack(n, inputs),
        "_npi_column_stack": lambda n, *inputs: arrays.column_stack(n, inputs),
    }
)


@rows("_npi_rot90")
def quarter_turns(n: MxnetLayer, x: Value) -> Value:
    axes = normalize_axes(n, n.ints("axes", (0, 1), 2), x.type.rank)
    return arrays.rot90(n, x, n.int("k", 1), *axes)


@rows("_np_diagonal", "_np_trace")
def diagonals(n: MxnetLayer, x: Value) -> Value:
    """The diagonals over two axes, as the last axis, or their sums (trace)."""
    axes = (n.axis(name, i, x.type.rank) for i, name in enumerate(("axis1", "axis2")))
    found = diagonal(n, x, n.int("offset", 0), *axes)
    return n.term(found).sum(found.type.rank - 1).value if n.kind == "_np_trace" else found


@rows("_npi_tril")
def lower(n: MxnetLayer, x: Value) -> Value:
    return n(nn.Trilu(x, n.constant(n.int("k", 0), i64), upper=False))


@rows("_npi_diff")
def differences(n: MxnetLayer, x: Value) -> Value:
    return arrays.diff(n, x, n.axis("axis", -1, x.type.rank), n.int("n", 1))


@rows("_npi_einsum")
def sum_of_products(n: MxnetLayer, *inputs: Value) -> Value:
    return einsum(n, n.text("subscripts", ""), list(inputs))


# -- elements --------------------------------------------------------------------------------------


@rows("_np_all", "_np_any", "_np_sometrue")
def all_or_any(n: MxnetLayer, x: Value) -> Value:
    given = n.ints("axis") if n.get("axis") is not None else range(x.type.rank)
    axes = normalize_axes(n, tuple(given), x.type.rank)
    op = nn.ReduceMin if n.kind == "_np_all" else nn.ReduceMax
    return reduced(n, n.cast(x, i1), op, axes, keep=n.flag("keepdims"))


@rows("_npi_nan_to_num")
def finite(n: MxnetLayer, x: Value) -> Value:
    ends = (None if n.get(name) is None else n.float(name) for name in ("posinf", "neginf"))
    return nan_to_num(n.term(x), n.float("nan", 0.0), *ends).value


@rows("_npi_isposinf", "_npi_isneginf")
def infinite(n: MxnetLayer, x: Value) -> Value:
    end = np.inf if n.kind == "_npi_isposinf" else -np.inf
    return n.term(n.floating(x)).equals(end).value


_PAIRS = {"copysign": copysign, "ldexp": ldexp}


@rows("_npi_copysign", "_npi_ldexp")
def of_two(n: MxnetLayer, a: Value, b: Value) -> Value:
    size = n.floating(a)
    pair = n.term(size), n.term(n.cast(b, size.type.element_type))
    return _PAIRS[n.kind.removeprefix("_npi_")](*pair).value


@rows("_npi_copysign_scalar", "_npi_rcopysign_scalar", "_npi_ldexp_scalar", "_npi_rldexp_scalar")
def of_one_and_a_number(n: MxnetLayer, x: Value) -> Value:
    name = n.kind.removeprefix("_npi_").removesuffix("_scalar")
    x = n.floating(x)
    pair = n.term(x), n.term(n.scalar(n.float("scalar"), x))
    turned = name.startswith("r")
    return _PAIRS[name.removeprefix("r")](*(pair[::-1] if turned else pair)).value


@rows("_npi_polyval")
def polynomial(n: MxnetLayer, factors: Value, x: Value) -> Value:
    powers = [n.term(factors).column(i) for i in range(n.extent(factors, 0))]
    return polyval(powers, n.term(x)).value


# -- numbers and positions -------------------------------------------------------------------------


@rows("_npi_hamming", "_npi_hanning", "_npi_blackman")
def window(n: MxnetLayer) -> Value:
    name = n.kind.removeprefix("_npi_").replace("hanning", "hann")
    return n.constant(arrays.window(name, n.int("M"), periodic=False), n.element("dtype", f32))


@rows("_npi_logspace")
def powers(n: MxnetLayer) -> Value:
    ends = n.float("start"), n.float("stop"), n.size("num"), n.flag("endpoint", True)
    return n.constant(np.logspace(*ends, n.float("base", 10.0)), n.element("dtype", f32))


@rows("_npi_indices")
def indices(n: MxnetLayer) -> Value:
    return n.constant(np.indices(n.ints("dimensions")), n.element("dtype", i32))


@rows("_npx_nonzero")
def places(n: MxnetLayer, x: Value) -> Value:
    return n.transposed(n(nn.NonZero(n.cast(x, i1))), 1, 0)


@rows("_ravel_multi_index", "ravel_multi_index")
def raveled(n: MxnetLayer, x: Value) -> Value:
    """Index tuples [rank, N] as flat indices [N]."""
    shape = n.ints("shape")
    steps = np.array(row_major_strides(shape)).reshape(-1, 1)
    term = n.term(x)
    return (term * n.term(n.constant(steps, term.element))).sum(0).value


@rows("_unravel_index", "unravel_index")
def unraveled(n: MxnetLayer, x: Value) -> Value:
    parts = arrays.unravel_index(n.term(x).cast(i64), n.ints("shape"))
    return joined([part.spread(1, 0) for part in parts], 0).cast(x.type.element_type).value
