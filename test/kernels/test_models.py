"""What the models behind schedules say: sizes, register tiles, loop orders."""

from dataclasses import replace

import pytest
from nnc.ir.polynomial import Poly, Symbol
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.plan import Plan
from nnc.kernels.model.stages import stages_of
from nnc.kernels.model.steps import remainders
from nnc.kernels.policy.tiles import TileModel
from nnc.kernels.policy.traffic import Block, Traffic
from nnc.kernels.primitives.collapse import collapse
from nnc.targets.base import target

AVX512 = target("x86-64-v4").machine
WIDE = replace(
    AVX512, full_width_units=2, unit_bits=512, load_bytes_per_cycle=128, l1_bytes=48 << 10
)


def stage_of(text):
    """The only stage of the function in a module's text."""
    module = parse_module(text)
    (stage,) = stages_of(module.body_block.first.regions[0].blocks[0])
    stage.module = module  # keeps the IR alive
    return stage


def contraction(m, n, k, transposed=False):
    """The stage of a matrix product, of a left-hand side that may lie transposed."""
    left, at = (f"{k}x{m}", "(k, m)") if transposed else (f"{m}x{k}", "(m, k)")
    text = f"""
    func.func private @k(%a: memref<{left}xf32>, %b: memref<{k}x{n}xf32>, %c: memref<{m}x{n}xf32>) {{
      linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> {at}>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : memref<{left}xf32>, memref<{k}x{n}xf32>) outs(%c : memref<{m}x{n}xf32>) {{
      ^bb0(%x: f32, %y: f32, %o: f32):
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
      }}
      return
    }}
    """
    return stage_of(text)


def tile(stage, machine=AVX512):
    return TileModel(stage, machine, frozenset(), Plan([stage]).roots[stage]).best()


def test_polynomials_become_numbers_when_symbols_cancel():
    n, m = Poly.symbol(Symbol()), Poly.symbol(Symbol())
    assert n * 2 + 3 - n - n == 3
    assert n * m == m * n
    assert (n + 1) * (n - 1) == n * n - 1
    assert n != m and n * 0 == 0
    assert hash(n * m + 1) == hash(m * n + 1)


def test_tile_of_a_large_product_fills_the_registers_with_accumulators():
    best = tile(contraction(512, 512, 512))
    assert best.lane_dim == 1 and best.lanes == 16
    accumulators = best.copies.get(0, 1) * best.copies.get(1, 1)
    assert 12 <= accumulators <= 30
    # Loads must not take longer than the arithmetic.
    assert best.copies[0] > 1 and best.copies[1] > 1


def test_tiles_for_two_units_spare_loads():
    """Two multiply-adds a cycle leave little time: for many broadcasts, or for wide panels."""
    for m, n, k in ((128, 768, 768), (333, 333, 333), (96, 3072, 3072)):
        best = tile(contraction(m, n, k), WIDE)
        rows, vectors = best.copies[0], best.copies[1]
        loads, multiplies = rows + vectors, rows * vectors
        assert loads <= 0.6 * multiplies
        # The panel of one tile comes from the second cache, or leaves it to the rows.
        assert 64 * vectors / (multiplies / 2) <= WIDE.l2_bandwidth
        assert 64 * vectors * k <= WIDE.l2_bytes // 2


def test_tile_of_a_small_product_has_no_idle_lanes():
    best = tile(contraction(8, 8, 64))
    assert best.size(0) <= 8 and best.size(1) == 8


def test_tile_fits_fewer_registers():
    best = tile(contraction(512, 512, 512), target("x86-64-v3").machine)
    assert best.lanes == 8
    assert 8 <= best.copies.get(0, 1) * best.copies.get(1, 1) <= 14


def test_rows_a_power_of_two_apart_fit_the_sets_of_the_first_cache():
    """Rows 4 kB apart share one set; of nearly as many columns any number of rows fits."""
    for columns in (1024, 2048):
        assert tile(contraction(64, 512, columns)).size(0) <= AVX512.l1_ways
        assert tile(contraction(16, 4096, columns)).size(0) <= AVX512.l1_ways
    assert tile(contraction(16, 4096, 1040)).size(0) == 16
    # Two sets hold twice as many.
    assert tile(contraction(16, 4096, 512)).size(0) == 2 * AVX512.l1_ways


def test_results_lie_along_the_lanes():
    """Rows and columns of results are contiguous in operands; only columns in the results."""
    for k in (16, 32, 64, 512):
        assert tile(contraction(1024, 1024, k, transposed=True)).lane_dim == 1


def test_operand_from_memory_is_read_in_one_pass():
    best = tile(contraction(16, 4096, 512))
    assert best.size(0) == 16 and best.size(1) == 16
    best = tile(contraction(16, 64, 512))
    assert best.size(1) > 16


def product_of_images(rows, channels, results):
    """The stage of a product over rows of an unknown number of images: a 1x1 convolution."""
    text = f"""
    func.func private @k(%x: memref<?x{rows}x{channels}xf32>, %w: memref<{channels}x{results}xf32>, %y: memref<?x{rows}x{results}xf32>) {{
      linalg.generic {{indexing_maps = [affine_map<(n, p, m, c) -> (n, p, c)>, affine_map<(n, p, m, c) -> (c, m)>, affine_map<(n, p, m, c) -> (n, p, m)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%x, %w : memref<?x{rows}x{channels}xf32>, memref<{channels}x{results}xf32>) outs(%y : memref<?x{rows}x{results}xf32>) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
      }}
      return
    }}
    """
    return stage_of(text)


def test_tiles_do_not_count_on_many_images():
    """A 1x1 convolution of images: their number is unknown, their pixels are a tile."""
    best = tile(product_of_images(49, 32, 16))
    assert best.copies[1] >= 7 and best.copies.get(0, 1) <= 2


def test_tiles_count_on_the_size_of_one_open_image():
    """With the pixels open as well, they still are many and the images are few."""
    best = tile(product_of_images("?", 32, 16))
    assert best.copies[1] >= 7 and best.copies.get(0, 1) <= 2


def rows_of_images(rows, channels, results, machine=AVX512):
    """The tile of such a product where images and rows are one loop."""
    stage = product_of_images(rows, channels, results)
    plan = Plan([stage])
    collapse(plan, stage.op, *plan.roots[stage][:2])
    return TileModel(stage, machine, frozenset(), plan.roots[stage]).best()


def test_tiles_count_on_the_rows_of_one_image():
    """64 rows of an unknown number of images have the tile of 64 rows."""
    best = rows_of_images(64, 96, 384)
    assert best.copies.get(1, 1) >= 4 and best.copies.get(2, 1) <= 4


@pytest.mark.parametrize(("rows", "channels"), [(16, 520), (49, 256)])
def test_tiles_leave_little_of_one_image(rows, channels):
    """Nothing, or what one step takes."""
    tile = rows_of_images(rows, channels, 512, WIDE).size(1)
    _whole, rest = divmod(rows, tile)
    parts = 0
    for part in remainders(tile):
        parts += rest // part
        rest %= part
    assert parts <= 1


def test_windows_without_elements():
    """A reduction over no elements has a tile too: its results are what it starts from."""
    for stage in (contraction(4, 32, 0), contraction(0, 32, 8), contraction(4, 0, 8)):
        assert tile(stage).cycles >= 0


def test_vector_matrix_product_runs_along_the_contiguous_dimension():
    best = tile(contraction(1, 1000, 512))
    assert best.lane_dim == 1 and best.copies.get(1, 1) >= 4


def test_panels_that_fit_the_cache_are_reused():
    """The loop over the columns of a wide matrix goes outside: its panels are read once."""
    stage = contraction(128, 3072, 768)
    order = Traffic(stage, {0: 8, 1: 48}, AVX512, {}).best_order([(0,), (1,)])
    assert order == [(1,), (0,)]
    stage = contraction(3072, 128, 768)
    order = Traffic(stage, {0: 8, 1: 48}, AVX512, {}).best_order([(0,), (1,)])
    assert order[0] == (0,)


def test_a_block_of_columns_stays_in_the_cache():
    """Within a block the rows go outside, read once for the block and not once for each panel,
    unless so much is computed meanwhile that reading them is hidden.
    """
    stage, columns = contraction(4096, 1536, 384), Block((1,), 192)
    traffic = Traffic(stage, {0: 8, 1: 48}, replace(AVX512, l2_bandwidth=64.0), {})
    assert traffic.best_order([(0,), (1,)]) == [(1,), (0,)]
    assert traffic.best_order([(0,), (1,)], block=columns, arithmetic=1e6) == [(0,), (1,)]
    assert traffic.best_order([(0,), (1,)], block=columns, arithmetic=1e9) == [(1,), (0,)]


def test_first_loop_is_even_for_several_cores():
    stage = contraction(9, 4096, 64)
    order = Traffic(stage, {0: 8, 1: 64}, AVX512, {}).best_order([(0,), (1,)], chunks=4)
    assert order[0] == (1,)
