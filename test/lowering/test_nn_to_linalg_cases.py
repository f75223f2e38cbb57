"""Lowering nn to linalg: attributes, element types and unknown extents beyond the examples."""

import numpy as np
import pytest
from nnc.dialects import linalg
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_type

from .running import compare, compare_native, lowered, run_lowered

RNG = np.random.default_rng(7)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def one_op(text: str, *args: str) -> str:
    """A function around one op; `args` are its arguments with types."""
    types = text.rpartition("-> ")[2].strip("()\n ")
    count = types.count("tensor<")
    made = "%r" if count == 1 else f"%r:{count}"
    returned = "%r" if count == 1 else ", ".join(f"%r#{i}" for i in range(count))
    return (
        f"func.func @main({', '.join(args)}) -> ({types}) {{\n  {made} = {text}\n"
        f"  func.return {returned} : {types}\n}}"
    )


CONVOLUTIONS = {
    "padded, of an open batch": (
        "nn.conv %x, %w {pads = array<i64: 1, 2, 0, 1>} : "
        "(tensor<?x32x9x14xf32>, tensor<32x32x3x3xf32>) -> tensor<?x32x8x15xf32>",
        ("%x: tensor<?x32x9x14xf32>", "%w: tensor<32x32x3x3xf32>"),
    ),
    "padded, strided, dilated": (
        "nn.conv %x, %w, %b {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, "
        "pads = array<i64: 1, 2, 0, 1>} : (tensor<2x3x9x8xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>)"
        " -> tensor<2x4x4x9xf32>",
        ("%x: tensor<2x3x9x8xf32>", "%w: tensor<4x3x3x2xf32>", "%b: tensor<4xf32>"),
    ),
    "depthwise": (
        "nn.conv %x, %w {groups = 6 : i64, pads = array<i64: 1, 1, 1, 1>} : "
        "(tensor<1x6x5x5xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x5x5xf32>",
        ("%x: tensor<1x6x5x5xf32>", "%w: tensor<6x1x3x3xf32>"),
    ),
    "grouped": (
        "nn.conv %x, %w, %b {groups = 2 : i64, strides = array<i64: 2, 2>} : "
        "(tensor<2x6x7x7xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x3x3xf32>",
        ("%x: tensor<2x6x7x7xf32>", "%w: tensor<4x3x3x3xf32>", "%b: tensor<4xf32>"),
    ),
    "one dimension": (
        "nn.conv %x, %w {pads = array<i64: 2, 2>} : "
        "(tensor<2x3x9xf32>, tensor<5x3x5xf32>) -> tensor<2x5x9xf32>",
        ("%x: tensor<2x3x9xf32>", "%w: tensor<5x3x5xf32>"),
    ),
    "three dimensions": (
        "nn.conv %x, %w {strides = array<i64: 1, 2, 1>} : "
        "(tensor<1x2x4x5x6xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x3x2x5xf32>",
        ("%x: tensor<1x2x4x5x6xf32>", "%w: tensor<3x2x2x2x2xf32>"),
    ),
    "f16": (
        "nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : "
        "(tensor<1x8x5x5xf16>, tensor<4x8x3x3xf16>) -> tensor<1x4x5x5xf16>",
        ("%x: tensor<1x8x5x5xf16>", "%w: tensor<4x8x3x3xf16>"),
    ),
    "transposed": (
        "nn.conv_transpose %x, %w, %b {strides = array<i64: 2, 3>, pads = array<i64: 1, 0, 2, 1>, "
        "dilations = array<i64: 2, 1>, output_padding = array<i64: 1, 0>} : "
        "(tensor<2x3x4x5xf32>, tensor<3x4x3x3xf32>, tensor<4xf32>) -> tensor<2x4x9x14xf32>",
        ("%x: tensor<2x3x4x5xf32>", "%w: tensor<3x4x3x3xf32>", "%b: tensor<4xf32>"),
    ),
    "transposed in groups, cropped": (
        "nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 2, 2>, "
        "groups = 2 : i64} : (tensor<1x4x6x6xf32>, tensor<4x3x2x2xf32>) -> tensor<1x6x7x7xf32>",
        ("%x: tensor<1x4x6x6xf32>", "%w: tensor<4x3x2x2xf32>"),
    ),
    "transposed, unknown image": (
        "nn.conv_transpose %x, %w, %b {strides = array<i64: 2, 3>, pads = array<i64: 1, 0, 2, 1>, "
        "dilations = array<i64: 2, 1>, output_padding = array<i64: 1, 0>} : "
        "(tensor<?x3x?x?xf32>, tensor<3x4x3x3xf32>, tensor<4xf32>) -> tensor<?x4x?x?xf32>",
        ("%x: tensor<?x3x?x?xf32>", "%w: tensor<3x4x3x3xf32>", "%b: tensor<4xf32>"),
    ),
    "transposed in groups, unknown image": (
        "nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 1, 2, 1>, "
        "groups = 2 : i64} : (tensor<1x4x?x?xf32>, tensor<4x3x3x2xf32>) -> tensor<1x6x?x?xf32>",
        ("%x: tensor<1x4x?x?xf32>", "%w: tensor<4x3x3x2xf32>"),
    ),
    "transposed, unknown channels": (
        "nn.conv_transpose %x, %w {strides = array<i64: 2, 2>} : "
        "(tensor<1x4x5x6xf32>, tensor<4x?x3x3xf32>) -> tensor<1x?x11x13xf32>",
        ("%x: tensor<1x4x5x6xf32>", "%w: tensor<4x?x3x3xf32>"),
    ),
    "unknown batch": (
        "nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : "
        "(tensor<?x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<?x6x5x5xf32>",
        ("%x: tensor<?x4x5x5xf32>", "%w: tensor<6x2x3x3xf32>"),
    ),
    "unknown image": (
        "nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : "
        "(tensor<1x4x?x?xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x?x?xf32>",
        ("%x: tensor<1x4x?x?xf32>", "%w: tensor<6x4x3x3xf32>"),
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name):
    text, args = CONVOLUTIONS[name]
    tolerance = 2e-2 if "f16" in text else 1e-4
    compare(one_op(text, *args), sizes=[3, 7, 5], rtol=tolerance, atol=tolerance)


def test_linear_maps_only():
    """Groups are a dimension of their own, not a division in a map."""
    text, args = CONVOLUTIONS["grouped"]
    module = lowered(one_op(text, *args))
    generics = [op for op in module.walk() if isinstance(op, linalg.Generic)]
    assert all(e.linear(m.dim_count) for g in generics for m in g.maps for e in m.results)


POOLS = {
    "max": "nn.max_pool %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, "
    "pads = array<i64: 1, 0, 1, 1>}",
    "max, rounded up": "nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, "
    "ceil_mode = true}",
    "max, dilated": "nn.max_pool %x {kernel = array<i64: 2, 2>, dilations = array<i64: 2, 3>}",
    "average": "nn.avg_pool %x {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}",
    "average with padding": "nn.avg_pool %x {kernel = array<i64: 3, 3>, "
    "pads = array<i64: 1, 1, 1, 1>, count_include_pad = true}",
    "average, rounded up": "nn.avg_pool %x {kernel = array<i64: 3, 3>, "
    "strides = array<i64: 2, 2>, ceil_mode = true, count_include_pad = true}",
    "norm": "nn.lp_pool %x {kernel = array<i64: 2, 2>, p = 3 : i64}",
    "norm 1": "nn.lp_pool %x {kernel = array<i64: 2, 2>, p = 1 : i64}",
    "norm 2": "nn.lp_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}",
}
POOL_RESULTS = {
    "max": "4x8",
    "max, rounded up": "4x4",
    "max, dilated": "6x5",
    "average": "8x8",
    "average with padding": "8x8",
    "average, rounded up": "4x4",
    "norm": "7x7",
    "norm 1": "7x7",
    "norm 2": "4x4",
}


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("name", POOLS)
def test_pooling(name, element):
    x = f"tensor<2x3x8x8x{element}>"
    text = f"{POOLS[name]} : ({x}) -> tensor<2x3x{POOL_RESULTS[name]}x{element}>"
    tolerance = 1e-5 if element == "f32" else 1e-2
    compare(one_op(text, f"%x: {x}"), rtol=tolerance, atol=tolerance)


def test_average_of_unknown_extents():
    text = (
        "nn.avg_pool %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, "
        "pads = array<i64: 1, 1, 1, 0>} : (tensor<1x2x?x?xf32>) -> tensor<1x2x?x?xf32>"
    )
    compare(one_op(text, "%x: tensor<1x2x?x?xf32>"), sizes=[6, 5])


def test_max_pool_with_indices_prefers_the_first():
    x = np.array([[[[1, 3, 3], [3, -np.inf, 0], [2, 2, 2]]]], np.float32)
    text = (
        "nn.max_pool_with_indices %x {kernel = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>} : "
        "(tensor<1x1x3x3xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xi64>)"
    )
    compare(one_op(text, "%x: tensor<1x1x3x3xf32>"), [x])


BROADCASTS = [
    ("tensor<4x8xf32>", "tensor<8xf32>", "tensor<4x8xf32>", []),
    ("tensor<4x1xf32>", "tensor<1x8xf32>", "tensor<4x8xf32>", []),
    ("tensor<f32>", "tensor<3x1x2xf32>", "tensor<3x1x2xf32>", []),
    ("tensor<?x8xf32>", "tensor<?x8xf32>", "tensor<?x8xf32>", [5, 5]),
    ("tensor<?x8xf32>", "tensor<?x8xf32>", "tensor<?x8xf32>", [1, 5]),
    ("tensor<?x8xf32>", "tensor<?x8xf32>", "tensor<?x8xf32>", [5, 1]),
    ("tensor<?x?xf32>", "tensor<?xf32>", "tensor<?x?xf32>", [3, 1, 4]),
    ("tensor<?x?xf32>", "tensor<?x?xf32>", "tensor<?x?xf32>", [1, 4, 3, 1]),
]


@pytest.mark.parametrize(("a", "b", "c", "sizes"), BROADCASTS)
def test_broadcasting(a, b, c, sizes):
    compare(one_op(f"nn.sub %a, %b : ({a}, {b}) -> {c}", f"%a: {a}", f"%b: {b}"), sizes=sizes)


INTEGERS = ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"]
BINARY = ["add", "sub", "mul", "div", "mod", "min", "max", "pow", "and", "or", "xor"]


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", [*BINARY, "shift_left", "shift_right"])
def test_integers(op, element):
    """Also what would trap or be undefined on a machine."""
    type = f"tensor<12x{element}>"
    dtype = np.dtype(("u" if element[0] == "u" else "") + "int" + element.lstrip("ui"))
    info = np.iinfo(dtype)
    a = np.array([info.min, info.min, info.max, 0, 1, 7, 100, 3, 5, 2, 9, 11], dtype)
    small = np.array([1, 2, 3, 1, 2, 3, 0, 2, 3, 4, 5, 6], dtype)
    largest = np.full(1, info.max, dtype)
    b = np.concatenate([np.array([1, 0, 2, 0, 3, 2, 7, 1, 5, 2, 4], dtype), largest])
    if info.min:
        b[0] = -1
    if op == "pow":
        a, b = small, np.array([0, 1, 2, 3, 4, 3, 2, 5, 1, 2, 1, 2], dtype)
    compare(
        one_op(f"nn.{op} %a, %b : ({type}, {type}) -> {type}", f"%a: {type}", f"%b: {type}"), [a, b]
    )


@pytest.mark.parametrize("relation", ["equal", "less", "less_equal", "greater", "greater_equal"])
@pytest.mark.parametrize("element", ["f32", "f16", "i8", "ui8", "i1"])
def test_comparisons(relation, element):
    type = f"tensor<4x6x{element}>"
    text = f"nn.{relation} %a, %b : ({type}, {type}) -> tensor<4x6xi1>"
    compare(one_op(text, f"%a: {type}", f"%b: {type}"))


CASTS = ["f64", "f32", "f16", "bf16", "i64", "i8", "ui8", "ui32", "i1"]


@pytest.mark.parametrize("source", CASTS)
@pytest.mark.parametrize("target", CASTS)
def test_cast(source, target):
    values = np.array([0, 1, 2.5, 3.75, 100, 7] + ([] if source[0] == "u" else [-1.5, -4]))
    x, y = f"tensor<{len(values)}x{source}>", f"tensor<{len(values)}x{target}>"
    if target.startswith("ui") and source[0] != "u":
        values = np.abs(values)
    compare(one_op(f"nn.cast %x : ({x}) -> {y}", f"%x: {x}"), [values], rtol=1e-2)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", ["1, 2, 3, 1", "0, 3, 0, 2", "2, -1, 0, 1"])
def test_pad(mode, pads):
    if mode != "constant" and "-" in pads:
        pads = pads.replace("-1", "1")
    a, b, c, d = (int(p) for p in pads.split(","))
    value = ", %v" if mode == "constant" else ""
    extra = ", tensor<f32>" if mode == "constant" else ""
    text = (
        f'nn.pad %x{value} {{pads = array<i64: {pads}>, mode = "{mode}"}} : '
        f"(tensor<4x5xf32>{extra}) -> tensor<{4 + a + c}x{5 + b + d}xf32>"
    )
    compare(one_op(text, "%x: tensor<4x5xf32>", *(["%v: tensor<f32>"] if extra else [])))


MOVEMENT = {
    "reverse": ("nn.slice %x {starts = array<i64: 3, 0>, steps = array<i64: -1, 2>} : "
                "(tensor<4x6xf32>) -> tensor<4x3xf32>", ["%x: tensor<4x6xf32>"], []),
    "slice to the end": ("nn.slice %x {starts = array<i64: 1, 0>} : "
                         "(tensor<?x6xf32>) -> tensor<?x6xf32>", ["%x: tensor<?x6xf32>"], [5]),
    "concat of unknown": ("nn.concat %x, %y {axis = 0 : i64} : (tensor<?x3xf32>, tensor<2x3xf32>) "
                          "-> tensor<?x3xf32>", ["%x: tensor<?x3xf32>", "%y: tensor<2x3xf32>"], [4]),
    "split": ("nn.split %x {axis = 1 : i64} : (tensor<2x6xf32>) -> (tensor<2x1xf32>, "
              "tensor<2x3xf32>, tensor<2x2xf32>)", ["%x: tensor<2x6xf32>"], []),
    "tile": ("nn.tile %x {repeats = array<i64: 2, 1, 3>} : (tensor<2x3x2xf32>) -> "
             "tensor<4x3x6xf32>", ["%x: tensor<2x3x2xf32>"], []),
    "tile of unknown": ("nn.tile %x {repeats = array<i64: 2, 3>} : (tensor<?x2xf32>) -> "
                        "tensor<?x6xf32>", ["%x: tensor<?x2xf32>"], [3]),
    "tile of two unknown": ("nn.tile %x {repeats = array<i64: 2, 1, 3>} : (tensor<?x2x?xf32>) -> "
                            "tensor<?x2x?xf32>", ["%x: tensor<?x2x?xf32>"], [3, 2]),
    "depth to space of unknown": ("nn.depth_to_space %x {block = 2 : i64} : (tensor<?x8x?x?xf32>) "
                                  "-> tensor<?x2x?x?xf32>",
                                  ["%x: tensor<?x8x?x?xf32>"], [2, 3, 4]),
    "depth of unknown to space": ('nn.depth_to_space %x {block = 2 : i64, mode = "CRD"} : '
                                  "(tensor<2x?x3x?xf32>) -> tensor<2x?x6x?xf32>",
                                  ["%x: tensor<2x?x3x?xf32>"], [8, 5]),
    "space of unknown to depth": ("nn.space_to_depth %x {block = 3 : i64} : (tensor<1x?x?x?xf32>) -> "
                                  "tensor<1x?x?x?xf32>", ["%x: tensor<1x?x?x?xf32>"], [2, 6, 9]),
    "split of unknown": ("nn.split %x {axis = 1 : i64} : (tensor<?x5xf32>) -> (tensor<?x2xf32>, "
                         "tensor<?x3xf32>)", ["%x: tensor<?x5xf32>"], [3]),
    "depth to space, CRD": ('nn.depth_to_space %x {block = 2 : i64, mode = "CRD"} : '
                            "(tensor<2x8x3x4xf32>) -> tensor<2x2x6x8xf32>",
                            ["%x: tensor<2x8x3x4xf32>"], []),
    "space to depth": ("nn.space_to_depth %x {block = 3 : i64} : (tensor<?x2x6x9xf32>) -> "
                       "tensor<?x18x2x3xf32>", ["%x: tensor<?x2x6x9xf32>"], [2]),
    "reshape": ("nn.reshape %x : (tensor<4x6xf32>) -> tensor<3x8xf32>", ["%x: tensor<4x6xf32>"], []),
    "reshape to a scalar": ("nn.reshape %x : (tensor<1x1xf32>) -> tensor<f32>",
                            ["%x: tensor<1x1xf32>"], []),
    "reshape of unknown": ("nn.reshape %x : (tensor<?x6xf32>) -> tensor<?x2xf32>",
                           ["%x: tensor<?x6xf32>"], [4]),
    "transpose of unknown": ("nn.transpose %x {permutation = array<i64: 2, 0, 1>} : "
                             "(tensor<?x3x?xf32>) -> tensor<?x?x3xf32>",
                             ["%x: tensor<?x3x?xf32>"], [2, 5]),
    "upper triangle": ("nn.trilu %x, %k : (tensor<2x4x5xf32>, tensor<i64>) -> tensor<2x4x5xf32>",
                       ["%x: tensor<2x4x5xf32>", "%k: tensor<i64>"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVEMENT)
def test_movement(name):
    text, args, sizes = MOVEMENT[name]
    compare(one_op(text, *args), sizes=sizes)


@pytest.mark.parametrize("bounds", [(-3, 100, 2), (100, -100, -1), (3, 1, 1), (-1, -6, -2)])
def test_slice_dynamic(bounds):
    start, end, step = bounds
    text = (
        "nn.slice_dynamic %x, %a, %b, %c, %d : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, "
        "tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>"
    )
    args = ["%x: tensor<4x6xf32>", *(f"%{n}: tensor<2xi64>" for n in "abcd")]
    x = f32(4, 6)
    compare(one_op(text, *args), [x, [start, 1], [end, 3], [-1, 0], [step, 1]])


@pytest.mark.parametrize("steps", [(1, 1), (3, 2), (1 << 40, 1), (-1, 1)])
@pytest.mark.parametrize("bounds", [(1, 100), (-3, -1), (4, 2), (-100, 0)])
def test_slice_of_known_axes_is_a_copy_of_a_part(bounds, steps):
    text = f"""
    func.func @main(%x: tensor<?x6xf32>, %a: tensor<2xi64>, %b: tensor<2xi64>) -> tensor<?x?xf32> {{
      %c = nn.constant dense<[-1, 0]> : tensor<2xi64>
      %d = nn.constant dense<[{steps[0]}, {steps[1]}]> : tensor<2xi64>
      %r = nn.slice_dynamic %x, %a, %b, %c, %d : (tensor<?x6xf32>, tensor<2xi64>, tensor<2xi64>,
        tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
      func.return %r : tensor<?x?xf32>
    }}"""
    start, end = bounds
    module = compare(text, [f32(5, 6), [start, 1], [end, 3]])
    copies = [op for op in module.walk() if isinstance(op, linalg.Copy)]
    assert len(copies) == (min(steps) > 0 and max(steps) < 1 << 31)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(0, 2, 3, 1), (4, 0, 0, 5), (-1, 2, 1, -2)])
def test_pad_dynamic(mode, pads):
    text = (
        f'nn.pad_dynamic %x, %p {{mode = "{mode}"}} : (tensor<?x6xf32>, tensor<4xi64>) -> '
        "tensor<?x?xf32>"
    )
    compare(one_op(text, "%x: tensor<?x6xf32>", "%p: tensor<4xi64>"), [f32(5, 6), pads])


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_pad_of_an_open_image_copies_it(mode):
    text = (
        f'nn.pad %x {{mode = "{mode}", pads = array<i64: 0, 2, 1, 0, 1, 3>}} : '
        "(tensor<?x?x?xf32>) -> tensor<?x?x?xf32>"
    )
    module = compare(one_op(text, "%x: tensor<?x?x?xf32>"), sizes=(2, 4, 5))
    assert len([op for op in module.walk() if isinstance(op, linalg.Copy)]) == 1


def test_pad_dynamic_of_what_is_not_there():
    text = 'nn.pad_dynamic %x, %p {{mode = "{}"}} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?xf32>'
    args = "%x: tensor<?xf32>", "%p: tensor<2xi64>"
    constant, edge = (lowered(one_op(text.format(mode), *args)) for mode in ("constant", "edge"))
    results = [parse_type("tensor<?xf32>")]
    with pytest.raises(NncError, match="pads remove more than there is of its operand"):
        run_lowered(constant, results, [f32(3), np.array([-4, 9])], "main")
    with pytest.raises(NncError, match="there is no element to repeat"):
        run_lowered(edge, results, [f32(0), np.array([1, 0])], "main")


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("element", ["f32", "i32", "ui8", "f16"])
def test_scatter(reduction, element):
    x, u = f"tensor<4x5x{element}>", f"tensor<2x3x{element}>"
    text = (
        f'nn.scatter_elements %x, %i, %u {{axis = 1 : i64, reduction = "{reduction}"}} : '
        f"({x}, tensor<2x3xi64>, {u}) -> {x}"
    )
    indices = [[0, 4, -2], [1, 1, 2]] if reduction != "none" else [[0, 4, -2], [1, 0, 2]]
    rng = np.random.default_rng(3)
    compare(
        one_op(text, f"%x: {x}", "%i: tensor<2x3xi64>", f"%u: {u}"),
        [rng.integers(0, 9, (4, 5)), indices, rng.integers(0, 9, (2, 3))],
        rtol=1e-2,
    )
    rows = f"tensor<2x5x{element}>"
    text = (
        f'nn.scatter_nd %x, %i, %u {{reduction = "{reduction}"}} : '
        f"({x}, tensor<2x1xi64>, {rows}) -> {x}"
    )
    where = [[-1], [3]] if reduction != "none" else [[-1], [1]]
    compare(
        one_op(text, f"%x: {x}", "%i: tensor<2x1xi64>", f"%u: {rows}"),
        [rng.integers(0, 9, (4, 5)), where, rng.integers(0, 9, (2, 5))],
        rtol=1e-2,
    )


@pytest.mark.parametrize("index", [-5, 4, 100, -(2**63)])
@pytest.mark.parametrize("count", [1, 40])
def test_indices_out_of_range_are_errors(index, count):
    """Before memory outside the operand is touched, wherever among the others they stand."""
    text = one_op(
        f"nn.gather %x, %i : (tensor<4xf32>, tensor<{count}xi64>) -> tensor<{count}xf32>",
        "%x: tensor<4xf32>",
        f"%i: tensor<{count}xi64>",
    )
    x, indices = np.arange(4, dtype=np.float32), np.arange(count) % 8 - 4
    out = parse_type(f"tensor<{count}xf32>")
    (found,) = run_lowered(lowered(text), [out], [x, indices])
    np.testing.assert_array_equal(found, x[indices])
    for place in {0, count // 2, count - 1}:
        wrong = indices.copy()
        wrong[place] = index
        with pytest.raises(NncError, match="an index is out of range"):
            run_lowered(lowered(text), [out], [x, wrong])


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("flags", ["", "exclusive = true, ", "reverse = true, ",
                                   "exclusive = true, reverse = true, "])  # fmt: skip
def test_cumsum(axis, flags):
    text = f"nn.cumsum %x {{{flags}axis = {axis} : i64}} : (tensor<3x4x2xf16>) -> tensor<3x4x2xf16>"
    compare(one_op(text, "%x: tensor<3x4x2xf16>"), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("axis", [0, 1])
def test_top_k(largest, axis):
    """Equal elements in the order of their positions, NaN as the largest."""
    x = np.array([[1, 5, 5, -2, 5], [0, 0, 0, 0, 0], [3, np.nan, 4, 4, -7]], np.float32)
    result = "?x5" if axis == 0 else "3x?"
    text = (
        f"nn.top_k %x, %k {{axis = {axis} : i64, largest = {largest}}} : "
        f"(tensor<3x5xf32>, tensor<1xi64>) -> (tensor<{result}xf32>, tensor<{result}xi64>)"
    )
    if axis == 0:
        x = np.nan_to_num(x)
    compare(one_op(text, "%x: tensor<3x5xf32>", "%k: tensor<1xi64>"), [x, [3 - (axis == 0)]])


@pytest.mark.parametrize("op", ["argmax", "argmin"])
@pytest.mark.parametrize("last", ["true", "false"])
@pytest.mark.parametrize("keep", ["true", "false"])
def test_arg(op, last, keep):
    x = RNG.integers(0, 3, (4, 6, 3)).astype(np.float32)
    result = "4x1x3" if keep == "true" else "4x3"
    text = (
        f"nn.{op} %x {{axis = 1 : i64, keep_dims = {keep}, select_last_index = {last}}} : "
        f"(tensor<4x6x3xf32>) -> tensor<{result}xi64>"
    )
    compare(one_op(text, "%x: tensor<4x6x3xf32>"), [x])


RESIZES = [
    'mode = "nearest"',
    'mode = "nearest", coordinate_transform = "asymmetric", nearest_mode = "floor"',
    'mode = "linear"',
    'mode = "linear", coordinate_transform = "align_corners"',
    'mode = "cubic"',
    'mode = "cubic", exclude_outside = true, coordinate_transform = "pytorch_half_pixel"',
    'mode = "linear", antialias = true',
]


@pytest.mark.parametrize("attributes", RESIZES)
@pytest.mark.parametrize("size", ["8x6", "3x2"])
@pytest.mark.parametrize("element", ["f32", "ui8"])
def test_resize(attributes, size, element):
    x = f"tensor<1x2x5x4x{element}>"
    text = f"nn.resize %x {{{attributes}}} : ({x}) -> tensor<1x2x{size}x{element}>"
    compare(one_op(text, f"%x: {x}"))


RUN_TIME_RESIZES = [
    *RESIZES,
    *(f'nearest_mode = "{mode}"' for mode in ("round_prefer_ceil", "floor", "ceil")),
    'mode = "linear", coordinate_transform = "half_pixel_symmetric"',
    'mode = "cubic", antialias = true, exclude_outside = true, cubic_coeff_a = -0.5 : f32',
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("attributes", RUN_TIME_RESIZES)
@pytest.mark.parametrize("size", [(8, 6), (3, 2), (1, 9)])
@pytest.mark.parametrize("element", ["f32", "f64", "ui8"])
def test_resize_dynamic(attributes, size, element):
    x = f"tensor<?x2x?x4x{element}>"
    text = (
        f"nn.resize_dynamic %x, %s, %n {{axes = array<i64: 3, 2>, {attributes}}} : "
        f"({x}, tensor<2xf32>, tensor<2xi64>) -> tensor<?x2x?x?x{element}>"
    )
    values = np.random.default_rng(2).uniform(0, 100, (2, 2, 5, 4))
    scales = [size[1] / 4, size[0] / 5]
    args = f"%x: {x}", "%s: tensor<2xf32>", "%n: tensor<2xi64>"
    compare(one_op(text, *args), [values, scales, size[::-1]])


@pytest.mark.parametrize("attributes", [RUN_TIME_RESIZES[i] for i in (0, 2, -1)])
def test_resize_dynamic_as_machine_code(attributes):
    x = "tensor<?x2x?x?xf32>"
    text = (
        f"nn.resize_dynamic %x, %s, %n {{axes = array<i64: 2, 3>, {attributes}}} : "
        f"({x}, tensor<2xf32>, tensor<2xi64>) -> {x}"
    )
    args = f"%x: {x}", "%s: tensor<2xf32>", "%n: tensor<2xi64>"
    compare_native(one_op(text, *args), [f32(2, 2, 5, 40), [1.8, 0.55], [9, 22]])


@pytest.mark.parametrize("attributes", RUN_TIME_RESIZES)
@pytest.mark.parametrize("scale", [0.5, 1.7])
def test_resize_of_unknown_extents(attributes, scale):
    x = "tensor<1x2x?x?xf32>"
    text = (
        f"nn.resize %x {{scales = array<f32: 1.0, 1.0, {scale}, 2.0>, {attributes}}} : ({x}) -> {x}"
    )
    compare(one_op(text, f"%x: {x}"), sizes=[5, 4])


def test_resize_dynamic_with_extrapolation():
    x = "tensor<1x1x?x4xf32>"
    text = (
        'nn.resize_dynamic %x, %s, %n, %b {axes = array<i64: 2, 3>, mode = "linear", '
        'coordinate_transform = "tf_crop_and_resize", extrapolation_value = 9.0 : f32} : '
        f"({x}, tensor<2xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x1x?x?xf32>"
    )
    args = f"%x: {x}", "%s: tensor<2xf32>", "%n: tensor<2xi64>", "%b: tensor<4xf32>"
    region = [-0.2, 0.1, 1.3, 0.8]
    compare(one_op(text, *args), [f32(1, 1, 4, 4), [1, 1], [5, 3], region])
    compare(one_op(text, *args), [f32(1, 1, 4, 4), [1, 1], [1, 3], region])


def test_resize_with_extrapolation():
    text = (
        'nn.resize %x {mode = "linear", coordinate_transform = "tf_crop_and_resize", '
        "roi = array<f32: 0.0, 0.0, -0.2, 0.1, 1.0, 1.0, 1.3, 0.8>, extrapolation_value = 9.0 : f32} : "
        "(tensor<1x1x4x4xf32>) -> tensor<1x1x5x3xf32>"
    )
    compare(one_op(text, "%x: tensor<1x1x4x4xf32>"))


REDUCTIONS = ["sum", "prod", "max", "min", "l1", "l2", "mean", "sum_square", "log_sum_exp"]


REDUCED = [(name, element) for name in REDUCTIONS for element in ("f32", "f16", "bf16")]
REDUCED += [(name, "i32") for name in REDUCTIONS if name not in ("l2", "log_sum_exp")]


@pytest.mark.parametrize(("name", "element"), REDUCED)
def test_reductions(name, element):
    text = (
        f"nn.reduce_{name} %x {{axes = array<i64: 0, 2>, keep_dims = true}} : "
        f"(tensor<3x4x5x{element}>) -> tensor<1x4x1x{element}>"
    )
    tolerance = {"f32": 1e-5, "i32": 0}.get(element, 5e-2)
    compare(one_op(text, f"%x: tensor<3x4x5x{element}>"), rtol=tolerance, atol=tolerance)


MATMULS = [
    ("4x8", "8x3", "4x3"),
    ("2x1x4x8", "5x8x3", "2x5x4x3"),
    ("8", "8x3", "3"),
    ("2x4x8", "8", "2x4"),
    ("8", "8", ""),
]


@pytest.mark.parametrize(("a", "b", "c"), MATMULS)
@pytest.mark.parametrize("element", ["f32", "f16", "i32"])
def test_matmul(a, b, c, element):
    a, b = f"tensor<{a}x{element}>", f"tensor<{b}x{element}>"
    c = f"tensor<{c}x{element}>" if c else f"tensor<{element}>"
    text = one_op(f"nn.matmul %a, %b : ({a}, {b}) -> {c}", f"%a: {a}", f"%b: {b}")
    compare(text, rtol=1e-2 if element == "f16" else 1e-5, atol=1e-2 if element == "f16" else 1e-5)
