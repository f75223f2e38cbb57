"""Running one operation of the math dialect, expanded, on many numbers."""

from __future__ import annotations

import numpy as np
from nnc.dialects import func
from nnc.dialects.builtin import ModuleOp
from nnc.ir.core import Block, Region
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.passes import PassContext
from nnc.ir.types import FunctionType, VectorType
from nnc.kernels.math.expand_math import ExpandMath
from nnc.numerics.interpreter import Interpreter
from nnc.targets.attribute import target_of


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


def expanded(op_class, *arrays, element, externals=None, arithmetic_only=True, target=None):
    """The operation on arrays, by the interpreter after --expand-math for a target."""
    type = VectorType((arrays[0].size,), element)
    module = module_of(op_class, type, len(arrays))
    target_of(module, target)
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


def compiled(op_class, *arrays, element, arithmetic_only=True, width=16):
    """The same by native code, on vectors of 16 elements."""
    size = -(-arrays[0].size // width) * width
    run = compiled_loop(op_class, len(arrays), size, element, width)
    padded = [np.resize(a, size).astype(type_to_numpy(element)) for a in arrays]
    return run(*padded)[: arrays[0].size]


LOOP = """
func.func @main({arguments}, %out: memref<{size}x{element}>) attributes {{
    nn.entry, nn.input_names = [{names}], nn.output_names = ["out"]}} {{
  %c0 = arith.constant 0 : index
  %step = arith.constant {width} : index
  %end = arith.constant {size} : index
  scf.for %i = %c0 to %end step %step {{
{reads}
    %y = {op} {values} : vector<{width}x{element}>
    vector.store %y, %out[%i] : memref<{size}x{element}>, vector<{width}x{element}>
  }}
  return
}}
"""


def compiled_loop(op_class, arity, size, element, width):
    """An executable that applies the operation to arrays of `size` elements."""
    from nnc.driver.program import compile_module
    from nnc.ir.syntax.parser import parse_module
    from nnc.kernels.codegen.vectors.lower_tiles import LowerTiles
    from nnc.lowering.to_llvm import LowerToLlvm

    buffer = f"memref<{size}x{element}>"
    reads = [
        f"    %x{i} = vector.load %a{i}[%i] : {buffer}, vector<{width}x{element}>"
        for i in range(arity)
    ]
    text = LOOP.format(
        arguments=", ".join(f"%a{i}: {buffer}" for i in range(arity)),
        names=", ".join(f'"a{i}"' for i in range(arity)),
        reads="\n".join(reads),
        values=", ".join(f"%x{i}" for i in range(arity)),
        op=op_class.name,
        size=size,
        element=element,
        width=width,
    )
    module = parse_module(text)
    for step in (LowerTiles(), ExpandMath(), LowerToLlvm()):
        step.run(module, PassContext())
    return compile_module(module)
