"""Default schedules where vectors are shorter than a cache line: whole lines, long runs, windows."""

from __future__ import annotations

import re

import pytest
from nnc.ir.core import Block
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.policy.candidates import Candidate, best, candidates
from nnc.targets.base import target

MACHINE = target("x86-64-v3").machine
BLOCK = 16
"""Channels that lie beside each other: as many floats as a line has, twice those of a vector."""


def chosen(maps: dict[str, str], kinds: str, types: dict[str, str], body: str) -> Candidate:
    """The default schedule of such an operation."""
    block = kernel(maps, kinds, types, body)
    return best(candidates("kernel", block, MACHINE), MACHINE)


def kernel(maps: dict[str, str], kinds: str, types: dict[str, str], body: str) -> Block:
    """One operation on memory of these types, the last one its result, which is zero before.

    Of `kinds` p is a parallel dimension, r a reduction.
    """
    names = list(types)
    arguments = ", ".join(f"%{name}: memref<{type}>" for name, type in types.items())
    dims = ", ".join(f"d{i}" for i in range(len(kinds)))
    affine = ", ".join(f"affine_map<({dims}) -> ({maps[name]})>" for name in names)
    iterators = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
    inputs = ", ".join(f"%{name}" for name in names[:-1])
    of = ", ".join(f"memref<{types[name]}>" for name in names[:-1])
    module = parse_module(f"""
    func.func @kernel({arguments}) attributes {{nn.kernel}} {{
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%y : memref<{types["y"]}>)
      linalg.generic {{indexing_maps = [{affine}], iterator_types = [{iterators}]}}
          ins({inputs} : {of}) outs(%y : memref<{types["y"]}>) {{
      {body}
      }}
      return
    }}""")
    return module.body_block.ops[0].regions[0].blocks[0]


PRODUCT = """^bb0(%a: f32, %b: f32, %old: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %old, %p : f32
        linalg.yield %s : f32"""

LARGEST = """^bb0(%a: f32, %old: f32):
        %p = arith.maximumf %a, %old : f32
        linalg.yield %p : f32"""


def sizes(candidate: Candidate) -> list[int]:
    """The size of the tile of the operation, the lanes' dimension last."""
    return [int(n) for n in str(candidate.tiles[-1]).partition(" ")[0].split("x")]


@pytest.mark.parametrize("rows", [16, 49, 196])
@pytest.mark.parametrize("blocks", [3, 12])
def test_products_read_whole_lines(rows: int, blocks: int):
    """Half of a block in a tile: the other tile fetches the weights' lines again."""
    found = chosen(
        {"x": "d0, d4, d2, d5", "w": "d0, d1, d4, d5, d3", "y": "d0, d1, d2, d3"},
        "pppprr",
        {
            "x": f"36x3x{rows}x{BLOCK}xf32",
            "w": f"36x{blocks}x3x{BLOCK}x{BLOCK}xf32",
            "y": f"36x{blocks}x{rows}x{BLOCK}xf32",
        },
        PRODUCT,
    )
    assert sizes(found)[-1] == BLOCK


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("size", [114, 226])
def test_windows_go_along_rows(channels: int, size: int):
    """Down its columns, such an image would be read in runs of a few lines."""
    out = (size - 3) // 2 + 1
    found = chosen(
        {
            "x": "d0, d1 * 2 + d4, d2 * 2 + d5, d3",
            "k": "d4, d5",
            "y": "d0, d1, d2, d3",
        },
        "pppprr",
        {
            "x": f"{channels}x{size}x{size}x{BLOCK}xf32",
            "k": "3x3xi8",
            "y": f"{channels}x{out}x{out}x{BLOCK}xf32",
        },
        LARGEST.replace("%a: f32, ", "%a: f32, %tap: i8, "),
    )
    text = str(found.schedule)
    loops, order = (
        re.search(rf"{what}", text) for what in (r"(.*) = schedule\.loops 6 .*", r"reorder (.*)")
    )
    assert loops is not None and order is not None
    _, rows, columns, *_ = loops[1].strip().split(", ")
    places = [name.rstrip("oi") for name in order[1].split(", ")]
    assert places.index(rows.rstrip("oi")) < places.index(columns.rstrip("oi")), order[1]


@pytest.mark.parametrize("size", [28, 56, 112])
def test_windows_fit_the_registers(size: int):
    """A depthwise convolution: what steps of the window share stays in registers beside the sums."""
    found = chosen(
        {"x": "d0, d1 + d4, d2 + d5, d3", "w": "d0, d4, d5, d3", "y": "d0, d1, d2, d3"},
        "pppprr",
        {
            "x": f"4x{size + 2}x{size + 2}x{BLOCK}xf32",
            "w": f"4x3x3x{BLOCK}xf32",
            "y": f"4x{size}x{size}x{BLOCK}xf32",
        },
        PRODUCT,
    )
    *rows, lanes = sizes(found)
    vectors = lanes // MACHINE.lanes(4)
    results = vectors
    for n in rows:
        results *= n
    # The next step needs all but one column of what this one has read, and the weights once.
    shared = results - results // rows[-1]
    assert results + shared + vectors <= MACHINE.vector_registers
