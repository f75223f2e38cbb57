"""Describe a module's entry for its callers in attributes, and number the checks."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func
from ..dialects.marks import CHECKS, FAILURES, FIRST_CHECK
from ..ir.attributes import ArrayAttr, I64Attr, StringAttr
from ..ir.core import Operation
from ..ir.passes import Pass, PassContext
from .checks import Checks
from .entry_signature import entry_of, signature_of


@dataclass(frozen=True)
class DescribeEntry(Pass, name="describe-entry", anchor="builtin.module"):
    """Describe the module's entry for its callers in attributes, and number the checks.

    The module gets the attributes that `lower-to-llvm` would give it: names and types of inputs and
    outputs, bytes of the arena and the weights, and the message of each failure. A function that
    may fail gets `nn.checks`, the number of its checks (called functions included); an operation
    that may fail gets `nn.first_check`, the number of checks before it in its function.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Describe the entry, if there is one."""
        entry = entry_of(op)
        if entry is None:
            return
        op.attributes.update(signature_of(entry).attributes(heap_bytes=0))
        checks = Checks(op)
        if messages := [check.message for check in checks.of(entry.sym_name)]:
            op.attributes[FAILURES] = ArrayAttr(tuple(map(StringAttr, messages)))
        for function in op.body_block:
            if isinstance(function, func.FuncOp) and checks.of(function.sym_name):
                function.attributes[CHECKS] = I64Attr(len(checks.of(function.sym_name)))
                for one in function.walk():
                    if (before := checks.before(one)) is not None:
                        one.attributes[FIRST_CHECK] = I64Attr(before)
