"""What models see of accesses, against the elements that are touched, one by one."""

from itertools import product

import numpy as np
import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.stages import stages_of
from nnc.kernels.policy.operands import operands


def stage_reading(*maps, sizes, shape=(64, 64)):
    """An elementwise stage of these extents that reads one buffer through each of the maps."""
    dims = [f"d{i}" for i in range(len(sizes))]
    space = ", ".join(dims)
    buffer = f"memref<{'x'.join(map(str, shape))}xf32>"
    result = f"memref<{'x'.join(map(str, sizes))}xf32>"
    names = [f"%x{i}" for i in range(len(maps))]
    total, sums = names[0], []
    for i, name in enumerate(names[1:]):
        sums.append(f"%s{i} = arith.addf {total}, {name} : f32")
        total = f"%s{i}"
    text = f"""
    func.func private @k(%a: {buffer}, %c: {result}) {{
      linalg.generic {{
        indexing_maps = [{", ".join(f"affine_map<({space}) -> {m}>" for m in (*maps, f"({space})"))}],
        iterator_types = [{", ".join(['"parallel"'] * len(sizes))}]
      }} ins({", ".join(["%a"] * len(maps))} : {", ".join([buffer] * len(maps))}) outs(%c : {result}) {{
      ^bb0({", ".join(f"{n}: f32" for n in (*names, "%o"))}):
        {chr(10).join(sums)}
        linalg.yield {total} : f32
      }}
      return
    }}
    """
    module = parse_module(text)
    (stage,) = stages_of(module.body_block.first.regions[0].blocks[0])
    stage.module = module  # keeps the IR alive
    return stage


def touched(access, sizes):
    """The subscripts of all elements that an access touches."""
    return {
        tuple(e.evaluate(at) for e in access.exprs) for at in product(*(range(n) for n in sizes))
    }


@pytest.mark.parametrize(
    ("map", "sizes"),
    [
        ("(d0, d1)", (5, 7)),
        ("(d1, d0)", (5, 7)),
        ("(d0 * 2 + d1, 3)", (4, 3)),
        ("(d0 * 3 + d1 * 2, d2)", (4, 2, 5)),
        ("(d0 * 4 + d1, d0)", (3, 2)),
        ("(d0 floordiv 2, d1)", (64, 6)),
    ],
)
def test_reach_holds_all_elements_that_are_touched(map, sizes):
    (access,) = stage_reading(map, sizes=sizes).inputs
    places = np.array(sorted(touched(access, sizes)))
    spans = places.max(0) - places.min(0) + 1
    linear = [form is not None for form in access.linear]
    reach = np.array(access.reach(sizes))
    assert np.array_equal(reach[linear], spans[linear])
    assert (reach >= spans).all()


@pytest.mark.parametrize("sizes", [(1, 1, 1), (4, 3, 1), (2, 5, 6), (7, 2, 3)])
@pytest.mark.parametrize("map", ["(d0 + d1, d2)", "(d0 * 2 + d1, d2)", "(d2, d1)", "(d0, 0)"])
def test_elements_of_a_tile_are_counted_once(map, sizes):
    (access,) = stage_reading(map, sizes=(8, 8, 8)).inputs
    (operand,) = operands([access])
    assert operand.elements(dict(enumerate(sizes)), None) == len(touched(access, sizes))
    rows = {d: n for d, n in enumerate(sizes) if d != 2}
    of_one_lane = len(touched(access, (*sizes[:2], 1)))
    assert (
        operand.elements(dict(enumerate(sizes)), 2) == operand.elements(rows, None) == of_one_lane
    )


def test_accesses_that_differ_by_where_they_start_are_one_operand():
    stage = stage_reading(
        "(d0, d1)", "(d0 + 1, d1)", "(d0 + 2, d1 + 5)", "(d1, d0)", "(d0 * 2, d1)", sizes=(8, 8)
    )
    found = operands(stage.inputs)
    assert [(o.access.number, o.count) for o in found] == [(0, 3), (3, 1), (4, 1)]
    assert [o.strides for o in found] == [[64, 1], [1, 64], [128, 1]]


def test_an_access_that_is_redirected_knows_its_new_place():
    stage = stage_reading("(d0, d1)", "(d0 floordiv 2, d1)", sizes=(8, 8))
    plain, halved = stage.inputs
    assert plain.coefficients == [64, 1] and halved.coefficients is None
    plain.redirect(plain.value, halved.exprs)
    assert plain.coefficients is None and plain.plain_dims() == [None, 1]
    plain.redirect(plain.value, tuple(reversed(stage.outputs[0].exprs)))
    assert plain.coefficients == [1, 64] and plain.used == {0, 1}


@pytest.mark.parametrize(
    ("columns", "run"),
    [(56, 32), (56, 24), (56, 16), (56, 56), (48, 32), (40, 32), (57, 32), (64, 16)],
)
def test_lines_of_neighbours_are_those_that_they_touch(columns: int, run: int):
    """Rows of which a part is read take more lines than they fill; whole ones share theirs."""
    rows, line = 64, 16
    stage = stage_reading("(d0, d1)", sizes=(rows, columns), shape=(rows, columns))
    (operand,) = operands(stage.inputs)
    each = [{(row * columns + n) // line for n in range(run)} for row in range(rows)]
    lines = len(set.union(*each)) if run == columns else sum(map(len, each))
    assert operand.lines(1, run, line) == pytest.approx(lines / rows)
