"""New tensors: constants, ranges, and tensors shaped like others."""

from __future__ import annotations

from ...common import arrays
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows


@rows("_zeros", "_ones", "_full", "_npi_zeros", "_npi_ones", "_npi_full", "_zeros_without_dtype")
def filled(n: MxnetLayer) -> Value:
    value = 1.0 if "ones" in n.kind else n.float("value", n.get("fill_value", 0.0))
    shape = n.ints("shape")
    if min(shape, default=1) < 0:
        raise n.error(f"attribute 'shape' is {shape}")
    return n.zeros(shape, n.element("dtype", f32), value)


@rows("_arange", "_npi_arange", "_contrib_arange", "_linspace", "_npi_linspace")
def numbers(n: MxnetLayer) -> Value:
    start, stop = n.float("start", 0.0), n.get("stop")
    if "linspace" in n.kind:
        found = np.linspace(start, n.float("stop"), n.size("num"), n.flag("endpoint", True))
    else:
        bounds = (0.0, start) if stop is None else (start, n.float("stop"))
        found = np.repeat(np.arange(*bounds, n.float("step", 1.0)), n.int("repeat", 1))
    return n.constant(found, n.element("dtype", f32))


@rows("_eye", "_npi_eye", "_npi_identity")
def eye(n: MxnetLayer) -> Value:
    shape = n.ints("shape")
    size = (n.int("N", shape[0] if shape else None), n.int("M", 0))
    return n.constant(np.eye(size[0], size[1] or size[0], n.int("k", 0)), n.element("dtype", f32))


@rows("_contrib_arange_like", "_npx_arange_like")
def arange_like(n: MxnetLayer, x: Value) -> Value:
    """A range with as many numbers as x has elements, or along one axis."""
    start, step = n.float("start", 0.0), n.float("step", 1.0)
    if n.int("repeat", 1) != 1:
        raise n.error("attribute 'repeat' is not supported")
    whole = n.get("axis") is None
    own = dims(x)
    count = extent(n, own[0] if whole else own[n.axis("axis", 0, len(own))])
    for one in own[1:] if whole else ():
        count = count * extent(n, one)
    found = counting(n, count).cast(x.type.element_type) * step + start
    return reshape(n, found.value, own) if whole else found.value


@rows("shape_array", "_npx_shape_array")
def shape_array(n: MxnetLayer, x: Value) -> Value:
    return shape_of(n, x)


@rows("size_array")
def size_array(n: MxnetLayer, x: Value) -> Value:
    return reduced(n, shape_of(n, x), nn.ReduceProd, (0,), keep=True)


@rows("diag", "_np_diag")
def diagonal_or_matrix(n: MxnetLayer, x: Value) -> Value:
    """The diagonals of matrices, or matrices with these diagonals."""
    if x.type.rank < 3:
        return arrays.diag(n, x, n.int("k", 0))
    axes = (n.axis(name, i, x.type.rank) for i, name in enumerate(("axis1", "axis2")))
    return diagonal(n, x, n.int("k", 0), *axes)


@rows("_contrib_index_array")
def index_array(n: MxnetLayer, x: Value) -> Value:
    shape = tuple(n.extent(x, i) for i in range(x.type.rank))
    axes = [a % len(shape) for a in n.ints("axes")] or range(len(shape))
    found = np.stack(np.meshgrid(*(np.arange(d) for d in shape), indexing="ij"), -1)
    return n.constant(found[..., list(axes)], i64)
