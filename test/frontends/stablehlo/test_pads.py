"""Pads that remove elements, up to all there are, against the definition of `stablehlo.pad`."""

import nnc
import numpy as np
import pytest
from nnc.frontends.formats import import_model
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

PADS = [(low, high) for low in range(-5, 6) for high in range(-5, 6)]


def padded(x: np.ndarray, low: int, high: int, fill: float) -> np.ndarray:
    """Row i is row i - low of x, where there is one."""
    out = np.full((len(x) + low + high, 2), fill, x.dtype)
    for i in range(len(out)):
        if 0 <= i - low < len(x):
            out[i] = x[i - low]
    return out


@pytest.mark.parametrize("extent", [0, 1, 3])
def test_all_that_is_left_stands_where_it_should(extent):
    pads = [(low, high) for low, high in PADS if extent + low + high >= 0]
    source, types = f"tensor<{extent}x2xf32>", []
    lines = []
    for low, high in pads:
        types.append(f"tensor<{extent + low + high}x2xf32>")
        lines.append(
            f"%{len(lines)} = stablehlo.pad %x, %v, low = [{low}, 0], high = [{high}, 0], "
            f"interior = [0, 0] : ({source}, tensor<f32>) -> {types[-1]}"
        )
    results = ", ".join(f"%{k}" for k in range(len(pads)))
    text = (
        f"func.func @main(%x: {source}, %v: tensor<f32>) -> ({', '.join(types)}) {{\n"
        + "\n".join(lines)
        + f"\nreturn {results} : {', '.join(types)} }}"
    ).encode()
    x, fill = np.arange(2.0 * extent, dtype=np.float32).reshape(extent, 2), np.float32(9)
    compiled = nnc.compile(text)(x, fill)
    interpreted = Interpreter(import_model(text)).call("main", [x, np.array(fill)])
    for pair, *found in zip(pads, compiled, interpreted, strict=True):
        for one in found:
            np.testing.assert_array_equal(one, padded(x, *pair, fill), err_msg=str(pair))


@pytest.mark.parametrize("pads", [(-4, 3), (-3, 1), (-1, -2)])
@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_nothing_is_left_to_repeat(mode, pads):
    out = f"tensor<{3 + sum(pads)}xf32>"
    text = (
        f"func.func @main(%x: tensor<3xf32>) -> {out} {{\n"
        f'%0 = nn.pad %x {{mode = "{mode}", pads = array<i64: {pads[0]}, {pads[1]}>}} : '
        f"(tensor<3xf32>) -> {out}\nreturn %0 : {out} }}"
    )
    if sum(pads) == -3:
        (found,) = Interpreter(parse_module(text)).call("main", [np.ones(3, np.float32)])
        assert found.shape == (0,)
        return
    with pytest.raises(NncError, match="there is no element of 'tensor<3xf32>' to repeat"):
        parse_module(text).verify()


@pytest.mark.parametrize(("low", "high"), [(-4, 4), (4, -4), (-1, 2), (-2, 1), (5, -3)])
def test_convolutions_of_what_is_left(low, high):
    extent, kernel = 3, np.float32([2.0, -1.0])
    count = extent + low + high - 1
    text = (
        f"func.func @main(%x: tensor<1x1x{extent}xf32>, %w: tensor<1x1x2xf32>) -> "
        f"tensor<1x1x{count}xf32> {{\n"
        "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], "
        f"window = {{pad = [[{low}, {high}]]}} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
        f"(tensor<1x1x{extent}xf32>, tensor<1x1x2xf32>) -> tensor<1x1x{count}xf32>\n"
        f"return %0 : tensor<1x1x{count}xf32> }}"
    ).encode()
    x = np.arange(1.0, 1 + extent, dtype=np.float32)
    found = nnc.compile(text)(x[None, None], kernel[None, None])
    whole = padded(np.stack([x, x], 1), low, high, 0.0)[:, 0]
    np.testing.assert_allclose(found[0, 0], np.correlate(whole, kernel, "valid"))
