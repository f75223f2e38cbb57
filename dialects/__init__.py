"""The dialects: every operation, type and attribute that nnc declares.

Importing this package only names the modules; each is imported when its dialect is first asked
for. A module that needs another dialect imports it itself. See README.md.
"""

from ..ir.dialect import registry

MODULES = (
    "builtin",
    "func",
    "cf",
    "ub",
    "arith",
    "math",
    "packed",
    "scf",
    "linalg",
    "vector",
    "tensor",
    "memref",
    "affine",
    "llvm",
    "gpu",
    "amx",
    "nn",
    "schedule",
    "quant",
    "stablehlo",
    "chlo",
    "sdy",
)

registry.set_modules(__name__, MODULES)
registry.constants = "arith"
registry.weights_attribute = "nn.weights_file"
