"""Each op's example parses, verifies, prints back unchanged, and means the same to mlir-opt."""

from functools import cache

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
    *("memref", "tensor", "vector", "linalg", "affine", "gpu", "llvm"),
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


ONE_IN = 12
"""Of how many ops mlir-opt is asked for one by default."""


@cache
def through_mlir_opt_together(mlir_opt: str, first: int, from_generic: bool, *options: str):
    """What mlir-opt makes of the examples from one on, one in so many, in one run; None where it
    rejects one of them.
    """
    ops = OPS[first::ONE_IN]
    texts = [print_op(module_of(example_text(cls)), generic=from_generic) for cls in ops]
    try:
        found = through_mlir_opt(
            mlir_opt, "\n// -----\n".join(texts), "--split-input-file", *options
        )
    except AssertionError:
        return None
    return dict(zip(ops, found.split("// -----\n"), strict=True))


def through(mlir_opt: str, cls, from_generic: bool, *options: str) -> str:
    """What mlir-opt makes of one example: alone where not all of them pass, to name it."""
    first = OPS.index(cls) % ONE_IN
    together = through_mlir_opt_together(mlir_opt, first, from_generic, *options)
    if together is not None:
        return together[cls]
    text = print_op(module_of(example_text(cls)), generic=from_generic)
    return through_mlir_opt(mlir_opt, text, *options)


@pytest.mark.sampled(ONE_IN)
@pytest.mark.mlir_opt
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_mlir_opt_agrees(cls, mlir_opt):
    """Our text, custom and generic, is what mlir-opt reads and writes."""
    module = module_of(example_text(cls))
    custom = through(mlir_opt, cls, False)
    assert custom.split() == through(mlir_opt, cls, True).split()
    ours = print_op(parse_module(custom, allow_unregistered=True))
    assert ours.split() == print_op(module).split()
    wide = print_op(module, generic=True)
    theirs = through(mlir_opt, cls, True, "--mlir-print-op-generic")
    assert print_op(parse_module(theirs, allow_unregistered=True), generic=True) == wide
