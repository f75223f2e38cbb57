"""Cases of movement, indexing and sorting."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from maker import M5, B, I, T, V, X, Y, case, f, i

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
