"""Graphs of nn ops for tests of passes: building them, running them, comparing."""

from __future__ import annotations

import numpy as np
from nnc.dialects import nn
from nnc.dialects.builtin import ModuleOp
from nnc.dialects.func import FuncOp, Return
from nnc.ir.builder import Builder
from nnc.ir.core import Value
from nnc.ir.declare import as_value
from nnc.ir.numpy_types import numpy_to_type
from nnc.ir.passes import PassContext, PassManager, Pipeline
from nnc.ir.types import TensorType, f32
from nnc.numerics.interpreter import Interpreter


def t(*shape, element=f32):
    return TensorType(shape, element)


def graph(build, *arrays, dynamic=()) -> ModuleOp:
    """A module whose @main applies `build(b, *values)`; axes in `dynamic` are `?`."""
    types = [
        TensorType(
            [None if d in dynamic else n for d, n in enumerate(a.shape)], numpy_to_type(a.dtype)
        )
        for a in arrays
    ]
    function = FuncOp.of("main", types)
    b = Builder.at_end(function.body.blocks[0])
    outs = build(b, *function.args)
    outs = [as_value(o) for o in (outs if isinstance(outs, (list, tuple)) else [outs])]
    for value in outs:
        if value.defining_op is not None and value.defining_op.parent is None:
            b(value.defining_op)
    b(Return(outs))
    function.function_type = type(function.function_type)(tuple(types), tuple(v.type for v in outs))
    module = ModuleOp.of([function])
    module.verify()
    return module


def transform(module: ModuleOp, *passes) -> ModuleOp:
    """Run passes in place, verifying after each."""
    PassManager(Pipeline(tuple(passes), "builtin.module"), PassContext()).run(module)
    return module


def interpret(module: ModuleOp, *arrays):
    return Interpreter(module).call("main", list(arrays))


def names(module: ModuleOp) -> list[str]:
    """The names of all ops in order, functions and returns left out."""
    skip = ("builtin.module", "func.func", "func.return", "nn.constant", "nn.yield")
    return [op.name for op in module.walk() if op.name not in skip]


def value_of(b: Builder, array) -> Value:
    from nnc.ir.attributes import DenseElements

    return b(nn.Constant(DenseElements.from_numpy(np.asarray(array)))).result


def same(found, expected, tolerance=1e-5) -> None:
    for a, e in zip(found, expected, strict=True):
        assert a.shape == e.shape and a.dtype == e.dtype, (a.shape, e.shape, a.dtype, e.dtype)
        np.testing.assert_allclose(
            a.astype(np.float64), e.astype(np.float64), rtol=tolerance, atol=tolerance
        )
