"""Kernels in tile form whose accesses are strided, masked, gathered or of several types."""

from __future__ import annotations

import numpy as np

from .tile_kernel import TileKernel, floats, function


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
