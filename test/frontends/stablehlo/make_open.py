"""Writes functions of symbolic shapes as JAX exports them, and what it makes of some inputs.

    python test/frontends/stablehlo/make_open.py

needs JAX (0.10 wrote what is stored). Each is NAME.mlir in files/open.tar.xz, with NAME-0.npz, .. for
inputs of several shapes.
"""

import io
import os
import tarfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

rng = np.random.default_rng(0)
OF_SHAPES = [(4, 6), (1, 3), (5, 1)]
cases = {}


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i(high, *shape):
    return rng.integers(0, high, shape).astype(np.int32)


def case(name, function, shapes, *inputs):
    """`shapes` are those of the arguments: text for symbolic ones."""
    cases[name] = (function, shapes, inputs)


matrices = [(f(*shape),) for shape in OF_SHAPES]
counts = [(i(9, *shape),) for shape in OF_SHAPES]
for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    for axis, reverse in ((0, False), (1, True)):
        case(
            f"{name}_{axis}",
            lambda x, n=name, a=axis, r=reverse: getattr(lax, n)(x, axis=a, reverse=r),
            ["a, b"],
            *matrices,
        )
case("diff", lambda x: jnp.diff(x, axis=0), ["a, b"], (f(4, 6),), (f(2, 1),))
case("argmax", lambda x: jnp.argmax(x, 0), ["a, b"], *matrices)
case("bits_and", lambda x: lax.reduce(x, np.int32(-1), lax.bitwise_and, (0,)), ["a, b"], *counts)
case(
    "several_reduced",
    lambda x: lax.reduce(
        (x, x), (np.float32(0), np.float32(1)), lambda p, q: (p[0] + q[0], p[1] * q[1]), (1,)
    ),
    ["a, b"],
    *matrices,
)
case(
    "pooled_same",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "SAME"),
    ["a, b"],
    *matrices,
)
case(
    "least_of_windows",
    lambda x: lax.reduce_window(x, jnp.inf, lax.min, (2, 2), (1, 2), "SAME"),
    ["a, b"],
    *matrices,
)
case(
    "along_axis",
    lambda x, at: jnp.take_along_axis(x, at, axis=1),
    ["a, b", "a, c"],
    (f(4, 6), i(6, 4, 3)),
    (f(7, 2), i(2, 7, 5)),
)
case(
    "pairs_of_indices",
    lambda x, p, q: x[p, q],
    ["a, b", "c", "c"],
    (f(4, 6), i(4, 3), i(6, 3)),
    (f(7, 1), i(7, 5), i(1, 5)),
)
case("rows_cut", lambda x, p: x[p, :3], ["a, 8", "c"], (f(4, 8), i(4, 3)), (f(7, 8), i(7, 5)))
case(
    "rows_set",
    lambda x, u: x.at[jnp.array([1, 0])].set(u),
    ["a, b", "2, b"],
    (f(4, 6), f(2, 6)),
    (f(2, 1), f(2, 1)),
)
case(
    "rows_added",
    lambda x, at, u: x.at[at].add(u),
    ["a, b", "c", "c, b"],
    (f(4, 6), np.int32([1, 1]), f(2, 6)),
    (f(7, 2), np.int32([0, 6, 9]), f(3, 2)),
)
case(
    "segments",
    lambda x, at: jax.ops.segment_sum(x, at, num_segments=5),
    ["a, b", "a"],
    (f(4, 6), i(5, 4)),
    (f(7, 2), i(9, 7)),
)
case(
    "stacked_by_scan",
    lambda x: lax.scan(lambda c, v: (c + v, c), jnp.zeros(x.shape[1], np.float32), x)[1],
    ["a, b"],
    *matrices,
)
case(
    "batch_of_gathers",
    lambda x, at: jax.vmap(lambda p, q: p[q])(x, at),
    ["n, l, 4", "n, k"],
    (f(2, 5, 4), i(5, 2, 3)),
    (f(1, 2, 4), i(2, 1, 1)),
)
zeros = np.int32([5, -7, 0, 3]), np.int32([0, 2, 0, -3])
case(
    "convolved_same",
    lambda x, w: lax.conv_general_dilated(
        x, w, (2,), "SAME", lhs_dilation=None, dimension_numbers=("NWC", "WIO", "NWC")
    ),
    ["n, l, 3", "4, 3, 2"],
    (f(2, 9, 3), f(4, 3, 2)),
    (f(1, 10, 3), f(4, 3, 2)),
)
for name in ("div", "rem"):
    case(f"{name}_by_zero", getattr(lax, name), ["n", "n"], zeros)
    case(f"{name}_unsigned", getattr(lax, name), ["n", "n"], [v.astype(np.uint8) for v in zeros])
case("any_of_none", lambda x: jnp.any(x, 0), ["a, b"], (np.zeros((0, 4), bool),))
odd = np.float32([1e-7, 6e-5, 65520, 65504, 1.0009, np.nan, np.inf, -np.inf, -1e-7, -3, 0.07, 500])
for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (5, 2), (8, 0), (1, 0), (2, 1), (3, 30)):
    case(
        f"reduced_to_{exponent}_{mantissa}",
        lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m),
        ["n"],
        (odd,),
    )
case("reduced_f64", lambda x: lax.reduce_precision(x, 6, 9), ["n"], (odd.astype(np.float64),))


def convolutions(x):
    """x [B, H, W, 4], padded by computed numbers, cropped, with holes."""
    kernel = jnp.cos(jnp.arange(3 * 2 * 4 * 3, dtype=jnp.float32)).reshape(3, 2, 4, 3)
    how = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    made = lax.conv_general_dilated
    return (
        made(x, kernel, (2, 1), "SAME", rhs_dilation=(1, 2), **how),
        made(x, kernel, (1, 2), [(3, 1), (-1, 2)], lhs_dilation=(3, 2), **how),
        lax.conv_transpose(x, kernel, (2, 2), "VALID"),
    )


def write_convolutions(folder: Path) -> None:
    """The convolutions, exported, and results of one shape."""
    x = np.sin(np.arange(2 * 7 * 6 * 4, dtype=np.float32)).reshape(2, 7, 6, 4)
    spec = jax.ShapeDtypeStruct(export.symbolic_shape("b, h, w, 4"), x.dtype)
    compiled = jax.jit(convolutions)
    data = export.export(compiled)(spec).serialize()
    (folder / "open_convolutions.jax").write_bytes(data)
    np.savez_compressed(folder / "open_convolutions.npz", x, *compiled(x))


def main() -> None:
    """Write the archive."""
    target = Path(__file__).parent / "files" / "open.tar.xz"
    write_convolutions(target.parent)
    with tarfile.open(target, "w:xz") as archive, jax.enable_x64(True):

        def add(name: str, data: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

        for name, (function, shapes, inputs) in sorted(cases.items()):
            scope = export.SymbolicScope()
            specs = [
                jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), array.dtype)
                for shape, array in zip(shapes, inputs[0], strict=True)
            ]
            compiled = jax.jit(function)
            add(f"{name}.mlir", export.export(compiled)(*specs).mlir_module().encode())
            for k, arrays in enumerate(inputs):
                buffer = io.BytesIO()
                outs = jax.tree.leaves(compiled(*arrays))
                found = {f"in{j}": a for j, a in enumerate(arrays)}
                found |= {f"out{j}": np.asarray(a) for j, a in enumerate(outs)}
                np.savez(buffer, **found)
                add(f"{name}-{k}.npz", buffer.getvalue())


if __name__ == "__main__":
    main()
