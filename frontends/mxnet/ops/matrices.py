"""Matrix products, and attention as products of interleaved heads."""

from __future__ import annotations

from ...common import arrays
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows


@rows("dot", "_np_dot", "_sparse_dot")
def dot(n: MxnetLayer, a: Value, b: Value) -> Value:
    """A product over the last axis of a and the first of b (NumPy-like: the last but one)."""
    if n.flag("transpose_a"):
        a = n.transposed(a, *range(1, a.type.rank), 0)
    if n.flag("transpose_b"):
        b = n.transposed(b, b.type.rank - 1, *range(b.type.rank - 1))
    if a.type.rank == 0 or b.type.rank == 0:
        return n(nn.Mul(a, b))
    if n.kind == "_np_dot":
        return arrays.dot(n.term(a), n.term(b)).value
    out = _products(n, a, b, 1)
    return out if out.type.rank else reshape(n, out, [1])


def _products(n: MxnetLayer, a: Value, b: Value, count: int) -> Value:
    """Sums of products over the last `count` axes of a and the first `count` of b."""
    first = range(a.type.rank - count, a.type.rank)
    return arrays.tensordot(n.term(a), n.term(b), first, range(count)).value


@rows("_npi_tensordot_int_axes")
def tensordot(n: MxnetLayer, a: Value, b: Value) -> Value:
    return _products(n, a, b, min(n.int("axes"), a.type.rank, b.type.rank))


@rows("_npi_tensordot")
def tensordot_along(n: MxnetLayer, a: Value, b: Value) -> Value:
    first, second = n.axes("a_axes_summed", a.type.rank), n.axes("b_axes_summed", b.type.rank)
    return arrays.tensordot(n.term(a), n.term(b), first, second).value


@rows("_npi_matmul")
def matmul(n: MxnetLayer, a: Value, b: Value) -> Value:
    return n(nn.Matmul(a, b))


@rows("batch_dot", "_npx_batch_dot", "linalg_gemm2", "_linalg_gemm2")
def batch_dot(n: MxnetLayer, a: Value, b: Value) -> Value:
    if n.int("axis", -2) != -2:
        raise n.error(f"attribute 'axis' is {n.int('axis')}, expected -2")
    a = swapped(n, a, -2, -1) if n.flag("transpose_a") else a
    b = swapped(n, b, -2, -1) if n.flag("transpose_b") else b
    out, alpha = n(nn.Matmul(a, b)), n.float("alpha", 1.0)
    return out if alpha == 1 else (n.term(out) * alpha).value


@rows("linalg_gemm", "_linalg_gemm")
def gemm(n: MxnetLayer, a: Value, b: Value, c: Value) -> Value:
    return (n.term(batch_dot(n, a, b)) + n.term(c) * n.float("beta", 1.0)).value


@rows("linalg_syrk", "_linalg_syrk")
def product_with_itself(n: MxnetLayer, a: Value) -> Value:
    pair = (swapped(n, a, -2, -1), a) if n.flag("transpose") else (a, swapped(n, a, -2, -1))
    return (n.term(n(nn.Matmul(*pair))) * n.float("alpha", 1.0)).value


@rows("linalg_det", "_linalg_det", "_npi_det")
def determinant(n: MxnetLayer, x: Value) -> Value:
    return n(nn.Determinant(x))


@rows("khatri_rao")
def khatri_rao(n: MxnetLayer, *inputs: Value) -> Value:
    """The Khatri-Rao product of matrices: the Kronecker products of their columns, one by one."""
    out = n.term(inputs[0])
    for matrix in inputs[1:]:
        term = n.term(matrix)
        count, columns = n.extent(out.value, 0) * n.extent(matrix, 0), (matrix, 1)
        left = out.reshape((out.value, 0), 1, columns)
        out = (left * term.spread(1, 0)).reshape(count, columns)
    return out.value


# -- attention ---------------------------------------------------------------------------------


def _heads(n: MxnetLayer, x: Value, kinds: int) -> list[Term]:
    """[length, batch, heads * kinds * size] split into one [batch * heads, length,
    size] per kind.
    """
    heads = n.size("heads")
    width = n.extent(x, 2)
    if heads < 1 or width % (heads * kinds):
        raise n.error(f"{width} elements do not split into {kinds} parts of {heads} heads")
    apart = n.term(x).reshape((x, 0), (x, 1), heads, kinds, width // heads // kinds)
    found = []
    for kind in range(kinds):
        one = apart.column(kind, 3).transpose(1, 2, 0, 3)
        found.append(one.reshape(_batch(n, x, heads), (x, 0), width // heads // kinds))
    return found


def _batch(n: MxnetLayer, x: Value, heads: int) -> int:
    return n.extent(x, 1) * heads


def _weights(query: Term, key: Term) -> Value:
    size = query.shape[2]
    assert size is not None
    return ((query / math.sqrt(size)) @ key.transpose(0, 2, 1)).value


def _joined(n: MxnetLayer, weights: Value, value: Term) -> Value:
    """The heads' results joined: [length, batch, heads * size]."""
    heads, size = n.size("heads"), value.shape[2]
    assert size is not None
    out = n.term(weights) @ value
    batch = n.extent(weights, 0) // heads
    own = (weights, 1)
    apart = out.reshape(batch, heads, own, size).transpose(2, 0, 1, 3)
    return apart.reshape(own, batch, heads * size).value


@rows("_contrib_interleaved_matmul_selfatt_qk")
def self_weights(n: MxnetLayer, x: Value) -> Value:
    query, key, _ = _heads(n, x, 3)
    return _weights(query, key)


@rows("_contrib_interleaved_matmul_selfatt_valatt")
def self_values(n: MxnetLayer, x: Value, weights: Value) -> Value:
    return _joined(n, weights, _heads(n, x, 3)[2])


@rows("_contrib_interleaved_matmul_encdec_qk")
def cross_weights(n: MxnetLayer, queries: Value, pairs: Value) -> Value:
    return _weights(_heads(n, queries, 1)[0], _heads(n, pairs, 2)[0])


@rows("_contrib_interleaved_matmul_encdec_valatt")
def cross_values(n: MxnetLayer, pairs: Value, weights: Value) -> Value:
    return _joined(n, weights, _heads(n, pairs, 2)[1])
