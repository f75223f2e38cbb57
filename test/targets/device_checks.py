"""Programs for devices, and what is checked of each: indices, divisions, chains of kernels."""

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.syntax.parser import parse_module, parse_type
from onnx import TensorProto, helper


def model_of(nodes, inputs, results, initializers=()) -> onnx.ModelProto:
    """An ONNX model of nodes."""
    graph = helper.make_graph(nodes, "g", inputs, results, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def value(name: str, shape, kind=TensorProto.FLOAT):
    """A tensor's description."""
    return helper.make_tensor_value_info(name, kind, shape)


def chain() -> onnx.ModelProto:
    """A product, a normalization and a sum, with rows and columns that only the run tells."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Softmax", ["a"], ["b"], axis=-1),
        helper.make_node("ReduceSum", ["b"], ["c"], keepdims=0),
        helper.make_node("Mul", ["b", "c"], ["y"]),
    ]
    return model_of(
        nodes, [value("x", ["n", "k"]), value("w", ["k", "m"])], [value("y", ["n", "m"])]
    )


# -- what goes wrong ---------------------------------------------------------------------------


def gathering() -> onnx.ModelProto:
    """Rows of a table that the run names."""
    return model_of(
        [helper.make_node("Gather", ["x", "i"], ["y"], name="rows")],
        [value("x", [4, 3]), value("i", [2], TensorProto.INT64)],
        [value("y", [2, 3])],
    )


def check_indices(target: str) -> None:
    """What is out of range is named however far, nothing is read there, and the next run is right.

    `rows` has indices of 32 bits, `pairs` has one for each of two extents.
    """
    model = model_of(
        [
            helper.make_node("Gather", ["x", "i"], ["y"], name="rows"),
            helper.make_node("GatherND", ["x", "p"], ["z"], name="pairs"),
        ],
        [
            value("x", ["r", 9]),
            value("i", ["n"], TensorProto.INT32),
            value("p", ["n", 2], TensorProto.INT64),
        ],
        [value("y", ["n", 9]), value("z", ["n"])],
    )
    compiled = nnc.compile(model, target=target, cache=False)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((7, 9), np.float32)
    for count in (1, 700):
        rows, pairs = rng.integers(-7, 7, count, np.int32), rng.integers(-7, 7, (count, 2))
        for far in (9, -10, 1 << 30):
            wrong, beside = rows.copy(), pairs.copy()
            wrong[-1] = beside[-1, 1] = far
            with pytest.raises(NncError, match="'rows' \\(Gather\\): an index is out of range"):
                compiled(x, wrong, pairs)
            with pytest.raises(NncError, match="'pairs' \\(GatherND\\): an index is out of range"):
                compiled(x, rows, beside)
        with pytest.raises(NncError, match="an index is out of range"):
            compiled(x[:0], rows, pairs)
        y, z = compiled(x, rows, pairs)
        np.testing.assert_array_equal(y, x[rows])
        np.testing.assert_array_equal(z, x[pairs[:, 0], pairs[:, 1]])
    assert compiled(x[:0], rows[:0], pairs[:0])[0].shape == (0, 9)


_DIVISIONS = {
    "div": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0,
    "mod": lambda x, y: x % y if y else 0,
}
"""What nnc's divisions give, on Python's numbers."""


def check_divisions(target: str) -> None:
    """Threads share quotients and remainders: by 0 they are 0, and the least number by -1 wraps."""
    cases = [
        ("i8", "37x70", "70"),
        ("ui8", "37x70", "37x1"),
        ("i32", "?x70", "?x70"),
        ("i32", "37x70", "1"),
        ("i64", "37x70", "37x70"),
    ]
    names, given, lines, wanted = [], [], [], []
    rng = np.random.default_rng(0)
    for element, shape, other in cases:
        limits = np.iinfo(type_to_numpy(parse_type(element)))
        types = [f"tensor<{one}x{element}>" for one in (shape, other)]
        x, y = (
            rng.integers(limits.min, limits.max, [int(n) for n in one.split("x")], limits.dtype)
            for one in (shape.replace("?", "37"), other.replace("?", "37"))
        )
        x[:, ::3] = limits.min
        y.flat[::2] = rng.integers(-1 if limits.min else 0, 2, y.flat[::2].shape)
        operands = [f"%x{len(names)}", f"%x{len(names) + 1}"]
        names += [f"{name}: {type}" for name, type in zip(operands, types, strict=True)]
        given += [x, y]
        for op, exact in _DIVISIONS.items():
            lines.append((f"nn.{op} {', '.join(operands)} : ({', '.join(types)})", types[0]))
            numbers = [one.astype(object) for one in (x, y)]
            bits = np.vectorize(exact, otypes=[object])(*numbers) & ((1 << limits.bits) - 1)
            wanted.append(bits.astype(f"u{limits.bits // 8}").view(limits.dtype))
    body = "".join(f"%r{i} = {text} -> {type}\n" for i, (text, type) in enumerate(lines))
    results, types = [f"%r{i}" for i in range(len(lines))], ", ".join(type for _, type in lines)
    text = f"""func.func @main({", ".join(names)}) -> ({types}) {{
      {body} func.return {", ".join(results)} : {types}
    }}"""
    found = nnc.compile(parse_module(text), target=target, cache=False)(*given)
    for (label, _), want, got in zip(lines, wanted, found, strict=True):
        np.testing.assert_array_equal(got, want, label)


def halving() -> onnx.ModelProto:
    """A loop that ends by what a kernel computes."""
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["v", "half"], ["w"]),
            helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
            helper.make_node("Greater", ["s", "one"], ["more"]),
        ],
        "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("v", [3, 5])],
        [value("more", [], TensorProto.BOOL), value("w", [3, 5])],
        [
            helper.make_tensor("half", TensorProto.FLOAT, [], [0.5]),
            helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
        ],
    )
    loop = helper.make_node("Loop", ["", "", "x"], ["y"], body=body)
    return model_of([loop], [value("x", [3, 5])], [value("y", [3, 5])])
