"""Products that read one large matrix: what they compute, for each way in which it may be read."""

import nnc
import numpy as np
import pytest

# The second cache is small, so that small matrices do not fit it.
MODULE = """
module attributes {{nnc.target = {{name = "host", machine = {{l1_bytes = 256 : i64,
    l2_bytes = 1024 : i64, cores = {cores} : i64}}}}}} {{
{body}
}}
"""

PLAIN = """
func.func @main(%x: tensor<{readers}x{rows}xf32>, %w: tensor<{blocks}x{rows}x{width}xf32>,
                %b: tensor<{blocks}x{width}xf32>) -> tensor<{readers}x{blocks}x{width}xf32> {{
  %0 = nn.packed_matmul %x, %w : (tensor<{readers}x{rows}xf32>, tensor<{blocks}x{rows}x{width}xf32>)
    -> tensor<{readers}x{blocks}x{width}xf32>
  %1 = nn.add %0, %b : (tensor<{readers}x{blocks}x{width}xf32>, tensor<{blocks}x{width}xf32>)
    -> tensor<{readers}x{blocks}x{width}xf32>
  %2 = nn.relu %1 : (tensor<{readers}x{blocks}x{width}xf32>) -> tensor<{readers}x{blocks}x{width}xf32>
  return %2 : tensor<{readers}x{blocks}x{width}xf32>
}}
"""  # fmt: skip


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("readers", [1, 2, 4, 5])
@pytest.mark.parametrize("blocks", [1, 2, 7, 67])
def test_packed_matrices_with_what_follows(blocks, readers, width, cores):
    rows = 37
    sizes = {"blocks": blocks, "readers": readers, "width": width, "rows": rows}
    module = nnc.parse(MODULE.format(cores=cores, body=PLAIN.format(**sizes)))
    run = nnc.compile(module, threads=cores, cache=False)
    draw = np.random.default_rng(blocks)
    x = draw.standard_normal((readers, rows), np.float32)
    w = draw.standard_normal((blocks, rows, width), np.float32)
    b = draw.standard_normal((blocks, width), np.float32)
    expected = np.einsum("mk,nkl->mnl", x.astype(np.float64), w) + b
    np.testing.assert_allclose(run(x, w, b), np.maximum(expected, 0), rtol=1e-4, atol=1e-4)


QUANTIZED = """
func.func @main(%x: tensor<{readers}x{groups}x{words}x{steps}xf32>,
                %w: tensor<{blocks}x{groups}x{words}x16xi32>, %s: tensor<{blocks}x{groups}x16xf32>{more})
    -> tensor<{readers}x{blocks}x16xf32> {{
  %0 = nn.quantized_matmul %x, %w, %s{offset} {{bits = {bits} : i64{middle}}}
    : (tensor<{readers}x{groups}x{words}x{steps}xf32>, tensor<{blocks}x{groups}x{words}x16xi32>,
       tensor<{blocks}x{groups}x16xf32>{type}) -> tensor<{readers}x{blocks}x16xf32>
  return %0 : tensor<{readers}x{blocks}x16xf32>
}}
"""  # fmt: skip


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("blocks", [2, 7, 25])
def test_packed_integers(blocks, readers, bits, offsets):
    groups, words, steps = 5, 8, 32 // bits
    scale = f"tensor<{blocks}x{groups}x16xf32>"
    body = QUANTIZED.format(
        blocks=blocks,
        readers=readers,
        groups=groups,
        words=words,
        steps=steps,
        bits=bits,
        more=f", %o: {scale}" if offsets else "",
        offset=", %o" if offsets else "",
        type=f", {scale}" if offsets else "",
        middle="" if offsets else f", middle = {2 ** (bits - 1)} : i64",
    )
    run = nnc.compile(nnc.parse(MODULE.format(cores=1, body=body)), cache=False)
    draw = np.random.default_rng(bits)
    x = draw.standard_normal((readers, groups, words, steps), np.float32)
    w = draw.integers(-(2**31), 2**31, (blocks, groups, words, 16)).astype(np.int32)
    s, o = (draw.standard_normal((blocks, groups, 16), np.float32) for _ in range(2))
    places = bits * np.arange(steps).reshape(1, 1, 1, steps, 1)
    parts = (w.view(np.uint32)[:, :, :, None].astype(np.int64) >> places) & (2**bits - 1)
    scales, added = (t[:, :, None, None].astype(np.float64) for t in (s, o))
    rows = parts * scales + added if offsets else (parts - 2 ** (bits - 1)) * scales
    expected = np.einsum("mgws,bgwsl->mbl", x.astype(np.float64), rows)
    given = (x, w, s, o) if offsets else (x, w, s)
    np.testing.assert_allclose(run(*given), expected, rtol=1e-3, atol=1e-3 * abs(expected).max())


ATTENTION = """
func.func @main(%q: tensor<{heads}x{rows}x16xf32>, %k: tensor<{heads}x16x{length}xf32>,
                %v: tensor<{heads}x{length}x{depth}xf32>) -> tensor<{heads}x{rows}x{depth}xf32> {{
  %0 = nn.matmul %q, %k : (tensor<{heads}x{rows}x16xf32>, tensor<{heads}x16x{length}xf32>)
    -> tensor<{heads}x{rows}x{length}xf32>
  %1 = nn.softmax %0 {{axis = 2 : i64}} : (tensor<{heads}x{rows}x{length}xf32>)
    -> tensor<{heads}x{rows}x{length}xf32>
  %2 = nn.matmul %1, %v : (tensor<{heads}x{rows}x{length}xf32>, tensor<{heads}x{length}x{depth}xf32>)
    -> tensor<{heads}x{rows}x{depth}xf32>
  return %2 : tensor<{heads}x{rows}x{depth}xf32>
}}
"""  # fmt: skip


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("depth", [16, 32])
@pytest.mark.parametrize("length", [40, 257])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("heads", [1, 6, 12])
def test_matrices_of_products_that_share_loops(heads, rows, length, depth, cores):
    """The heads of attention, each with matrices of its own, are one loop around both products."""
    sizes = {"heads": heads, "rows": rows, "length": length, "depth": depth}
    module = nnc.parse(MODULE.format(cores=cores, body=ATTENTION.format(**sizes)))
    run = nnc.compile(module, threads=cores, cache=False)
    draw = np.random.default_rng(rows)
    q, k, v = (
        draw.standard_normal((heads, *shape), np.float32)
        for shape in ((rows, 16), (16, length), (length, depth))
    )
    scores = np.exp(q.astype(np.float64) @ k)
    expected = scores / scores.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(run(q, k, v), expected, rtol=1e-4, atol=1e-4)
