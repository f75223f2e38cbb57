"""nn ops compiled to machine code against their reference semantics, over awkward shapes.

Empty and one-element dimensions, and sizes that no vector width divides. All ops that work
element by element are found by their classes; the rest stands in a table.
"""

import numpy as np
import pytest
from nnc.dialects import func, nn
from nnc.dialects.builtin import ModuleOp
from nnc.dialects.nn.elementwise import BinaryOp
from nnc.dialects.nn.unary import UnaryOp
from nnc.driver.compile import run_stages
from nnc.driver.program import compile_module
from nnc.ir.attributes import ArrayAttr, StringAttr, UnitAttr
from nnc.ir.core import Block, Operation
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.types import FunctionType, TensorType, Type, f32

from ..examples import example_text, module_of

SHAPES = [(), (0,), (1,), (17,), (3, 0, 2), (2, 1, 33), (5, 7)]
BROADCASTS = [((), (5,)), ((1, 4), (3, 1)), ((0, 1), (1, 3)), ((2, 3, 19), (3, 1)), ((33,), (33,))]


def elementwise(base: type) -> list[type[Operation]]:
    return sorted(
        (
            c
            for c in vars(nn).values()
            if isinstance(c, type) and issubclass(c, base) and "name" in vars(c)
        ),
        key=lambda c: c.name,
    )


def example_of(cls: type[Operation]) -> Operation:
    """The op of the class's example, whose attributes and element types the test takes over."""
    return next(op for op in module_of(example_text(cls)).walk() if isinstance(op, cls))


def run_ops(calls: list[tuple[type[Operation], dict, list[np.ndarray]]], types: list[list[Type]]):
    """All ops in one compiled module; yields (op, expected results, found results)."""
    entry = Block([t for row in types for t in row])
    ops, args = [], iter(entry.args)
    for (cls, properties, _), row in zip(calls, types, strict=True):
        operands = [next(args) for _ in row]
        results = cls.infer_result_types(row, properties)
        ops.append(cls.create(operands, results, properties=properties))
        entry.append(ops[-1])
    values = [v for op in ops for v in op.results]
    entry.append(func.Return(values))
    type = FunctionType(tuple(a.type for a in entry.args), tuple(v.type for v in values))
    main = func.FuncOp("main", type)
    main.body.append(entry)
    main.attributes["nn.entry"] = UnitAttr()
    names = [StringAttr(f"x{i}") for i in range(len(entry.args))]
    main.attributes["nn.input_names"] = ArrayAttr(tuple(names))
    outs = [StringAttr(f"y{i}") for i in range(len(values))]
    main.attributes["nn.output_names"] = ArrayAttr(tuple(outs))
    module = ModuleOp.of([main])
    module.verify()
    expected = [op.evaluate(*arrays) for op, (_, _, arrays) in zip(ops, calls, strict=True)]
    arrays = [a for _, _, row in calls for a in row]
    given = {f"x{i}": a for i, a in enumerate(arrays)}
    found = iter(compile_module(run_stages(module)).run(given).values())
    for op, want in zip(ops, expected, strict=True):
        wants = want if isinstance(want, tuple) else (want,)
        yield op, wants, [next(found) for _ in wants]


def check(calls, types) -> None:
    for op, wants, founds in run_ops(calls, types):
        for want, found in zip(wants, founds, strict=True):
            want = np.asarray(want)
            assert (found.shape, found.dtype) == (want.shape, want.dtype), op.name
            if want.dtype.kind in "biu":
                np.testing.assert_array_equal(found, want, err_msg=str(op.name))
            else:
                np.testing.assert_allclose(
                    found, want, rtol=2e-5, atol=2e-5, err_msg=f"{op.name} {want.shape}"
                )


def values(shape: tuple[int, ...], element: Type, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    dtype = type_to_numpy(element)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return generator.integers(1, 9, shape).astype(dtype)
    return np.asarray(generator.uniform(0.1, 0.9, shape)).astype(dtype)


def chunks(items: list, size: int = 8) -> list[list]:
    return [items[i : i + size] for i in range(0, len(items), size)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("group", chunks(elementwise(UnaryOp)), ids=lambda g: g[0].name)
def test_unary(group: list[type[Operation]]) -> None:
    calls, types = [], []
    for cls in group:
        example = example_of(cls)
        element = example.operands[0].type.element_type
        if example.results[0].type.element_type is not element and cls is nn.Cast:
            continue  # its result's type is not inferred; ONNX's cases cover it
        for shape in SHAPES:
            calls.append((cls, example.properties, [values(shape, element, len(calls))]))
            types.append([TensorType(shape, element)])
    check(calls, types)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("group", chunks(elementwise(BinaryOp)), ids=lambda g: g[0].name)
def test_binary(group: list[type[Operation]]) -> None:
    calls, types = [], []
    for cls in group:
        example = example_of(cls)
        elements = [v.type.element_type for v in example.operands]
        for pair in BROADCASTS:
            arrays = [
                values(s, e, i + len(calls))
                for i, (s, e) in enumerate(zip(pair, elements, strict=True))
            ]
            calls.append((cls, example.properties, arrays))
            types.append([TensorType(s, e) for s, e in zip(pair, elements, strict=True)])
    check(calls, types)


def made(factory, *shapes: tuple[int, ...]):
    """An op built by its constructor, as (class, properties, arrays) and operand types."""
    types = [TensorType(shape, f32) for shape in shapes]
    op = factory(*Block(types).args)
    arrays = [values(shape, f32, i) for i, shape in enumerate(shapes)]
    return (type(op), op.properties, arrays), types


OTHERS = {
    "matmul": [
        made(nn.Matmul, a, b)
        for a, b in [
            ((1, 1), (1, 1)),
            ((0, 3), (3, 5)),
            ((3, 0), (0, 5)),
            ((7, 13), (13, 33)),
            ((1, 64), (64, 17)),
            ((2, 1, 5, 3), (4, 3, 19)),
        ]
    ],
    "conv": [
        made(lambda x, w: nn.Conv(x, w, pads=(1, 1, 1, 1)), (1, 1, 1, 1), (1, 1, 3, 3)),
        made(lambda x, w: nn.Conv(x, w, pads=(1, 1, 1, 1)), (0, 3, 5, 5), (2, 3, 3, 3)),
        made(lambda x, w: nn.Conv(x, w, strides=(2, 2)), (2, 5, 9, 11), (17, 5, 3, 3)),
        made(lambda x, w: nn.Conv(x, w, groups=19), (1, 19, 7, 7), (19, 1, 3, 3)),
        made(lambda x, w: nn.Conv(x, w, dilations=(2,)), (1, 3, 33), (33, 3, 3)),
    ],
    "reductions": [
        made(lambda x, c=c, a=a: c(x, axes=a, keep_dims=False), shape)
        for c in (nn.ReduceSum, nn.ReduceMax, nn.ReduceMean, nn.ReduceProd)
        for shape, a in [((1,), (0,)), ((17, 3), (0,)), ((3, 33), (1,)), ((2, 5, 7), (0, 2))]
    ],
    "normalizations": [
        made(lambda x: nn.Softmax(x, axis=1), (1, 1)),
        made(lambda x: nn.Softmax(x, axis=1), (0, 5)),
        made(lambda x: nn.Softmax(x, axis=1), (3, 37)),
        made(lambda x: nn.Softmax(x, axis=0), (19, 5)),
        made(lambda x, s: nn.LayerNorm(x, s, axis=1), (3, 37), (37,)),
        made(lambda x, s: nn.LayerNorm(x, s, axis=1), (0, 5), (5,)),
    ],
    "movement": [
        made(lambda x: nn.Transpose(x, (1, 0)), (17, 5)),
        made(lambda x: nn.Transpose(x, (2, 0, 1)), (3, 1, 19)),
        made(lambda x: nn.Transpose(x, (1, 0)), (0, 5)),
    ],
}


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    calls, types = zip(*OTHERS[name], strict=True)
    check(list(calls), list(types))
