"""Removal of locations."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.core import Operation
from ..ir.location import UNKNOWN
from ..ir.passes import Pass, PassContext


@dataclass(frozen=True)
class StripDebugInfo(Pass, name="strip-debuginfo"):
    """Make the location of every operation and block argument unknown.

    %0 = arith.addi %a, %b : i32 loc("in.mlir":3:8)    ->    .. loc(unknown)
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Strip the operation itself and all nested ones."""
        for inner in op.walk():
            inner.loc = UNKNOWN
            for region in inner.regions:
                for block in region.blocks:
                    for arg in block.args:
                        arg.loc = UNKNOWN
