"""Sequential loops: for and while."""

from __future__ import annotations

from ...ir.constraints import SignlessIntegerOrIndex
from ...ir.region_edges import verify_edge
from ...ir.rewriting import constant_int
from ..folding import unsigned, width_of
from ..vocabulary import *
from .branches import Yield, names_in_kernel


class For(
    Op,
    name="scf.for",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("scf.yield")),
):
    """A loop over lower, lower + step, .. below upper, which may carry values.

    The body's arguments are the induction variable and the carried values; it yields the carried
    values of the next iteration. The results are those of the last iteration.
    Source: upstream scf.for.
    """

    lower: Operand = operand(SignlessIntegerOrIndex)
    upper: Operand = operand(SignlessIntegerOrIndex)
    step: Operand = operand(SignlessIntegerOrIndex)
    inits: Operands = operands()
    body: RegionField = region()
    unsignedCmp = attribute(UNIT)  # noqa: N815
    outs: Results = results()

    format = (
        "(`unsigned` $unsignedCmp^)? "
        "custom<ForLoop>($lower, $upper, $step, $inits, type($outs), $body) attr-dict"
    )
    example = """
        %0 = scf.for %i = %n to %m step %s iter_args(%arg1 = %a) -> (f32) {
          %1 = arith.addf %arg1, %b : f32
          scf.yield %1 : f32
        }
    """

    @staticmethod
    def of(
        lower: ValueLike,
        upper: ValueLike,
        step: ValueLike,
        inits: Sequence[ValueLike] = (),
        loc: Location = UNKNOWN,
    ) -> For:
        """A loop with an empty body: fill `body_block` and end it with a Yield."""
        types = [as_value(lower).type, *(as_value(v).type for v in inits)]
        return For(lower, upper, step, inits, Region([Block(types)]), loc=loc)

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types of the initial values."""
        return operand_types[3:]

    def block_argument_names(self, region: Region) -> list[str | None]:
        """In a kernel, the name of the induction variable."""
        return names_in_kernel(self, region.blocks[0].args[:1])

    @property
    def induction_var(self) -> BlockArgument:
        """The induction variable, the body's first argument."""
        return self.body_block.args[0]

    @property
    def iter_args(self) -> list[BlockArgument]:
        """The body's arguments for the carried values."""
        return self.body_block.args[1:]

    @property
    def yielded(self) -> tuple[Value, ...]:
        """The carried values at the end of the body."""
        last = self.body_block.last
        assert isinstance(last, Yield)
        return last.values

    def trip_count(self) -> int | None:
        """The number of iterations; None unless the bounds and the step are constants."""
        bounds = [constant_int(v) for v in (self.lower, self.upper, self.step)]
        if any(b is None for b in bounds) or bounds[2] <= 0:  # type: ignore[operator]
            return None
        lower, upper, step = self._as_counted(bounds)
        return max(0, -((lower - upper) // step))

    def _as_counted(self, bounds: Sequence[Any]) -> list[int]:
        """The bounds as Python ints, signed or unsigned as the loop compares them."""
        if not self.unsignedCmp:
            return [int(b) for b in bounds]
        width = width_of(self.lower.type)
        return [unsigned(int(b), width) for b in bounds]

    def interpret(self, operands, frame):

        lower, upper, step = self._as_counted(operands[:3])
        if step <= 0:
            raise NncError(f"'scf.for' op runs with a step of {step}", self.loc)
        number = type_to_numpy(self.lower.type)
        wrap = getattr(self.lower.type, "wrap", int)
        carried = list(operands[3:])
        for i in range(lower, upper, step):
            _, carried = frame.run_region(self.body, [number.type(wrap(i)), *carried])
        return carried

    def verify_op(self) -> None:
        if not self.lower.type is self.upper.type is self.step.type:
            raise self.error(
                "failed to verify that all of {lowerBound, upperBound, step} have same type"
            )
        if len(self.body.blocks) != 1:
            raise self.error(
                "region #0 ('region') failed to verify constraint: region with 1 blocks"
            )
        args = self.body_block.args
        if not args or args[0].type is not self.lower.type:
            raise self.error("expected induction variable to be same type as bounds and step")
        inits, outs = self.inits, self.outs
        if len(inits) != len(outs):
            raise self.error("mismatch in number of loop-carried values and defined values")
        if len(inits) != len(args) - 1:
            raise self.error(
                f"different number of inits and region iter_args: {len(inits)} != {len(args) - 1}"
            )
        for i, (init, arg, out) in enumerate(zip(inits, args[1:], outs, strict=True)):
            if init.type is not arg.type:
                self._types_differ(i, "init", init.type, "region iter_arg", arg.type)
            if arg.type is not out.type:
                self._types_differ(i, "region iter_arg", arg.type, "loop result", out.type)
        self._verify_yield()

    def _verify_yield(self) -> None:
        last = self.body_block.last
        if not isinstance(last, Yield):
            return
        wanted = [arg.type for arg in self.iter_args]
        if len(last.values) != len(wanted):
            verify_edge(self, "Operation scf.yield", "Region #0", last.operand_types, wanted)
        for i, (value, type) in enumerate(zip(last.values, wanted, strict=True)):
            if value.type is not type:
                self._types_differ(i, "region iter_arg", type, "yielded value", value.type)

    def _types_differ(self, i: int, one: str, type: Type, other: str, other_type: Type) -> None:
        raise self.error(
            f"{i}-th {one} and {i}-th {other} have different type: '{type}' != '{other_type}'"
        )


class Condition(Op, name="scf.condition", traits=(Pure, Terminator, HasParent("scf.while"))):
    """Ends the `before` region of scf.while: whether `after` runs, and its arguments.

    They are the loop's results if it does not. Source: upstream scf.condition.
    """

    condition: Operand = operand(I1)
    args: Operands = operands()

    format = "`(` $condition `)` attr-dict ($args^ `:` type($args))?"
    example = """
        %0 = scf.while (%arg0 = %a) : (f32) -> f32 {
          scf.condition(%c) %arg0 : f32
        } do {
        ^bb0(%arg0: f32):
          scf.yield %arg0 : f32
        }
    """


class While(Op, name="scf.while", traits=(RecursiveEffects, SingleBlock)):
    """A loop that runs `before` and then, while its condition is true, `after` and again `before`.

    `before` takes the carried values and passes values to `after`, or out as the results; `after`
    yields the carried values.
    Source: upstream scf.while.
    """

    inits: Operands = operands()
    before: RegionField = region()
    after: RegionField = region()
    outs: Results = results()

    format = "custom<WhileLoop>($inits, type($outs), $before, $after) attr-dict-with-keyword"
    example = """
        %0:2 = scf.while (%arg0 = %a, %arg1 = %n) : (f32, index) -> (f32, index) {
          scf.condition(%c) %arg0, %arg1 : f32, index
        } do {
        ^bb0(%arg0: f32, %arg1: index):
          scf.yield %arg0, %arg1 : f32, index
        }
    """

    @staticmethod
    def of(inits: Sequence[ValueLike], outs: Sequence[Type], loc: Location = UNKNOWN) -> While:
        """A loop with empty blocks: end `before` with a Condition and `after` with a Yield."""
        before = Region([Block([as_value(v).type for v in inits])])
        return While(inits, before, Region([Block(outs)]), outs=outs, loc=loc)

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types that the condition passes on."""
        for block in regions[0].blocks:
            if isinstance(block.last, Condition):
                return [v.type for v in block.last.args]
        return None

    def interpret(self, operands, frame):
        carried = list(operands)
        while True:
            _, (going_on, *passed) = frame.run_region(self.before, carried)
            if not going_on:
                return passed
            _, carried = frame.run_region(self.after, passed)

    def verify_op(self) -> None:
        for name, ending, terminator in (
            ("before", "scf.condition", Condition),
            ("after", "scf.yield", Yield),
        ):
            blocks = getattr(self, name).blocks
            if not blocks or not isinstance(blocks[0].last, terminator):
                raise self.error(f"expects the '{name}' region to terminate with '{ending}'")
        before, after = self.before.block, self.after.block
        passed = [v.type for v in before.last.args]  # type: ignore[union-attr]
        yielded = after.last.operand_types  # type: ignore[union-attr]
        before_types = [a.type for a in before.args]
        given = [v.type for v in self.inits]
        verify_edge(self, "parent", "Region #0", given, before_types)
        verify_edge(self, "Operation scf.condition", "parent", passed, self.result_types)
        after_types = [a.type for a in after.args]
        verify_edge(self, "Operation scf.condition", "Region #1", passed, after_types)
        verify_edge(self, "Operation scf.yield", "Region #0", yielded, before_types)
