"""The dialects: every operation, type and attribute that nnc declares.

Importing this package only names the modules; `registry.load_all()` imports them, and so
declares what is in them. A module that needs another dialect imports it itself.
"""

from ..ir.dialect import registry

MODULES = (
    "builtin",
    "func",
    "cf",
    "ub",
    "arith",
    "math",
    "scf",
    "linalg",
    "vector",
    "tensor",
    "memref",
    "affine",
    "llvm",
    "nn",
    "schedule",
)

registry.set_modules([f"{__name__}.{module}" for module in MODULES])
