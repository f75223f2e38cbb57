"""What is proven where a place is a value from memory: that no value of it does harm.

The oracle is the interpreter, which runs the kernel on values that are too small and too large.
"""

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError

from ..numerics.test_launches import module_of, run
from .test_prove_kernels import prove

pytest.importorskip("islpy")

TYPES = ["memref<8xi64>", "memref<5xf32>", "memref<8xf32>"]
READ = """%i = gpu.thread_id x
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c5 = arith.constant 5 : index
%value = memref.load %a0[%i] : memref<8xi64>
%v = arith.index_cast %value : i64 to index
{place}
%x = memref.load %a1[%at] : memref<5xf32>
memref.store %x, %a2[%i] : memref<8xf32>"""

CHOSEN = "%is = arith.cmpi {0}, %v, %c5 : index\n%at = arith.select %is, %v, {1} : index"
SEARCHED = """%at = scf.while (%low = %v) : (index) -> index {{
  %more = arith.cmpi sgt, %low, %c1 : index
  scf.condition(%more) %low : index
}} do {{
^bb0(%low: index):
  %half = arith.shrsi %low, %c1 : index
  %is = arith.cmpi {0}, %half, %c5 : index
  %inside = arith.select %is, %half, %c0 : index
  %y = memref.load %a1[%inside] : memref<5xf32>
  memref.store %y, %a2[{1}] : memref<8xf32>
  scf.yield %inside : index
}}
%in = arith.constant 0 : index"""


def fails(module, values) -> bool:
    try:
        run(module, np.array(values), np.arange(5, dtype=np.float32), np.zeros(8, np.float32))
    except NncError:
        return True
    return False


@pytest.mark.parametrize(
    ("place", "is_safe"),
    [
        (CHOSEN.format("ult", "%c0"), True),
        (CHOSEN.format("ule", "%c0"), False),  # 5 is outside.
        (CHOSEN.format("slt", "%c0"), False),  # So is -1.
        (CHOSEN.format("ult", "%c5"), False),
        ("%at = arith.addi %v, %c0 : index", False),
    ],
)
def test_places_that_are_chosen(place, is_safe):
    module = module_of(READ.format(place=place), TYPES, (1, 1, 1), (8, 1, 1))
    assert fails(module, [-1, 5, 0, -(2**62), 2**62, 1, 4, 6]) == (not is_safe)
    assert prove(module) == is_safe


@pytest.mark.parametrize(
    ("relation", "stored", "is_safe"),
    [("ult", "%i", True), ("ule", "%i", False), ("ult", "%c0", False)],
    ids=["safe", "outside", "threads write one element"],
)
def test_loops_until_a_value_says_so(relation, stored, is_safe):
    body = READ.format(place=SEARCHED.format(relation, stored)).replace("%a1[%at]", "%a1[%in]")
    module = module_of(body, TYPES, (1, 1, 1), (8, 1, 1))
    assert fails(module, [9, 10, 3, 2, -5, 2**40, 7, 5]) == (not is_safe)
    assert prove(module) == is_safe


GATHERED = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%t = gpu.thread_id x
%z = arith.constant 0 : i64
%zero = arith.constant dense<0> : vector<4xindex>
%end = arith.constant dense<{end}> : vector<4xindex>
%w = arith.constant 4 : index
%first = arith.muli %t, %w : index
%read = vector.transfer_read %a0[%first], %z {{in_bounds = [true]}} : memref<8xi64>, vector<4xi64>
%v = arith.index_cast %read : vector<4xi64> to vector<4xindex>
%is = arith.cmpi ult, %v, %end : vector<4xindex>
%row = arith.select %is, %v, %zero : vector<4xi1>, vector<4xindex>
%lane = vector.step : vector<2xindex>
%wide = arith.constant dense<2> : vector<4x2xindex>
%tall = vector.shape_cast %row : vector<4xindex> to vector<4x1xindex>
%rows = vector.broadcast %tall : vector<4x1xindex> to vector<4x2xindex>
%starts = arith.muli %rows, %wide : vector<4x2xindex>
%columns = vector.broadcast %lane : vector<2xindex> to vector<4x2xindex>
%at = arith.addi %starts, %columns : vector<4x2xindex>
%bound = arith.constant {bound} : index
%mask = vector.create_mask %w, %bound : vector<4x2xi1>
%none = arith.constant dense<0.0> : vector<4x2xf32>
%x = vector.gather %a1[%c0] [%at], %mask, %none
  : memref<9xf32>, vector<4x2xindex>, vector<4x2xi1>, vector<4x2xf32> into vector<4x2xf32>
vector.transfer_write %x, %a2[%first, %c0] {{in_bounds = [true, true]}}
  : vector<4x2xf32>, memref<8x2xf32>"""


@pytest.mark.parametrize(
    ("end", "bound", "is_safe"),
    [(4, 2, True), (5, 2, False), (5, 1, True)],
    ids=["inside", "last row outside", "but its first column"],
)
def test_rows_that_values_choose(end, bound, is_safe):
    """Rows of two columns in 9 elements: the first column of row 4 is there, the second is not."""
    types = ["memref<8xi64>", "memref<9xf32>", "memref<8x2xf32>"]
    module = module_of(GATHERED.format(end=end, bound=bound), types, (1, 1, 1), (2, 1, 1))
    arrays = np.array([4, -1, 5, 0, 2**40, 3, 1, 4]), np.arange(9, dtype=np.float32)
    try:
        run(module, *arrays, np.zeros((8, 2), np.float32))
        ran = True
    except NncError:
        ran = False
    assert ran == is_safe
    assert prove(module) == is_safe


LISTED = """%c0 = arith.constant 0 : index
%c2 = arith.constant 2 : index
%t = gpu.thread_id x
%list = arith.constant dense<{elements}> : vector<2x3xindex>
%first = arith.muli %t, %c2 : index
%from = vector.broadcast %first : index to vector<2x3xindex>
%at = arith.addi %list, %from : vector<2x3xindex>
%mask = arith.constant dense<true> : vector<2x3xi1>
%none = arith.constant dense<0.0> : vector<2x3xf32>
%x = vector.gather %a0[%c0] [%at], %mask, %none
  : memref<9xf32>, vector<2x3xindex>, vector<2x3xi1>, vector<2x3xf32> into vector<2x3xf32>
vector.transfer_write %x, %a1[%first, %c0] {{in_bounds = [true, true]}}
  : vector<2x3xf32>, memref<4x3xf32>"""


@pytest.mark.parametrize(
    ("elements", "is_safe"),
    [
        ([[0, 1, 2], [4, 5, 6]], True),
        ([[2, 1, 0], [6, 5, 4]], True),
        ([[0, 1, 2], [5, 6, 7]], False),  # 7 + 2 is outside.
        ([[-1, 0, 1], [4, 5, 6]], False),
        ([[0, 1, 2], [3, 4, 8]], False),  # Uneven: nothing is known, and 8 + 2 is outside.
    ],
)
def test_elements_that_constants_list(elements, is_safe):
    types = ["memref<9xf32>", "memref<4x3xf32>"]
    module = module_of(LISTED.format(elements=elements), types, (1, 1, 1), (2, 1, 1))
    try:
        run(module, np.arange(9, dtype=np.float32), np.zeros((4, 3), np.float32))
        ran = True
    except NncError:
        ran = False
    assert ran == is_safe
    assert prove(module) == is_safe
