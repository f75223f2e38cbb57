"""Kernels in tile form that combine the elements of rows or windows."""

from __future__ import annotations

import numpy as np

from .tile_kernel import TileKernel, floats, function


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
