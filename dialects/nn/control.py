"""Branches and loops on tensors.

`nn.if` and `nn.while` have regions, which may use the values around them. `outline-regions` makes
each region a function and the op a call (`nn.call_if`, `nn.call_while`), so that every later pass
works on functions without control flow.
"""

from __future__ import annotations

from ...ir.symbols import lookup_symbol
from ..vocabulary import *
from .base import NnOp, compatible
from .host_types import AnyValue
from .structure import Yield
from .traits import Fusion

Flag: Constraint = Exactly(TensorType((), i1), "a 0-d tensor of i1")
Count: Constraint = Exactly(TensorType((), i64), "a 0-d tensor of i64")


class If(Op, name="nn.if", traits=(RecursiveEffects, SingleBlock)):
    """The values that one of two regions yields; the condition says which one runs.

    Where the branches yield different extents, the result's type has `?`; a branch may yield a more
    precise type. Source: ONNX If-16.
    """

    condition: Operand = operand(Flag)
    then_region: RegionField = region()
    else_region: RegionField = region()
    outs: Results = results(AnyValue)

    format = "$condition custom<ArrowTypes>(type($outs)) $then_region `else` $else_region attr-dict"
    example = """\
%b = nn.if %c -> (tensor<4xf32>) {
  %0 = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  nn.yield %0 : tensor<4xf32>
} else {
  nn.yield %a : tensor<4xf32>
}"""

    def interpret(self, operands, frame):
        chosen = self.then_region if operands[0] else self.else_region
        return frame.run_region(chosen, [])[1]

    def verify_op(self) -> None:
        """Check that both regions have no arguments and yield the results' types."""
        for i, one in enumerate(self.regions):
            if not one.blocks:
                raise self.error(f"region #{i} needs a block")
            _verify_block(self, one.blocks[0], f"region #{i}", [], self.result_types)


class While(Op, name="nn.while", traits=(RecursiveEffects, SingleBlock)):
    """A loop with carried values; it may also stack a row of each iteration.

    Both regions have an argument for each carried value. `before` ends in `nn.condition`; while
    that is true, `after` runs. It yields the carried values of the next iteration, then a row for
    each stack. The results are the last carried values, then the stacks, whose first dimension is
    the number of iterations. All rows of a stack have the same extents. The types of the arguments
    hold in every iteration; initial and yielded values may have more precise types. With `count`,
    the loop runs exactly so many times, so that stacks can be allocated before it.
    Source: ONNX Loop-16, Scan-16.
    """

    inits: Operands = operands(AnyValue)
    count: OptionalOperand = optional_operand(Count)
    before: RegionField = region()
    after: RegionField = region()
    outs: Results = results(AnyValue)

    format = (
        "custom<CarryingLoop>($inits, type($outs), $before, $after) (`count` $count^)? "
        "attr-dict-with-keyword"
    )
    example = """\
%n, %rows = nn.while (%i = %a) : (tensor<i64>) -> (tensor<i64>, tensor<?xi64>) {
  %go = nn.less %i, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
  nn.condition(%go)
} do {
^bb0(%i: tensor<i64>):
  %next = nn.add %i, %step : (tensor<i64>, tensor<i64>) -> tensor<i64>
  nn.yield %next, %i : tensor<i64>, tensor<i64>
}"""

    def interpret(self, operands, frame):
        inits = operands[: len(self.inits)]
        return run_loop(
            self,
            list(inits),
            operands[len(inits) :],
            lambda carried: frame.run_region(self.before, carried)[1][0],
            lambda carried: frame.run_region(self.after, carried)[1],
        )

    def verify_op(self) -> None:
        """Check arguments, carried results and yielded values against the operands' types."""
        for name, one in (("before", self.before), ("after", self.after)):
            if not one.blocks:
                raise self.error(f"the '{name}' region needs a block")
        before, after = self.before.blocks[0], self.after.blocks[0]
        carried = [a.type for a in before.args]
        wanted = _yielded(self, [v.type for v in self.inits], carried)
        if not isinstance(before.last, Condition):
            raise self.error("the 'before' region must end in 'nn.condition'")
        _verify_block(self, after, "the 'after' region", carried, wanted)


def _yielded(op: Any, inits: Sequence[Type], carried: Sequence[Type]) -> list[Type]:
    """The types that an iteration must yield: the carried values', then a row's for each stack."""
    if not _fit(inits, carried):
        raise op.error(f"carries {_listed(carried)}, but starts with {_listed(inits)}")
    if op.result_types[: len(carried)] != list(carried):
        raise op.error("the first results must have the types of the carried tensors")
    rows: list[Type] = []
    for type in op.result_types[len(carried) :]:
        if not getattr(type, "rank", 0):
            raise op.error(f"stacks rows to a '{type}', expected one more dimension")
        rows.append(TensorType(type.shape[1:], type.element_type))
    return [*carried, *rows]


def _fit(found: Sequence[Type], wanted: Sequence[Type]) -> bool:
    return len(found) == len(wanted) and all(map(compatible, found, wanted))


def _listed(types: Sequence[Type]) -> str:
    return ", ".join(f"'{t}'" for t in types) or "nothing"


def _verify_block(
    op: Op, block: Any, name: str, given: Sequence[Type], wanted: Sequence[Type]
) -> None:
    if [a.type for a in block.args] != list(given):
        raise op.error(f"{name} must have {len(given)} arguments of the carried tensors' types")
    if not isinstance(block.last, Yield):
        raise op.error(f"{name} must end in 'nn.yield'")
    found = [v.type for v in block.last.operands]
    if not _fit(found, wanted):
        raise op.error(f"{name} must yield {_listed(wanted)}, but yields {_listed(found)}")


class Condition(Op, name="nn.condition", traits=(Pure, Terminator, HasParent("nn.while"))):
    """Ends the `before` region of `nn.while`; another iteration follows if the operand is true."""

    condition: Operand = operand(Flag)

    format = "`(` $condition `)` attr-dict"
    example = """
        %r = nn.while (%x = %a) : (tensor<4xf32>) -> (tensor<4xf32>) {
          nn.condition(%c)
        } do {
        ^bb0(%x: tensor<4xf32>):
          nn.yield %x : tensor<4xf32>
        }
    """


class Assume(NnOp, name="nn.assume"):
    """x, if the condition is true; otherwise the program stops with the message.

    Shapes: x [I..], condition [] -> out [I..].
    """

    fusion = Fusion.CHECK
    prologue = (Fusion.CHECK,)

    x: Operand = operand(AnyRankedTensor)
    condition: Operand = operand(Flag)
    message: str = attribute(STRING)
    out: Result = result(AnyRankedTensor)

    example = (
        '%y = nn.assume %x, %p {message = "no code was made for this"} : '
        "(tensor<4xf32>, tensor<i1>) -> tensor<4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return [types[0]]

    def evaluate(self, x, condition):
        if not condition:
            raise NncError(self.message)
        return x


# -- outlined -------------------------------------------------------------------------------------


class CallIf(Op, name="nn.call_if", traits=(Pure,)):
    """Call one of two functions with the operands: `then` if the condition is true, or `otherwise`.

    The functions may return more precise types than those that the op declares.
    """

    condition: Operand = operand(Flag)
    then: str = attribute(SYMBOL)
    otherwise: str = attribute(SYMBOL)
    args: Operands = operands(AnyRankedTensor)
    outs: Results = results(AnyRankedTensor)

    format = (
        "$condition `,` $then `,` $otherwise `(` $args `)` attr-dict "
        "`:` functional-type($args, results)"
    )
    example = """
        func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = nn.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
        func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
          return %x : tensor<4xf32>
        }
        func.func @f(%p: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = nn.call_if %p, @double, @same(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    """

    def interpret(self, operands, frame):
        return frame.call(self.then if operands[0] else self.otherwise, operands[1:])

    def verify_op(self) -> None:
        """Check that both functions take the operands and return the results."""
        for name in (self.then, self.otherwise):
            _verify_callee(self, name, [v.type for v in self.args], self.result_types)


class CallWhile(Op, name="nn.call_while", traits=(Pure,)):
    """`nn.while` with functions in place of its regions; both take all operands.

    The first `carried` operands are the initial carried values; the others are the same in every
    iteration.
    """

    before: str = attribute(SYMBOL)
    after: str = attribute(SYMBOL)
    args: Operands = operands(AnyRankedTensor)
    count: OptionalOperand = optional_operand(Count)
    carried: int = attribute(I64)
    outs: Results = results(AnyRankedTensor)

    format = (
        "$before `,` $after `(` $args `)` (`count` $count^)? attr-dict "
        "`:` functional-type($args, results)"
    )
    example = """
        func.func private @less(%i: tensor<i64>, %n: tensor<i64>) -> tensor<i1> {
          %0 = nn.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
          return %0 : tensor<i1>
        }
        func.func private @double(%i: tensor<i64>, %n: tensor<i64>) -> tensor<i64> {
          %0 = nn.add %i, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
          return %0 : tensor<i64>
        }
        func.func @f(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i64> {
          %0 = nn.call_while @less, @double(%a, %b) {carried = 1 : i64}
            : (tensor<i64>, tensor<i64>) -> tensor<i64>
          return %0 : tensor<i64>
        }
    """

    def interpret(self, operands, frame):
        args, count = operands[: len(self.args)], operands[len(self.args) :]
        same = args[self.carried :]
        return run_loop(
            self,
            list(args[: self.carried]),
            count,
            lambda carried: frame.call(self.before, [*carried, *same])[0],
            lambda carried: frame.call(self.after, [*carried, *same]),
        )

    def verify_op(self) -> None:
        """Check the functions: an iteration returns the carried tensors and a row per stack."""
        types = [v.type for v in self.args]
        if not 0 <= self.carried <= min(len(types), len(self.outs)):
            raise self.error(f"carries {self.carried} of {len(types)} operands")
        wanted = _yielded(self, types[: self.carried], self.result_types[: self.carried])
        _verify_callee(self, self.before, types, [TensorType((), i1)])
        _verify_callee(self, self.after, types, wanted)


def callee_type(op: Operation, name: str) -> FunctionType | None:
    """The type of the function `name` that is visible from the op; None if there is none."""
    callee = lookup_symbol(op, name)
    type = getattr(callee, "function_type", None)
    return type if isinstance(type, FunctionType) else None


def _verify_callee(op: Op, name: str, given: Sequence[Type], wanted: Sequence[Type]) -> None:
    if op.parent_op is None:
        return
    type = callee_type(op, name)
    if type is None:
        raise op.error(f"'{name}' does not reference a valid function")
    if not _fit(given, type.inputs):
        raise op.error(f"'{name}' is a {type}, which does not take the operands")
    if not _fit(type.results, wanted):
        raise op.error(f"'{name}' is a {type}, which does not give the results")


# -- semantics ------------------------------------------------------------------------------------


def run_loop(op: Any, carried: list[Any], count: Sequence[Any], before: Any, after: Any) -> list:
    """Interpret a loop: its last carried values and its stacks, in one list.

    `before` and `after` are the regions as Python functions of the carried values; `count` is empty
    or holds the number of iterations. Raises NncError where the rows of a stack differ in shape, or
    the loop does not run `count` times.
    """
    from ...ir.numpy_types import type_to_numpy

    width = len(carried)
    stacks: list[list[Any]] = [[] for _ in op.outs[width:]]
    iterations = 0
    while before(carried):
        iterations += 1
        if count and iterations > int(count[0]):
            break
        given = after(carried)
        carried = list(given[:width])
        for rows, row in zip(stacks, given[width:], strict=True):
            if rows and rows[0].shape != row.shape:
                raise NncError("the rows of a stack differ in shape")
            rows.append(row)
    if count and iterations != max(int(count[0]), 0):
        raise NncError("the loop does not have the number of iterations that it says")
    results = []
    for rows, out in zip(stacks, op.outs[width:], strict=True):
        shape = tuple(d or 0 for d in out.type.shape[1:])
        dtype = type_to_numpy(out.type.element_type)
        results.append(np.stack(rows) if rows else np.zeros((0, *shape), dtype))
    return [*carried, *results]
