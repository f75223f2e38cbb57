"""Verifier rules for values that enter and leave regions, in upstream's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .core import Operation, Region
from .types import Type


def verify_edge(
    op: Operation, source: str, target: str, given: Sequence[Type], wanted: Sequence[Type]
) -> None:
    """Check that the values passed along a control flow edge have the wanted types."""
    edge = f"along control flow edge from {source} to {target}: "
    if len(given) != len(wanted):
        raise op.error(
            f"{edge}region branch point has {len(given)} operands, but region successor needs "
            f"{len(wanted)} inputs"
        )
    for i, (have, want) in enumerate(zip(given, wanted, strict=True)):
        if have is not want:
            raise op.error(
                f"{edge}successor operand type #{i} '{have}' should match successor input type "
                f"#{i} '{want}'"
            )


def verify_yields(op: Operation, regions: Iterable[Region], terminator: str) -> None:
    """Check that each `terminator` in the regions yields values of the op's result types."""
    source = f"Operation {terminator}"
    for region in regions:
        for block in region.blocks:
            if block.last is not None and block.last.name == terminator:
                verify_edge(op, source, "parent", block.last.operand_types, op.result_types)


def verify_no_region_args(op: Operation) -> None:
    """Check that the regions' entry blocks have no arguments."""
    for i, region in enumerate(op.regions):
        if region.blocks and region.blocks[0].args:
            raise op.error(f"region #{i} should have no arguments")
