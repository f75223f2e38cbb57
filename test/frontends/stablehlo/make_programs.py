"""Cases of control flow, transforms, linear algebra, random numbers, gradients and layers."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from make_windows import imh
from maker import CZ, M5, SPD, B, I, J, P, Q, V, X, Y, case, f, i, p

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
