"""vector as machine code against the interpreter."""

import numpy as np
import pytest

from .native import call_native, check
from .test_elementwise import DTYPES

COMPUTE = {
    "broadcast a scalar": "%r = vector.broadcast %s : f32 to vector<4x8xf32>",
    "broadcast a row": "%r = vector.broadcast %row : vector<8xf32> to vector<4x8xf32>",
    "broadcast a column": """
  %q = vector.extract_strided_slice %v {offsets = [0, 3], sizes = [4, 1], strides = [1, 1]} :
    vector<4x8xf32> to vector<4x1xf32>
  %r = vector.broadcast %q : vector<4x1xf32> to vector<4x8xf32>""",
    "extract and insert": """
  %x = vector.extract %v[2, 5] : f32 from vector<4x8xf32>
  %y = vector.extract %v[1] : vector<8xf32> from vector<4x8xf32>
  %a = vector.insert %x, %v [0, 7] : f32 into vector<4x8xf32>
  %r = vector.insert %y, %a [3] : vector<8xf32> into vector<4x8xf32>""",
    "extract at an index": """
  %x = vector.extract %v[%n, 5] : f32 from vector<4x8xf32>
  %y = vector.extract %v[1, %n] : f32 from vector<4x8xf32>
  %z = vector.extract %v[%n] : vector<8xf32> from vector<4x8xf32>
  %a = vector.insert %x, %v [0, 7] : f32 into vector<4x8xf32>
  %b = vector.insert %y, %a [0, 6] : f32 into vector<4x8xf32>
  %r = vector.insert %z, %b [3] : vector<8xf32> into vector<4x8xf32>""",
    "insert at an index": """
  %a = vector.insert %s, %v [%n, %n] : f32 into vector<4x8xf32>
  %b = vector.insert %row, %a [%n] : vector<8xf32> into vector<4x8xf32>
  %r = vector.insert %s, %b [1, %n] : f32 into vector<4x8xf32>""",
    "slices": """
  %x = vector.extract_strided_slice %v {offsets = [1, 2], sizes = [2, 4], strides = [1, 1]} :
    vector<4x8xf32> to vector<2x4xf32>
  %r = vector.insert_strided_slice %x, %v {offsets = [0, 3], strides = [1, 1]} :
    vector<2x4xf32> into vector<4x8xf32>""",
    "shuffle": """
  %a = vector.extract %v[0] : vector<8xf32> from vector<4x8xf32>
  %x = vector.shuffle %a, %row [0, 15, 1, 14, 2, 13, 7, 8] : vector<8xf32>, vector<8xf32>
  %q = vector.extract_strided_slice %a {offsets = [2], sizes = [3], strides = [1]} :
    vector<8xf32> to vector<3xf32>
  %y = vector.shuffle %q, %row [0, 3, 1, 4, 2, 10, 9, 0] : vector<3xf32>, vector<8xf32>
  %t = vector.shuffle %v, %v [3, 4, 2, 6] : vector<4x8xf32>, vector<4x8xf32>
  %b = vector.insert %x, %t [0] : vector<8xf32> into vector<4x8xf32>
  %r = vector.insert %y, %b [1] : vector<8xf32> into vector<4x8xf32>""",
    "shape_cast": """
  %x = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>
  %y = vector.shape_cast %x : vector<32xf32> to vector<2x4x4xf32>
  %z = vector.transpose %y, [2, 0, 1] : vector<2x4x4xf32> to vector<4x2x4xf32>
  %r = vector.shape_cast %z : vector<4x2x4xf32> to vector<4x8xf32>""",
    "transpose": """
  %x = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %r = vector.shape_cast %x : vector<8x4xf32> to vector<4x8xf32>""",
    "transpose of a square": """
  %x = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [4, 4], strides = [1, 1]} :
    vector<4x8xf32> to vector<4x4xf32>
  %y = vector.transpose %x, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %r = vector.insert_strided_slice %y, %v {offsets = [0, 4], strides = [1, 1]} :
    vector<4x4xf32> into vector<4x8xf32>""",
    "interleave": """
  %a, %b = vector.deinterleave %v : vector<4x8xf32> -> vector<4x4xf32>
  %r = vector.interleave %b, %a : vector<4x4xf32> -> vector<4x8xf32>""",
    "bitcast": """
  %a = vector.bitcast %v : vector<4x8xf32> to vector<4x16xi16>
  %b = arith.addi %a, %a : vector<4x16xi16>
  %r = vector.bitcast %b : vector<4x16xi16> to vector<4x8xf32>""",
    "from and to elements": """
  %e:8 = vector.to_elements %row : vector<8xf32>
  %q = vector.from_elements %e#7, %e#0, %s, %e#1, %e#1, %s, %s, %e#2 : vector<8xf32>
  %k = vector.from_elements %s, %s, %s, %s : vector<4xf32>
  %a = vector.insert %q, %v [1] : vector<8xf32> into vector<4x8xf32>
  %r = vector.insert_strided_slice %k, %a {offsets = [2, 1], strides = [1]} :
    vector<4xf32> into vector<4x8xf32>""",
    "masks": """
  %b = vector.create_mask %n, %five : vector<4x8xi1>
  %k = vector.constant_mask [2, 7] : vector<4x8xi1>
  %both = arith.ori %b, %k : vector<4x8xi1>
  %zero = arith.constant dense<0.0> : vector<4x8xf32>
  %r = arith.select %both, %v, %zero : vector<4x8xi1>, vector<4x8xf32>""",
    "step": """
  %i = vector.step : vector<8xindex>
  %j = arith.index_cast %i : vector<8xindex> to vector<8xi32>
  %k = arith.sitofp %j : vector<8xi32> to vector<8xf32>
  %r = vector.insert %k, %v [2] : vector<8xf32> into vector<4x8xf32>""",
    "constants": """
  %k = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : vector<4x2xf32>
  %r = vector.insert_strided_slice %k, %v {offsets = [0, 1], strides = [1, 1]} :
    vector<4x2xf32> into vector<4x8xf32>""",
    "rank 0": """
  %a = vector.broadcast %s : f32 to vector<f32>
  %x = vector.extract %a[] : f32 from vector<f32>
  %r = vector.broadcast %x : f32 to vector<4x8xf32>""",
    "carried by a loop": """
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (vector<4x8xf32>) {
    %b = arith.addf %a, %v : vector<4x8xf32>
    scf.yield %b : vector<4x8xf32>
  }""",
    "fma": "%r = vector.fma %v, %v, %v : vector<4x8xf32>",
    "outer product": """
  %a = vector.extract_strided_slice %row {offsets = [2], sizes = [4], strides = [1]} :
    vector<8xf32> to vector<4xf32>
  %p = vector.outerproduct %a, %row : vector<4xf32>, vector<8xf32>
  %q = vector.outerproduct %a, %row, %p : vector<4xf32>, vector<8xf32>
  %r = vector.outerproduct %a, %row, %q {kind = #vector.kind<maximumf>} :
    vector<4xf32>, vector<8xf32>""",
    "multi_reduction of rows": """
  %x = vector.multi_reduction <add>, %v, %row [0] : vector<4x8xf32> to vector<8xf32>
  %r = vector.insert %x, %v [0] : vector<8xf32> into vector<4x8xf32>""",
    "multi_reduction of lanes": """
  %z = arith.constant dense<1.0> : vector<4xf32>
  %x = vector.multi_reduction <maximumf>, %v, %z [1] : vector<4x8xf32> to vector<4xf32>
  %q = vector.multi_reduction <add>, %v, %s [0, 1] : vector<4x8xf32> to f32
  %a = vector.insert_strided_slice %x, %v {offsets = [1, 2], strides = [1]} :
    vector<4xf32> into vector<4x8xf32>
  %r = vector.insert %q, %a [0, 0] : f32 into vector<4x8xf32>""",
    "multi_reduction of a middle dimension": """
  %x = vector.shape_cast %v : vector<4x8xf32> to vector<2x4x4xf32>
  %z = arith.constant dense<0.5> : vector<2x4xf32>
  %y = vector.multi_reduction <mul>, %x, %z [1] : vector<2x4x4xf32> to vector<2x4xf32>
  %r = vector.insert_strided_slice %y, %v {offsets = [1, 2], strides = [1, 1]} :
    vector<2x4xf32> into vector<4x8xf32>""",
    "scan of rows": """
  %z = arith.constant dense<0.5> : vector<8xf32>
  %a, %last = vector.scan <add>, %v, %z {inclusive = true, reduction_dim = 0 : i64} :
    vector<4x8xf32>, vector<8xf32>
  %r = vector.insert %last, %a [0] : vector<8xf32> into vector<4x8xf32>""",
    "scan of lanes, with each": """
  %z = arith.constant dense<0.5> : vector<4xf32>
  %a, %last = vector.scan <add>, %v, %z {inclusive = true, reduction_dim = 1 : i64} :
    vector<4x8xf32>, vector<4xf32>
  %r = vector.insert_strided_slice %last, %a {offsets = [2, 3], strides = [1]} :
    vector<4xf32> into vector<4x8xf32>""",
    "scan of columns": """
  %z = arith.constant dense<0.5> : vector<4xf32>
  %r, %last = vector.scan <mul>, %v, %z {inclusive = false, reduction_dim = 1 : i64} :
    vector<4x8xf32>, vector<4xf32>""",
    "a masked reduction": """
  %k = vector.create_mask %n : vector<8xi1>
  %q = vector.mask %k { vector.reduction <maximumf>, %row : vector<8xf32> into f32 } :
    vector<8xi1> -> f32
  %r = vector.insert %q, %v [0, 0] : f32 into vector<4x8xf32>""",
    "a masked sum of rows": """
  %k = vector.create_mask %n, %five : vector<4x8xi1>
  %q = vector.mask %k { vector.multi_reduction <add>, %v, %row [0] :
    vector<4x8xf32> to vector<8xf32> } : vector<4x8xi1> -> vector<8xf32>
  %r = vector.insert %q, %v [0] : vector<8xf32> into vector<4x8xf32>""",
    "a masked division": """
  %k = vector.create_mask %n, %five : vector<4x8xi1>
  %r = vector.mask %k, %v { arith.divf %v, %v : vector<4x8xf32> } :
    vector<4x8xi1> -> vector<4x8xf32>""",
    "contraction": """
  %a = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [4, 3], strides = [1, 1]} :
    vector<4x8xf32> to vector<4x3xf32>
  %b = vector.extract_strided_slice %v {offsets = [1, 0], sizes = [3, 8], strides = [1, 1]} :
    vector<4x8xf32> to vector<3x8xf32>
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
    %a, %b, %v : vector<4x3xf32>, vector<3x8xf32> into vector<4x8xf32>""",
    "contraction to a scalar": """
  %a = vector.extract %v[1] : vector<8xf32> from vector<4x8xf32>
  %q = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>,
    affine_map<(k) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>}
    %a, %row, %s : vector<8xf32>, vector<8xf32> into f32
  %r = vector.insert %q, %v [0, 0] : f32 into vector<4x8xf32>""",
}
EXACT = ("fma", "contraction", "contraction to a scalar", "outer product")


def compute(body):
    return f"""
func.func @f(%m: memref<4x8xf32>, %w: memref<8xf32>, %n: index, %o: memref<4x8xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %five = arith.constant 5 : index
  %v = vector.load %m[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
  %row = vector.load %w[%c0] : memref<8xf32>, vector<8xf32>
  %s = memref.load %w[%n] : memref<8xf32>
  {body}
  vector.store %r, %o[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
  return
}}"""


@pytest.mark.parametrize("name", COMPUTE)
def test_compute(name):
    generator = np.random.default_rng(0)
    m, w = (generator.standard_normal(s, dtype=np.float32) for s in ((4, 8), (8,)))
    exact = not any(name.startswith(p) for p in (*EXACT, "multi"))
    check(compute(COMPUTE[name]), m, w, 3, np.zeros((4, 8), np.float32), exact=exact)


@pytest.mark.parametrize("size", [4, 8, 16])
def test_square_transposes(size):
    text = f"""
func.func @f(%m: memref<{size}x{size}xf32>, %o: memref<{size}x{size}xf32>) {{
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0, %c0] : memref<{size}x{size}xf32>, vector<{size}x{size}xf32>
  %r = vector.transpose %v, [1, 0] : vector<{size}x{size}xf32> to vector<{size}x{size}xf32>
  vector.store %r, %o[%c0, %c0] : memref<{size}x{size}xf32>, vector<{size}x{size}xf32>
  return
}}"""
    m = np.arange(size * size, dtype=np.float32).reshape(size, size)
    check(text, m, np.zeros_like(m))


REDUCTIONS = [
    *[("f32", k) for k in ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf")],
    *[("i32", k) for k in ("add", "mul", "minui", "minsi", "maxui", "maxsi", "and", "or", "xor")],
    *[("f64", "add"), ("i1", "or"), ("i1", "and"), ("bf16", "maximumf")],
]


@pytest.mark.parametrize("acc", [False, True])
@pytest.mark.parametrize(("kind", "how"), REDUCTIONS)
def test_reduction(kind, how, acc):
    extra = ", %s" if acc else ""
    text = f"""
func.func @f(%m: memref<16x{kind}>, %o: memref<1x{kind}>) {{
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0] : memref<16x{kind}>, vector<16x{kind}>
  %s = memref.load %m[%c0] : memref<16x{kind}>
  %r = vector.reduction <{how}>, %v{extra} : vector<16x{kind}> into {kind}
  memref.store %r, %o[%c0] : memref<1x{kind}>
  return
}}"""
    values = (np.random.default_rng(0).standard_normal(16) * 3).astype(DTYPES[kind])
    # With a start value, ours adds to it from the first element on.
    check(text, values, np.zeros(1, DTYPES[kind]), exact=not acc)


MEMORY = {
    "inside": "%v = vector.transfer_read %m[%i, %j], %p {in_bounds = [true, true]} : {M}, vector<2x4xf32>",
    "outside in both": "%v = vector.transfer_read %m[%i, %j], %p : {M}, vector<2x4xf32>",
    "outside in columns": "%v = vector.transfer_read %m[%c0, %j], %p {in_bounds = [true, false]} : {M}, vector<2x4xf32>",
    "masked": """
  %k = vector.create_mask %c1, %i : vector<2x4xi1>
  %v = vector.transfer_read %m[%c0, %j], %p, %k : {M}, vector<2x4xf32>""",
    "transposed": """
  %t = vector.transfer_read %m[%i, %j], %p {permutation_map = affine_map<(a, b) -> (b, a)>} :
    {M}, vector<2x4xf32>
  %v = arith.addf %t, %t : vector<2x4xf32>""",
    "transposed and masked": """
  %k = vector.create_mask %i, %c1 : vector<4x2xi1>
  %v = vector.transfer_read %m[%i, %j], %p, %k {permutation_map = affine_map<(a, b) -> (b, a)>} :
    {M}, vector<2x4xf32>""",
    "masked by a value, outside too": """
  %a = vector.create_mask %c1, %i : vector<2x4xi1>
  %b = arith.constant dense<[[true, false, true, true], [false, true, false, true]]> : vector<2x4xi1>
  %k = arith.ori %a, %b : vector<2x4xi1>
  %v = vector.transfer_read %m[%i, %j], %p, %k : {M}, vector<2x4xf32>""",
    "transposed and masked by a value": """
  %a = vector.create_mask %i, %c1 : vector<4x2xi1>
  %b = arith.constant dense<[[true, false], [true, true], [false, true], [false, false]]> : vector<4x2xi1>
  %k = arith.xori %a, %b : vector<4x2xi1>
  %v = vector.transfer_read %m[%i, %j], %p, %k {permutation_map = affine_map<(a, b) -> (b, a)>} :
    {M}, vector<2x4xf32>""",
    "repeated and masked by a value": """
  %k = arith.constant dense<[true, false]> : vector<2xi1>
  %v = vector.transfer_read %m[%i, %j], %p, %k
    {in_bounds = [true, true], permutation_map = affine_map<(a, b) -> (b, 0)>} :
    {M}, vector<2x4xf32>""",
    "repeated along lanes": """
  %v = vector.transfer_read %m[%i, %j], %p
    {in_bounds = [true, true], permutation_map = affine_map<(a, b) -> (b, 0)>} :
    {M}, vector<2x4xf32>""",
    "repeated along rows": """
  %v = vector.transfer_read %m[%i, %j], %p
    {in_bounds = [true, false], permutation_map = affine_map<(a, b) -> (0, b)>} :
    {M}, vector<2x4xf32>""",
    "gathered": """
  %x = arith.constant dense<[[0, 3, 1, 2], [2, 2, 0, 1]]> : vector<2x4xi32>
  %k = vector.constant_mask [2, 3] : vector<2x4xi1>
  %w = vector.broadcast %p : f32 to vector<2x4xf32>
  %v = vector.gather %m[%i, %c1] [%x], %k, %w :
    {M}, vector<2x4xi32>, vector<2x4xi1>, vector<2x4xf32> into vector<2x4xf32>""",
    "under vector.mask": """
  %k = vector.create_mask %c1, %i : vector<2x4xi1>
  %v = vector.mask %k { vector.transfer_read %m[%c0, %j], %p : {M}, vector<2x4xf32> } :
    vector<2x4xi1> -> vector<2x4xf32>""",
    "expandload": """
  %k = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %w = vector.broadcast %p : f32 to vector<4xf32>
  %x = vector.expandload %m[%i, %c1], %k, %w : {M}, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %v = vector.broadcast %x : vector<4xf32> to vector<2x4xf32>""",
    "maskedload": """
  %k = vector.create_mask %i : vector<4xi1>
  %w = vector.broadcast %p : f32 to vector<4xf32>
  %x = vector.maskedload %m[%i, %c1], %k, %w : {M}, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %v = vector.broadcast %x : vector<4xf32> to vector<2x4xf32>""",
}
STORES = {
    "inside": "vector.transfer_write %v, %o[%c0, %c1] {in_bounds = [true, true]} : vector<2x4xf32>, {O}",
    "outside": "vector.transfer_write %v, %o[%i, %j] : vector<2x4xf32>, {O}",
    "masked": """
  %q = vector.create_mask %c1, %i : vector<2x4xi1>
  vector.transfer_write %v, %o[%c0, %j], %q : vector<2x4xf32>, {O}""",
    "transposed": """
  vector.transfer_write %v, %o[%c0, %c0]
    {in_bounds = [true, true], permutation_map = affine_map<(a, b) -> (b, a)>} :
    vector<2x4xf32>, {O}""",
    "transposed outside": """
  vector.transfer_write %v, %o[%i, %j] {permutation_map = affine_map<(a, b) -> (b, a)>} :
    vector<2x4xf32>, {O}""",
    "scattered": """
  %y = arith.constant dense<[[0, 3, 1, 2], [2, 5, 0, 1]]> : vector<2x4xi64>
  %q = vector.constant_mask [2, 3] : vector<2x4xi1>
  vector.scatter %o[%i, %c0] [%y], %q, %v : {O}, vector<2x4xi64>, vector<2x4xi1>, vector<2x4xf32>""",
    "compressstore": """
  %q = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %y = vector.extract %v[1] : vector<4xf32> from vector<2x4xf32>
  vector.compressstore %o[%i, %c1], %q, %y : {O}, vector<4xi1>, vector<4xf32>""",
    "maskedstore": """
  %q = vector.create_mask %i : vector<4xi1>
  %y = vector.extract %v[1] : vector<4xf32> from vector<2x4xf32>
  vector.maskedstore %o[%i, %c1], %q, %y : {O}, vector<4xi1>, vector<4xf32>""",
}


def transfer(read, write, static):
    memory, out = ("memref<5x6xf32>", "memref<6x7xf32>") if static else ("memref<?x?xf32>",) * 2
    body = f"{read}\n  {write}".replace("{M}", memory).replace("{O}", out)
    return f"""
func.func @f(%m: {memory}, %i: index, %j: index, %o: {out}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.constant 9.5 : f32
  {body}
  return
}}"""


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("read", "write"),
    [*((r, "inside") for r in MEMORY), *(("inside", w) for w in STORES)],
)
def test_memory(read, write, static):
    m = np.arange(30, dtype=np.float32).reshape(5, 6)
    text = transfer(MEMORY[read], STORES[write], static)
    for i, j in ((1, 2), (3, 1)):
        check(text, m, i, j, np.zeros((6, 7), np.float32))
    if "outside" in read or write == "outside":
        check(transfer(MEMORY[read], STORES[write], static), m, 0, 1, np.zeros((6, 7), np.float32))


@pytest.mark.parametrize("read", ["outside in both", "outside in columns", "masked"])
def test_reads_past_the_end(read):
    m = np.arange(30, dtype=np.float32).reshape(5, 6)
    for static in (False, True):
        for i, j in ((4, 4), (4, 5), (0, 3)):
            check(
                transfer(MEMORY[read], STORES["inside"], static),
                m,
                i,
                j,
                np.zeros((6, 7), np.float32),
            )


def test_strided_memory():
    text = """
func.func @f(%m: memref<3x4xf32, strided<[16, 2], offset: 5>>, %o: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%c1, %c0], %p {in_bounds = [true]} :
    memref<3x4xf32, strided<[16, 2], offset: 5>>, vector<4xf32>
  vector.store %v, %o[%c0] : memref<4xf32>, vector<4xf32>
  return
}"""
    m = np.arange(48, dtype=np.float32).reshape(3, 16)[:, ::2][:, :4]
    out = np.zeros(4, np.float32)
    call_native(text, [m, out])
    np.testing.assert_array_equal(out, m[1])
