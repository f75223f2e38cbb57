"""Products of much data go block by block: what a block reads stays in the second cache."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.stages import stages_of
from nnc.kernels.policy.traffic import Block, Traffic
from nnc.targets.base import target
from onnx import helper, numpy_helper

from test.kernels.test_lines_and_runs import BLOCK, PRODUCT, chosen, kernel

MACHINE = target("x86-64-v3").machine


def product(channels: int, side: int, results: int):
    """A convolution of 1 x 1 on blocks of channels, as its default schedule."""
    i, o = channels // BLOCK, results // BLOCK
    return chosen(
        {
            "x": "d0, d5, d2 + d6, d3 + d7, d8",
            "w": "d1, d5, d6, d7, d8, d4",
            "y": "d0, d1, d2, d3, d4",
        },
        "ppppprrrr",
        {
            "x": f"1x{i}x{side}x{side}x{BLOCK}xf32",
            "w": f"{o}x{i}x1x1x{BLOCK}x{BLOCK}xf32",
            "y": f"1x{o}x{side}x{side}x{BLOCK}xf32",
        },
        PRODUCT,
    )


def blocks(text: str) -> list[int]:
    """How many iterations of a loop are in each of its blocks."""
    return [int(n) for n in re.findall(r"%\w+b, %\w+r = schedule\.split %\w+ by (\d+)", text)]


@pytest.mark.parametrize("channels", [512, 1024])
@pytest.mark.parametrize("side", [56, 64])
def test_large_products_go_in_blocks(channels: int, side: int):
    text = str(product(channels, side, 256).schedule)
    (size,) = blocks(text)
    assert size * channels * 4 <= MACHINE.l2_bytes
    order = re.search(r"schedule\.reorder (.*)", text)[1].split(", ")  # type: ignore[index]
    around = re.search(r"%(\w+b), %\w+ = schedule\.split", text)[1]  # type: ignore[index]
    assert order.index(f"%{around}") <= 1, "a block is outside of the loop over results"


@pytest.mark.parametrize("channels", [64, 128])
@pytest.mark.parametrize("side", [7, 14])
def test_what_fits_the_cache_is_left_whole(channels: int, side: int):
    assert 2 * channels * side * side * 4 < MACHINE.l2_bytes
    assert not blocks(str(product(channels, side, 64).schedule))


@pytest.mark.parametrize("side", [14, 64])
def test_weights_in_blocks_are_not_copied(side: int):
    """Their rows are apart by dimensions, and lie one after the other."""
    assert "schedule.cache" not in str(product(1024, side, 256).schedule)


@pytest.mark.parametrize("prefetches", [False, True])
@pytest.mark.parametrize("l1_kib", [32, 128])
def test_the_first_cache_keeps_what_fits_it(l1_kib: int, prefetches: bool):
    """512 channels to 25 blocks of 40, of which a tile has 8 results at 4 of 13 x 13 positions.

    The tile reads 512 lines of weights, 32 kB, beside 8 kB of positions. A first cache of 128 kB
    keeps the weights while all positions pass by. One of 32 kB has none of them when the next tile
    begins, so nothing is gained by tiles with the same weights following each other, unless they
    ask for the next ones; passing by once for each block of 40, the positions come from the third
    cache a fifth as often.
    """
    block = kernel(
        {"x": "d0, d5, d2, d3, d6", "w": "d1, d5, d6, d4", "y": "d0, d1, d2, d3, d4"},
        "ppppprr",
        {"x": "1x32x13x13x16xf32", "w": "25x32x16x40xf32", "y": "1x25x13x13x40xf32"},
        PRODUCT,
    )
    stage = stages_of(block)[-1]
    costs = MACHINE.costs
    loops = costs.loops if prefetches else replace(costs.loops, prefetch_passes=0)
    machine = replace(MACHINE, l1_bytes=l1_kib << 10, costs=replace(costs, loops=loops))
    blocks, positions, columns = (1,), (2, 3), (4,)
    found = Traffic(stage, {3: 4, 4: 8}, machine, {}).best_order([blocks, positions, columns])
    follow = prefetches or l1_kib == 128
    inside = [columns, positions] if follow else [positions, columns]
    assert found == [blocks, *inside]


def test_a_window_of_one_step_is_none():
    module = parse_module("""
    func.func @kernel(%x: memref<8x9xf32>, %w: memref<1x1xf32>, %y: memref<8x9xf32>) {
      linalg.generic {indexing_maps = [
            affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>,
            affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%x, %w : memref<8x9xf32>, memref<1x1xf32>) outs(%y : memref<8x9xf32>) {
      ^bb0(%a: f32, %b: f32, %old: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %old, %p : f32
        linalg.yield %s : f32
      }
      return
    }""")
    (stage,) = stages_of(module.body_block.ops[0].regions[0].blocks[0])
    assert stage.inputs[0].plain_dims() == [0, 1]
    assert stage.inputs[1].plain_dims() == [2, 3]


@pytest.mark.parametrize("size", [48, 96])
@pytest.mark.parametrize("rows", [480, 960])
def test_bytes_of_blocks(rows: int, size: int):
    """Beside the sum of what each block has to read: its rows once, all columns each time."""
    columns, depth = 256, 1024
    module = parse_module(f"""
    func.func @kernel(%x: memref<{rows}x{depth}xf32>, %w: memref<{depth}x{columns}xf32>,
                      %y: memref<{rows}x{columns}xf32>) {{
      linalg.matmul ins(%x, %w : memref<{rows}x{depth}xf32>, memref<{depth}x{columns}xf32>)
                    outs(%y : memref<{rows}x{columns}xf32>)
      return
    }}""")
    (stage,) = stages_of(module.body_block.ops[0].regions[0].blocks[0])
    traffic = Traffic(stage, {0: 6, 1: 16}, MACHINE, {})
    traffic.levels = [(3 * size * depth * 4, 1.0)]
    traffic.costs = MACHINE.costs.loops
    moved = traffic.cycles([(1,), (0,)], Block((0,), size)).total
    least = 4 * (rows * depth + ceil(rows / size) * depth * columns)
    results = 4 * rows * columns
    assert least <= moved <= least + 4 * results


@pytest.mark.parametrize("l3_bandwidth, memory_bandwidth", [(12.0, 5.5), (21.0, 15.0)])
def test_blocks_do_not_depend_on_fast_caches(l3_bandwidth: float, memory_bandwidth: float):
    """wav2vec2's second convolution: the inputs do not pass by once for each two blocks of results.

    However fast the last cache, they come from it in short runs.
    """
    block = kernel(
        {"x": "d0, d4, d2 * 2 + d5, d6", "w": "d1, d4, d5, d6, d3", "y": "d0, d1, d2, d3"},
        "pppprrr",
        {"x": "1x32x3199x16xf32", "w": "32x32x3x16x16xf32", "y": "1x32x1599x16xf32"},
        PRODUCT,
    )
    stage = stages_of(block)[-1]
    machine = replace(
        target("x86-64-v4").machine, l3_bandwidth=l3_bandwidth, memory_bandwidth=memory_bandwidth
    )
    traffic = Traffic(stage, {0: 1, 1: 2, 2: 12, 3: 16}, machine, {})
    found = traffic.best_block([(0,), (1,), (2,), (3,)], chunks=4)
    assert found is not None and found.dims == (2,)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("channels, side, results", [(1024, 61, 48), (528, 67, 80), (512, 64, 256)])
def test_numbers(channels: int, side: int, results: int):
    """Blocks with a rest, behind a change of layout that is carried out in them."""
    random = np.random.default_rng(side)
    x = random.standard_normal((1, channels, side, side), np.float32)
    w = random.standard_normal((results, channels, 1, 1), np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["r"]),
            helper.make_node("Conv", ["r", "w"], ["c"]),
            helper.make_node("Relu", ["c"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (1, results, side, side))],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = nnc.compile(model).run({"x": x})["y"]
    inside = np.maximum(x, 0).reshape(channels, -1).astype(np.float64)
    want = np.maximum(w.reshape(results, channels) @ inside, 0).reshape(found.shape)
    assert np.abs(found - want).max() <= 1e-5 * np.abs(want).max()
