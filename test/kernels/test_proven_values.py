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
