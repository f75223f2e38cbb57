"""Each op's example parses, verifies, prints back unchanged, and means the same to mlir-opt."""

import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op

from .examples import (
    example_text,
    module_of,
    ops_of,
    printed_example,
    through_mlir_opt,
)

OPS = ops_of(
    *("builtin", "func", "cf", "ub", "arith", "math", "scf"),
    *("memref", "tensor", "vector", "linalg", "affine", "llvm"),
)


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_round_trip(cls):
    text = example_text(cls)
    assert cls.name in text or cls.name.partition(".")[2] in text
    module = module_of(text)
    module.verify()
    assert printed_example(module) == text
    for generic in (False, True):
        again = print_op(module, generic=generic)
        assert print_op(parse_module(again, allow_unregistered=True), generic=generic) == again


@pytest.mark.mlir_opt
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_mlir_opt_agrees(cls, mlir_opt):
    """Our text, custom and generic, is what mlir-opt reads and writes."""
    module = module_of(example_text(cls))
    custom = through_mlir_opt(mlir_opt, print_op(module))
    generic = through_mlir_opt(mlir_opt, print_op(module, generic=True))
    assert custom == generic
    ours = print_op(parse_module(custom, allow_unregistered=True))
    assert ours.split() == print_op(module).split()
    wide = print_op(module, generic=True)
    theirs = through_mlir_opt(mlir_opt, wide, "--mlir-print-op-generic")
    assert print_op(parse_module(theirs, allow_unregistered=True), generic=True) == wide
