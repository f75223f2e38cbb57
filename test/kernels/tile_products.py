"""Products, convolutions and dot products in tile form."""

from __future__ import annotations

import numpy as np

from .tile_kernel import PRODUCT, TileKernel, floats, function


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
