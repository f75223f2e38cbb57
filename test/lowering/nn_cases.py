"""Programs of one nn op, and the cases of convolutions and movement."""

import numpy as np

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
