"""Kernels as linalg text, with what NumPy says they compute."""

import numpy as np

from .kernel_writer import MULTIPLY_ADD, Kernel, Writer, memref


def matmul(m, n, k, transposed=False, dynamic=False):
    """relu(a @ b)"""
    dims = (None, None, None) if dynamic else (m, n, k)
    b_shape = (n, k) if transposed else (k, n)
    b_type = memref(*((dims[1], dims[2]) if transposed else (dims[2], dims[1])))
    w = Writer(("a", memref(dims[0], dims[2])), ("b", b_type), ("c", memref(dims[0], dims[1])))
    w.constant("zero", "0.0")
    sizes = ""
    if dynamic:
        w.line("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index")
        w.line(
            f"%m = memref.dim %c, %c0 : {w.types['c']}\n%n = memref.dim %c, %c1 : {w.types['c']}"
        )
        sizes = "%m, %n"
    w.alloc("t", memref(dims[0], dims[1]), sizes)
    w.fill("zero", "t")
    at = "n, k" if transposed else "k, n"
    w.generic(
        "m, n, k", "ppr", [("a", "m, k"), ("b", at)], [("t", "m, n")], MULTIPLY_ADD, [("s", "f32")]
    )
    w.generic(
        "m, n", "pp", [("t", "m, n")], [("c", "m, n")],
        ["%r = arith.maximumf %i0, %zero : f32"], [("r", "f32")],
    )  # fmt: skip
    return Kernel(
        w.text(), [(m, k), b_shape, (m, n)],
        lambda a, b, c: [np.maximum(a @ (b.T if transposed else b), 0)],
    )  # fmt: skip


def matmul_of_transpose(m, n, k):
    """a @ transpose(b), the transposed operand in a buffer of its own."""
    w = Writer(("a", memref(m, k)), ("b", memref(n, k)), ("c", memref(m, n)))
    w.constant("zero", "0.0")
    w.alloc("t", memref(k, n))
    w.generic("k, n", "pp", [("b", "n, k")], [("t", "k, n")], [], [("i0", "f32")])
    w.fill("zero", "c")
    w.generic(
        "m, n, k", "ppr", [("a", "m, k"), ("t", "k, n")], [("c", "m, n")],
        MULTIPLY_ADD, [("s", "f32")],
    )  # fmt: skip
    return Kernel(w.text(), [(m, k), (n, k), (m, n)], lambda a, b, c: [a @ b.T])


def attention(heads, queries, keys, depth):
    """softmax(q @ transpose(k)) @ v for each head."""
    n, m = "h, i, j", "h, i, k"
    w = Writer(
        ("q", memref(heads, queries, depth)), ("k", memref(heads, keys, depth)),
        ("v", memref(heads, keys, depth)), ("y", memref(heads, queries, depth)),
    )  # fmt: skip
    w.constant("low", "0xFF800000")
    w.constant("zero", "0.0")
    for name in ("scores", "powers", "shares"):
        w.alloc(name, memref(heads, queries, keys))
    for name in ("most", "sums"):
        w.alloc(name, memref(heads, queries, 1))
    w.fill("zero", "scores")
    w.generic("h, i, j, d", "pppr", [("q", "h, i, d"), ("k", "h, j, d")], [("scores", n)],
              MULTIPLY_ADD, [("s", "f32")])  # fmt: skip
    w.fill("low", "most")
    w.generic("h, i, k, j", "pppr", [("scores", n)], [("most", m)],
              ["%x = arith.maximumf %i0, %o0 : f32"], [("x", "f32")])  # fmt: skip
    w.generic(n, "ppp", [("scores", n), ("most", "h, i, 0")], [("powers", n)],
              ["%d = arith.subf %i0, %i1 : f32", "%e = math.exp %d : f32"],
              [("e", "f32")])  # fmt: skip
    w.fill("zero", "sums")
    w.generic("h, i, k, j", "pppr", [("powers", n)], [("sums", m)],
              ["%x = arith.addf %i0, %o0 : f32"], [("x", "f32")])  # fmt: skip
    w.generic(n, "ppp", [("powers", n), ("sums", "h, i, 0")], [("shares", n)],
              ["%p = arith.divf %i0, %i1 : f32"], [("p", "f32")])  # fmt: skip
    w.fill("zero", "y")
    w.generic("h, i, d, j", "pppr", [("shares", n), ("v", "h, j, d")], [("y", "h, i, d")],
              MULTIPLY_ADD, [("s", "f32")])  # fmt: skip

    def expected(q, k, v, y):
        e = q @ k.transpose(0, 2, 1)
        e = np.exp(e - e.max(-1, keepdims=True))
        return [e / e.sum(-1, keepdims=True) @ v]

    shapes = [(heads, n, depth) for n in (queries, keys, keys, queries)]
    return Kernel(w.text(), shapes, expected)


def conv(n, oc, ic, oh, ow, k=3, stride=1, dilation=1, pad=0):
    """relu(conv(x) + bias), the input padded by fills of the border and a copy."""
    ih = (oh - 1) * stride + (k - 1) * dilation + 1 - 2 * pad
    iw = (ow - 1) * stride + (k - 1) * dilation + 1 - 2 * pad
    ph, pw = ih + 2 * pad, iw + 2 * pad
    w = Writer(
        ("x", memref(n, ic, ih, iw)), ("w", memref(oc, ic, k, k)),
        ("b", memref(oc)), ("y", memref(n, oc, oh, ow)),
    )  # fmt: skip
    w.constant("zero", "0.0")
    source = "x"
    if pad:
        source = "padded"
        w.alloc(source, memref(n, ic, ph, pw))
        strides = f"strided<[{ic * ph * pw}, {ph * pw}, {pw}, 1]"
        windows = [
            (0, 0, pad, pw), (ph - pad, 0, pad, pw), (pad, 0, ih, pad), (pad, pw - pad, ih, pad),
            (pad, pad, ih, iw),
        ]  # fmt: skip
        for i, (h0, w0, h, ww) in enumerate(windows):
            offset = h0 * pw + w0
            type = f"memref<{n}x{ic}x{h}x{ww}xf32, {strides}{f', offset: {offset}' if offset else ''}>>"
            w.types[f"v{i}"] = type
            w.line(
                f"%v{i} = memref.subview %padded[0, 0, {h0}, {w0}] [{n}, {ic}, {h}, {ww}] "
                f"[1, 1, 1, 1] : {w.types['padded']} to {type}"
            )
            if i < 4:
                w.fill("zero", f"v{i}")
            else:
                w.line(f"linalg.copy ins(%x : {w.types['x']}) outs(%v{i} : {type})")
    w.alloc("t", memref(n, oc, oh, ow))
    w.fill("zero", "t")
    w.generic(
        "n, o, h, w, c, i, j", "pppprrr",
        [(source, f"n, c, h * {stride} + i * {dilation}, w * {stride} + j * {dilation}"),
         ("w", "o, c, i, j")],
        [("t", "n, o, h, w")], MULTIPLY_ADD, [("s", "f32")],
    )  # fmt: skip
    w.generic(
        "n, o, h, w", "pppp", [("t", "n, o, h, w"), ("b", "o")], [("y", "n, o, h, w")],
        ["%a = arith.addf %i0, %i1 : f32", "%r = arith.maximumf %a, %zero : f32"], [("r", "f32")],
    )  # fmt: skip

    def expected(x, weight, bias, y):
        x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
        out = np.zeros((n, oc, oh, ow), np.float32)
        for i in range(k):
            for j in range(k):
                h0, w0 = i * dilation, j * dilation
                part = x[:, :, h0 : h0 + (oh - 1) * stride + 1 : stride]
                part = part[..., w0 : w0 + (ow - 1) * stride + 1 : stride]
                out += np.einsum("nchw,oc->nohw", part, weight[:, :, i, j])
        return [np.maximum(out + bias[None, :, None, None], 0)]

    return Kernel(w.text(), [(n, ic, ih, iw), (oc, ic, k, k), (oc,), (n, oc, oh, ow)], expected)


def depthwise(c, oh, ow, k=3, stride=1):
    """A convolution of each channel by itself."""
    ih, iw = (oh - 1) * stride + k, (ow - 1) * stride + k
    w = Writer(("x", memref(1, c, ih, iw)), ("w", memref(c, k, k)), ("y", memref(1, c, oh, ow)))
    w.constant("zero", "0.0")
    w.fill("zero", "y")
    w.generic(
        "n, c, h, w, i, j", "pppprr",
        [("x", f"n, c, h * {stride} + i, w * {stride} + j"), ("w", "c, i, j")],
        [("y", "n, c, h, w")], MULTIPLY_ADD, [("s", "f32")],
    )  # fmt: skip

    def expected(x, weight, y):
        out = np.zeros_like(y)
        for i in range(k):
            for j in range(k):
                part = x[:, :, i : i + (oh - 1) * stride + 1 : stride]
                part = part[..., j : j + (ow - 1) * stride + 1 : stride]
                out += part * weight[:, i, j][:, None, None]
        return [out]

    return Kernel(w.text(), [(1, c, ih, iw), (c, k, k), (1, c, oh, ow)], expected)


def softmax(shape, axis, dynamic=False):
    """exp(x - max) / sum along an axis, in five stages."""
    rank = len(shape)
    names = [f"d{i}" for i in range(rank)]
    full, rows = ", ".join(names), ", ".join(n for i, n in enumerate(names) if i != axis)
    kinds = "".join("r" if i == axis else "p" for i in range(rank))
    type = memref(*([None] * rank if dynamic else shape))
    row_shape = [s for i, s in enumerate(shape) if i != axis]
    row_type = memref(*([None] * len(row_shape) if dynamic else row_shape))
    w = Writer(("x", type), ("y", type))
    sizes = [""] * rank
    if dynamic:
        for i in range(rank):
            w.line(f"%c{i} = arith.constant {i} : index\n%n{i} = memref.dim %x, %c{i} : {type}")
            sizes[i] = f"%n{i}"
    all_sizes = ", ".join(s for s in sizes if s)
    row_sizes = ", ".join(s for i, s in enumerate(sizes) if s and i != axis)
    w.constant("low", "0xFF800000")
    w.constant("zero", "0.0")
    w.alloc("m", row_type, row_sizes)
    w.alloc("s", row_type, row_sizes)
    w.alloc("t", type, all_sizes)
    w.fill("low", "m")
    w.generic(full, kinds, [("x", full)], [("m", rows)],
              ["%v = arith.maximumf %i0, %o0 : f32"], [("v", "f32")])  # fmt: skip
    w.generic(full, "p" * rank, [("x", full), ("m", rows)], [("t", full)],
              ["%d = arith.subf %i0, %i1 : f32", "%e = math.exp %d : f32"],
              [("e", "f32")])  # fmt: skip
    w.fill("zero", "s")
    w.generic(full, kinds, [("t", full)], [("s", rows)],
              ["%v = arith.addf %i0, %o0 : f32"], [("v", "f32")])  # fmt: skip
    w.generic(full, "p" * rank, [("t", full), ("s", rows)], [("y", full)],
              ["%q = arith.divf %i0, %i1 : f32"], [("q", "f32")])  # fmt: skip

    def expected(x, y):
        e = np.exp(x - x.max(axis, keepdims=True))
        return [e / e.sum(axis, keepdims=True)]

    return Kernel(w.text(), [shape, shape], expected)


def softmax_kept(rows, columns):
    """exp(x - max) / sum, the reduced dimension kept with one element: as graphs have it."""
    type, row_type = memref(1, rows, columns), memref(1, rows, 1)
    w = Writer(("x", type), ("y", type))
    w.constant("low", "0xFF800000")
    w.constant("zero", "0.0")
    w.constant("one", "1.0")
    for name in ("m", "s", "r"):
        w.alloc(name, row_type)
    for name in ("t", "u"):
        w.alloc(name, type)
    w.fill("low", "m")
    w.generic("b, i, k, j", "pppr", [("x", "b, i, j")], [("m", "b, i, k")],
              ["%v = arith.maximumf %i0, %o0 : f32"], [("v", "f32")])  # fmt: skip
    w.generic("b, i, j", "ppp", [("x", "b, i, j"), ("m", "b, i, 0")], [("t", "b, i, j")],
              ["%d = arith.subf %i0, %i1 : f32"], [("d", "f32")])  # fmt: skip
    w.generic("b, i, j", "ppp", [("t", "b, i, j")], [("u", "b, i, j")],
              ["%e = math.exp %i0 : f32"], [("e", "f32")])  # fmt: skip
    w.fill("zero", "s")
    w.generic("b, i, k, j", "pppr", [("u", "b, i, j")], [("s", "b, i, k")],
              ["%v = arith.addf %i0, %o0 : f32"], [("v", "f32")])  # fmt: skip
    w.generic("b, i, j", "ppp", [("s", "b, i, j")], [("r", "b, i, j")],
              ["%q = arith.divf %one, %i0 : f32"], [("q", "f32")])  # fmt: skip
    w.generic("b, i, j", "ppp", [("u", "b, i, j"), ("r", "b, i, 0")], [("y", "b, i, j")],
              ["%q = arith.mulf %i0, %i1 : f32"], [("q", "f32")])  # fmt: skip

    def expected(x, y):
        e = np.exp(x - x.max(-1, keepdims=True))
        return [e / e.sum(-1, keepdims=True)]

    shape = (1, rows, columns)
    return Kernel(w.text(), [shape, shape], expected)


def layer_norm(rows, columns):
    """Mean, centred values, variance, scale and bias, in eight stages."""
    full, row, column = "r, c", "r", "c"
    x, r = memref(rows, columns), memref(rows)
    w = Writer(("x", x), ("g", memref(columns)), ("b", memref(columns)), ("y", x))
    w.constant("zero", "0.0")
    w.constant("inv", repr(float(np.float32(1 / columns))))
    w.constant("eps", "1.0e-5")
    for name, type in (("s1", r), ("mean", r), ("d", x), ("s2", r), ("rs", r)):
        w.alloc(name, type)
    w.fill("zero", "s1")
    w.generic(full, "pr", [("x", full)], [("s1", row)],
              ["%v = arith.addf %i0, %o0 : f32"], [("v", "f32")])  # fmt: skip
    w.generic(row, "p", [("s1", row)], [("mean", row)],
              ["%v = arith.mulf %i0, %inv : f32"], [("v", "f32")])  # fmt: skip
    w.generic(full, "pp", [("x", full), ("mean", row)], [("d", full)],
              ["%v = arith.subf %i0, %i1 : f32"], [("v", "f32")])  # fmt: skip
    w.fill("zero", "s2")
    w.generic(full, "pr", [("d", full)], [("s2", row)],
              ["%q = arith.mulf %i0, %i0 : f32", "%v = arith.addf %o0, %q : f32"],
              [("v", "f32")])  # fmt: skip
    w.generic(row, "p", [("s2", row)], [("rs", row)],
              ["%v = arith.mulf %i0, %inv : f32", "%e = arith.addf %v, %eps : f32",
               "%q = math.rsqrt %e : f32"], [("q", "f32")])  # fmt: skip
    w.generic(full, "pp", [("d", full), ("rs", row), ("g", column), ("b", column)], [("y", full)],
              ["%v = arith.mulf %i0, %i1 : f32", "%u = arith.mulf %v, %i2 : f32",
               "%t = arith.addf %u, %i3 : f32"], [("t", "f32")])  # fmt: skip

    def expected(x, g, b, y):
        d = x - x.mean(1, keepdims=True)
        return [d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * g + b]

    return Kernel(w.text(), [(rows, columns), (columns,), (columns,), (rows, columns)], expected)


def scale_add(shape):
    """x * s + w with a scale for each element of dimension 1, in two stages."""
    names = ", ".join(f"d{i}" for i in range(len(shape)))
    type, kinds = memref(*shape), "p" * len(shape)
    w = Writer(("x", type), ("s", memref(shape[1])), ("w", type), ("y", type))
    w.alloc("t", type)
    w.generic(names, kinds, [("x", names), ("s", "d1")], [("t", names)],
              ["%v = arith.mulf %i0, %i1 : f32"], [("v", "f32")])  # fmt: skip
    w.generic(names, kinds, [("t", names), ("w", names)], [("y", names)],
              ["%v = arith.addf %i0, %i1 : f32"], [("v", "f32")])  # fmt: skip
    tail = (1,) * (len(shape) - 2)
    return Kernel(
        w.text(), [shape, (shape[1],), shape, shape],
        lambda x, s, w, y: [x * s.reshape(1, -1, *tail) + w],
    )  # fmt: skip


def transpose(shape, order):
    rank = len(shape)
    names = [f"d{i}" for i in range(rank)]
    source = ", ".join(names[order.index(i)] for i in range(rank))
    out = tuple(shape[p] for p in order)
    w = Writer(("x", memref(*shape)), ("y", memref(*out)))
    w.generic(", ".join(names), "p" * rank, [("x", source)], [("y", ", ".join(names))],
              [], [("i0", "f32")])  # fmt: skip
    return Kernel(w.text(), [shape, out], lambda x, y: [x.transpose(order)])


def reduce(shape, axes):
    rank = len(shape)
    names = [f"d{i}" for i in range(rank)]
    rest = ", ".join(n for i, n in enumerate(names) if i not in axes)
    out = tuple(s for i, s in enumerate(shape) if i not in axes)
    w = Writer(("x", memref(*shape)), ("y", memref(*out)))
    w.constant("zero", "0.0")
    w.fill("zero", "y")
    w.generic(", ".join(names), "".join("r" if i in axes else "p" for i in range(rank)),
              [("x", ", ".join(names))], [("y", rest)],
              ["%v = arith.addf %i0, %o0 : f32"], [("v", "f32")])  # fmt: skip
    return Kernel(w.text(), [shape, out], lambda x, y: [x.sum(tuple(axes))])


def argmax(shape, axis):
    """Two results of one reduction that depends on its order, one of i64."""
    rank = len(shape)
    names = [f"d{i}" for i in range(rank)]
    rest = ", ".join(n for i, n in enumerate(names) if i != axis)
    out = tuple(s for i, s in enumerate(shape) if i != axis)
    w = Writer(("x", memref(*shape)), ("y", memref(*out, type="i64")))
    w.constant("low", "0xFF800000")
    w.constant("none", "0", "i64")
    w.alloc("m", memref(*out))
    w.fill("low", "m")
    w.fill("none", "y")
    w.generic(", ".join(names), "".join("r" if i == axis else "p" for i in range(rank)),
              [("x", ", ".join(names))], [("m", rest), ("y", rest)],
              ["%g = arith.cmpf ogt, %i0, %o0 : f32", f"%at = linalg.index {axis} : index",
               "%n = arith.index_cast %at : index to i64",
               "%a = arith.select %g, %i0, %o0 : f32", "%b = arith.select %g, %n, %o1 : i64"],
              [("a", "f32"), ("b", "i64")])  # fmt: skip
    return Kernel(
        w.text(), [shape, out], lambda x, y: [x.argmax(axis)], dtypes=[np.float32, np.int64]
    )


def upsample(h, w_, factor):
    """Nearest neighbours: an index that is not linear."""
    w = Writer(("x", memref(h, w_)), ("y", memref(h * factor, w_ * factor)))
    w.generic("i, j", "pp", [("x", f"i floordiv {factor}, j floordiv {factor}")], [("y", "i, j")],
              [], [("i0", "f32")])  # fmt: skip
    return Kernel(
        w.text(), [(h, w_), (h * factor, w_ * factor)],
        lambda x, y: [x.repeat(factor, 0).repeat(factor, 1)],
    )  # fmt: skip


def compare_and_select(n):
    """Elements of one byte and of four in one kernel; a broadcast scalar operand."""
    w = Writer(
        ("c", memref(n, type="i1")), ("x", memref(n)), ("y", memref(n)), ("z", memref(n, type="i1"))
    )
    w.constant("one", "1.0")
    w.generic("i", "p", [("c", "i"), ("x", "i")], [("y", "i"), ("z", "i")],
              ["%a = arith.addf %i1, %one : f32", "%s = arith.select %i0, %a, %i1 : f32",
               "%g = arith.cmpf olt, %s, %one : f32"], [("s", "f32"), ("g", "i1")])  # fmt: skip

    def expected(c, x, y, z):
        s = np.where(c, x + np.float32(1), x)
        return [s, s < 1]

    return Kernel(w.text(), [(n,)] * 4, expected, 2, [np.bool_, np.float32, np.float32, np.bool_])


def gather_rows(rows, columns, n):
    """A load in the body whose place depends on data."""
    w = Writer(
        ("x", memref(rows, columns)), ("at", memref(n, type="i64")), ("y", memref(n, columns))
    )
    w.generic("i, j", "pp", [("at", "i")], [("y", "i, j")],
              ["%r = arith.index_cast %i0 : i64 to index", "%j = linalg.index 1 : index",
               f"%v = memref.load %x[%r, %j] : {memref(rows, columns)}"], [("v", "f32")])  # fmt: skip
    return Kernel(
        w.text(), [(rows, columns), (n,), (n, columns)], lambda x, at, y: [x[at]],
        dtypes=[np.float32, np.int64, np.float32],
    )  # fmt: skip


KERNELS = {
    "matmul": lambda: matmul(7, 70, 5),
    "matmul_even": lambda: matmul(12, 64, 8),
    "matmul_transposed": lambda: matmul(5, 6, 40, True),
    "matmul_one": lambda: matmul(1, 1, 1),
    "matmul_empty_reduction": lambda: matmul(3, 20, 0),
    "matmul_empty": lambda: matmul(0, 20, 4),
    "matmul_dynamic": lambda: matmul(5, 37, 6, False, True),
    "matmul_transposed_dynamic": lambda: matmul(3, 5, 41, True, True),
    "matmul_transposed_tall": lambda: matmul(33, 35, 20, True),
    "matmul_transposed_wide": lambda: matmul(33, 130, 32, True),
    "matmul_of_transpose": lambda: matmul_of_transpose(5, 9, 40),
    "matmul_of_transpose_tall": lambda: matmul_of_transpose(35, 33, 20),
    "matmul_colliding": lambda: matmul(200, 1024, 3),
    "matvec_streamed": lambda: matmul(2, 1030, 300),
    "matvec": lambda: matmul(1, 50, 37),
    "matvec_transposed": lambda: matmul(1, 9, 37, True),
    "conv": lambda: conv(1, 5, 2, 3, 14),
    "conv_padded": lambda: conv(1, 3, 2, 3, 20, pad=1),
    "conv_stride": lambda: conv(2, 3, 2, 3, 9, 3, 2),
    "conv_dilation": lambda: conv(1, 3, 2, 2, 20, 3, 1, 2),
    "conv_pointwise": lambda: conv(1, 9, 5, 6, 6, 1),
    "conv_small": lambda: conv(1, 5, 2, 7, 7),
    "depthwise": lambda: depthwise(2, 5, 19),
    "depthwise_stride": lambda: depthwise(3, 4, 8, 3, 2),
    "softmax": lambda: softmax((5, 37), 1),
    "softmax_3d": lambda: softmax((2, 2, 100), 2),
    "softmax_channels": lambda: softmax((2, 4, 3, 13), 1),
    "softmax_one": lambda: softmax((4, 1), 1),
    "softmax_vector": lambda: softmax((50,), 0),
    "softmax_kept": lambda: softmax_kept(5, 70),
    "softmax_kept_one_row": lambda: softmax_kept(1, 50),
    "softmax_dynamic": lambda: softmax((3, 37), 1, True),
    "softmax_channels_dynamic": lambda: softmax((2, 5, 21), 1, True),
    "attention": lambda: attention(2, 5, 21, 6),
    "attention_one_query": lambda: attention(2, 1, 37, 16),
    "attention_blocks": lambda: attention(1, 100, 1027, 16),
    "layer_norm": lambda: layer_norm(3, 70),
    "layer_norm_short": lambda: layer_norm(3, 16),
    "scale_add": lambda: scale_add((2, 3, 5, 7)),
    "scale_add_long": lambda: scale_add((2, 3, 40)),
    "transpose": lambda: transpose((5, 20), (1, 0)),
    "transpose_heads": lambda: transpose((2, 5, 3, 7), (0, 2, 1, 3)),
    "transpose_channels": lambda: transpose((2, 5, 6, 7), (0, 2, 3, 1)),
    "reduce_rows": lambda: reduce((6, 50), (1,)),
    "reduce_columns": lambda: reduce((6, 50), (0,)),
    "reduce_all": lambda: reduce((6, 50), (0, 1)),
    "reduce_image": lambda: reduce((2, 5, 7, 7), (2, 3)),
    "reduce_middle": lambda: reduce((4, 5, 6), (1,)),
    "argmax": lambda: argmax((5, 20), 1),
    "argmax_columns": lambda: argmax((5, 20), 0),
    "upsample": lambda: upsample(3, 7, 2),
    "compare_and_select": lambda: compare_and_select(37),
    "gather_rows": lambda: gather_rows(5, 19, 4),
}
