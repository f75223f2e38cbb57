"""Tiles lowered to vectors and addresses, against NumPy, by the interpreter and in machine code."""

import numpy as np
import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op
from nnc.ir.types import VectorType
from nnc.kernels.codegen.addresses.flatten_addresses import FlattenAddresses
from nnc.kernels.codegen.forwarding.forward_stores import ForwardStores
from nnc.kernels.codegen.vectors.lower_tiles import LowerTiles
from nnc.numerics.interpreter import Interpreter

from ..interop.upstream import all_theirs
from ..lowering.to_llvm.native import call_native
from .tile_kernels import KERNELS

TARGETS = ("avx512", "avx2", "sse")
TILES = (
    "vector.transfer_read",
    "vector.transfer_write",
    "vector.contract",
    "vector.multi_reduction",
)
"""What is gone after lower-tiles."""


def interpreted(module, kernel, arguments):
    found = [a.copy() for a in arguments]
    Interpreter(module).call("f", found)
    return found


def check(kernel, found, wanted):
    for a, b in zip(found, wanted, strict=True):
        if b.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b)
        else:
            a, b = a.astype(np.float64), b.astype(np.float64)
            np.testing.assert_allclose(a, b, rtol=kernel.tolerance, atol=kernel.tolerance)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_lowered_tiles_compute_the_same(name, target):
    kernel = KERNELS[name]()
    arguments = kernel.arguments(np.random.default_rng(0))
    wanted = [a.copy() for a in arguments]
    kernel.expected(*wanted)
    module = parse_module(kernel.text)
    module.verify()
    if target == TARGETS[0]:
        check(kernel, interpreted(module, kernel, arguments), wanted)
    LowerTiles(target).run(module, PassContext())
    module.verify()
    check(kernel, interpreted(module, kernel, arguments), wanted)
    values = [v for op in module.walk() for v in op.results if isinstance(v.type, VectorType)]
    assert all(v.type.rank == 1 for v in values)
    assert not any(op.name in TILES for op in module.walk())
    ForwardStores().run(module, PassContext())
    module.verify()
    check(kernel, interpreted(module, kernel, arguments), wanted)
    FlattenAddresses().run(module, PassContext())
    module.verify()
    check(kernel, interpreted(module, kernel, arguments), wanted)
    if kernel.native:
        found = [a.copy() for a in arguments]
        call_native(str(module), found)
        check(kernel, found, wanted)


@pytest.mark.thorough
def test_mlir_opt_prints_what_comes_out(mlir_opt):
    """Both forms after the tiles are upstream's own language."""
    parts = []
    for name in KERNELS:
        for form in (LowerTiles(TARGETS[0]), LowerTiles(TARGETS[1])):
            module = parse_module(KERNELS[name]().text)
            form.run(module, PassContext())
            ForwardStores().run(module, PassContext())
            parts.append(print_op(module, generic=True))
            FlattenAddresses().run(module, PassContext())
            parts.append(print_op(module, generic=True))
    assert all_theirs(mlir_opt, parts, "generic") == parts


CONSTANTS = {
    "signs of zeros": ("2x2", "[[0.0, -0.0], [-0.0, -0.0]]", [[0.0, -0.0], [-0.0, -0.0]]),
    "NaN": ("4", "[1.0, 2.0, 3.0, 0x7FC00000]", [[1, 2], [3, np.nan]]),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_keep_signs_of_zeros_and_nans(name):
    """A row is one number for all lanes where its bits are equal: 0 == -0, and NaN != NaN."""
    shape, numbers, wanted = CONSTANTS[name]
    module = parse_module(
        "func.func @f(%x: vector<2x2xf32>, %m: memref<2x2xf32>) {\n"
        f"%c = arith.constant dense<{numbers}> : vector<{shape}xf32>\n"
        f"%d = vector.shape_cast %c : vector<{shape}xf32> to vector<2x2xf32>\n"
        "%s = arith.mulf %x, %d : vector<2x2xf32>\n%z = arith.constant 0 : index\n"
        "vector.transfer_write %s, %m[%z, %z] {in_bounds = [true, true]} : "
        "vector<2x2xf32>, memref<2x2xf32>\nreturn\n}"
    )
    LowerTiles("avx2").run(module, PassContext())
    module.verify()
    found = np.zeros((2, 2), np.float32)
    Interpreter(module).call("f", [np.ones((2, 2), np.float32), found])
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("kind", ["add", "maxnumf"])
@pytest.mark.parametrize("active", [False, True])
def test_a_masked_reduction_of_one_element(kind, active):
    module = parse_module(
        "func.func @f(%k: vector<1xi1>, %x: vector<1xf32>, %a: f32, %m: memref<f32>) {\n"
        f"%0 = vector.mask %k {{ vector.reduction <{kind}>, %x, %a : vector<1xf32> into f32 }} "
        ": vector<1xi1> -> f32\nmemref.store %0, %m[] : memref<f32>\nreturn\n}"
    )
    LowerTiles("avx2").run(module, PassContext())
    module.verify()
    found = np.zeros((), np.float32)
    given = [np.array([active]), np.array([5], np.float32), np.float32(2), found]
    Interpreter(module).call("f", given)
    both = 7 if kind == "add" else 5
    assert found == (both if active else 2)


@pytest.mark.parametrize("kind", ["minsi", "maxsi", "minui", "maxui"])
def test_reductions_of_indices(kind):
    module = parse_module(
        "func.func @f(%k: vector<5xi1>, %x: vector<5xindex>, %a: index, %m: memref<2xindex>) {\n"
        f"%0 = vector.multi_reduction <{kind}>, %x, %a [0] : vector<5xindex> to index\n"
        f"%1 = vector.mask %k {{ vector.reduction <{kind}>, %x : vector<5xindex> into index }} "
        ": vector<5xi1> -> index\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "memref.store %0, %m[%c0] : memref<2xindex>\nmemref.store %1, %m[%c1] : memref<2xindex>\n"
        "return\n}"
    )
    LowerTiles("avx2").run(module, PassContext())
    module.verify()
    found = np.zeros(2, np.int64)
    x, active = np.array([3, -7, 9, 4, 5]), np.array([1, 0, 1, 1, 0], bool)
    Interpreter(module).call("f", [active, x, np.int64(-2), found])
    unsigned = np.append(x, -2).astype(np.uint64) if kind.endswith("ui") else np.append(x, -2)
    pick = np.min if kind.startswith("min") else np.max
    np.testing.assert_array_equal(found, [pick(unsigned).astype(np.int64), pick(x[active])])
