"""memref, vector and tensor ops against what NumPy says they are."""

import ml_dtypes
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

RNG = np.random.default_rng(11)
M = np.arange(64, dtype=np.float32).reshape(8, 8)
V = RNG.standard_normal((4, 8)).astype(np.float32)
X = RNG.standard_normal(4).astype(np.float32)
I = np.int64(3)


def run(text: str, *args, count: int = 1):
    """The results of a function given as `(args) -> types { body; return }`."""
    module = parse_module(f"func.func @f{text}")
    module.verify()
    found = Interpreter(module).call("f", [np.array(a) if np.ndim(a) else a for a in args])
    return found[0] if count == 1 else found


def view(op: str, target: str, *args, source="memref<8x8xf32>", extra="%i: index"):
    """A view's elements, copied out."""
    return run(
        f"(%m: {source}, {extra}) -> {target} {{ %0 = {op} : {source} to {target} "
        f"return %0 : {target} }}",
        *args,
    )


VIEWS = {
    "subview": (
        "memref.subview %m[1, %i] [3, 2] [2, 1]",
        "memref<3x2xf32, strided<[16, 1], offset: ?>>",
        M[1:6:2, 3:5],
    ),
    "subview of fewer dimensions": (
        "memref.subview %m[%i, 0] [1, 8] [1, 1]",
        "memref<8xf32, strided<[1], offset: ?>>",
        M[3],
    ),
    "reinterpret_cast": (
        "memref.reinterpret_cast %m to offset: [%i], sizes: [2, 3], strides: [8, 2]",
        "memref<2x3xf32, strided<[8, 2], offset: ?>>",
        M.reshape(-1)[[[3, 5, 7], [11, 13, 15]]],
    ),
    "a stride of 0": (
        "memref.reinterpret_cast %m to offset: [0], sizes: [2, 3], strides: [0, 1]",
        "memref<2x3xf32, strided<[0, 1]>>",
        M[[0, 0], :3],
    ),
    "cast": ("memref.cast %m", "memref<?x8xf32, strided<[?, 1], offset: ?>>", M),
    "transpose": (
        "memref.transpose %m (d0, d1) -> (d1, d0)",
        "memref<8x8xf32, strided<[1, 8]>>",
        M.T,
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    op, target, expected = VIEWS[name]
    np.testing.assert_array_equal(view(op, target, M, I), expected)


def test_reshapes():
    text = """(%m: memref<8x8xf32>, %n: index) -> memref<?x2xf32> {
      %0 = memref.collapse_shape %m [[0, 1]] : memref<8x8xf32> into memref<64xf32>
      %1 = memref.cast %0 : memref<64xf32> to memref<?xf32>
      %2 = memref.expand_shape %1 [[0, 1]] output_shape [%n, 2] : memref<?xf32> into memref<?x2xf32>
      return %2 : memref<?x2xf32>
    }"""
    np.testing.assert_array_equal(run(text, M, np.int64(32)), M.reshape(32, 2))


def test_views_share_memory():
    text = """(%m: memref<8x8xf32>, %x: f32) {
      %0 = memref.subview %m[2, 3] [2, 2] [1, 1] : memref<8x8xf32>
        to memref<2x2xf32, strided<[8, 1], offset: 19>>
      linalg.fill ins(%x : f32) outs(%0 : memref<2x2xf32, strided<[8, 1], offset: 19>>)
      return
    }"""
    m = M.copy()
    module = parse_module(f"func.func @f{text}")
    Interpreter(module).call("f", [m, np.float32(-1)])
    expected = M.copy()
    expected[2:4, 3:5] = -1
    np.testing.assert_array_equal(m, expected)


def test_view_of_bytes():
    text = """(%b: memref<64xi8>, %at: index) -> memref<2x3xf32> {
      %0 = memref.view %b[%at][] : memref<64xi8> to memref<2x3xf32>
      return %0 : memref<2x3xf32>
    }"""
    raw = RNG.integers(-128, 128, 64).astype(np.int8)
    found = run(text, raw, np.int64(8))
    np.testing.assert_array_equal(found.view(np.int32).reshape(-1), raw[8:32].view(np.int32))


def test_strided_metadata():
    text = """(%m: memref<8x8xf32>) -> (memref<f32>, index, index, index, index, index) {
      %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<8x8xf32>
        -> memref<f32>, index, index, index, index, index
      return %b, %o, %s#0, %s#1, %t#0, %t#1 : memref<f32>, index, index, index, index, index
    }"""
    base, *rest = run(text, M, count=6)
    assert base == 0
    assert rest == [0, 8, 8, 8, 1]


OUTSIDE = {
    "load": "%0 = memref.load %m[%i, %i] : memref<8x8xf32>",
    "store": "memref.store %x, %m[%i, %i] : memref<8x8xf32>",
    "subview": "%0 = memref.subview %m[%i, 0] [4, 4] [1, 1] : memref<8x8xf32> "
    "to memref<4x4xf32, strided<[8, 1], offset: ?>>",
    "reinterpret_cast": "%0 = memref.reinterpret_cast %m to offset: [%i], sizes: [64], "
    "strides: [1] : memref<8x8xf32> to memref<64xf32, strided<[1], offset: ?>>",
    "vector load": "%0 = vector.load %m[%i, %i] : memref<8x8xf32>, vector<4xf32>",
    "transfer": "%0 = vector.transfer_read %m[%i, %i], %x {in_bounds = [true]} : "
    "memref<8x8xf32>, vector<4xf32>",
}


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("at", [8, -1])
def test_outside(name, at):
    """An access outside is an error, not whatever lies there."""
    with pytest.raises(NncError):
        run(
            f"(%m: memref<8x8xf32>, %i: index, %x: f32) {{ {OUTSIDE[name]} return }}",
            M,
            np.int64(at),
            np.float32(0),
            count=0,
        )


def test_new_buffers_are_not_zero():
    """So that reading what was never written shows."""
    text = """() -> f32 {
      %0 = memref.alloc() : memref<f32>
      %1 = memref.load %0[] : memref<f32>
      memref.dealloc %0 : memref<f32>
      return %1 : f32
    }"""
    assert np.isnan(run(text))


def test_globals_keep_what_is_stored():
    module = parse_module("""
        memref.global "private" @count : memref<i32> = dense<5>
        func.func @next() -> i32 {
          %one = arith.constant 1 : i32
          %0 = memref.get_global @count : memref<i32>
          %1 = memref.load %0[] : memref<i32>
          %2 = arith.addi %1, %one : i32
          memref.store %2, %0[] : memref<i32>
          return %2 : i32
        }
    """)
    module.verify()
    interpreter = Interpreter(module)
    assert [interpreter.call("next")[0] for _ in range(3)] == [6, 7, 8]


# -- vector ------------------------------------------------------------------------------------


def vector(op: str, result: str, *operands):
    """`op` on operands %a, %b, .. given with their types."""
    names = "abcdef"
    args = ", ".join(f"%{n}: {t}" for n, (t, _) in zip(names, operands, strict=False))
    text = f"({args}) -> {result} {{ %r = {op} return %r : {result} }}"
    return run(text, *(v for _, v in operands))


W = ("vector<4x8xf32>", V)
L = ("vector<4xf32>", X)
MASK = np.array([True, False, True, True])
K = ("vector<4xi1>", MASK)
MEM = ("memref<8x8xf32>", M)
ROW = ("memref<8xf32>", M[0])
AT = ("index", I)

VECTORS = {
    "broadcast": ("vector.broadcast %a : vector<4xf32> to vector<2x4xf32>", "vector<2x4xf32>",
                  [L], np.stack([X, X])),
    "fma": ("vector.fma %a, %a, %a : vector<4xf32>", "vector<4xf32>", [L], X * X + X),
    "reduction": ("vector.reduction <add>, %a : vector<4xf32> into f32", "f32", [L], X.sum()),
    "reduction with start": ("vector.reduction <maximumf>, %a, %b : vector<4xf32> into f32", "f32",
                             [L, ("f32", np.float32(9))], 9),
    "multi_reduction": ("vector.multi_reduction <add>, %a, %b [1] : vector<4x8xf32> to "
                        "vector<4xf32>", "vector<4xf32>", [W, L], V.sum(1) + X),
    "shuffle": ("vector.shuffle %a, %a [0, 4, 3, 7, 1] : vector<4xf32>, vector<4xf32>",
                "vector<5xf32>", [L], X[[0, 0, 3, 3, 1]]),
    "extract": ("vector.extract %a[1, %b] : f32 from vector<4x8xf32>", "f32", [W, AT], V[1, 3]),
    "insert": ("vector.insert %b, %a [2, %c] : f32 into vector<4x8xf32>", "vector<4x8xf32>",
               [W, ("f32", np.float32(7)), AT],
               np.where(np.arange(32).reshape(4, 8) == 19, np.float32(7), V)),
    "extract_strided_slice": (
        "vector.extract_strided_slice %a {offsets = [1, 2], sizes = [2, 3], strides = [1, 1]} : "
        "vector<4x8xf32> to vector<2x3xf32>", "vector<2x3xf32>", [W], V[1:3, 2:5]),
    "insert_strided_slice": (
        "vector.insert_strided_slice %b, %a {offsets = [1, 2], strides = [1]} : "
        "vector<4xf32> into vector<4x8xf32>", "vector<4x8xf32>", [W, L],
        np.concatenate([V[:1], np.concatenate([V[1, :2], X, V[1, 6:]])[None], V[2:]])),
    "shape_cast": ("vector.shape_cast %a : vector<4x8xf32> to vector<2x16xf32>",
                   "vector<2x16xf32>", [W], V.reshape(2, 16)),
    "transpose": ("vector.transpose %a, [1, 0] : vector<4x8xf32> to vector<8x4xf32>",
                  "vector<8x4xf32>", [W], V.T),
    "interleave": ("vector.interleave %a, %a : vector<4xf32> -> vector<8xf32>", "vector<8xf32>",
                   [L], np.repeat(X, 2)),
    "bitcast": ("vector.bitcast %a : vector<4xf32> to vector<4xi32>", "vector<4xi32>", [L],
                X.view(np.int32)),
    "create_mask": ("vector.create_mask %a, %a : vector<4x8xi1>", "vector<4x8xi1>", [AT],
                    np.outer(np.arange(4) < 3, np.arange(8) < 3)),
    "constant_mask": ("vector.constant_mask [2, 3] : vector<4x8xi1>", "vector<4x8xi1>", [],
                      np.outer(np.arange(4) < 2, np.arange(8) < 3)),
    "step": ("vector.step : vector<4xindex>", "vector<4xindex>", [], np.arange(4)),
    "outerproduct": ("vector.outerproduct %a, %a, %b : vector<4xf32>, vector<4xf32>",
                     "vector<4x4xf32>", [L, ("vector<4x4xf32>", V[:, :4])],
                     np.outer(X, X) + V[:, :4]),
    "contract": (
        "vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, "
        "affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (j, i)>], "
        'iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} '
        "%a, %a, %b : vector<4x8xf32>, vector<4x8xf32> into vector<4x4xf32>", "vector<4x4xf32>",
        [W, ("vector<4x4xf32>", V[:, :4])], (V @ V.T).T + V[:, :4]),
    "masked reduction": ("vector.mask %b { vector.reduction <add>, %a : vector<4xf32> into f32 } "
                         ": vector<4xi1> -> f32", "f32", [L, K], X[MASK].sum()),
    "load": ("vector.load %a[%b, %b] : memref<8x8xf32>, vector<2x4xf32>", "vector<2x4xf32>",
             [MEM, AT], M[3:5, 3:7]),
    "maskedload": ("vector.maskedload %a[%b], %c, %d : memref<8xf32>, vector<4xi1>, vector<4xf32> "
                   "into vector<4xf32>", "vector<4xf32>", [ROW, AT, K, L],
                   np.where(MASK, M[0, 3:7], X)),
    "gather": ("vector.gather %a[%b] [%e], %c, %d : memref<8xf32>, vector<4xi32>, vector<4xi1>, "
               "vector<4xf32> into vector<4xf32>", "vector<4xf32>",
               [ROW, AT, K, L, ("vector<4xi32>", np.array([4, 100, -3, 0], np.int32))],
               np.where(MASK, M[0][[7, 0, 0, 3]], X)),
    "expandload": ("vector.expandload %a[%b], %c, %d : memref<8xf32>, vector<4xi1>, vector<4xf32> "
                   "into vector<4xf32>", "vector<4xf32>", [ROW, AT, K, L],
                   np.array([M[0, 3], X[1], M[0, 4], M[0, 5]])),
    "read past the end": ("vector.transfer_read %a[%b, %b], %c : memref<8x8xf32>, vector<8xf32>",
                          "vector<8xf32>", [MEM, AT, ("f32", np.float32(-1))],
                          np.concatenate([M[3, 3:], np.full(3, -1, np.float32)])),
    "read transposed and repeated": (
        "vector.transfer_read %a[%b, %b], %c {in_bounds = [true, true, true], permutation_map = "
        "affine_map<(d0, d1) -> (d1, 0, d0)>} : memref<8x8xf32>, vector<4x2x3xf32>",
        "vector<4x2x3xf32>", [MEM, AT, ("f32", np.float32(-1))],
        np.repeat(M[3:6, 3:7].T[:, None], 2, 1)),
    "read under a mask": (
        "vector.transfer_read %a[%b, %b], %c, %d {in_bounds = [true]} : memref<8x8xf32>, "
        "vector<4xf32>", "vector<4xf32>", [MEM, AT, ("f32", np.float32(-1)), K],
        np.where(MASK, M[3, 3:7], -1)),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    op, result, operands, expected = VECTORS[name]
    np.testing.assert_allclose(vector(op, result, *operands), expected, rtol=1e-5)


STORES = {
    "store": ("vector.store %v, %m[%i, %i] : memref<8x8xf32>, vector<4xf32>", (3, slice(3, 7)), X),
    "write": ("vector.transfer_write %v, %m[%i, %i] {in_bounds = [true], permutation_map = "
              "affine_map<(d0, d1) -> (d0)>} : vector<4xf32>, memref<8x8xf32>",
              (slice(3, 7), 3), X),
    "write under a mask": ("vector.transfer_write %v, %m[%i, %i], %k {in_bounds = [true]} : "
                           "vector<4xf32>, memref<8x8xf32>", (3, slice(3, 7)),
                           np.where(MASK, X, M[3, 3:7])),
}  # fmt: skip


@pytest.mark.parametrize("name", STORES)
def test_vector_stores(name):
    op, where, values = STORES[name]
    module = parse_module(
        "func.func @f(%m: memref<8x8xf32>, %v: vector<4xf32>, %i: index, %k: vector<4xi1>) "
        f"{{ {op} return }}"
    )
    module.verify()
    m = M.copy()
    Interpreter(module).call("f", [m, X, I, MASK])
    expected = M.copy()
    expected[where] = values
    np.testing.assert_array_equal(m, expected)


def test_print():
    lines = []
    module = parse_module(
        "func.func @f(%v: vector<2x2xi32>, %x: f32) {\n"
        "vector.print %v : vector<2x2xi32>\nvector.print %x : f32\nreturn\n}"
    )
    interpreter = Interpreter(module, write=lines.append)
    interpreter.call("f", [np.array([[1, 2], [3, 4]], np.int32), np.float32(1.5)])
    assert "".join(lines) == "( ( 1, 2 ), ( 3, 4 ) )\n1.5\n"


def test_print_as_mlir_runner_does():
    """A vector of no dimensions has brackets; an index has no sign."""
    lines = []
    module = parse_module(
        "func.func @f(%v: vector<f32>, %i: index, %b: bf16) {\n"
        "vector.print %v : vector<f32>\nvector.print %i : index\nvector.print %b : bf16\nreturn\n}"
    )
    given = [np.array(1.5, np.float32), np.int64(-3), ml_dtypes.bfloat16(0.5)]
    Interpreter(module, write=lines.append).call("f", given)
    assert "".join(lines) == "( 1.5 )\n18446744073709551613\n0.5\n"


def test_contract_of_bf16():
    module = parse_module(
        "func.func @f(%a: vector<2x3xbf16>, %b: vector<4x3xbf16>, %c: vector<4x2xbf16>)"
        " -> vector<4x2xbf16> {\n%0 = vector.contract {indexing_maps = ["
        "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
        "affine_map<(m, n, k) -> (n, m)>], iterator_types = "
        '["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : '
        "vector<2x3xbf16>, vector<4x3xbf16> into vector<4x2xbf16>\n"
        "return %0 : vector<4x2xbf16>\n}"
    )
    a, b, c = (np.arange(n).reshape(s) for n, s in ((6, (2, 3)), (12, (4, 3)), (8, (4, 2))))
    given = [v.astype(ml_dtypes.bfloat16) for v in (a, b, c)]
    (found,) = Interpreter(module).call("f", given)
    np.testing.assert_array_equal(found.astype(int), b @ a.T + c)


# -- tensor --------------------------------------------------------------------------------------

T = ("tensor<8x8xf32>", M)
PADDED = """(%a: tensor<8x8xf32>, %i: index, %x: f32) -> tensor<10x?xf32> {
  %0 = tensor.pad %a low[1, %i] high[1, 0] {
  ^bb0(%r: index, %c: index):
    tensor.yield %x : f32
  } : tensor<8x8xf32> to tensor<10x?xf32>
  return %0 : tensor<10x?xf32>
}"""
TENSORS = {
    "extract_slice": ("tensor.extract_slice %a[1, %b] [3, 2] [2, 1] : tensor<8x8xf32> to "
                      "tensor<3x2xf32>", "tensor<3x2xf32>", [T, AT], M[1:6:2, 3:5]),
    "splat": ("tensor.splat %a[%b] : tensor<2x?xf32>", "tensor<2x?xf32>",
              [("f32", np.float32(2)), AT], np.full((2, 3), 2)),
    "from_elements": ("tensor.from_elements %a, %a : tensor<2x1xindex>", "tensor<2x1xindex>", [AT],
                      np.full((2, 1), 3)),
    "insert": ("tensor.insert %c into %a[%b, %b] : tensor<8x8xf32>", "tensor<8x8xf32>",
               [T, AT, ("f32", np.float32(-5))],
               np.where(np.arange(64).reshape(8, 8) == 27, -5, M)),
    "concat": ("tensor.concat dim(1) %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
               "tensor<8x16xf32>", "tensor<8x16xf32>", [T], np.concatenate([M, M], 1)),
    "collapse_shape": ("tensor.collapse_shape %a [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>",
                       "tensor<64xf32>", [T], M.reshape(-1)),
    "bitcast": ("tensor.bitcast %a : tensor<8x8xf32> to tensor<8x8xi32>", "tensor<8x8xi32>", [T],
                M.view(np.int32)),
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS)
def test_tensors(name):
    op, result, operands, expected = TENSORS[name]
    np.testing.assert_array_equal(vector(op, result, *operands), expected)


def test_tensor_pad():
    found = run(PADDED, M, I, np.float32(9))
    np.testing.assert_array_equal(found, np.pad(M, [(1, 1), (3, 0)], constant_values=9))


def test_affine_loops():
    text = """(%m: memref<8xi32>, %n: index) -> i32 {
      %zero = arith.constant 0 : i32
      %0 = affine.for %i = 0 to min affine_map<()[s0] -> (s0, 6)>()[%n] step 2
          iter_args(%sum = %zero) -> (i32) {
        %x = affine.load %m[%i + 1] : memref<8xi32>
        %s = arith.addi %sum, %x : i32
        affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) {
          affine.store %s, %m[%i] : memref<8xi32>
        }
        affine.yield %s : i32
      }
      return %0 : i32
    }"""
    assert run(text, np.arange(8, dtype=np.int32), np.int64(100)) == 1 + 3 + 5
    assert run(text, np.arange(8, dtype=np.int32), np.int64(3)) == 1 + 3
