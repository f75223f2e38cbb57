"""Runs functions of the loop level twice, by the interpreter and as machine code."""

import ctypes

import numpy as np
from nnc.dialects import func
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import FloatType, MemRefType, f32, f64
from nnc.kernels.codegen.vectors.lower_tiles import LowerTiles
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.numerics.interpreter import Interpreter
from nnc.targets.base import host
from nnc.targets.llvm.ir import llvm_ir
from nnc.targets.llvm.native import emit_object, load_object


def lowered(text):
    """The verified module of the llvm dialect, by way of vectors that registers hold."""
    module = parse_module(text)
    module.verify()
    LowerTiles().run(module, PassContext())
    module.verify()
    LowerToLlvm().run(module, PassContext())
    module.verify()
    return module


def _c_type(type):
    if type is f32:
        return ctypes.c_float
    if type is f64:
        return ctypes.c_double
    assert not isinstance(type, FloatType), "pass half precision in memory"
    return ctypes.c_int64


def call_native(text, args, name="f", opt_level=2):
    """The result of a function as machine code; arrays are changed in place."""
    (function,) = [
        op
        for op in parse_module(text).body_block
        if isinstance(op, func.FuncOp) and op.sym_name == name
    ]
    values, types = [], []
    for arg, type in zip(args, function.function_type.inputs, strict=True):
        if isinstance(type, MemRefType):
            values.append(arg.ctypes.data)
            types.append(ctypes.c_void_p)
            dynamic = [n for n, d in zip(arg.shape, type.shape, strict=True) if d is None]
            if type.layout is not None:
                strides, _ = type.strides_and_offset()
                steps = [s // arg.itemsize for s in arg.strides]
                dynamic += [n for n, d in zip(steps, strides, strict=True) if d is None]
            values += dynamic
            types += [ctypes.c_int64] * len(dynamic)
        else:
            values.append(arg)
            types.append(_c_type(type))
    results = function.function_type.results
    data = emit_object(llvm_ir(lowered(text)), host(), opt_level=opt_level)
    code = load_object(data, (name,))
    returned = _c_type(results[0]) if results else None
    return ctypes.CFUNCTYPE(returned, *types)(code[name])(*values)


def check(text, *args, name="f", exact=True, opt_level=2):
    """Machine code and interpreter agree on the result and on all arrays; gives the arrays."""
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    expected = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    result = call_native(text, ours, name, opt_level)
    module = parse_module(text)
    scalars = [np.int64(a) if isinstance(a, int) else a for a in expected]
    wanted = Interpreter(module).call(name, scalars)
    if wanted:
        compare(np.asarray(result), np.asarray(wanted[0]), exact)
    for a, b in zip(ours, expected, strict=True):
        if isinstance(a, np.ndarray):
            compare(a, b, exact)
    return ours


def compare(got, want, exact=True):
    """Equal bit by bit but for NaN payloads; or nearly equal."""
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want.astype(got.dtype))
    elif exact:
        assert got.dtype == want.dtype or got.ndim == 0
        a, b = got.astype(np.float64), want.astype(np.float64)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a) & ~np.isnan(a), np.signbit(b) & ~np.isnan(b))
    else:
        tolerance = {"e": 2e-3, "f": 1e-5, "d": 1e-12}.get(got.dtype.char, 2e-2)
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance
        )
