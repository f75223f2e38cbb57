"""Every flag of arith and math, and a free attribute, stands where mlir-opt writes it."""

import pytest
from nnc.dialects import arith
from nnc.ir.attributes import UnitAttr
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op

from .examples import example_text, module_of, ops_of, through_mlir_opt

FLAGS = {
    "fastmath": arith.FastMathAttr("ninf,contract"),
    "overflowFlags": arith.IntegerOverflowAttr("nsw,nuw"),
    "isExact": UnitAttr(),
    "roundingmode": "upward",
}
WITH_FLAGS = [cls for cls in ops_of("arith", "math") if FLAGS.keys() & cls.definition.attributes]


@pytest.mark.sampled(3)
@pytest.mark.mlir_opt
@pytest.mark.parametrize("cls", WITH_FLAGS, ids=lambda cls: cls.name)
def test_flags(cls, mlir_opt):
    module = module_of(example_text(cls))
    op = next(op for op in module.walk() if type(op) is cls)
    for name, part in cls.definition.attributes.items():
        if name in FLAGS:
            op.properties[name] = part.to_attribute(FLAGS[name])
    op.attributes["tag"] = UnitAttr()
    ours = print_op(module)
    theirs = through_mlir_opt(mlir_opt, print_op(module, generic=True))
    assert ours.split() == theirs.split()
    assert print_op(parse_module(ours, allow_unregistered=True)) == ours
