"""The named structured ops of the tables compute what NumPy says of windows and products."""

import math

import numpy as np
import pytest
from nnc.dialects import linalg
from nnc.ir.dialect import registry
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter
from numpy.lib.stride_tricks import sliding_window_view

RNG = np.random.default_rng(11)


def run(op: str, *arrays, attributes: str = "", scalars: tuple = ()):
    """The output after `linalg.op`: the last array, the others being its inputs."""
    *inputs, out = [np.array(a) for a in arrays]
    types = [f"memref<{'x'.join(map(str, a.shape))}x{element(a)}>" for a in inputs]
    types = [t.replace("<x", "<") for t in types]
    types += [element(np.asarray(s)) for s in scalars]
    result = f"memref<{''.join(f'{n}x' for n in out.shape)}{element(out)}>"
    args = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    names = ", ".join(f"%a{i}" for i in range(len(types)))
    module = parse_module(
        f"func.func @f({args}, %out: {result}) {{\n"
        f"linalg.{op} {attributes} ins({names} : {', '.join(types)}) outs(%out : {result})\n"
        "return\n}"
    )
    module.verify()
    Interpreter(module).call("f", [*inputs, *scalars, out])
    return out


def element(array) -> str:
    kinds = {"f": "f", "i": "i", "b": "i"}
    bits = 1 if array.dtype.kind == "b" else array.dtype.itemsize * 8
    return f"{kinds[array.dtype.kind]}{bits}"


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def steps(strides, dilations) -> str:
    def dense(values):
        return f"dense<{list(values)}> : tensor<{len(values)}xi64>"

    return f"{{dilations = {dense(dilations)}, strides = {dense(strides)}}}"


def windows(x, axes, sizes, strides, dilations):
    """The windows of `x`; their places stay on the axes, what is in them comes last."""
    reach = [(k - 1) * d + 1 for k, d in zip(sizes, dilations, strict=True)]
    view = sliding_window_view(x, reach, axes)
    for i, axis in enumerate(axes):
        at = [slice(None)] * view.ndim
        at[axis] = slice(None, None, strides[i])
        at[x.ndim + i] = slice(None, None, dilations[i])
        view = view[tuple(at)]
    return view


POINTWISE = {
    "exp": np.exp,
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "negf": np.negative,
    "reciprocal": lambda x: 1 / x,
    "square": np.square,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf),
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise(name):
    function = POINTWISE[name]
    count = getattr(function, "nin", 1)
    inputs = [f32(3, 4) for _ in range(count)]
    found = run(name, *inputs, f32(3, 4))
    np.testing.assert_allclose(found, function(*inputs), rtol=2e-6)


def test_positive_functions():
    x = np.abs(f32(5)) + 0.5
    for name, function in (("log", np.log), ("sqrt", np.sqrt), ("rsqrt", lambda v: v**-0.5)):
        np.testing.assert_allclose(run(name, x, f32(5)), function(x), rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(run("powf", x, x, f32(5)), x**x, rtol=2e-6)
    np.testing.assert_array_equal(run("round", x * 3, f32(5)), np.floor(x * 3 + 0.5))


def test_select_and_unsigned_division():
    choice, x, y = np.array([True, False, True]), f32(3), f32(3)
    np.testing.assert_array_equal(run("select", choice, x, y, f32(3)), np.where(choice, x, y))
    a, b = np.array([-2, 7, 9], np.int32), np.array([3, 2, -1], np.int32)
    wanted = (a.view(np.uint32) // b.view(np.uint32)).view(np.int32)
    np.testing.assert_array_equal(run("div_unsigned", a, b, a), wanted)


EINSUMS = {
    "matvec": "mn,n->m",
    "vecmat": "m,mn->n",
    "dot": "m,m->",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "mmt4d": "mkac,nkbc->mnab",
    "batch_mmt4d": "zmkac,znkbc->zmnab",
    "batch_reduce_matmul": "bmk,bkn->mn",
}


@pytest.mark.parametrize("name", EINSUMS)
def test_products(name):
    inputs, output = EINSUMS[name].split("->")
    sizes = {letter: 2 + i for i, letter in enumerate(dict.fromkeys(inputs.replace(",", "")))}
    lhs, rhs = (f32(*(sizes[c] for c in part)) for part in inputs.split(","))
    out = f32(*(sizes[c] for c in output))
    wanted = out + np.einsum(EINSUMS[name], lhs, rhs)
    found = run(name, lhs, rhs, out)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_quantized_matmul():
    lhs, rhs = (RNG.integers(-128, 128, shape, np.int8) for shape in ((3, 5), (5, 4)))
    out, zeros = np.ones((3, 4), np.int32), (np.int32(7), np.int32(-3))
    found = run("quantized_matmul", lhs, rhs, out, scalars=zeros)
    wanted = 1 + (lhs.astype(np.int32) - 7) @ (rhs.astype(np.int32) + 3)
    np.testing.assert_array_equal(found, wanted)


# Axes of the input's windows, and the product of windows (dimensions of the input without
# them, then those in the window) with the kernel.
CONVOLUTIONS = {
    "conv_1d": ((11,), (3,), (0,), "xw,w->x"),
    "conv_2d": ((7, 9), (2, 3), (0, 1), "xyhw,hw->xy"),
    "conv_3d": ((5, 6, 7), (2, 3, 2), (0, 1, 2), "xyzdhw,dhw->xyz"),
    "conv_1d_nwc_wcf": ((2, 13, 3), (3, 3, 4), (1,), "nxcw,wcf->nxf"),
    "conv_1d_ncw_fcw": ((2, 3, 13), (4, 3, 3), (2,), "ncxw,fcw->nfx"),
    "conv_2d_nhwc_hwcf": ((2, 12, 11, 3), (3, 2, 3, 4), (1, 2), "nxychw,hwcf->nxyf"),
    "conv_2d_nhwc_fhwc": ((2, 12, 11, 3), (4, 3, 2, 3), (1, 2), "nxychw,fhwc->nxyf"),
    "conv_2d_nchw_fchw": ((2, 3, 12, 11), (4, 3, 3, 2), (2, 3), "ncxyhw,fchw->nfxy"),
    "conv_2d_ngchw_gfchw": ((2, 3, 2, 9, 8), (3, 4, 2, 3, 2), (3, 4), "ngcxyhw,gfchw->ngfxy"),
    "conv_2d_ngchw_fgchw": ((2, 3, 2, 9, 8), (4, 3, 2, 3, 2), (3, 4), "ngcxyhw,fgchw->ngfxy"),
    "conv_2d_nhwgc_gfhwc": ((2, 9, 8, 3, 2), (3, 4, 3, 2, 2), (1, 2), "nxygchw,gfhwc->nxygf"),
    "conv_3d_ndhwc_dhwcf": ((1, 8, 7, 9, 2), (2, 3, 2, 2, 3), (1, 2, 3), "nxyzcdhw,dhwcf->nxyzf"),
    "conv_3d_ncdhw_fcdhw": ((1, 2, 8, 7, 9), (3, 2, 2, 3, 2), (2, 3, 4), "ncxyzdhw,fcdhw->nfxyz"),
    "depthwise_conv_1d_nwc_wc": ((2, 13, 3), (3, 3), (1,), "nxcw,wc->nxc"),
    "depthwise_conv_1d_ncw_cw": ((2, 3, 13), (3, 3), (2,), "ncxw,cw->ncx"),
    "depthwise_conv_1d_nwc_wcm": ((2, 13, 3), (3, 3, 2), (1,), "nxcw,wcm->nxcm"),
    "depthwise_conv_2d_nhwc_hwc": ((2, 9, 8, 3), (3, 2, 3), (1, 2), "nxychw,hwc->nxyc"),
    "depthwise_conv_2d_nchw_chw": ((2, 3, 9, 8), (3, 3, 2), (2, 3), "ncxyhw,chw->ncxy"),
    "depthwise_conv_2d_nhwc_hwcm": ((2, 9, 8, 3), (3, 2, 3, 2), (1, 2), "nxychw,hwcm->nxycm"),
    "depthwise_conv_3d_ndhwc_dhwc": ((1, 8, 7, 9, 2), (2, 3, 2, 2), (1, 2, 3), "nxyzcdhw,dhwc->nxyzc"),
    "depthwise_conv_3d_ncdhw_cdhw": ((1, 2, 8, 7, 9), (2, 2, 3, 2), (2, 3, 4), "ncxyzdhw,cdhw->ncxyz"),
    "depthwise_conv_3d_ndhwc_dhwcm": (
        (1, 8, 7, 9, 2), (2, 3, 2, 2, 3), (1, 2, 3), "nxyzcdhw,dhwcm->nxyzcm",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    shape, kernel_shape, axes, product = CONVOLUTIONS[name]
    plain = name in ("conv_1d", "conv_2d", "conv_3d")
    strides = (1, 1, 1)[: len(axes)] if plain else (2, 1, 3)[: len(axes)]
    dilations = (1, 1, 1)[: len(axes)] if plain else (1, 2, 1)[: len(axes)]
    x, kernel = f32(*shape), f32(*kernel_shape)
    inner = product.partition(",")[2].partition("->")[0]
    sizes = [kernel.shape[inner.index(c)] for c in "dhw" if c in inner]
    wanted = np.einsum(product, windows(x, axes, sizes, strides, dilations), kernel)
    out = f32(*wanted.shape)
    attributes = "" if plain else steps(strides, dilations)
    found = run(name, x, kernel, out, attributes=attributes)
    np.testing.assert_allclose(found, out + wanted, rtol=1e-4, atol=1e-5)


POOLINGS = {"sum": np.sum, "max": np.max, "min": np.min}


@pytest.mark.parametrize(
    "name",
    [line.split()[0] for line in linalg.POOLINGS.splitlines() if line.strip()],
)
def test_poolings(name):
    _, layout, kind, *rest = name.split("_")
    axes = tuple(i for i, c in enumerate(layout) if c in "dhw")
    x = RNG.integers(-50, 50, [5 + i for i in range(len(layout))]).astype(np.int32)
    sizes, strides, dilations = ((n,) * len(axes) for n in (2, 2, 1))
    view = windows(x.view(np.uint32) if rest else x, axes, sizes, strides, dilations)
    last = tuple(range(x.ndim, view.ndim))
    wanted = POOLINGS[kind](view, axis=last).view(np.int32) if rest else None
    if wanted is None:
        wanted = POOLINGS[kind](view, axis=last)
    start = {"sum": 0, "max": -(2**31), "min": 2**31 - 1}[kind]
    if rest:
        start = 0 if kind == "max" else -1
    out = np.full(wanted.shape, start, np.int32)
    found = run(name, x, np.zeros(sizes, np.int32), out, attributes=steps(strides, dilations))
    np.testing.assert_array_equal(found, wanted)


def test_ops_are_declared_when_they_are_met():
    """A table's op is there by name; its dialect lists all, each once."""
    names = [f"linalg.{name}" for name in linalg.POINTWISE]
    assert {registry.find_op(name).name for name in names} == set(names)
    listed = registry.dialect("linalg").ops
    assert set(names) < set(listed)
    assert not [name for name in registry.deferred if name.startswith("linalg.")]
    assert registry.find_op("linalg.no_such_op") is None
