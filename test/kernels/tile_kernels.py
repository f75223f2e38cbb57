"""Kernels in tile form, with what NumPy says they compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .tile_accesses import dynamic, gathered, halves, interleaved, mixed_types, scattered, selected
from .tile_kernel import TileKernel, floats, function
from .tile_products import (
    blocked_convolution,
    depthwise,
    dot,
    product,
    strided_window,
    transposed,
    transposed_in_registers,
)
from .tile_rows import layer_norm, narrow_lanes, partial_accumulators, pooling, softmax


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
