"""Writes the stored cases: functions of jnp and lax as JAX lowers them, inputs and results.

    python test/frontends/stablehlo/make.py

needs JAX (0.10 wrote what is stored). Each case is NAME.mlir and NAME.npz in files/cases.tar.xz.
"""

import io
import os
import tarfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)


def f(*s):
    return rng.standard_normal(s).astype(np.float32)


def p(*s):
    return (rng.random(s) + 0.1).astype(np.float32)


def i(*s, lo=-10, hi=10):
    return rng.integers(lo, hi, s).astype(np.int32)


def b(*s):
    return rng.random(s) > 0.5


X = f(4, 6)
Y = f(4, 6)
P = p(4, 6)
Q = p(4, 6) * 0.8
I = i(4, 6)
J = i(4, 6, lo=1)
B = b(4, 6)
C = b(4, 6)
T = f(2, 3, 4)
V = f(10)
SPD = (lambda a: a @ a.T + 5 * np.eye(5, dtype=np.float32))(f(5, 5))
M5 = f(5, 5)
CZ = (f(4, 6) + 1j * f(4, 6)).astype(np.complex64)
cases = {}


def case(name, fn, *args):
    cases[name] = (fn, args)


for n in [
    "abs",
    "negative",
    "exp",
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "arctan",
    "arcsinh",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "square",
    "cbrt",
    "isnan",
    "isfinite",
    "isinf",
    "signbit",
    "reciprocal",
    "deg2rad",
    "sinc",
    "positive",
    "relu",
    "fix",
    "nan_to_num",
    "logical_not",
]:
    g = getattr(jnp, n, None) or getattr(jax.nn, n, None)
    if g is None:
        continue
    case("u_" + n, g, X)
for n in ["log", "log2", "log10", "log1p", "sqrt", "arccosh"]:
    case("u_" + n, getattr(jnp, n), P + 1)
for n in ["arcsin", "arccos", "arctanh"]:
    case("u_" + n, getattr(jnp, n), Q)
for n in [
    "gelu",
    "silu",
    "softplus",
    "sigmoid",
    "log_sigmoid",
    "elu",
    "celu",
    "selu",
    "leaky_relu",
    "hard_tanh",
    "hard_sigmoid",
    "hard_swish",
    "softmax",
    "log_softmax",
    "relu6",
    "soft_sign",
    "glu",
    "standardize",
    "logsumexp",
    "mish",
    "squareplus",
]:
    if hasattr(jax.nn, n):
        case("nn_" + n, getattr(jax.nn, n), X)
case("nn_gelu_exact", lambda x: jax.nn.gelu(x, approximate=False), X)
case("one_hot", lambda x: jax.nn.one_hot(x, 12), I % 12)
for n in [
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "i0e",
    "i1e",
    "i0",
    "i1",
    "logit",
    "ndtr",
    "log_ndtr",
    "xlogy",
    "expit",
    "bessel_jn",
    "entr",
]:
    g = getattr(jsp.special, n, None) or getattr(jsp.special, n.replace("lgamma", "gammaln"), None)
    if n == "lgamma":
        g = jsp.special.gammaln
    if g is None or n in ("bessel_jn",):
        continue
    if n == "xlogy":
        case("s_" + n, g, P, P)
    elif n in ("erfinv", "logit"):
        case("s_" + n, g, Q)
    else:
        case("s_" + n, g, P * 2)
for n in [
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "maximum",
    "minimum",
    "arctan2",
    "hypot",
    "fmod",
    "mod",
    "remainder",
    "floor_divide",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logaddexp",
    "logaddexp2",
    "copysign",
    "heaviside",
    "nextafter",
    "fmax",
    "fmin",
    "ldexp",
    "float_power",
    "true_divide",
]:
    if n == "ldexp":
        case("b_" + n, jnp.ldexp, X, I)
    elif n in ("power", "float_power"):
        case("b_" + n, getattr(jnp, n), P, X)
    else:
        case("b_" + n, getattr(jnp, n), X, Y)
for n in [
    "add",
    "subtract",
    "multiply",
    "floor_divide",
    "mod",
    "remainder",
    "maximum",
    "minimum",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "equal",
    "less",
    "gcd",
    "lcm",
    "power",
    "divide",
    "fmod",
]:
    case(
        "i_" + n,
        getattr(jnp, n),
        I,
        J if n not in ("left_shift", "right_shift", "power") else np.abs(J) % 5,
    )
for n in ["bitwise_not", "abs", "sign", "negative", "bitwise_count", "invert"]:
    if hasattr(jnp, n):
        case("iu_" + n, getattr(jnp, n), I)
for n in ["logical_and", "logical_or", "logical_xor"]:
    case("l_" + n, getattr(jnp, n), B, C)
case("clz", lax.clz, np.abs(I))
case("popcnt", lax.population_count, np.abs(I))
case("shr_logical", lax.shift_right_logical, I, np.abs(J) % 5)
case("u8", lambda x: (x + jnp.uint8(250)) >> 1, I.astype(np.uint8))
case(
    "u32div",
    lambda x, y: (x // y, x % y, jnp.maximum(x, y), x < y),
    I.astype(np.uint32),
    np.abs(J).astype(np.uint32),
)
for n in [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "std",
    "var",
    "all",
    "any",
    "argmax",
    "argmin",
    "cumsum",
    "cumprod",
    "cummax",
    "median",
    "ptp",
    "nansum",
    "nanmean",
    "nanmax",
    "count_nonzero",
]:
    g = getattr(jnp, n, None)
    if g is None:
        continue
    case("r_" + n, lambda x, g=g: (g(x), g(x, axis=1)), X) if n not in ("cummax",) else None
case("cummax", lambda x: lax.cummax(x, axis=1), X)
case("cummin", lambda x: lax.cummin(x, axis=0, reverse=True), X)
case("cumlogsumexp", lambda x: lax.cumlogsumexp(x, axis=1), X)
case("argmax_keep", lambda x: jnp.argmax(x, axis=0, keepdims=True), X)
case("r_i", lambda x: (x.sum(), x.max(0), x.min(1), x.prod(1)), I)
case("r_b", lambda x: (x.all(0), x.any(1)), B)
case(
    "norm",
    lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1), jnp.linalg.norm(x, ord=1, axis=0)),
    X,
)
case("reduce_and", lambda x: lax.reduce(x, np.int32(-1), lax.bitwise_and, (1,)), I)
case("reduce_xor", lambda x: lax.reduce(x, np.int32(0), lax.bitwise_xor, (1,)), I)
case("reduce_custom", lambda x: lax.reduce(x, np.float32(0), lambda a, c: a + c * 1.0, (1,)), X)
case(
    "reduce_two",
    lambda x, y: lax.reduce(
        (x, y), (np.float32(0), np.float32(1)), lambda a, c: (a[0] + c[0], a[1] * c[1]), (0,)
    ),
    X,
    Y,
)
case("reduce_precision", lambda x: lax.reduce_precision(x, 5, 10), X)
case("matmul", jnp.matmul, X, f(6, 5))
case("bmm", jnp.matmul, f(3, 4, 5), f(3, 5, 2))
case("dot_vv", jnp.dot, V, f(10))
case("dot_mv", jnp.dot, X, f(6))
case("einsum1", lambda a, c: jnp.einsum("bhqd,bhkd->bhqk", a, c), f(2, 3, 4, 5), f(2, 3, 6, 5))
case("einsum2", lambda a, c: jnp.einsum("ijk,kjl->il", a, c), f(3, 4, 5), f(5, 4, 2))
case("einsum3", lambda a, c: jnp.einsum("bij,bjk->ikb", a, c), f(3, 4, 5), f(3, 5, 2))
case("tensordot", lambda a, c: jnp.tensordot(a, c, 2), f(3, 4, 5), f(4, 5, 2))
case("outer", jnp.outer, V, f(3))
case("kron", jnp.kron, f(2, 3), f(3, 2))
case("inner", jnp.inner, X, f(5, 6))
case("vdot", jnp.vdot, X, Y)
case(
    "dot_int",
    lambda a, c: lax.dot_general(a, c, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
    i(4, 6).astype(np.int8),
    i(6, 3).astype(np.int8),
)
case(
    "dot_bf16",
    lambda a, c: (a.astype(jnp.bfloat16) @ c.astype(jnp.bfloat16)).astype(jnp.float32),
    X,
    f(6, 5),
)
case("cross", jnp.cross, f(4, 3), f(4, 3))
case("trace", jnp.trace, M5)
case("diag", lambda x: (jnp.diag(x), jnp.diag(x[0])), M5)
case("tril", lambda x: (jnp.tril(x), jnp.triu(x, 1)), M5)
case("reshape", lambda x: x.reshape(3, 8), X)
case("ravel", jnp.ravel, T)
case("transpose", lambda x: x.transpose(2, 0, 1), T)
case("swapaxes", lambda x: jnp.swapaxes(x, 0, 2), T)
case("moveaxis", lambda x: jnp.moveaxis(x, 0, -1), T)
case("expand", lambda x: x[:, None, :], X)
case("squeeze", jnp.squeeze, f(3, 1, 4, 1))
case("flip", lambda x: (jnp.flip(x), jnp.flip(x, 1)), X)
case("roll", lambda x: (jnp.roll(x, 2), jnp.roll(x, -1, axis=1)), X)
case("rot90", jnp.rot90, X)
case("concat", lambda a, c: jnp.concatenate([a, c], 1), X, Y)
case("stack", lambda a, c: jnp.stack([a, c], 1), X, Y)
case("split", lambda a: jnp.split(a, 3, axis=1), X)
case("tile", lambda a: jnp.tile(a, (2, 3)), X)
case("repeat", lambda a: jnp.repeat(a, 3, axis=1), X)
case(
    "pad",
    lambda a: (
        jnp.pad(a, ((1, 2), (0, 3))),
        jnp.pad(a, 2, mode="reflect"),
        jnp.pad(a, 1, mode="edge"),
        jnp.pad(a, 2, mode="wrap"),
        jnp.pad(a, 2, mode="symmetric"),
    ),
    X,
)
case("lax_pad", lambda a: lax.pad(a, np.float32(7), ((-1, 2, 1), (1, -2, 2))), X)
case("lax_pad_dyn", lambda a, v: lax.pad(a, v, ((0, 0, 1), (1, 1, 0))), X, np.float32(2))
case("broadcast", lambda a: jnp.broadcast_to(a, (3, 4, 6)), X)
case("meshgrid", lambda a, c: jnp.meshgrid(a, c), f(3), f(4))
case("arange", lambda a: a + jnp.arange(6), X)
case("linspace", lambda a: a + jnp.linspace(0, 1, 6), X)
case("eye", lambda a: a + jnp.eye(5), M5)
case("full", lambda a: jnp.full((3, 4), a), np.float32(3))
case("where", jnp.where, B, X, Y)
case("where_s", lambda a: jnp.where(a > 0, a, 0.0), X)
case("clip", lambda a: jnp.clip(a, -0.5, 0.5), X)
case("select_n", lambda c, x, y: lax.select_n(c, x, y), B, X, Y)
case("select", lambda x: jnp.select([x < 0, x > 1], [x, x * 2], x * 3), X)
case("piecewise", lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]), X)
case("switchsel", lambda x: lax.select_n(x, X, Y, X + Y), (np.abs(I) % 3).astype(np.int32))
case("idx_int", lambda a: a[2], X)
case("idx_neg", lambda a: a[-1, ::2], X)
case("idx_slice", lambda a: a[1:3, ::-1], X)
case("idx_arr", lambda a, k: a[k], X, i(5, lo=0, hi=4))
case("idx_arr2", lambda a, k: a[:, k], X, i(5, lo=0, hi=6))
case("idx_pair", lambda a, k, l: a[k, l], X, i(5, lo=0, hi=4), i(5, lo=0, hi=6))
case("idx_mixed", lambda a, k: a[k, :, 1], T, i(2, 2, lo=0, hi=2))
case("idx_negarr", lambda a, k: a[k], X, i(5, lo=-4, hi=4))
case("idx_dyn", lambda a, k: a[k], X, np.int32(2))
case("idx_bool", lambda a: a[np.array([True, False, True, True])], X)
case(
    "take",
    lambda a, k: (
        jnp.take(a, k),
        jnp.take(a, k, axis=1),
        jnp.take(a, k, axis=0, mode="clip"),
        jnp.take(a, k, axis=0, mode="fill"),
    ),
    X,
    i(3, 2, lo=0, hi=4),
)
case("take_along", lambda a, k: jnp.take_along_axis(a, k, axis=1), X, i(4, 3, lo=0, hi=6))
case("take_along0", lambda a, k: jnp.take_along_axis(a, k, axis=0), X, i(2, 6, lo=0, hi=4))
case("gather_vmap", lambda a, k: jax.vmap(lambda r, j: r[j])(a, k), X, i(4, lo=0, hi=6))
case(
    "gather_vmap2",
    lambda a, k: jax.vmap(lambda r, j: lax.dynamic_slice(r, (j,), (3,)))(a, k),
    X,
    i(4, lo=0, hi=6),
)
case("gather_nd", lambda a, k: a[k[:, 0], k[:, 1]], f(4, 5, 3), i(6, 2, lo=0, hi=4))
case("gather_fill", lambda a, k: a.at[k].get(mode="fill", fill_value=-1), X, i(5, lo=0, hi=8))
case("set", lambda a: a.at[1].set(5.0), X)
case("set_arr", lambda a, k, u: a.at[k].set(u), X, np.array([2, 0], np.int32), f(2, 6))
case("add_at", lambda a, k, u: a.at[k].add(u), X, i(5, lo=0, hi=4), f(5, 6))
case("mul_at", lambda a, k, u: a.at[k].multiply(u), X, np.array([2, 0], np.int32), f(2, 6))
case("max_at", lambda a, k, u: a.at[k].max(u), X, i(5, lo=0, hi=4), f(5, 6))
case("min_at", lambda a, k, u: a.at[k].min(u), X, i(5, lo=0, hi=4), f(5, 6))
case("add_at2", lambda a, k, l: a.at[k, l].add(1.0), X, i(5, lo=0, hi=4), i(5, lo=0, hi=6))
case("set_slice", lambda a: a.at[1:3, ::2].set(0.0), X)
case("set_col", lambda a, u: a.at[:, 2].set(u), X, f(4))
case("add_col", lambda a, k, u: a.at[:, k].add(u), X, i(3, lo=0, hi=6), f(4, 3))
case("scatter_drop", lambda a, k: a.at[k].set(1.0, mode="drop"), X, np.array([1, 9], np.int32))
case(
    "scatter_vmap",
    lambda a, k, u: jax.vmap(lambda r, j, v: r.at[j].set(v))(a, k, u),
    X,
    i(4, lo=0, hi=6),
    f(4),
)
case(
    "scatter_slices",
    lambda a, k, u: jax.vmap(lambda r, j, v: lax.dynamic_update_slice(r, v, (j,)))(a, k, u),
    X,
    i(4, lo=0, hi=6),
    f(4, 2),
)
case("segment_sum", lambda a, k: jax.ops.segment_sum(a, k, num_segments=3), X, i(4, lo=0, hi=3))
case("bincount", lambda k: jnp.bincount(k, length=8), i(20, lo=0, hi=8))
case("histogram", lambda x: jnp.histogram(x, bins=5)[0], f(30))
case("apply_at", lambda a, k: a.at[k].apply(jnp.tanh), X, np.array([2, 0], np.int32))
case("dyn_slice", lambda a, k: lax.dynamic_slice(a, (k, 1), (2, 3)), X, np.int32(3))
case("dyn_slice_neg", lambda a, k: lax.dynamic_slice_in_dim(a, k, 2), X, np.int32(-1))
case("dyn_update", lambda a, u, k: lax.dynamic_update_slice(a, u, (k, 1)), X, f(2, 3), np.int32(3))
case("dyn_index", lambda a, k: lax.dynamic_index_in_dim(a, k, keepdims=False), X, np.int32(1))
case("sort", lambda a: (jnp.sort(a), jnp.sort(a, axis=0)), X)
case("argsort", lambda a: (jnp.argsort(a), jnp.argsort(a, axis=0, descending=True)), X)
case("sort_i", jnp.sort, I)
case("sort_desc", lambda a: jnp.sort(a, descending=True), X)
case("lexsort", lambda a, c: jnp.lexsort((a, c)), V, i(10, lo=0, hi=3))
case("sort_kv", lambda a, c: lax.sort_key_val(a, c), V, np.arange(10, dtype=np.int32))
case("sort2", lambda a, c: lax.sort((a, c), num_keys=2), i(10, lo=0, hi=3), V)
case("top_k", lambda a: lax.top_k(a, 3), X)
case("approx_top_k", lambda a: lax.approx_max_k(a, 3), X)
case("searchsorted", lambda a, v: jnp.searchsorted(a, v), np.sort(V), f(5))
case("unique", lambda a: jnp.unique(a, size=8), i(20, lo=0, hi=6))
case("nonzero", lambda a: jnp.nonzero(a, size=12), I)
case("percentile", lambda a: jnp.percentile(a, 30.0), X)
case("quantile", lambda a: jnp.quantile(a, 0.7, axis=1), X)
case("digitize", lambda a: jnp.digitize(a, np.array([-1.0, 0.0, 1.0], np.float32)), X)
case(
    "interp",
    lambda a: jnp.interp(
        a, np.array([-1.0, 0.0, 1.0], np.float32), np.array([0.0, 2.0, 5.0], np.float32)
    ),
    X,
)
case("partition", lambda a: jnp.partition(a, 3), X)
case("argpartition", lambda a: jnp.sort(jnp.argpartition(a, 3)[..., :3]), X)


def conv(x, w, **k):
    return lax.conv_general_dilated(x, w, **k)


im = f(2, 3, 9, 8)
imh = f(2, 9, 8, 3)
case(
    "conv_nchw",
    lambda x, w: conv(x, w, window_strides=(2, 1), padding=((1, 1), (0, 2))),
    im,
    f(5, 3, 3, 2),
)
case(
    "conv_nhwc",
    lambda x, w: conv(
        x, w, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    imh,
    f(3, 3, 3, 4),
)
case(
    "conv_group",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding="VALID", feature_group_count=3),
    im,
    f(6, 1, 3, 3),
)
case(
    "conv_dw",
    lambda x, w: conv(
        x,
        w,
        window_strides=(2, 2),
        padding="SAME",
        feature_group_count=3,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    ),
    imh,
    f(3, 3, 1, 3),
)
case(
    "conv_dil",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding=((2, 2), (2, 2)), rhs_dilation=(2, 2)),
    im,
    f(4, 3, 3, 3),
)
case(
    "conv_lhsdil",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding=((1, 2), (1, 1)), lhs_dilation=(2, 2)),
    im,
    f(4, 3, 3, 3),
)
case("conv_t", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), imh, f(3, 3, 3, 4))
case(
    "conv1d", lambda x, w: conv(x, w, window_strides=(1,), padding="SAME"), f(2, 3, 10), f(4, 3, 3)
)
case(
    "conv3d",
    lambda x, w: conv(x, w, window_strides=(1, 1, 1), padding="VALID"),
    f(1, 2, 5, 5, 5),
    f(3, 2, 2, 2, 2),
)
case(
    "conv_batchgroup",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding="VALID", batch_group_count=2),
    f(4, 3, 6, 6),
    f(4, 3, 3, 3),
)
case(
    "conv_rev",
    lambda x, w: conv(x, lax.rev(w, (2, 3)), window_strides=(1, 1), padding="VALID"),
    im,
    f(4, 3, 3, 3),
)
case("convolve", lambda a, c: jnp.convolve(a, c), V, f(3))
case("correlate", lambda a, c: jnp.correlate(a, c, "same"), V, f(3))
case(
    "conv_negpad",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding=((-1, -1), (0, -1))),
    im,
    f(4, 3, 3, 3),
)
case(
    "conv_grad",
    lambda x, w: jax.grad(
        lambda x, w: (conv(x, w, window_strides=(2, 2), padding="SAME") ** 2).sum(), (0, 1)
    )(x, w),
    im,
    f(4, 3, 3, 3),
)
case(
    "conv_groupgrad",
    lambda x, w: jax.grad(
        lambda x, w: (
            conv(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=3) ** 2
        ).sum(),
        (0, 1),
    )(x, w),
    im,
    f(6, 1, 3, 3),
)
case("patches", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "VALID"), im)
case(
    "maxpool",
    lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
    imh,
)
case(
    "avgpool",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "VALID") / 9,
    im,
)
case(
    "minpool",
    lambda x: lax.reduce_window(
        x, np.inf, lax.min, (1, 1, 3, 3), (1, 1, 1, 1), ((0, 0), (0, 0), (1, 1), (1, 1))
    ),
    im,
)
case(
    "pool_dil",
    lambda x: lax.reduce_window(
        x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 1, 1), "VALID", window_dilation=(1, 1, 2, 2)
    ),
    im,
)
case(
    "pool_base",
    lambda x: lax.reduce_window(
        x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 1, 1), "VALID", base_dilation=(1, 1, 2, 2)
    ),
    im,
)
case(
    "pool_init",
    lambda x: lax.reduce_window(x, 1.5, lax.add, (1, 1, 2, 2), (1, 1, 1, 1), "SAME"),
    im,
)
case("pool_prod", lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1), "VALID"), X)
case(
    "pool_i",
    lambda x: lax.reduce_window(x, np.int32(-(2**31)), lax.max, (2, 2), (1, 1), "VALID"),
    I,
)
case(
    "maxpool_grad",
    lambda x: jax.grad(
        lambda x: (
            lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") ** 2
        ).sum()
    )(x),
    im,
)
case(
    "maxpool_grad_same",
    lambda x: jax.grad(
        lambda x: (
            lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") ** 2
        ).sum()
    )(x),
    im,
)
case(
    "avgpool_grad",
    lambda x: jax.grad(
        lambda x: (
            lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") ** 2
        ).sum()
    )(x),
    im,
)
case(
    "while",
    lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.1), (0, x)),
    X,
)
case("while_dyn", lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 1.5, x), P)
case("fori", lambda x: lax.fori_loop(0, 4, lambda i, c: c + i, x), X)
case("fori_dyn", lambda x, k: lax.fori_loop(0, k, lambda i, c: c * 1.5, x), X, np.int32(3))
case("scan", lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(6), x), X)
case(
    "scan_rev", lambda x: lax.scan(lambda c, v: (c * 0.5 + v, c), jnp.zeros(6), x, reverse=True), X
)
case("cond", lambda c, x: lax.cond(c > 0, lambda v: v * 2, lambda v: v - 1, x), np.float32(1), X)
case(
    "cond_false",
    lambda c, x: lax.cond(c > 0, lambda v: v * 2, lambda v: v - 1, x),
    np.float32(-1),
    X,
)
case(
    "switch",
    lambda k, x: lax.switch(k, [lambda v: v, lambda v: v * 2, lambda v: v - 1], x),
    np.int32(1),
    X,
)
case(
    "switch_oob",
    lambda k, x: lax.switch(k, [lambda v: v, lambda v: v * 2, lambda v: v - 1], x),
    np.int32(7),
    X,
)
case("map", lambda x: lax.map(lambda r: r.sum() * r, x), X)
case("assoc_scan", lambda x: lax.associative_scan(jnp.add, x, axis=1), X)
case(
    "scan_grad",
    lambda x: jax.grad(
        lambda x: lax.scan(lambda c, v: (jnp.tanh(c + v), c * v), jnp.zeros(6), x)[1].sum()
    )(x),
    X,
)
case(
    "nested_while",
    lambda x: lax.fori_loop(
        0,
        3,
        lambda i, c: lax.while_loop(lambda d: d.sum() < 50.0 * (i + 1), lambda d: d * 1.3, c),
        x,
    ),
    P,
)
case("fft", lambda x: jnp.abs(jnp.fft.fft(x)), f(3, 8))
case("rfft", lambda x: jnp.abs(jnp.fft.rfft(x)), f(3, 8))
case("irfft", lambda x: jnp.fft.irfft(x), (f(3, 5) + 1j * f(3, 5)).astype(np.complex64))
case("fft_c", jnp.fft.fft, CZ)
case("ifft", jnp.fft.ifft, CZ)
case("fft2", jnp.fft.fft2, CZ)
case("rfft2", lambda x: jnp.fft.rfft2(x), X)
case("fftshift", jnp.fft.fftshift, X)
case("cholesky", jnp.linalg.cholesky, SPD)
case(
    "tri_solve", lambda a, c: jsp.linalg.solve_triangular(jnp.tril(a), c, lower=True), SPD, f(5, 2)
)
case(
    "tri_solve_u",
    lambda a, c: jsp.linalg.solve_triangular(jnp.triu(a), c, lower=False, trans=1),
    SPD,
    f(5, 2),
)
case("solve", jnp.linalg.solve, SPD, f(5))
case("inv", jnp.linalg.inv, SPD)
case("det", jnp.linalg.det, SPD)
case("qr", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), M5)
case("slogdet", jnp.linalg.slogdet, SPD)
case("matrix_power", lambda a: jnp.linalg.matrix_power(a, 3), M5)
case("eigh", lambda a: jnp.linalg.eigh(a)[0], SPD)
case("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), M5)
case("cho_solve", lambda a, c: jsp.linalg.cho_solve(jsp.linalg.cho_factor(a), c), SPD, f(5))
case("c_add", lambda a, c: a + c * a - c / a, CZ, CZ[::-1].copy())
case(
    "c_exp",
    lambda a: (
        jnp.exp(a),
        jnp.log(a),
        jnp.sqrt(a),
        jnp.abs(a),
        jnp.angle(a),
        jnp.conj(a),
        a.real,
        a.imag,
    ),
    CZ,
)
case("c_make", lambda a, c: lax.complex(a, c), X, Y)
case("c_pow", lambda a: a**2, CZ)
case("c_tri", lambda a: (jnp.sin(a), jnp.cos(a), jnp.tanh(a)), CZ)
case("c_dot", lambda a: a @ a.T, CZ)
case("c_eq", lambda a, c: a == c, CZ, CZ)
case("c_sum", lambda a: (a.sum(0), a.prod(1)), CZ)
case(
    "cast",
    lambda x: (
        x.astype(jnp.int32),
        x.astype(jnp.bfloat16).astype(jnp.float32),
        x.astype(bool),
        x.astype(jnp.float16),
        x.astype(jnp.int8),
        x.astype(jnp.uint8),
    ),
    np.abs(X) * 3,
)
case("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int32), X)
case("bitcast_narrow", lambda x: lax.bitcast_convert_type(x, jnp.int8), X)
case(
    "bitcast_wide",
    lambda x: lax.bitcast_convert_type(x, jnp.float32),
    I.astype(np.int16).reshape(4, 3, 2),
)
case("view", lambda x: x.view(jnp.uint32), X)
case("int4", lambda x: (x.astype(jnp.int4)).astype(jnp.int32) + 1, I % 7)
case("f8", lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), X)
case("i64cast", lambda x: x.astype(jnp.uint16).astype(jnp.int32), np.abs(I))
case("frexp", jnp.frexp, X)
case("modf", jnp.modf, X)
case("divmod", jnp.divmod, I, J)
case("packbits", jnp.packbits, B)
case("unpackbits", jnp.unpackbits, I.astype(np.uint8))
case("unravel", lambda k: jnp.unravel_index(k, (4, 6)), i(5, lo=0, hi=24))
case("vander", lambda v: jnp.vander(v, 4), V)
case("polyval", lambda v, x: jnp.polyval(v, x), f(3), X)
case("diff", lambda x: jnp.diff(x, axis=1), X)
case("gradient", lambda x: jnp.gradient(x, axis=1), X)
case("trapezoid", jnp.trapezoid, X)
case("cov", jnp.cov, X)
case("corrcoef", jnp.corrcoef, X)
case("average", lambda x, w: jnp.average(x, axis=1, weights=w), X, P)
case("clip_grad", jax.grad(lambda x: jnp.clip(x, -1, 1).sum()), X)
case("isclose", jnp.isclose, X, X + 1e-7)
case("allclose", jnp.allclose, X, Y)
case("array_equal", jnp.array_equal, X, X)
key = np.array([0, 42], np.uint32)
case("rnd_uniform", lambda k: jax.random.uniform(k, (3, 5)), key)
case("rnd_normal", lambda k: jax.random.normal(k, (3, 5)), key)
case("rnd_bits", lambda k: jax.random.bits(k, (7,)), key)
case("rnd_split", lambda k: jax.random.split(k, 3), key)
case("rnd_int", lambda k: jax.random.randint(k, (5,), 0, 100), key)
case("rnd_perm", lambda k: jax.random.permutation(k, 10), key)
case("rnd_bern", lambda k: jax.random.bernoulli(k, 0.3, (8,)), key)
case("rnd_cat", lambda k, x: jax.random.categorical(k, x), key, X)
case("rnd_gumbel", lambda k: jax.random.gumbel(k, (4,)), key)
case("rnd_exp", lambda k: jax.random.exponential(k, (4,)), key)
case("rnd_trunc", lambda k: jax.random.truncated_normal(k, -1.0, 1.0, (6,)), key)
case(
    "rbg",
    lambda k: lax.rng_bit_generator(k, (4,), dtype=jnp.uint32)[1],
    np.array([1, 2, 3, 4], np.uint32),
)
case("rnd_gamma", lambda k: jax.random.gamma(k, 2.0, (3,)), key)
case("rnd_choice", lambda k: jax.random.choice(k, 10, (4,)), key)
case("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.8, x.shape), x / 0.8, 0.0), key, X)
case("resize", lambda x: jax.image.resize(x, (2, 18, 16, 3), "bilinear"), imh)
case("resize_n", lambda x: jax.image.resize(x, (2, 18, 16, 3), "nearest"), imh)
case("resize_c", lambda x: jax.image.resize(x, (2, 5, 4, 3), "cubic"), imh)
case("map_coords", lambda x, c: jsp.ndimage.map_coordinates(x, [c, c], order=1), X, p(5) * 2)
case("grad_mlp", jax.grad(lambda w: jnp.tanh(X @ w).sum()), f(6, 5))
case("vjp_softmax", jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum()), X)
case("hess", jax.hessian(lambda v: (jnp.sin(v) ** 2).sum()), f(4))
case("jacfwd", jax.jacfwd(lambda v: jnp.cumsum(v) ** 2), f(4))
case("vmap_mm", jax.vmap(jnp.dot, (0, None)), f(3, 4, 5), f(5, 2))
case("grad_gather", jax.grad(lambda a: (a[np.array([0, 2, 2])] ** 2).sum()), X)
case("grad_sort", jax.grad(lambda a: (jnp.sort(a) * V).sum()), V)
case("grad_cumsum", jax.grad(lambda a: (jnp.cumsum(a) ** 2).sum()), V)
case("grad_max", jax.grad(lambda a: a.max()), V)
case("custom_jvp", jax.grad(lambda a: jax.nn.relu(a).sum()), X)
case("checkpoint", jax.grad(jax.checkpoint(lambda a: jnp.sin(jnp.sin(a)).sum())), X)
case("opt_barrier", lambda a: lax.optimization_barrier(a) + 1, X)
case(
    "remat_scan",
    lambda x: lax.scan(jax.checkpoint(lambda c, v: (jnp.sin(c) + v, c)), jnp.zeros(6), x),
    X,
)
case("expm", jsp.linalg.expm, M5 * 0.1)
case("cdist", lambda a, c: jnp.sqrt(((a[:, None] - c[None]) ** 2).sum(-1)), X, f(3, 6))
case("batchnorm", lambda x: (x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-5), imh)
case(
    "layernorm",
    lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5),
    X,
)
case(
    "attention",
    lambda q, k, v: jax.nn.dot_product_attention(q, k, v),
    f(2, 4, 3, 5),
    f(2, 4, 3, 5),
    f(2, 4, 3, 5),
)
case(
    "attention_causal",
    lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
    f(2, 4, 3, 5),
    f(2, 4, 3, 5),
    f(2, 4, 3, 5),
)
case("fill_diag", lambda a: jnp.fill_diagonal(a, 3.0, inplace=False), M5)
case("insert", lambda a: jnp.insert(a, 2, 5.0, axis=1), X)
case("delete", lambda a: jnp.delete(a, 2, axis=1), X)
case("append", lambda a, c: jnp.append(a, c), V, f(3))
case("isin", lambda a, c: jnp.isin(a, c), I, i(4))
case("logspace", lambda a: a * jnp.logspace(0, 2, 6), X)
case("hanning", lambda a: a * jnp.hanning(6), X)
case("tri", lambda a: a * jnp.tri(5), M5)
case("indices", lambda a: jnp.indices((2, 3)).sum() + a, I)
case("zeros_like", lambda a: jnp.zeros_like(a) + 1, X)
case("betainc", lambda a, c, x: jsp.special.betainc(a, c, x), P, P, Q)
case("igamma", lambda a, x: jsp.special.gammainc(a, x), P + 0.5, P)
case("zeta", lambda x: jsp.special.zeta(x, 1.0), P + 1.5)
case("polygamma", lambda x: jsp.special.polygamma(1, x), P)
case("regnorm", lambda x: jsp.stats.norm.logpdf(x), X)
case("cumulative_trapz", lambda x: jnp.cumsum((x[1:] + x[:-1]) / 2), V)
case("tan_c", jnp.tan, X)
case("square_c", jnp.square, CZ)
case("sinh_d", jnp.sinh, P)
case(
    "while_vmap", jax.vmap(lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)), P[0]
)
case("cond_vmap", jax.vmap(lambda c, x: lax.cond(c > 0, jnp.sin, jnp.cos, x)), V, V * 2)

B3 = f(3, 4, 4)
SYM = B3 + B3.swapaxes(1, 2)


def rebuilt_eigh(a):
    values, vectors = jnp.linalg.eigh(a)
    return values, (vectors * values[..., None, :]) @ vectors.swapaxes(-1, -2)


def rebuilt_svd(a):
    u, sizes, v = jnp.linalg.svd(a, full_matrices=False)
    return sizes, (u * sizes[..., None, :]) @ v


def spanned(a):
    u = jnp.linalg.svd(a)[0]
    return u[:, 3:] @ u[:, 3:].T


def bits(key, kind):
    with jax.enable_x64(True):
        return lax.rng_bit_generator(key, (3, 3), np.dtype(kind))[1]


case("eigh_batched", rebuilt_eigh, SYM)
case("svd_batched", rebuilt_svd, f(2, 3, 5, 4))
case("svd_full", spanned, f(5, 3))
case("solve_batched", jnp.linalg.solve, B3, f(3, 4, 2))
case("det_batched", jnp.linalg.det, B3)
case("lu_rectangular", jsp.linalg.lu, f(5, 3))
case("qr_batched", jnp.linalg.qr, f(3, 5, 4))
case("tridiagonal", lax.linalg.tridiagonal_solve, f(2, 5), f(2, 5) + 4, f(2, 5), f(2, 5, 2))
for kind in ("uint8", "uint16", "uint32", "uint64"):
    case("rbg_" + kind, lambda k, t=kind: bits(k, t), np.array([3, 7, 11, 2**32 - 1], np.uint32))


def stored(array):
    """An array as NumPy alone can store it."""
    array = np.asarray(array)
    small = array.dtype.kind == "V" or array.dtype.name in ("bfloat16", "int4")
    return array.astype(np.float32) if small else array


def main() -> None:
    """Write the archive."""
    target = Path(__file__).parent / "files" / "cases.tar.xz"
    with tarfile.open(target, "w:xz") as archive:

        def add(name: str, data: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

        for name, (fn, args) in sorted(cases.items()):
            function = jax.jit(fn, keep_unused=True)
            add(f"{name}.mlir", function.lower(*args).as_text().encode())
            outs = jax.tree.leaves(function(*args))
            arrays = {f"in{k}": stored(a) for k, a in enumerate(args)}
            arrays |= {f"out{k}": stored(o) for k, o in enumerate(outs)}
            buffer = io.BytesIO()
            np.savez(buffer, **arrays)
            add(f"{name}.npz", buffer.getvalue())


if __name__ == "__main__":
    main()
