"""Running one operation of the math dialect, expanded, on many numbers."""

from __future__ import annotations

import numpy as np

from nnc.dialects import func, math
from nnc.dialects.builtin import ModuleOp
from nnc.ir.core import Block, Region
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.passes import PassContext
from nnc.ir.types import FunctionType, VectorType, element_type
from nnc.passes.loops.expand_math import ExpandMath
from nnc.runtime.interpreter import Interpreter


def module_of(op_class, type, arity=1):
    """A module whose function `f` applies the operation to its arguments."""
    block = Block([type] * arity)
    op = op_class(*block.args)
    block.append(op)
    block.append(func.Return(op.results))
    function = func.FuncOp(
        "f", FunctionType((type,) * arity, tuple(op.result_types)), body=Region([block])
    )
    return ModuleOp(Region([Block((), [function])]))


def expanded(op_class, *arrays, element, externals=None, arithmetic_only=True):
    """The operation on arrays, by the interpreter after --expand-math."""
    type = VectorType((arrays[0].size,), element)
    module = module_of(op_class, type, len(arrays))
    ExpandMath().run(module, PassContext())
    module.verify()
    if arithmetic_only:
        names = {op.name for op in module.walk()}
        assert op_class.name not in names
    interpreter = Interpreter(module, externals=externals)
    (result,) = interpreter.call("f", [a.astype(type_to_numpy(element)) for a in arrays])
    return result


def all_exponents(per_binade=2048, seed=1):
    """f32 of every exponent and sign, with zeros, infinities, denormals and NaN."""
    rng = np.random.default_rng(seed)
    mantissas = rng.integers(0, 1 << 23, (256, per_binade), dtype=np.uint32)
    mantissas[:, :2] = 0
    mantissas[:, 2] = (1 << 23) - 1
    mantissas[:, 3] = 1
    exponents = np.arange(256, dtype=np.uint32)[:, None] << 23
    bits = (exponents | mantissas).reshape(-1)
    return np.concatenate([bits, bits | np.uint32(1 << 31)]).view(np.float32)


def ulps(found, exact):
    """The distance of f32 from f64 values in units of the last place; 0 where both are NaN
    or equal, and infinite where only one is NaN, infinite or a zero of the other sign."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        same = (np.isnan(found) & np.isnan(exact)) | (found == rounded)
        signs = (found != 0) | (rounded != 0) | (np.signbit(found) == np.signbit(exact))
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 1)).astype(np.float32))
        distance = np.abs(found.astype(np.float64) - exact) / unit.astype(np.float64)
        # What rounds to infinity is as far from the largest number as its own value says.
        distance = np.where(np.isnan(distance), np.inf, distance)
        distance = np.where(same & ~np.isfinite(distance), 0, distance)
        return np.where(signs, distance, np.inf)
