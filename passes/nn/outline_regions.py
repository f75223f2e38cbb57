"""Regions of branches and loops become functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.builtin import ModuleOp
from ...dialects.func import FuncOp, Return
from ...ir.builder import Builder
from ...ir.core import IRMapping, Operation, Region, Value
from ...ir.passes import Pass, PassContext
from ...ir.symbols import new_name, symbol_name
from ...ir.types import Type


@dataclass(frozen=True)
class OutlineRegions(
    Pass,
    name="outline-regions",
    anchor="builtin.module",
    statistics={"functions": "Number of functions made"},
):
    """Make each region of `nn.if` and `nn.while` a private function, and call that.

        %b = nn.if %c -> (tensor<4xf32>) {       ->  %b = nn.call_if %c, @main_then_0,
          %0 = nn.relu %a ..                           @main_else_0(%a) ..
          nn.yield %0
        } else {                                     func.func private @main_then_0(%a: ..) {
          nn.yield %a                                  %0 = nn.relu %a ..
        }                                              return %0

    Values from outside become arguments. Constants are copied into the function, so that passes see
    them.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Outline regions, outermost first; the new functions are visited in turn."""
        assert isinstance(op, ModuleOp)
        outliner = _Outliner(op)
        for function in [f for f in op.body_block if isinstance(f, FuncOp)]:
            outliner.outline(function)
        context.statistic("functions", outliner.made)


class _Outliner:
    """Outlines the regions of a module; it knows the symbol names, and how many functions were
    made.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.block = module.body_block
        self.names = {name for op in self.block if (name := symbol_name(op)) is not None}
        self.made = 0

    def outline(self, function: FuncOp) -> None:
        """Outline all regions of a function, also those within the new functions."""
        work = [function]
        while work:
            at = work.pop()
            last: Operation = at
            for op in [op for block in at.body.blocks for op in block]:
                if isinstance(op, nn.If | nn.While) and not nn.is_on_host(op):
                    made = self._if(op, at) if isinstance(op, nn.If) else self._while(op, at)
                    for one in made:
                        self.block.insert_after(one, last)
                        last = one
                    work += made

    def _if(self, op: nn.If, function: FuncOp) -> list[FuncOp]:
        captured, repeated = _captured(op.regions)
        then, otherwise = (
            self._function(region, [], captured, repeated, name, function)
            for region, name in ((op.then_region, "then"), (op.else_region, "else"))
        )
        call = nn.CallIf(
            op.condition, then.sym_name, otherwise.sym_name, captured, outs=op.result_types
        )
        _replace(op, call)
        return [then, otherwise]

    def _while(self, op: nn.While, function: FuncOp) -> list[FuncOp]:
        captured, repeated = _captured(op.regions)
        carried = [a.type for a in op.before.block.args]
        before, after = (
            self._function(region, carried, captured, repeated, kind, function)
            for region, kind in ((op.before, "while"), (op.after, "do"))
        )
        call = nn.CallWhile(
            before.sym_name,
            after.sym_name,
            [*op.inits, *captured],
            op.count,
            len(carried),
            outs=op.result_types,
        )
        _replace(op, call)
        return [before, after]

    def _function(
        self,
        region: Region,
        carried: Sequence[Type],
        captured: Sequence[Value],
        repeated: Sequence[Operation],
        kind: str,
        function: FuncOp,
    ) -> FuncOp:
        """A function of the carried and captured values with the operations of a region."""
        self.made += 1
        loc = region.parent.loc if region.parent is not None else function.loc
        inputs = [*carried, *(v.type for v in captured)]
        outputs = _given(region)
        name = new_name(f"{function.sym_name}_{kind}", self.names)
        made = FuncOp.of(name, inputs, outputs, visibility="private", loc=loc)
        entry = made.body.block
        old = region.block
        mapping = IRMapping(dict(zip([*old.args, *captured], entry.args, strict=True)))
        for before, after in mapping.values.items():
            after.name_hint = before.name_hint
        build = Builder.at_end(entry)
        used = {v for op in old for inner in op.walk() for v in inner.operands}
        for constant in repeated:
            if used & set(constant.results):
                build.insert(constant.clone(mapping))
        for op in old:
            if op is old.last:
                build.insert(Return([mapping[v] for v in op.operands], loc=op.loc))
            else:
                build.insert(op.clone(mapping))
        return made


def _given(region: Region) -> list[Type]:
    """The types that a region's single block yields."""
    last = region.block.last
    return last.operand_types if last is not None else []


def _captured(regions: Sequence[Region]) -> tuple[list[Value], list[Operation]]:
    """The values from outside that the regions use, and the constants among them."""
    inside: set[Value] = set()
    values: dict[Value, None] = {}
    for region in regions:
        inside.update(region.block.args)
        for op in (inner for top in region.ops for inner in top.walk()):
            inside.update(op.results)
            inside.update(arg for r in op.regions for block in r.blocks for arg in block.args)
            values.update(dict.fromkeys(op.operands))
    outer = [v for v in values if v not in inside]
    constants = [v for v in outer if v.defined_by(nn.Constant)]
    others = [v for v in outer if v not in set(constants)]
    return others, [v.defining_op for v in constants]  # type: ignore[misc]


def _replace(op: Operation, call: nn.CallIf | nn.CallWhile) -> None:
    call.loc = op.loc
    assert op.parent is not None
    op.parent.insert_before(call, op)
    op.replace_with(*call.results)
