"""Rules of verifiers on what enters and leaves regions, in upstream's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .core import Operation, Region
from .types import Type


def verify_edge(
    op: Operation, source: str, target: str, given: Sequence[Type], wanted: Sequence[Type]
) -> None:
    """What flows from one end of a control flow edge fits the other end."""
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
    """Every block of the regions that ends so gives the operation its results."""
    source = f"Operation {terminator}"
    for region in regions:
        for block in region.blocks:
            if block.last is not None and block.last.name == terminator:
                verify_edge(op, source, "parent", block.last.operand_types, op.result_types)


def verify_no_region_args(op: Operation) -> None:
    """The regions' first blocks take nothing."""
    for i, region in enumerate(op.regions):
        if region.blocks and region.blocks[0].args:
            raise op.error(f"region #{i} should have no arguments")
