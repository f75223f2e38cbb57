"""Running a function before and after a lowering, and comparing what comes out."""

import nnc
import numpy as np
from nnc.dialects import func
from nnc.ir.attributes import ArrayAttr, StringAttr, UnitAttr
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import IntegerType, TensorType
from nnc.lowering.nn_to_linalg import LowerToLinalg
from nnc.lowering.nn_to_linalg.storage import storage_type
from nnc.numerics.interpreter import Interpreter


def signless(array, type):
    """The array in the dtype of the element type without its sign."""
    element = type.element_type
    if isinstance(element, IntegerType) and element.signedness == "u":
        return array.view(type_to_numpy(storage_type(element)))
    return array


def entry(module, name="main"):
    return next(f for f in module.body_block if isinstance(f, func.FuncOp) and f.sym_name == name)


def random_input(type: TensorType, rng, sizes=()):
    """Numbers of a tensor type; its unknown extents are taken from `sizes`."""
    rest = iter(sizes)
    shape = [next(rest) if d is None else d for d in type.shape]
    dtype = type_to_numpy(type.element_type)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -5, 6, shape).astype(dtype)
    return rng.standard_normal(shape).astype(np.float32).astype(dtype)


def lowered(text: str):
    """The module of the text, lowered and verified."""
    module = parse_module(text)
    module.verify()
    LowerToLinalg().run(module, PassContext())
    module.verify()
    return module


def run_lowered(module, types, inputs, name="main"):
    """The results of a lowered function whose results had these tensor types."""
    args = [np.array(x) for x in inputs]
    outs = []
    for type in types:
        if type.has_static_shape:
            dtype = type_to_numpy(storage_type(type.element_type))
            outs.append(np.full(type.shape, 77, dtype))
    returned = iter(Interpreter(module).call(name, [*args, *outs]))
    written = iter(outs)
    return [next(written) if t.has_static_shape else next(returned) for t in types]


def inputs_of(types, inputs, sizes, seed):
    """The inputs given, or random ones, in the dtypes of tensor types."""
    if inputs is None:
        rng = np.random.default_rng(seed)
        left = list(sizes)
        inputs = []
        for type in types:
            unknown = type.shape.count(None)
            inputs.append(random_input(type, rng, left[:unknown]))
            left = left[unknown:]
    return [
        np.asarray(x, type_to_numpy(t.element_type)) for x, t in zip(inputs, types, strict=True)
    ]


def check_equal(got, want, rtol, atol):
    """Shapes and dtypes are the same, integers exactly and floats closely."""
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
    else:
        wide = (got.astype(np.float64), want.astype(np.float64))
        np.testing.assert_allclose(*wide, rtol=rtol, atol=atol)


def compare(text: str, inputs=None, sizes=(), rtol=1e-5, atol=1e-5, seed=0, name="main"):
    """Check that the lowered function computes what the tensors' semantics say; the module."""
    before = parse_module(text)
    before.verify()
    function = entry(before, name)
    types, results = function.function_type.inputs, function.function_type.results
    inputs = inputs_of(types, inputs, sizes, seed)
    after = lowered(text)
    stored = [signless(x, t) for x, t in zip(inputs, types, strict=True)]
    with np.errstate(all="ignore"):
        expected = Interpreter(before).call(name, inputs)
        found = run_lowered(after, results, stored, name)
    for type, want, got in zip(results, expected, found, strict=True):
        check_equal(got, signless(np.asarray(want), type), rtol, atol)
    return after


def compare_native(text: str, inputs=None, sizes=(), rtol=1e-4, atol=1e-4, seed=0, name="main"):
    """Check that the function compiled to machine code does what the tensors' semantics say."""
    module = parse_module(text)
    module.verify()
    function = entry(module, name)
    types, results = function.function_type.inputs, function.function_type.results
    inputs = inputs_of(types, inputs, sizes, seed)
    with np.errstate(all="ignore"):
        expected = Interpreter(module).call(name, inputs)
    function.attributes["nn.entry"] = UnitAttr()
    for kind, count in (("input", len(types)), ("output", len(results))):
        names = tuple(StringAttr(f"{kind}{i}") for i in range(count))
        function.attributes[f"nn.{kind}_names"] = ArrayAttr(names)
    found = nnc.compile(module)(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    for want, got in zip(expected, found, strict=True):
        check_equal(got, np.asarray(want), rtol, atol)
