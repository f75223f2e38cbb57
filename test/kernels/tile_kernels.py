"""Kernels in tile form, with what NumPy says they compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MAPS = """
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(i, j) -> (i, 0)>
#swap = affine_map<(i, j) -> (j, i)>
"""

PRODUCT = (
    "{indexing_maps = [#mk, #kn, #mn], "
    'iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}'
)


@dataclass
class TileKernel:
    """A function @f over buffers, and the arguments after it ran on random ones."""

    text: str
    arguments: Callable[[np.random.Generator], list[np.ndarray]]
    expected: Callable[..., None]
    """Writes into copies of the arguments."""
    tolerance: float = 1e-4
    native: bool = True


def function(arguments: str, body: str, attributes: str = "attributes {nn.kernel} ") -> str:
    """The text of @f, with constants for all small numbers that it names."""
    import re

    numbers = sorted({int(n) for n in re.findall(r"%c(\d+)\b", body)})
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in numbers)
    return (
        f"{MAPS}\nfunc.func @f({arguments}) {attributes}{{\n"
        f"%pad = ub.poison : f32\n{constants}\n{body}\nreturn\n}}"
    )


def floats(*shapes, dtype=np.float32):
    def make(rng):
        return [rng.standard_normal(s).astype(dtype) for s in shapes]

    return make


def product(m=6, n=64, k=32, tile_n=None, rows=12, columns=None, unroll=1):
    """relu(a @ b + bias) in tiles; what tiles leave of the columns is a tile of its own."""
    tile_n = tile_n or n
    columns = columns or tile_n

    def tile(at, width):
        return f"""
  %zero{at} = arith.constant dense<0.0> : vector<{m}x{width}xf32>
  %j{at} = arith.constant {at} : index
  %t{at} = scf.for %k = %c0 to %c{k} step %c{unroll} iter_args(%acc = %zero{at}) -> (vector<{m}x{width}xf32>) {{
    %a = vector.transfer_read %A[%i, %k], %pad {{in_bounds = [true, true]}} : memref<{rows}x{k}xf32>, vector<{m}x{unroll}xf32>
    %b = vector.transfer_read %B[%k, %j{at}], %pad {{in_bounds = [true, true]}} : memref<{k}x{columns}xf32>, vector<{unroll}x{width}xf32>
    %d = vector.contract {PRODUCT} %a, %b, %acc : vector<{m}x{unroll}xf32>, vector<{unroll}x{width}xf32> into vector<{m}x{width}xf32>
    scf.yield %d : vector<{m}x{width}xf32>
  }}
  %bias{at} = vector.transfer_read %bias[%j{at}], %pad {{in_bounds = [true]}} : memref<{columns}xf32>, vector<{width}xf32>
  %spread{at} = vector.broadcast %bias{at} : vector<{width}xf32> to vector<{m}x{width}xf32>
  %s{at} = arith.addf %t{at}, %spread{at} : vector<{m}x{width}xf32>
  %r{at} = arith.maximumf %s{at}, %zero{at} : vector<{m}x{width}xf32>
  vector.transfer_write %r{at}, %C[%i, %j{at}] {{in_bounds = [true, true]}} : vector<{m}x{width}xf32>, memref<{rows}x{columns}xf32>"""

    tiles = [tile(at, min(tile_n, columns - at)) for at in range(0, columns, tile_n)]
    body = (
        f"scf.parallel (%i) = (%c0) to (%c{rows}) step (%c{m}) {{\n{''.join(tiles)}\nscf.reduce\n}}"
    )
    arguments = (
        f"%A: memref<{rows}x{k}xf32>, %B: memref<{k}x{columns}xf32>, "
        f"%bias: memref<{columns}xf32>, %C: memref<{rows}x{columns}xf32>"
    )

    def expected(a, b, bias, c):
        c[:] = np.maximum(a @ b + bias, 0)

    shapes = (rows, k), (k, columns), (columns,), (rows, columns)
    return TileKernel(function(arguments, body), floats(*shapes), expected)


def blocked_convolution(ow=12, ic=16, oc=32, k=3, tile=6, stride=1):
    """relu of a 3x3 convolution, channels in blocks: x[c, h, w], w[c, i, j, o], y[w, o]."""
    iw = (ow - 1) * stride + k
    if stride == 1:
        view, source = "", "%x"
        windows = f"memref<{ic}x{k}x{iw}xf32>"
        at, order = "[%c, %h, %w2]", "affine_map<(c, h, w) -> (w, 0)>"
        index = "%w2 = arith.addi %w, %j : index"
    else:
        windows = f"memref<{ic}x{k}x{ow}x{k}xf32, strided<[{k * iw}, {iw}, {stride}, 1]>>"
        view = (
            f"%v = memref.reinterpret_cast %x to offset: [0], sizes: [{ic}, {k}, {ow}, {k}], "
            f"strides: [{k * iw}, {iw}, {stride}, 1] : memref<{ic}x{k}x{iw}xf32> to {windows}"
        )
        source, at, order = "%v", "[%c, %h, %w, %j]", "affine_map<(c, h, w, j) -> (w, 0)>"
        index = ""
    body = f"""
{view}
%zero = arith.constant dense<0.0> : vector<{tile}x{oc}xf32>
scf.for %w = %c0 to %c{ow} step %c{tile} {{
  %t0 = scf.for %c = %c0 to %c{ic} step %c1 iter_args(%a0 = %zero) -> (vector<{tile}x{oc}xf32>) {{
    %t1 = scf.for %h = %c0 to %c{k} step %c1 iter_args(%a1 = %a0) -> (vector<{tile}x{oc}xf32>) {{
      %t2 = scf.for %j = %c0 to %c{k} step %c1 iter_args(%a2 = %a1) -> (vector<{tile}x{oc}xf32>) {{
        {index}
        %a = vector.transfer_read {source}{at}, %pad {{in_bounds = [true, true], permutation_map = {order}}} : {windows}, vector<{tile}x1xf32>
        %b = vector.transfer_read %weights[%c, %h, %j, %c0], %pad {{in_bounds = [true, true]}} : memref<{ic}x{k}x{k}x{oc}xf32>, vector<1x{oc}xf32>
        %d = vector.contract {PRODUCT} %a, %b, %a2 : vector<{tile}x1xf32>, vector<1x{oc}xf32> into vector<{tile}x{oc}xf32>
        scf.yield %d : vector<{tile}x{oc}xf32>
      }}
      scf.yield %t2 : vector<{tile}x{oc}xf32>
    }}
    scf.yield %t1 : vector<{tile}x{oc}xf32>
  }}
  %r = arith.maximumf %t0, %zero : vector<{tile}x{oc}xf32>
  vector.transfer_write %r, %y[%w, %c0] {{in_bounds = [true, true]}} : vector<{tile}x{oc}xf32>, memref<{ow}x{oc}xf32>
}}"""
    arguments = (
        f"%x: memref<{ic}x{k}x{iw}xf32>, %weights: memref<{ic}x{k}x{k}x{oc}xf32>, "
        f"%y: memref<{ow}x{oc}xf32>"
    )

    def expected(x, weights, y):
        total = np.zeros_like(y)
        for j in range(k):
            part = x[:, :, j : j + (ow - 1) * stride + 1 : stride]
            total += np.einsum("chw,cho->wo", part, weights[:, :, j])
        y[:] = np.maximum(total, 0)

    shapes = (ic, k, iw), (ic, k, k, oc), (ow, oc)
    return TileKernel(function(arguments, body), floats(*shapes), expected)


def depthwise(columns=32, rows=8, k=3, copies=2):
    """A 3x3 convolution of one channel, written out: windows that overlap share their loads."""
    iw, ih = columns + k - 1, rows + k - 1
    lines = [f"%t0 = arith.constant dense<0.0> : vector<{copies}x{columns}xf32>"]
    number = 0
    for i in range(k):
        for j in range(k):
            lines.append(f"""
  %h{number} = arith.addi %h, %c{i} : index
  %x{number} = vector.transfer_read %x[%h{number}, %c{j}], %pad {{in_bounds = [true, true]}} : memref<{ih}x{iw}xf32>, vector<{copies}x{columns}xf32>
  %w{number} = memref.load %w[%c{i}, %c{j}] : memref<{k}x{k}xf32>
  %s{number} = vector.broadcast %w{number} : f32 to vector<{copies}x{columns}xf32>
  %p{number} = arith.mulf %x{number}, %s{number} : vector<{copies}x{columns}xf32>
  %t{number + 1} = arith.addf %t{number}, %p{number} : vector<{copies}x{columns}xf32>""")
            number += 1
    body = "\n".join(
        [
            f"scf.for %h = %c0 to %c{rows} step %c{copies} {{",
            *lines,
            f"vector.transfer_write %t{number}, %y[%h, %c0] {{in_bounds = [true, true]}} : "
            f"vector<{copies}x{columns}xf32>, memref<{rows}x{columns}xf32>\n}}",
        ]
    )
    arguments = (
        f"%x: memref<{ih}x{iw}xf32>, %w: memref<{k}x{k}xf32>, %y: memref<{rows}x{columns}xf32>"
    )

    def expected(x, w, y):
        y[:] = sum(x[i : i + rows, j : j + columns] * w[i, j] for i in range(k) for j in range(k))

    return TileKernel(
        function(arguments, body), floats((ih, iw), (k, k), (rows, columns)), expected
    )


def strided_window(columns=37, stride=2, taps=3):
    """Windows that are `stride` elements apart, through a view whose rows overlap."""
    iw = (columns - 1) * stride + taps
    view = f"memref<{taps}x{columns}xf32, strided<[1, {stride}]>>"
    body = f"""
%v = memref.reinterpret_cast %x to offset: [0], sizes: [{taps}, {columns}], strides: [1, {stride}] : memref<{iw}xf32> to {view}
%a = vector.transfer_read %v[%c0, %c0], %pad {{in_bounds = [true, true]}} : {view}, vector<{taps}x{columns}xf32>
%zero = arith.constant dense<0.0> : vector<{columns}xf32>
%s = vector.multi_reduction <add>, %a, %zero [0] : vector<{taps}x{columns}xf32> to vector<{columns}xf32>
vector.transfer_write %s, %y[%c0] {{in_bounds = [true]}} : vector<{columns}xf32>, memref<{columns}xf32>"""

    def expected(x, y):
        y[:] = sum(x[i : i + (columns - 1) * stride + 1 : stride] for i in range(taps))

    arguments = f"%x: memref<{iw}xf32>, %y: memref<{columns}xf32>"
    return TileKernel(function(arguments, body), floats((iw,), (columns,)), expected)


def dot(rows=4, n=100, width=16, copies=2):
    """Row sums of products: partial sums in lanes and copies, the remainder masked by a select."""
    step, shape = width * copies, f"{copies}x{width}"
    whole = n - n % step
    type = f"vector<{shape}xf32>"
    view = f"memref<{rows}x{n // width + 1}x{width}xf32>"
    padded = (n // width + 1) * width
    body = f"""
%zero = arith.constant dense<0.0> : {type}
%none = arith.constant dense<0.0> : vector<{width}xf32>
%start = arith.constant 0.0 : f32
scf.for %i = %c0 to %c{rows} step %c1 {{
  %t = scf.for %k = %c0 to %c{whole // width} step %c{copies} iter_args(%acc = %zero) -> ({type}) {{
    %a = vector.transfer_read %x[%i, %k, %c0], %pad {{in_bounds = [true, true]}} : {view}, {type}
    %b = vector.transfer_read %w[%i, %k, %c0], %pad {{in_bounds = [true, true]}} : {view}, {type}
    %p = arith.mulf %a, %b : {type}
    %s = arith.addf %acc, %p : {type}
    scf.yield %s : {type}
  }}
  %one = vector.multi_reduction <add>, %t, %none [0] : {type} to vector<{width}xf32>
  %left = scf.for %k = %c{whole} to %c{n} step %c{width} iter_args(%acc = %one) -> (vector<{width}xf32>) {{
    %count = arith.subi %c{n}, %k : index
    %mask = vector.create_mask %count : vector<{width}xi1>
    %block = arith.divui %k, %c{width} : index
    %a = vector.transfer_read %x[%i, %block, %c0], %pad, %mask {{in_bounds = [true]}} : {view}, vector<{width}xf32>
    %b = vector.transfer_read %w[%i, %block, %c0], %pad, %mask {{in_bounds = [true]}} : {view}, vector<{width}xf32>
    %p = arith.mulf %a, %b : vector<{width}xf32>
    %s = arith.addf %acc, %p : vector<{width}xf32>
    %kept = arith.select %mask, %s, %acc : vector<{width}xi1>, vector<{width}xf32>
    scf.yield %kept : vector<{width}xf32>
  }}
  %sum = vector.multi_reduction <add>, %left, %start [0] : vector<{width}xf32> to f32
  memref.store %sum, %y[%i] : memref<{rows}xf32>
}}"""

    def expected(x, w, y):
        flat = (x * w).reshape(rows, -1)[:, :n]
        y[:] = flat.sum(-1)

    shape3 = (rows, padded // width, width)
    arguments = f"%x: {view}, %w: {view}, %y: memref<{rows}xf32>"
    return TileKernel(function(arguments, body), floats(shape3, shape3, (rows,)), expected)


def transposed(rows=16, columns=48, copies=8):
    """A transposed copy: lanes lie a row apart, copies next to each other."""
    body = f"""
scf.for %j = %c0 to %c{columns} step %c{copies} {{
  %a = vector.transfer_read %x[%c0, %j], %pad {{in_bounds = [true, true], permutation_map = #swap}} : memref<{rows}x{columns}xf32>, vector<{copies}x{rows}xf32>
  vector.transfer_write %a, %y[%j, %c0] {{in_bounds = [true, true]}} : vector<{copies}x{rows}xf32>, memref<{columns}x{rows}xf32>
}}"""

    def expected(x, y):
        y[:] = x.T

    arguments = f"%x: memref<{rows}x{columns}xf32>, %y: memref<{columns}x{rows}xf32>"
    return TileKernel(function(arguments, body), floats((rows, columns), (columns, rows)), expected)


def transposed_in_registers(rows=32, columns=16):
    """A transposed copy by vector.transpose."""
    body = f"""
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<{rows}x{columns}xf32>, vector<{rows}x{columns}xf32>
%b = vector.transpose %a, [1, 0] : vector<{rows}x{columns}xf32> to vector<{columns}x{rows}xf32>
vector.transfer_write %b, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{columns}x{rows}xf32>, memref<{columns}x{rows}xf32>"""

    def expected(x, y):
        y[:] = x.T

    arguments = f"%x: memref<{rows}x{columns}xf32>, %y: memref<{columns}x{rows}xf32>"
    return TileKernel(function(arguments, body), floats((rows, columns), (columns, rows)), expected)


def interleaved(columns=40, factor=2):
    """Rows written in turn: y[j * factor + i] = x[i, j] + 1."""
    view = f"memref<{factor}x{columns}xf32, strided<[1, {factor}]>>"
    body = f"""
%v = memref.reinterpret_cast %y to offset: [0], sizes: [{factor}, {columns}], strides: [1, {factor}] : memref<{columns * factor}xf32> to {view}
%one = arith.constant dense<1.0> : vector<{factor}x{columns}xf32>
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<{factor}x{columns}xf32>, vector<{factor}x{columns}xf32>
%b = arith.addf %a, %one : vector<{factor}x{columns}xf32>
vector.transfer_write %b, %v[%c0, %c0] {{in_bounds = [true, true]}} : vector<{factor}x{columns}xf32>, {view}"""

    def expected(x, y):
        y[:] = (x + 1).T.reshape(-1)

    arguments = f"%x: memref<{factor}x{columns}xf32>, %y: memref<{columns * factor}xf32>"
    return TileKernel(
        function(arguments, body), floats((factor, columns), (columns * factor,)), expected
    )


def dynamic(rows=5, columns=37, width=16):
    """Elementwise over extents known at run time, the remainder of each row under a mask."""
    type = f"vector<2x{width}xf32>"
    body = f"""
%m = memref.dim %x, %c0 : memref<?x?xf32>
%n = memref.dim %x, %c1 : memref<?x?xf32>
scf.parallel (%i) = (%c0) to (%m) step (%c2) {{
  %rows = arith.subi %m, %i : index
  scf.for %j = %c0 to %n step %c{width} {{
    %left = arith.subi %n, %j : index
    %mask = vector.create_mask %rows, %left : vector<2x{width}xi1>
    %a = vector.transfer_read %x[%i, %j], %pad, %mask {{in_bounds = [true, true]}} : memref<?x?xf32>, {type}
    %rowmask = vector.create_mask %rows : vector<2xi1>
    %f = vector.transfer_read %b[%i], %pad, %rowmask {{in_bounds = [true, true], permutation_map = affine_map<(i) -> (i, 0)>}} : memref<?xf32>, vector<2x1xf32>
    %s = vector.broadcast %f : vector<2x1xf32> to {type}
    %t = arith.mulf %a, %s : {type}
    vector.transfer_write %t, %y[%i, %j], %mask {{in_bounds = [true, true]}} : {type}, memref<?x?xf32>
  }}
  scf.reduce
}}"""

    def expected(x, b, y):
        y[:] = x * b[:, None]

    arguments = "%x: memref<?x?xf32>, %b: memref<?xf32>, %y: memref<?x?xf32>"
    shapes = (rows, columns), (rows,), (rows, columns)
    return TileKernel(function(arguments, body), floats(*shapes), expected)


def mixed_types(rows=3, columns=37):
    """Bytes scaled to floats, in as many lanes as there are floats."""
    body = f"""
%zero = arith.constant 0 : i8
%a = vector.transfer_read %x[%c0, %c0], %zero {{in_bounds = [true, true]}} : memref<{rows}x{columns}xi8>, vector<{rows}x{columns}xi8>
%b = arith.sitofp %a : vector<{rows}x{columns}xi8> to vector<{rows}x{columns}xf32>
%s = vector.transfer_read %scale[%c0], %pad {{in_bounds = [true, true], permutation_map = affine_map<(i) -> (i, 0)>}} : memref<{rows}xf32>, vector<{rows}x1xf32>
%t = vector.broadcast %s : vector<{rows}x1xf32> to vector<{rows}x{columns}xf32>
%p = arith.mulf %b, %t : vector<{rows}x{columns}xf32>
vector.transfer_write %p, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{rows}x{columns}xf32>, memref<{rows}x{columns}xf32>"""

    def arguments(rng):
        return [
            rng.integers(-128, 128, (rows, columns)).astype(np.int8),
            rng.standard_normal(rows).astype(np.float32),
            np.zeros((rows, columns), np.float32),
        ]

    def expected(x, scale, y):
        y[:] = x.astype(np.float32) * scale[:, None]

    text = function(
        f"%x: memref<{rows}x{columns}xi8>, %scale: memref<{rows}xf32>, %y: memref<{rows}x{columns}xf32>",
        body,
    )
    return TileKernel(text, arguments, expected)


def gathered(rows=4, columns=40, table=10, by_row=True):
    """Rows of a table at indices (a row's lanes follow each other), or elements at indices."""
    shape = f"{rows}x{columns}"
    if by_row:
        ids = f"""
%id = vector.transfer_read %ids[%c0], %none {{in_bounds = [true, true], permutation_map = affine_map<(i) -> (i, 0)>}} : memref<{rows}xindex>, vector<{rows}x1xindex>
%wide = vector.broadcast %id : vector<{rows}x1xindex> to vector<{shape}xindex>
%size = arith.constant dense<{columns}> : vector<{shape}xindex>
%start = arith.muli %wide, %size : vector<{shape}xindex>
%lane = vector.step : vector<{columns}xindex>
%lanes = vector.broadcast %lane : vector<{columns}xindex> to vector<{shape}xindex>
%at = arith.addi %start, %lanes : vector<{shape}xindex>"""
        ids_type = f"memref<{rows}xindex>"
    else:
        ids = f"""
%at = vector.transfer_read %ids[%c0, %c0], %none {{in_bounds = [true, true]}} : memref<{shape}xindex>, vector<{shape}xindex>"""
        ids_type = f"memref<{shape}xindex>"
    body = f"""
%none = arith.constant 0 : index
{ids}
%mask = arith.constant dense<true> : vector<{shape}xi1>
%zero = arith.constant dense<0.0> : vector<{shape}xf32>
%v = vector.gather %table[%c0] [%at], %mask, %zero : memref<{table * columns}xf32>, vector<{shape}xindex>, vector<{shape}xi1>, vector<{shape}xf32> into vector<{shape}xf32>
vector.transfer_write %v, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{shape}xf32>, memref<{shape}xf32>"""

    def arguments(rng):
        most = table if by_row else table * columns
        size = rows if by_row else (rows, columns)
        return [
            rng.integers(0, most, size).astype(np.int64),
            rng.standard_normal(table * columns).astype(np.float32),
            np.zeros((rows, columns), np.float32),
        ]

    def expected(ids, table_, y):
        y[:] = table_.reshape(table, columns)[ids] if by_row else table_[ids]

    text = function(
        f"%ids: {ids_type}, %table: memref<{table * columns}xf32>, %y: memref<{shape}xf32>", body
    )
    return TileKernel(text, arguments, expected)


def scattered(rows=3, columns=21):
    """Elements written anywhere."""
    shape = f"{rows}x{columns}"
    body = f"""
%none = arith.constant 0 : index
%at = vector.transfer_read %ids[%c0, %c0], %none {{in_bounds = [true, true]}} : memref<{shape}xindex>, vector<{shape}xindex>
%v = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<{shape}xf32>, vector<{shape}xf32>
%mask = arith.constant dense<true> : vector<{shape}xi1>
vector.scatter %y[%c0] [%at], %mask, %v : memref<{rows * columns}xf32>, vector<{shape}xindex>, vector<{shape}xi1>, vector<{shape}xf32>"""

    def arguments(rng):
        return [
            rng.permutation(rows * columns).reshape(rows, columns).astype(np.int64),
            rng.standard_normal((rows, columns)).astype(np.float32),
            np.zeros(rows * columns, np.float32),
        ]

    def expected(ids, x, y):
        y[ids] = x

    text = function(
        f"%ids: memref<{shape}xindex>, %x: memref<{shape}xf32>, %y: memref<{rows * columns}xf32>",
        body,
    )
    return TileKernel(text, arguments, expected)


def selected(rows=2, columns=37):
    """A comparison's i1 vectors choose, and are written."""
    shape = f"{rows}x{columns}"
    body = f"""
%no = arith.constant false
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<{shape}xf32>, vector<{shape}xf32>
%m = vector.transfer_read %mask[%c0, %c0], %no {{in_bounds = [true, true]}} : memref<{shape}xi1>, vector<{shape}xi1>
%zero = arith.constant dense<0.0> : vector<{shape}xf32>
%p = arith.cmpf ogt, %a, %zero : vector<{shape}xf32>
%q = arith.andi %p, %m : vector<{shape}xi1>
%r = arith.select %q, %a, %zero : vector<{shape}xi1>, vector<{shape}xf32>
vector.transfer_write %r, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{shape}xf32>, memref<{shape}xf32>
vector.transfer_write %q, %z[%c0, %c0] {{in_bounds = [true, true]}} : vector<{shape}xi1>, memref<{shape}xi1>"""

    def arguments(rng):
        return [
            rng.standard_normal((rows, columns)).astype(np.float32),
            rng.integers(0, 2, (rows, columns)).astype(np.bool_),
            np.zeros((rows, columns), np.float32),
            np.zeros((rows, columns), np.bool_),
        ]

    def expected(x, mask, y, z):
        z[:] = (x > 0) & mask
        y[:] = np.where(z, x, 0)

    text = function(
        f"%x: memref<{shape}xf32>, %mask: memref<{shape}xi1>, "
        f"%y: memref<{shape}xf32>, %z: memref<{shape}xi1>",
        body,
    )
    return TileKernel(text, arguments, expected)


def halves(kind="f16", rows=2, columns=37):
    """Half-precision values, computed in f32."""
    shape = f"{rows}x{columns}"
    body = f"""
%none = ub.poison : {kind}
%a = vector.transfer_read %x[%c0, %c0], %none {{in_bounds = [true, true]}} : memref<{shape}x{kind}>, vector<{shape}x{kind}>
%b = arith.extf %a : vector<{shape}x{kind}> to vector<{shape}xf32>
%c = arith.mulf %b, %b : vector<{shape}xf32>
%d = arith.truncf %c : vector<{shape}xf32> to vector<{shape}x{kind}>
vector.transfer_write %d, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{shape}x{kind}>, memref<{shape}x{kind}>"""
    import ml_dtypes

    dtype = np.float16 if kind == "f16" else ml_dtypes.bfloat16

    def expected(x, y):
        y[:] = (x.astype(np.float32) ** 2).astype(dtype)

    return TileKernel(
        function(f"%x: memref<{shape}x{kind}>, %y: memref<{shape}x{kind}>", body),
        floats((rows, columns), (rows, columns), dtype=dtype),
        expected,
        1e-2,
    )


def softmax(rows=4, columns=37, lanes=16):
    """exp(x - max) / sum along rows, each row a vector; what rows have in common is a column."""
    shape = f"{rows}x{columns}"
    body = f"""
%low = arith.constant dense<0xFF800000> : vector<{rows}xf32>
%zero = arith.constant dense<0.0> : vector<{rows}xf32>
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<{shape}xf32>, vector<{shape}xf32>
%m = vector.multi_reduction <maximumf>, %a, %low [1] : vector<{shape}xf32> to vector<{rows}xf32>
%mc = vector.shape_cast %m : vector<{rows}xf32> to vector<{rows}x1xf32>
%mb = vector.broadcast %mc : vector<{rows}x1xf32> to vector<{shape}xf32>
%d = arith.subf %a, %mb : vector<{shape}xf32>
%e = math.exp %d : vector<{shape}xf32>
%s = vector.multi_reduction <add>, %e, %zero [1] : vector<{shape}xf32> to vector<{rows}xf32>
%sc = vector.shape_cast %s : vector<{rows}xf32> to vector<{rows}x1xf32>
%one = arith.constant dense<1.0> : vector<{rows}x1xf32>
%r = arith.divf %one, %sc : vector<{rows}x1xf32>
%rb = vector.broadcast %r : vector<{rows}x1xf32> to vector<{shape}xf32>
%q = arith.mulf %e, %rb : vector<{shape}xf32>
vector.transfer_write %q, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{shape}xf32>, memref<{shape}xf32>"""

    def expected(x, y):
        e = np.exp(x - x.max(-1, keepdims=True))
        y[:] = e / e.sum(-1, keepdims=True)

    arguments = f"%x: memref<{shape}xf32>, %y: memref<{shape}xf32>"
    return TileKernel(function(arguments, body), floats((rows, columns), (rows, columns)), expected)


def layer_norm(rows=4, columns=64):
    """Rows centred and scaled, in loops over vectors; what a loop writes the next one reads."""
    body = f"""
%none = arith.constant dense<0.0> : vector<16xf32>
%start = arith.constant 0.0 : f32
%scale = arith.constant {1 / columns!r} : f32
%epsilon = arith.constant 1.0e-5 : f32
%t = memref.alloc() : memref<{columns}xf32>
scf.for %i = %c0 to %c{rows} step %c1 {{
  %p = scf.for %j = %c0 to %c{columns} step %c16 iter_args(%acc = %none) -> (vector<16xf32>) {{
    %a = vector.transfer_read %x[%i, %j], %pad {{in_bounds = [true]}} : memref<{rows}x{columns}xf32>, vector<16xf32>
    %s = arith.addf %acc, %a : vector<16xf32>
    scf.yield %s : vector<16xf32>
  }}
  %sum = vector.multi_reduction <add>, %p, %start [0] : vector<16xf32> to f32
  %mean = arith.mulf %sum, %scale : f32
  %mv = vector.broadcast %mean : f32 to vector<16xf32>
  %q = scf.for %j = %c0 to %c{columns} step %c16 iter_args(%acc = %none) -> (vector<16xf32>) {{
    %a = vector.transfer_read %x[%i, %j], %pad {{in_bounds = [true]}} : memref<{rows}x{columns}xf32>, vector<16xf32>
    %d = arith.subf %a, %mv : vector<16xf32>
    vector.transfer_write %d, %t[%j] {{in_bounds = [true]}} : vector<16xf32>, memref<{columns}xf32>
    %d2 = vector.transfer_read %t[%j], %pad {{in_bounds = [true]}} : memref<{columns}xf32>, vector<16xf32>
    %sq = arith.mulf %d2, %d2 : vector<16xf32>
    %s = arith.addf %acc, %sq : vector<16xf32>
    scf.yield %s : vector<16xf32>
  }}
  %sum2 = vector.multi_reduction <add>, %q, %start [0] : vector<16xf32> to f32
  %var = arith.mulf %sum2, %scale : f32
  %sure = arith.addf %var, %epsilon : f32
  %inv = math.rsqrt %sure : f32
  %iv = vector.broadcast %inv : f32 to vector<16xf32>
  scf.for %j = %c0 to %c{columns} step %c16 {{
    %a = vector.transfer_read %t[%j], %pad {{in_bounds = [true]}} : memref<{columns}xf32>, vector<16xf32>
    %g = vector.transfer_read %gain[%j], %pad {{in_bounds = [true]}} : memref<{columns}xf32>, vector<16xf32>
    %n = arith.mulf %a, %iv : vector<16xf32>
    %r = arith.mulf %n, %g : vector<16xf32>
    vector.transfer_write %r, %y[%i, %j] {{in_bounds = [true]}} : vector<16xf32>, memref<{rows}x{columns}xf32>
  }}
}}
memref.dealloc %t : memref<{columns}xf32>"""

    def expected(x, gain, y):
        d = x - x.mean(-1, keepdims=True)
        y[:] = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * gain

    shape = f"memref<{rows}x{columns}xf32>"
    arguments = f"%x: {shape}, %gain: memref<{columns}xf32>, %y: {shape}"
    return TileKernel(
        function(arguments, body),
        floats((rows, columns), (columns,), (rows, columns)),
        expected,
        1e-3,
    )


def pooling(columns=24, stride=2):
    """The maximum of windows of 2x2, two elements apart, of a small and a partial result."""
    iw = columns * stride
    view = f"memref<2x2x{columns}xf32, strided<[{iw}, 1, {stride}]>>"
    body = f"""
%low = arith.constant dense<0xFF800000> : vector<{columns}xf32>
%v = memref.reinterpret_cast %x to offset: [0], sizes: [2, 2, {columns}], strides: [{iw}, 1, {stride}] : memref<2x{iw}xf32> to {view}
%a = vector.transfer_read %v[%c0, %c0, %c0], %pad {{in_bounds = [true, true, true]}} : {view}, vector<2x2x{columns}xf32>
%m = vector.multi_reduction <maximumf>, %a, %low [0, 1] : vector<2x2x{columns}xf32> to vector<{columns}xf32>
vector.transfer_write %m, %y[%c0] {{in_bounds = [true]}} : vector<{columns}xf32>, memref<{columns}xf32>"""

    def expected(x, y):
        y[:] = x.reshape(2, columns, 2).max((0, 2))

    arguments = f"%x: memref<2x{iw}xf32>, %y: memref<{columns}xf32>"
    return TileKernel(function(arguments, body), floats((2, iw), (columns,)), expected)


def partial_accumulators(n=32, k=24, copies=4):
    """Sums of a product in several copies, each of every fourth step, combined at the end."""
    type = f"vector<{copies}x{n}xf32>"
    body = f"""
%zero = arith.constant dense<0.0> : {type}
%none = arith.constant dense<0.0> : vector<{n}xf32>
%t = scf.for %k = %c0 to %c{k} step %c{copies} iter_args(%acc = %zero) -> ({type}) {{
  %a = vector.transfer_read %A[%k], %pad {{in_bounds = [true, true], permutation_map = affine_map<(i) -> (i, 0)>}} : memref<{k}xf32>, vector<{copies}x1xf32>
  %s = vector.broadcast %a : vector<{copies}x1xf32> to {type}
  %b = vector.transfer_read %B[%k, %c0], %pad {{in_bounds = [true, true]}} : memref<{k}x{n}xf32>, {type}
  %p = arith.mulf %s, %b : {type}
  %r = arith.addf %acc, %p : {type}
  %first = vector.extract_strided_slice %r {{offsets = [0, 0], sizes = [2, {n}], strides = [1, 1]}} : {type} to vector<2x{n}xf32>
  %new = vector.insert_strided_slice %first, %r {{offsets = [0, 0], strides = [1, 1]}} : vector<2x{n}xf32> into {type}
  scf.yield %new : {type}
}}
%sum = vector.multi_reduction <add>, %t, %none [0] : {type} to vector<{n}xf32>
vector.transfer_write %sum, %y[%c0] {{in_bounds = [true]}} : vector<{n}xf32>, memref<{n}xf32>"""

    def expected(a, b, y):
        y[:] = a @ b

    arguments = f"%A: memref<{k}xf32>, %B: memref<{k}x{n}xf32>, %y: memref<{n}xf32>"
    return TileKernel(function(arguments, body), floats((k,), (k, n), (n,)), expected)


def narrow_lanes(columns=37):
    """Elementwise, eight lanes wide because the schedule says so."""
    body = f"""
%a = vector.transfer_read %x[%c0], %pad {{in_bounds = [true], schedule.lanes = 8 : i64}} : memref<{columns}xf32>, vector<{columns}xf32>
%b = math.absf %a : vector<{columns}xf32>
vector.transfer_write %b, %y[%c0] {{in_bounds = [true]}} : vector<{columns}xf32>, memref<{columns}xf32>"""

    def expected(x, y):
        y[:] = np.abs(x)

    arguments = f"%x: memref<{columns}xf32>, %y: memref<{columns}xf32>"
    return TileKernel(function(arguments, body), floats((columns,), (columns,)), expected)


def in_order():
    """Reads and writes of one buffer in the order in which they stand."""
    type = "vector<2x16xf32>"
    body = f"""
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<4x16xf32>, {type}
%b = vector.transfer_read %x[%c1, %c0], %pad {{in_bounds = [true, true]}} : memref<4x16xf32>, {type}
%s = arith.addf %a, %b : {type}
vector.transfer_write %s, %x[%c1, %c0] {{in_bounds = [true, true]}} : {type}, memref<4x16xf32>
%c = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<4x16xf32>, {type}
vector.transfer_write %b, %x[%c2, %c0] {{in_bounds = [true, true]}} : {type}, memref<4x16xf32>
vector.transfer_write %c, %y[%c0, %c0] {{in_bounds = [true, true]}} : {type}, memref<2x16xf32>
%e = memref.load %x[%c2, %c3] : memref<4x16xf32>
memref.store %e, %x[%c0, %c0] : memref<4x16xf32>"""

    def expected(x, y):
        a, b = x[:2].copy(), x[1:3].copy()
        x[1:3] = a + b
        c = x[:2].copy()
        x[2:4] = b
        y[:] = c
        x[0, 0] = x[2, 3]

    arguments = "%x: memref<4x16xf32>, %y: memref<2x16xf32>"
    return TileKernel(function(arguments, body), floats((4, 16), (2, 16)), expected)


def branches(columns=20):
    """Vectors that a branch gives, and one that a buffer has from before it."""
    type = f"vector<{columns}xf32>"
    body = f"""
scf.for %i = %c0 to %c4 step %c1 {{
  %a = vector.transfer_read %x[%i, %c0], %pad {{in_bounds = [true]}} : memref<4x{columns}xf32>, {type}
  %odd = arith.remui %i, %c2 : index
  %is = arith.cmpi eq, %odd, %c1 : index
  %r = scf.if %is -> ({type}) {{
    %n = arith.negf %a : {type}
    scf.yield %n : {type}
  }} else {{
    %t = arith.addf %a, %a : {type}
    scf.yield %t : {type}
  }}
  vector.transfer_write %r, %x[%i, %c0] {{in_bounds = [true]}} : {type}, memref<4x{columns}xf32>
  scf.if %is {{
    %b = vector.transfer_read %x[%i, %c0], %pad {{in_bounds = [true]}} : memref<4x{columns}xf32>, {type}
    vector.transfer_write %b, %y[%c0] {{in_bounds = [true]}} : {type}, memref<{columns}xf32>
  }}
}}"""

    def expected(x, y):
        x[0::2] *= 2
        x[1::2] *= -1
        y[:] = x[3]

    arguments = f"%x: memref<4x{columns}xf32>, %y: memref<{columns}xf32>"
    return TileKernel(function(arguments, body), floats((4, columns), (columns,)), expected)


def inner_product(n=37):
    """A contraction to a scalar."""
    body = f"""
%start = memref.load %y[%c0] : memref<1xf32>
%a = vector.transfer_read %A[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<3x{n}xf32>, vector<3x{n}xf32>
%b = vector.transfer_read %B[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<3x{n}xf32>, vector<3x{n}xf32>
%s = vector.contract {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"], kind = #vector.kind<add>}} %a, %b, %start : vector<3x{n}xf32>, vector<3x{n}xf32> into f32
memref.store %s, %y[%c0] : memref<1xf32>"""

    def expected(a, b, y):
        y[0] += (a * b).sum()

    arguments = f"%A: memref<3x{n}xf32>, %B: memref<3x{n}xf32>, %y: memref<1xf32>"
    return TileKernel(function(arguments, body), floats((3, n), (3, n), (1,)), expected)


def running_sum(n=37):
    """Sums of a row in order, from what is there; and the largest index of a mask."""
    body = f"""
%start = memref.load %y[%c0] : memref<1xf32>
%a = vector.transfer_read %x[%c0], %pad {{in_bounds = [true]}} : memref<{n}xf32>, vector<{n}xf32>
%s = vector.reduction <add>, %a, %start : vector<{n}xf32> into f32
memref.store %s, %y[%c0] : memref<1xf32>
%i = vector.step : vector<{n}xindex>
%k = arith.index_cast %i : vector<{n}xindex> to vector<{n}xi64>
%zero = arith.constant dense<0.0> : vector<{n}xf32>
%none = arith.constant dense<-1> : vector<{n}xi64>
%p = arith.cmpf ogt, %a, %zero : vector<{n}xf32>
%q = arith.select %p, %k, %none : vector<{n}xi1>, vector<{n}xi64>
%m = vector.reduction <maxsi>, %q : vector<{n}xi64> into i64
memref.store %m, %z[%c0] : memref<1xi64>"""

    def arguments(rng):
        return [rng.standard_normal(n).astype(np.float32), np.ones(1, np.float32),
                np.zeros(1, np.int64)]  # fmt: skip

    def expected(x, y, z):
        for v in x:
            y[0] += v
        z[0] = np.max(np.where(x > 0, np.arange(n), -1))

    text = function(f"%x: memref<{n}xf32>, %y: memref<1xf32>, %z: memref<1xi64>", body)
    return TileKernel(text, arguments, expected, 1e-6)


def odd_shapes(rows=3, columns=21):
    """Vectors put in others, taken out, and reshaped where lanes do not fit."""
    shape = f"{rows}x{columns}"
    body = f"""
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : memref<{shape}xf32>, vector<{shape}xf32>
%row = vector.extract %a[1] : vector<{columns}xf32> from vector<{shape}xf32>
%e = vector.extract %a[2, 17] : f32 from vector<{shape}xf32>
%b = vector.insert %row, %a [0] : vector<{columns}xf32> into vector<{shape}xf32>
%c = vector.insert %e, %b [1, 3] : f32 into vector<{shape}xf32>
%part = vector.extract_strided_slice %c {{offsets = [1, 2], sizes = [2, 9], strides = [1, 1]}} : vector<{shape}xf32> to vector<2x9xf32>
%twice = arith.addf %part, %part : vector<2x9xf32>
%d = vector.insert_strided_slice %twice, %c {{offsets = [0, 11], strides = [1, 1]}} : vector<2x9xf32> into vector<{shape}xf32>
%flat = vector.shape_cast %d : vector<{shape}xf32> to vector<{rows * columns}xf32>
%up = vector.shape_cast %flat : vector<{rows * columns}xf32> to vector<{columns}x{rows}xf32>
vector.transfer_write %up, %y[%c0, %c0] {{in_bounds = [true, true]}} : vector<{columns}x{rows}xf32>, memref<{columns}x{rows}xf32>"""

    def expected(x, y):
        c = x.copy()
        c[0] = x[1]
        c[1, 3] = x[2, 17]
        d = c.copy()
        d[0:2, 11:20] = 2 * c[1:3, 2:11]
        y[:] = d.reshape(columns, rows)

    arguments = f"%x: memref<{shape}xf32>, %y: memref<{columns}x{rows}xf32>"
    return TileKernel(function(arguments, body), floats((rows, columns), (columns, rows)), expected)


def outside_memory(n=20):
    """Lanes outside of memory are the padding, and are not written, without any mask."""
    body = f"""
%pi = arith.constant 3.0 : f32
scf.for %i = %c0 to %c{n} step %c16 {{
  %a = vector.transfer_read %x[%i], %pi : memref<?xf32>, vector<16xf32>
  %zero = arith.constant 0.0 : f32
  %s = vector.multi_reduction <add>, %a, %zero [0] : vector<16xf32> to f32
  %v = vector.broadcast %s : f32 to vector<16xf32>
  vector.transfer_write %v, %y[%i] : vector<16xf32>, memref<?xf32>
}}"""

    def expected(x, y):
        for i in range(0, n, 16):
            part = x[i : i + 16]
            y[i : i + 16] = part.sum() + 3 * (16 - len(part))

    arguments = "%x: memref<?xf32>, %y: memref<?xf32>"
    return TileKernel(function(arguments, body), floats((n,), (n,)), expected)


def opaque(n=24):
    """Operations that are not cut in pieces get their vectors whole."""
    type = f"vector<{n}xf32>"
    body = f"""
%a = vector.transfer_read %x[%c0], %pad {{in_bounds = [true]}} : memref<{n}xf32>, {type}
%b = arith.addf %a, %a : {type}
%evens, %odds = vector.deinterleave %b : {type} -> vector<{n // 2}xf32>
%c = arith.negf %evens : vector<{n // 2}xf32>
%i = memref.load %at[%c0] : memref<1xindex>
%e = vector.extract %b[%i] : f32 from {type}
%v = vector.broadcast %e : f32 to vector<{n // 2}xf32>
%d = arith.mulf %c, %v : vector<{n // 2}xf32>
%w = vector.interleave %d, %odds : vector<{n // 2}xf32> -> {type}
vector.transfer_write %w, %y[%c0] {{in_bounds = [true]}} : {type}, memref<{n}xf32>"""

    def arguments(rng):
        return [rng.standard_normal(n).astype(np.float32), np.array([5]), np.zeros(n, np.float32)]

    def expected(x, at, y):
        b = x + x
        y[0::2] = -b[0::2] * b[at[0]]
        y[1::2] = b[1::2]

    text = function(f"%x: memref<{n}xf32>, %at: memref<1xindex>, %y: memref<{n}xf32>", body)
    return TileKernel(text, arguments, expected)


def scratch():
    """Temporaries in one buffer of bytes: two that share a place, one beside them."""
    type = "vector<16xf32>"
    body = f"""
%t = memref.view %bytes[%c0][] : memref<192xi8> to memref<16xf32>
%u = memref.view %bytes[%c32][] : memref<192xi8> to memref<16xf32>
%v = memref.view %bytes[%c128][] : memref<192xi8> to memref<16xf32>
%a = vector.transfer_read %x[%c0], %pad {{in_bounds = [true]}} : memref<16xf32>, {type}
vector.transfer_write %a, %t[%c0] {{in_bounds = [true]}} : {type}, memref<16xf32>
%b = arith.negf %a : {type}
vector.transfer_write %b, %v[%c0] {{in_bounds = [true]}} : {type}, memref<16xf32>
%c = vector.transfer_read %u[%c0], %pad {{in_bounds = [true]}} : memref<16xf32>, {type}
vector.transfer_write %c, %t[%c0] {{in_bounds = [true]}} : {type}, memref<16xf32>
%d = vector.transfer_read %u[%c0], %pad {{in_bounds = [true]}} : memref<16xf32>, {type}
%e = vector.transfer_read %v[%c0], %pad {{in_bounds = [true]}} : memref<16xf32>, {type}
%f = arith.addf %d, %e : {type}
vector.transfer_write %f, %y[%c0] {{in_bounds = [true]}} : {type}, memref<16xf32>"""

    def arguments(rng):
        return [
            rng.standard_normal(16).astype(np.float32),
            np.zeros(192, np.int8),
            np.zeros(16, np.float32),
        ]

    def expected(x, scratch_, y):
        memory = scratch_.view(np.float32)
        memory[:16] = x
        memory[32:48] = -x
        memory[:16] = memory[8:24].copy()
        y[:] = memory[8:24] + memory[32:48]

    text = function("%x: memref<16xf32>, %bytes: memref<192xi8>, %y: memref<16xf32>", body)
    return TileKernel(text, arguments, expected)


def divided(columns=21):
    """Integer division, whose idle lanes must not divide by zero."""
    body = f"""
%none = arith.constant 0 : i32
%a = vector.transfer_read %x[%c0], %none {{in_bounds = [true]}} : memref<{columns}xi32>, vector<{columns}xi32>
%b = vector.transfer_read %w[%c0], %none {{in_bounds = [true]}} : memref<{columns}xi32>, vector<{columns}xi32>
%q = arith.divsi %a, %b : vector<{columns}xi32>
vector.transfer_write %q, %y[%c0] {{in_bounds = [true]}} : vector<{columns}xi32>, memref<{columns}xi32>"""

    def arguments(rng):
        return [
            rng.integers(0, 100, columns).astype(np.int32),
            rng.integers(1, 9, columns).astype(np.int32),
            np.zeros(columns, np.int32),
        ]

    def expected(x, w, y):
        y[:] = x // w

    type = f"memref<{columns}xi32>"
    return TileKernel(function(f"%x: {type}, %w: {type}, %y: {type}", body), arguments, expected)


def temporary(columns=40):
    """A buffer that one statement writes and the next one reads is gone."""
    type, memory = f"vector<2x{columns}xf32>", f"memref<2x{columns}xf32>"
    body = f"""
%t = memref.alloc() : {memory}
%a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}} : {memory}, {type}
%b = arith.mulf %a, %a : {type}
vector.transfer_write %b, %t[%c0, %c0] {{in_bounds = [true, true]}} : {type}, {memory}
%flat = memref.collapse_shape %t [[0, 1]] : {memory} into memref<{2 * columns}xf32>
%row = memref.expand_shape %flat [[0, 1]] output_shape [2, {columns}] : memref<{2 * columns}xf32> into {memory}
%part = memref.subview %row[1, 0] [1, {columns}] [1, 1] : {memory} to memref<{columns}xf32, strided<[1], offset: {columns}>>
%c = vector.transfer_read %part[%c0], %pad {{in_bounds = [true]}} : memref<{columns}xf32, strided<[1], offset: {columns}>>, vector<{columns}xf32>
vector.transfer_write %c, %y[%c0] {{in_bounds = [true]}} : vector<{columns}xf32>, memref<{columns}xf32>
memref.dealloc %t : {memory}"""

    def expected(x, y):
        y[:] = x[1] ** 2

    arguments = f"%x: {memory}, %y: memref<{columns}xf32>"
    return TileKernel(function(arguments, body), floats((2, columns), (columns,)), expected)


KERNELS: dict[str, Callable[[], TileKernel]] = {
    "product": product,
    "product_remainder": lambda: product(4, tile_n=32, columns=69),
    "product_five": lambda: product(3, tile_n=5, columns=5),
    "product_unrolled": lambda: product(4, tile_n=32, columns=32, unroll=4),
    "convolution": blocked_convolution,
    "convolution_stride": lambda: blocked_convolution(stride=2),
    "depthwise": depthwise,
    "depthwise_37": lambda: depthwise(37),
    "strided_window": strided_window,
    "strided_window_3": lambda: strided_window(20, 3, 4),
    "strided_window_9": lambda: strided_window(20, 9, 4),
    "dot": dot,
    "dot_small": lambda: dot(3, 20, 16, 2),
    "transposed": transposed,
    "transposed_5": lambda: transposed(21, 20, 5),
    "transposed_in_registers": transposed_in_registers,
    "transposed_odd": lambda: transposed_in_registers(5, 37),
    "interleaved": interleaved,
    "interleaved_3": lambda: interleaved(37, 3),
    "interleaved_4": lambda: interleaved(16, 4),
    "dynamic": dynamic,
    "dynamic_small": lambda: dynamic(2, 3),
    "mixed_types": mixed_types,
    "gathered_rows": gathered,
    "gathered": lambda: gathered(by_row=False),
    "scattered": scattered,
    "selected": selected,
    "f16": halves,
    "bf16": lambda: halves("bf16"),
    "softmax": softmax,
    "layer_norm": layer_norm,
    "pooling": pooling,
    "partial_accumulators": partial_accumulators,
    "narrow_lanes": narrow_lanes,
    "in_order": in_order,
    "branches": branches,
    "inner_product": inner_product,
    "running_sum": running_sum,
    "odd_shapes": odd_shapes,
    "outside_memory": outside_memory,
    "opaque": opaque,
    "scratch": scratch,
    "divided": divided,
    "temporary": temporary,
}
