"""Compiled operators of which no extent is known before the run, against onnxruntime."""

import nnc
import numpy as np
import onnx.parser
import pytest

from .onnx_operators import by_onnxruntime

RANDOM = np.random.default_rng(11)


def check(text: str, *shapes: tuple[tuple[int, ...], ...]) -> None:
    """Each of the `shapes` of the inputs, by one compilation."""
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> agraph ({text.replace("=>", ") => (", 1)}'
    )
    compiled = nnc.compile(model)
    for one in shapes:
        arrays = [RANDOM.standard_normal(shape).astype(np.float32) for shape in one]
        found = compiled.run(dict(zip(compiled.input_names, arrays, strict=True)))
        for ours, theirs in zip(found.values(), by_onnxruntime(model, *arrays), strict=True):
            np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-4, atol=1e-5)


IMAGE, WEIGHT = "float[N,C,H,W] x", "float[O,I,K,L] w"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "window",
    [
        "strides = [2, 3], pads = [1, 0, 0, 1]",
        "dilations = [2, 1], output_padding = [1, 0], strides = [2, 1]",
        'auto_pad = "SAME_LOWER", strides = [2, 2]',
        "output_shape = [10, 13], strides = [2, 2]",
    ],
)
def test_transposed_convolution(window):
    check(
        f"{IMAGE}, {WEIGHT}, float[M] b => float[N,M,P,Q] y) "
        f"{{ y = ConvTranspose<group = 2, {window}>(x, w, b) }}",
        ((2, 4, 5, 6), (4, 3, 3, 2), (6,)),
        ((1, 2, 5, 6), (2, 1, 2, 3), (2,)),
    )


def test_grouped_convolution():
    check(
        f"{IMAGE}, {WEIGHT} => float[N,M,P,Q] y) "
        "{ y = Conv<group = 2, strides = [2, 1], pads = [1, 1, 0, 1]>(x, w) }",
        ((2, 4, 5, 6), (6, 2, 3, 2)),
        ((1, 2, 5, 6), (2, 1, 1, 3)),
    )


def test_group_norm():
    check(
        f"{IMAGE}, float[C] s, float[C] b => float[N,C,H,W] y) "
        "{ y = GroupNormalization<num_groups = 2>(x, s, b) }",
        ((2, 4, 3, 5), (4,), (4,)),
        ((1, 6, 2, 2), (6,), (6,)),
    )


def test_local_response_norm():
    check(
        f"{IMAGE} => float[N,C,H,W] y) {{ y = LRN<size = 5, alpha = 0.3>(x) }}",
        ((2, 5, 3, 4),),
        ((1, 2, 1, 7),),
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    "operator",
    [
        "y = MaxPool<{0}>(x)",
        "y = AveragePool<{0}>(x)",
        "y = AveragePool<count_include_pad = 1, {0}>(x)",
        "y, i = MaxPool<{0}>(x)",
        "y = LpPool<p = 3, {0}>(x)",
    ],
)
def test_windows_that_start_in_the_padding(operator):
    window = "kernel_shape = [2, 3], strides = [3, 3], pads = [1, 1, 1, 1], ceil_mode = 1"
    more = ", int64[N,C,P,Q] i" if " i " in operator else ""
    check(
        f"{IMAGE} => float[N,C,P,Q] y{more}) {{ {operator.format(window)} }}",
        *(((2, 3, height, height + 2),) for height in range(3, 9)),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("height", ["H", "2"])
def test_no_window_at_all(operator, height):
    """A window that is longer than the image by less than a stride gives nothing."""
    check(
        f"float[N,C,{height},W] x => float[N,C,P,Q] y) "
        f"{{ y = {operator}<kernel_shape = [4, 1], strides = [2, 1]>(x) }}",
        ((1, 2, 2, 5),),
    )


@pytest.mark.thorough
def test_deformable_convolution():
    """By a known weight, which tells the channels; the second image is no square."""
    text = """float[N,C,H,W] x, float[N,D,P,Q] moves, float[N,E,P,Q] shares => float[N,O,P,Q] y)
        <float[4,1,2,2] w = {1,-2,3,0.5, -1,2,0.25,4, 0.5,0.75,-3,1, 2,-0.5,1,3}, float[4] b =
        {0.5,1,-1,2}> {
        y = DeformConv <group = 4, offset_group = 2, strides = [2, 1], pads = [1, 0, 1, 2]>
            (x, w, moves, b, shares)
    }"""
    shapes = [((n, 4, h, w), (n, 16, h // 2 + 1, w + 1)) for n, h, w in ((1, 6, 6), (2, 4, 7))]
    check(text, *[(x, moves, (x[0], 8, *moves[2:])) for x, moves in shapes])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("group", [1, 2])
def test_deformable_convolution_by_a_weight_of_the_run(group):
    check(
        f"float[N,4,H,W] x, {WEIGHT}, float[N,D,P,Q] moves, float[M] b => float[N,M,P,Q] y) "
        f"{{ y = DeformConv<group = {group}, kernel_shape = [3, 2]>(x, w, moves, b) }}",
        *(((n, 4, 6, 5), (m, 4 // group, 3, 2), (n, 12, 4, 4), (m,)) for n, m in ((2, 6), (1, 2))),
    )


def test_deformable_convolution_of_doubles():
    x, moves = RANDOM.standard_normal((1, 2, 5, 4)), RANDOM.standard_normal((1, 8, 4, 3))
    weight = RANDOM.standard_normal((3, 2, 2, 2))
    text = "double[1,2,5,4] x, double[1,8,4,3] m, double[3,2,2,2] w => double[1,3,4,3] y"
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> '
        f"agraph ({text.replace('=>', ') => (')}) {{ y = DeformConv (x, w, m) }}"
    )
    found = nnc.compile(model)(x, moves, weight)
    (expected,) = by_onnxruntime(model, x, moves, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
