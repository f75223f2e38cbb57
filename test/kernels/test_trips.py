"""How often loops run, against counts by hand."""

import pytest
from nnc.dialects import scf
from nnc.ir.rewriting import constant_int
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.extents import UNKNOWN_EXTENT
from nnc.kernels.model.trips import trips

TEXT = """func.func @main(%n: index, %m: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c2 {
    scf.for %j = BOUNDS step %c2 {
      %x = memref.load %m[%j] : memref<64xf32>
    }
  }
  return
}"""


@pytest.mark.parametrize(
    ("bounds", "number", "times"),
    [
        ("%c0 to %c9", None, 5 * 5),
        ("%c9 to %c9", None, 5),  # A loop counts as one iteration at least.
        ("%c0 to %n", None, 5 * UNKNOWN_EXTENT),
        ("%c0 to %n", 3, 5 * 2),
        ("%n to %c9", 3, 5 * 3),
        ("%n to %c9", 9, 0),  # Unless it is known to have none.
        ("%c0 to %c9", 3, 5 * 5),
    ],
)
def test_trips(bounds, number, times):
    module = parse_module(TEXT.replace("BOUNDS", bounds))
    (load,) = [op for op in module.walk() if op.name == "memref.load"]
    loops = [op for op in module.walk() if isinstance(op, scf.For)]
    assert len(loops) == 2
    known = (lambda v: c if (c := constant_int(v)) is not None else number) if number else None
    assert trips(load, None, known) == times
