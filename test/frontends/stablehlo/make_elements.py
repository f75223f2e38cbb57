"""Cases of elementwise functions, sums and products."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from maker import M5, B, C, I, J, P, Q, V, X, Y, case, f, i

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
