"""Structured branches (if, index_switch, execute_region), and yield, which ends their regions."""

from __future__ import annotations

import re

from ...ir.region_edges import verify_no_region_args, verify_yields
from ..marks import KERNEL
from ..vocabulary import *

REGION_OPS = ("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while")


class Yield(Op, name="scf.yield", traits=(Pure, Terminator, HasParent(*REGION_OPS))):
    """Ends a region, and gives its values to the operation around it.

    Source: upstream scf.yield.
    """

    values: Operands = operands()

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        %0 = scf.if %c -> (f32) {
          scf.yield %a : f32
        } else {
          scf.yield %b : f32
        }
    """


def yielded_types(regions: Iterable[Region]) -> list[Type] | None:
    """The types of the first scf.yield in the regions; None if there is none."""
    for region_ in regions:
        for block in region_.blocks:
            if isinstance(block.last, Yield):
                return block.last.operand_types
    return None


_NUMBERED = re.compile(r"arg\d+")


def names_in_kernel(loop: Operation, arguments: Sequence[Value]) -> list[str | None]:
    """The names that a schedule gave to a loop's induction variables; [] outside of kernels.

    There, text is printed as upstream does, which forgets names.
    """
    function = loop.parent_op
    while function is not None and function.name != "func.func":
        function = function.parent_op
    if function is None or KERNEL not in function.attributes:
        return []
    hints = (arg.name_hint for arg in arguments)
    return [None if hint is None or _NUMBERED.fullmatch(hint) else hint for hint in hints]


class If(
    Op,
    name="scf.if",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("scf.yield")),
):
    """The values that one of two regions yields, as the condition says.

    Without results, the else region may be missing. Source: upstream scf.if.
    """

    condition: Operand = operand(I1)
    then_region: RegionField = region()
    else_region: RegionField = region()
    outs: Results = results()

    format = (
        "$condition custom<ArrowTypes>(type($outs)) $then_region (`else` $else_region^)? attr-dict"
    )
    example = """
        scf.if %c {
          "test.use"(%a) : (f32) -> ()
        } else {
          "test.use"(%b) : (f32) -> ()
        }
    """

    @staticmethod
    def of(condition: ValueLike, has_else: bool = False, loc: Location = UNKNOWN) -> If:
        """An if without results, its blocks empty: fill them and end them with Yield()."""
        else_blocks = [Block()] if has_else else []
        return If(condition, Region([Block()]), Region(else_blocks), outs=[], loc=loc)

    @property
    def then_block(self) -> Block:
        """The block that runs if the condition is true."""
        return self.then_region.block

    @property
    def else_block(self) -> Block | None:
        """The block that runs if the condition is false; None if there is none."""
        return self.else_region.blocks[0] if self.else_region.blocks else None

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types that the then region yields."""
        return yielded_types(regions[:1])

    def interpret(self, operands, frame):
        chosen = self.then_region if operands[0] else self.else_region
        return frame.run_region(chosen, [])[1] if chosen.blocks else []

    def verify_op(self) -> None:
        verify_no_region_args(self)
        if not self.then_region.blocks:
            raise self.error(
                "region #0 ('thenRegion') failed to verify constraint: region with 1 blocks"
            )
        if self.outs and not self.else_region.blocks:
            raise self.error("must have an else block if defining values")
        verify_yields(self, self.regions, "scf.yield")


class IndexSwitch(
    Op,
    name="scf.index_switch",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("scf.yield")),
):
    """The values that the region of the case equal to the argument yields, or else the default's.

    Source: upstream scf.index_switch.
    """

    arg: Operand = operand(Index)
    cases = attribute(INT_ARRAY)
    default_region: RegionField = region()
    case_regions: Sequence[Region] = region(variadic=True)
    outs: Results = results()

    format = (
        "$arg attr-dict (`->` type($outs)^)? "
        "custom<IndexSwitchRegions>($cases, $case_regions, $default_region)"
    )
    example = """
        %0 = scf.index_switch %n -> f32
        case 2 {
          scf.yield %a : f32
        }
        case -5 {
          scf.yield %b : f32
        }
        default {
          scf.yield %a : f32
        }
    """

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types that the default region yields."""
        return yielded_types(regions[:1])

    def interpret(self, operands, frame):
        chosen = self.default_region
        for case, region_ in zip(self.cases, self.case_regions, strict=True):
            if case == operands[0]:
                chosen = region_
        return frame.run_region(chosen, [])[1]

    def verify_op(self) -> None:
        if len(self.cases) != len(self.case_regions):
            raise self.error(
                f"has {len(self.case_regions)} case regions but {len(self.cases)} case values"
            )
        seen = set()
        for case in self.cases:
            if case in seen:
                raise self.error(f"has duplicate case value: {case}")
            seen.add(case)
        self._verify_region("default region", self.default_region)
        for i, region_ in enumerate(self.case_regions):
            self._verify_region(f"case region #{i}", region_)

    def _verify_region(self, name: str, region_: Region) -> None:
        if not region_.blocks:
            raise self.error(f"{name} needs a block")
        if not isinstance(last := region_.block.last, Yield):
            return
        if len(last.values) != len(self.outs):
            raise self.error(
                f"expected each region to return {len(self.outs)} values, but {name} returns "
                f"{len(last.values)}"
            )
        for i, (value, out) in enumerate(zip(last.values, self.outs, strict=True)):
            if value.type is not out.type:
                raise self.error(f"expected result #{i} of each region to be '{out.type}'")


class ExecuteRegion(Op, name="scf.execute_region", traits=(RecursiveEffects,)):
    """The values that a region, which may have several blocks, yields; it runs once.

    Source: upstream scf.execute_region.
    """

    no_inline = attribute(UNIT)
    body: RegionField = region()
    outs: Results = results()

    format = "custom<ArrowTypesOrOne>(type($outs)) (`no_inline` $no_inline^)? $body attr-dict"
    example = """
        %0 = scf.execute_region -> i32 {
          cf.br ^bb1
        ^bb1:
          scf.yield %i : i32
        }
    """

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types that the region yields."""
        return yielded_types(regions)

    def interpret(self, operands, frame):
        return frame.run_region(self.body, [])[1]

    def verify_op(self) -> None:
        if not self.body.blocks:
            raise self.error("region needs to have at least one block")
        if self.body.blocks[0].args:
            raise self.error("region cannot have any arguments")
        verify_yields(self, self.regions, "scf.yield")
